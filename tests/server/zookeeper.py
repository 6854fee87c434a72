"""A ZooKeeper server for tests: one JVM with its data in a folder, on a free port."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from pathlib import Path

from tests.doubles import wait_until
from tests.needs import cache_folder
from tools.kafka_jars import zookeeper_path

_CONFIG = """tickTime=100
minSessionTimeout=200
maxSessionTimeout=60000
dataDir={folder}
clientPortAddress=127.0.0.1
clientPort={port}
admin.enableServer=false
maxClientCnxns=0
forceSync=no
"""


class ZooKeeperServer:
    """`with ZooKeeperServer(folder) as server:` connect to server.address."""

    def __init__(self, folder, config="", jvm=()):
        self.folder = folder
        self.port = _free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._config = config
        self._jvm = jvm
        self._process = None

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        properties = self.folder / "zoo.cfg"
        properties.write_text(_CONFIG.format(folder=self.folder / "data", port=self.port) + self._config)
        self._log = open(self.folder / "log", "ab")  # noqa: SIM115
        command = [
            "java",
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            *self._jvm,
            "-cp",
            zookeeper_path(cache_folder()),
        ]
        self._process = subprocess.Popen(
            [*command, "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(properties)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + 60
        while not _answers(self.port):
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "ZooKeeper does not start"
            time.sleep(0.05)
        return self

    def pause(self):
        self._process.send_signal(signal.SIGSTOP)
        tasks = list(Path(f"/proc/{self._process.pid}/task").iterdir())
        wait_until(lambda: all(" T " in (task / "stat").read_text() for task in tasks), "a stopped server")

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._log.close()
            self._process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *details):
        self.stop()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
        connection.sendall(b"srvr")
        return bool(connection.recv(1))
    return False
