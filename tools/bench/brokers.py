"""The two brokers of a comparison as processes on one core: how each starts, what it consumes (/proc)."""

from __future__ import annotations

import compileall
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kbroker.testing.ports import free_ports
from tools.kafka_jars import KAFKA_VERSION, class_path

BROKER_CORE = 0
LOAD_CORE = 1
_CORES = sorted(os.sched_getaffinity(0))  # before anybody binds himself
_SOURCES = Path(__file__).parents[2] / "kbroker"
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port that nobody uses just now, nor an outgoing connection by chance later."""
    return free_ports(1)[0]


def use_core(core: int) -> None:
    """Bind the calling process (and its children) to one core; on a machine with one there is no choice."""
    os.sched_setaffinity(0, {_CORES[min(core, len(_CORES) - 1)]})


def go_first(broker: BrokerProcess) -> None:
    """Broker and load before whatever else this machine does; each is a session of its own."""
    for process in (str(broker.pid), "self"):
        Path(f"/proc/{process}/autogroup").write_text("-18")


class BrokerProcess:
    """One broker with a data folder of its own: `prepare` once, then `start` and `stop` in turn."""

    label = ""
    warm_up_rounds = 2
    #: Bound to one core, so that what a load costs can be told; a start may use all.
    one_core = True

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kbroker-bench-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """What has to be done before the first start on an empty folder (Kafka: format it)."""

    def command(self) -> list[str]:
        """The command line of the broker."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the process; it may not serve yet."""
        log = (self.folder / "broker.log").open("ab")
        self._process = subprocess.Popen(
            self.command(),
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=(lambda: use_core(BROKER_CORE)) if self.one_core else None,
            cwd=self.folder,
            start_new_session=True,
        )
        log.close()

    def stop(self, timeout: float = 30) -> float:
        """Ask for a clean end (SIGTERM), insist after `timeout` seconds; the seconds it took."""
        assert self._process is not None
        started = time.perf_counter()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        return time.perf_counter() - started

    def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def remove(self) -> None:
        """End the process, forget the data."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def check_alive(self) -> None:
        """RuntimeError with the end of the log if the process ended."""
        assert self._process is not None
        if self._process.poll() is not None:
            log = (self.folder / "broker.log").read_text(errors="replace")
            raise RuntimeError(f"{self.label} ended with code {self._process.returncode}:\n{log[-2000:]}")

    def cpu_seconds(self) -> float:
        """User and system time of all threads so far; resolution 10 ms."""
        assert self._process is not None
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / _TICKS_PER_SECOND

    def all_cpu_seconds(self) -> float:
        """As `cpu_seconds`, with children that have ended; 0 while it does not run."""
        if self._process is None:
            return 0.0
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / _TICKS_PER_SECOND

    def idle_cpu_seconds(self) -> float:
        """Run time of the threads that are there, to the nanosecond: for spans that cost less than a tick."""
        assert self._process is not None
        files = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in files) / 1e9

    def resident_mb(self) -> float:
        """Resident memory in MB (10**6 bytes)."""
        assert self._process is not None
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
        raise RuntimeError("no VmRSS")


class Kbroker(BrokerProcess):
    """This project, as `kbroker start` runs it."""

    label = "kbroker"

    def __init__(self) -> None:
        super().__init__()
        # As after `pip install`: a checkout that was just edited would be compiled in the first start.
        compileall.compile_dir(_SOURCES, quiet=1)

    def command(self) -> list[str]:
        data = str(self.folder / "data")
        return [sys.executable, "-m", "kbroker.cli.main", "start", "--port", str(self.port), "--data", data]


class Kafka(BrokerProcess):
    """Apache Kafka with the settings, heap and collector of its own start script."""

    label = f"Kafka {KAFKA_VERSION}"
    #: On one core a JVM needs half a minute until what is hot is compiled.
    warm_up_rounds = 24

    def __init__(self, cache: Path) -> None:
        super().__init__()
        self._class_path = class_path(cache)
        controller = free_port()
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self.folder / "data",
            "num.network.threads": 3,
            "num.io.threads": 8,
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
        }
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / "server.properties").write_text(text)

    def _java(self, heap: str, *arguments: str) -> list[str]:
        collector = ["-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"]
        logging = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return ["java", *heap.split(), "-server", *collector, logging, "-cp", self._class_path, *arguments]

    def prepare(self) -> None:
        tool = ["kafka.tools.StorageTool", "format", "-t", "a2JlbmNoLWJyb2tlci0wMQ", "-c"]
        done = subprocess.run(
            self._java("-Xmx256M", *tool, str(self.folder / "server.properties")),
            capture_output=True,
            text=True,
            preexec_fn=lambda: use_core(BROKER_CORE),
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"kafka-storage format failed:\n{done.stdout}{done.stderr}")

    def command(self) -> list[str]:
        return self._java("-Xmx1G -Xms1G", "kafka.Kafka", str(self.folder / "server.properties"))
