"""Apache Kafka's own tools and Java clients, many runs in one JVM (tests/compat/java/ToolRunner.java).

java = JavaTools.start(cache_folder())
done = java.run("kafka-topics", "--bootstrap-server", address, "--list")      # Result(code, out, err)
consumer = java.spawn("kafka-verifiable-consumer", ...); consumer.wait_for(...); consumer.stop()
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.kafka_jars import class_path

_SOURCES = Path(__file__).parent / "java"
_TOOLS = "org.apache.kafka.tools."
_CLASSES = {
    "kafka-acls": _TOOLS + "AclCommand",
    "kafka-broker-api-versions": _TOOLS + "BrokerApiVersionsCommand",
    "kafka-client-metrics": _TOOLS + "ClientMetricsCommand",
    "kafka-cluster": _TOOLS + "ClusterTool",
    "kafka-configs": _TOOLS + "ConfigCommand",
    "kafka-console-consumer": _TOOLS + "consumer.ConsoleConsumer",
    "kafka-console-producer": _TOOLS + "ConsoleProducer",
    "kafka-consumer-groups": _TOOLS + "consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": _TOOLS + "ConsumerPerformance",
    "kafka-delete-records": _TOOLS + "DeleteRecordsCommand",
    "kafka-delegation-tokens": _TOOLS + "DelegationTokenCommand",
    "kafka-dump-log": _TOOLS + "DumpLogSegments",
    "kafka-e2e-latency": _TOOLS + "EndToEndLatency",
    "kafka-features": _TOOLS + "FeatureCommand",
    "kafka-get-offsets": _TOOLS + "GetOffsetShell",
    "kafka-groups": _TOOLS + "GroupsCommand",
    "kafka-log-dirs": _TOOLS + "LogDirsCommand",
    "kafka-metadata-quorum": _TOOLS + "MetadataQuorumCommand",
    "kafka-leader-election": _TOOLS + "LeaderElectionCommand",
    "kafka-reassign-partitions": _TOOLS + "reassign.ReassignPartitionsCommand",
    "kafka-share-groups": _TOOLS + "consumer.group.ShareGroupCommand",
    "kafka-streams-groups": _TOOLS + "streams.StreamsGroupCommand",
    "kafka-topics": _TOOLS + "TopicCommand",
    "kafka-transactions": _TOOLS + "TransactionsCommand",
    "kafka-producer-perf-test": _TOOLS + "ProducerPerformance",
    "transactional-message-copier": _TOOLS + "TransactionalMessageCopier",
    "kafka-verifiable-consumer": _TOOLS + "VerifiableConsumer",
    "kafka-verifiable-producer": _TOOLS + "VerifiableProducer",
    "everyday": "Everyday",
    "transactions": "Transactions",
    "logins": "Logins",
    "newgroups": "NewGroups",
    "shareconsumers": "ShareConsumers",
}
WAIT_SECONDS = 90


@dataclass
class Result:
    """What a tool that ended has printed, and its exit code."""

    code: int
    out: str
    err: str

    def ok(self) -> str:
        """Standard output, after asserting that the tool succeeded."""
        assert self.code == 0, f"exit code {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"
        return self.out


class Running:
    """A tool at work: its lines so far, and a way to wait for more."""

    def __init__(self, tools: JavaTools, run_id: str) -> None:
        self._tools = tools
        self._id = run_id
        self._changed = tools.changed  # one for all: a wait may look at several tools
        self.out: list[str] = []
        self.err: list[str] = []
        self.code: int | None = None

    def _receive(self, message: dict) -> None:
        with self._changed:
            if "out" in message:
                self.out.append(message["out"])
            if "err" in message:
                self.err.append(message["err"])
            if "exit" in message:
                self.code = message["exit"]
            self._changed.notify_all()

    def events(self) -> list[dict]:
        """The JSON lines that the verifiable tools print."""
        return [json.loads(line) for line in self.out if line.startswith("{")]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Wait until `condition` holds, looking after every line of any tool. AssertionError if never."""
        with self._changed:
            reached = self._changed.wait_for(lambda: condition() or self.code is not None, WAIT_SECONDS)
        assert condition(), f"{'ended' if reached else 'timed out'} before {what}\n" + self._text()

    def wait(self) -> Result:
        """Wait for the end of the tool."""
        with self._changed:
            over = self._changed.wait_for(lambda: self.code is not None, WAIT_SECONDS)
        assert over, "the tool did not end\n" + self._text()
        assert self.code is not None
        return Result(self.code, "\n".join(self.out), "\n".join(self.err))

    def stop(self) -> Result:
        """Do what SIGTERM does to the tool, and wait for its end."""
        self._tools.send({"stop": self._id})
        return self.wait()

    def _text(self) -> str:
        return "--- out\n" + "\n".join(self.out[-40:]) + "\n--- err\n" + "\n".join(self.err[-40:])


class JavaTools:
    """One JVM that runs tools on demand."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._runs: dict[str, Running] = {}
        self.changed = threading.Condition()
        self._ids = itertools.count(1)
        self._sending = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    @classmethod
    @contextlib.contextmanager
    def start(cls, cache: Path) -> Iterator[JavaTools]:
        """Fetch and compile what is not there yet, start the JVM, end it afterwards."""
        jars = class_path(cache)
        classes = _compile(cache, jars)
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        options.append("--add-opens=java.base/java.lang=ALL-UNNAMED")
        command = ["java", *options, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
        process = subprocess.Popen(
            [*command, "-cp", os.pathsep.join([str(classes), jars]), "ToolRunner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        try:
            yield cls(process)
        finally:
            process.kill()
            process.wait()

    def send(self, command: dict) -> None:
        """Pass one command to the JVM."""
        assert self._process.stdin is not None
        with self._sending:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def spawn(self, tool: str, *args: object, stdin: str = "") -> Running:
        """Start a tool and return at once."""
        run_id = str(next(self._ids))
        running = self._runs[run_id] = Running(self, run_id)
        self.send({"run": run_id, "main": _CLASSES[tool], "args": [str(a) for a in args], "stdin": stdin})
        return running

    def run(self, tool: str, *args: object, stdin: str = "") -> Result:
        """Run a tool to its end."""
        return self.spawn(tool, *args, stdin=stdin).wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            self._runs[message["id"]]._receive(message)
        for running in self._runs.values():
            if running.code is None:
                running._receive({"err": "the JVM ended", "exit": -1})


def _compile(cache: Path, jars: str) -> Path:
    """The folder with our compiled classes, named by the digest of sources and compiler."""
    sources = sorted(_SOURCES.glob("*.java"))
    version = subprocess.run(["javac", "-version"], capture_output=True, text=True, check=True)
    digest = hashlib.sha256((jars + version.stdout + version.stderr).encode())
    for source in sources:
        digest.update(source.read_bytes())
    folder = cache / f"classes-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        work = cache / f"compiling-{os.getpid()}"
        command = ["javac", "-nowarn", "-cp", jars, "-d", str(work), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"javac failed:\n{done.stderr}"
        with contextlib.suppress(OSError):  # another test process was quicker
            work.rename(folder)
    return folder
