"""A ZooKeeper server of one's own for tests: a JVM with its data in a folder, on a free port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

from kbroker.errors import ConfigError
from kbroker.server.zk_client import split_connect
from kbroker.testing.ports import free_ports

if TYPE_CHECKING:
    from types import TracebackType

#: Of nodes, where nothing else is set: when one that is gone is given up; and a busy machine is no failure.
ZOOKEEPER_SETTINGS = {"zookeeper.session.timeout.ms": "6000", "zookeeper.connection.timeout.ms": "60000"}

_SETTINGS = """tickTime=100
minSessionTimeout=200
maxSessionTimeout=60000
dataDir={folder}
clientPortAddress=127.0.0.1
clientPort={port}
admin.enableServer=false
maxClientCnxns=0
forceSync=no
"""
_PORT = 2181
_PATIENCE_S = 60.0
_PAUSE_S = 0.05
#: Debian's package; the jar's manifest names what else it needs.
_DEBIAN = "/usr/share/java/zookeeper.jar"
#: Becomes the server; beside it waits who ends it when our end of the pipe is closed, however we end.
_UNTIL_STDIN_ENDS = 'exec 3<&0; (read _ <&3; kill -9 $$) 2>/dev/null & exec "$@" 3<&- </dev/null'


def find_server(environment: Mapping[str, str] | None = None) -> str:
    """The Java class path of a ZooKeeper on this machine.

    Looked for: `ZOOKEEPER_HOME`, an unpacked release of ZooKeeper; `KAFKA_HOME`, one of Apache Kafka up to
    3.9, which has it; Debian's package `zookeeper`.

    Raises:
        ConfigError: there is none; the text says what was looked for.
    """
    environment = os.environ if environment is None else environment
    for name, folder in (("ZOOKEEPER_HOME", "lib"), ("KAFKA_HOME", "libs")):
        jars = os.path.join(environment.get(name) or os.devnull, folder)
        if glob.glob(os.path.join(glob.escape(jars), "zookeeper-[0-9]*.jar")):
            return os.path.join(jars, "*")
    if os.path.exists(_DEBIAN):
        return _DEBIAN
    raise ConfigError(
        'no ZooKeeper is found to start one: name a running one (zookeeper="host:port/chroot"), or '
        "the folder of an unpacked release in ZOOKEEPER_HOME, or of Apache Kafka up to 3.9 in KAFKA_HOME"
    )


def find_java(environment: Mapping[str, str] | None = None) -> str:
    """The Java of `JAVA_HOME`, or on the PATH.

    Raises:
        ConfigError: there is none.
    """
    environment = os.environ if environment is None else environment
    home = environment.get("JAVA_HOME")
    java = shutil.which(os.path.join(home, "bin", "java") if home else "java", path=environment.get("PATH"))
    if java is None:
        where = f"in JAVA_HOME ({home})" if home else "on the PATH, nor a JAVA_HOME"
        raise ConfigError(f"ZooKeeper needs Java: there is no java {where}")
    return java


class ZooKeeper:
    """One server; use as a context manager. It ends when this process does, however that ends.

    Args:
        folder: of its data, its settings and its log; kept.
        class_path: of its jars; what `find_server` finds, if None.
        settings: more lines of its zoo.cfg.
        jvm: more options of Java.

    Attributes:
        address: "host:port", the same in each of its lives.
    """

    def __init__(
        self, folder: str, *, class_path: str | None = None, settings: str = "", jvm: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.port = free_ports(1)[0]
        self.address = f"127.0.0.1:{self.port}"
        self._class_path = class_path
        self._settings = settings
        self._jvm = jvm
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def start(self) -> ZooKeeper:
        """Start it; returns when it answers.

        Raises:
            ConfigError: there is no Java or no ZooKeeper, or it ended.
        """
        assert self._process is None, "ZooKeeper runs already"
        class_path = find_server() if self._class_path is None else self._class_path
        command = [find_java(), "-Xmx128m", "-XX:TieredStopAtLevel=1", *self._jvm, "-cp", class_path]
        os.makedirs(self.folder, exist_ok=True)
        settings = os.path.join(self.folder, "zoo.cfg")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(_SETTINGS.format(folder=os.path.join(self.folder, "data"), port=self.port))
            file.write(self._settings)
        log = self._log = open(os.path.join(self.folder, "log"), "ab")  # noqa: SIM115
        command += ["org.apache.zookeeper.server.quorum.QuorumPeerMain", settings]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _UNTIL_STDIN_ENDS, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for us; what needs the server has to be stopped before.
            start_new_session=True,
        )
        try:
            self._wait_ready(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None, "ZooKeeper does not run"
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._process is not None

    def pause(self) -> None:
        """SIGSTOP: connections stay, nobody gets an answer, no session ends."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> None:
        """End it as `kill -9` does, which loses nothing; `start` goes on with its data."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.kill()
            process.stdin.close()
            process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def __enter__(self) -> ZooKeeper:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not _answers(self.port):
            if process.poll() is not None:
                raise ConfigError(f"ZooKeeper ended: {self._last_words()}")
            if time.monotonic() > deadline:
                raise ConfigError(f"ZooKeeper does not answer within {_PATIENCE_S:.0f} s")
            time.sleep(_PAUSE_S)

    def _last_words(self) -> str:
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            lines = log.read().split("\n")
        lines = [line.strip() for line in lines if line.strip()]
        return lines[-1] if lines else "without a word"


def _answers(port: int) -> bool:
    """`srvr` is the one word that every server answers."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
        connection.sendall(b"srvr")
        return bool(connection.recv(1))
    return False


def connect_pieces(connect: str) -> tuple[list[tuple[str, int]], str]:
    """Servers and chroot of a zookeeper.connect.

    Raises:
        ConfigError: it cannot be one.
    """
    servers, chroot = split_connect(connect)
    return [_host_port(each.strip()) for each in servers.split(",")], chroot


def _host_port(server: str) -> tuple[str, int]:
    host, colon, port = server.rpartition(":")
    return (host.strip("[]"), int(port)) if colon else (server, _PORT)
