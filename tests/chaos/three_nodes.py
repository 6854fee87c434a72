"""Three nodes, each broker and controller in a process of its own, that can be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from confluent_kafka.admin import AdminClient

from kbroker.testing.ports import free_ports

_CLUSTER_ID = "a2Jyb2tlci1jaGFvcy0wMQ"
_WAIT_SECONDS = 60


class ThreeNodes:
    """The cluster; use as a context manager.

    Args:
        folder: for the data, settings and logs of all.
    """

    def __init__(self, folder: Path, **settings: object) -> None:
        self._processes: dict[int, subprocess.Popen] = {}
        ports = free_ports(6)
        brokers, controllers = ports[:3], ports[3:]
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port in brokers)
        voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in enumerate(controllers, 1))
        self._folders = {number: folder / f"node-{number}" for number in (1, 2, 3)}
        for number, place in self._folders.items():
            place.mkdir(parents=True)
            listeners = f"PLAINTEXT://127.0.0.1:{brokers[number - 1]}"
            listeners += f",CONTROLLER://127.0.0.1:{controllers[number - 1]}"
            every = {
                "process.roles": "broker,controller",
                "node.id": number,
                "kbroker.cluster.id": _CLUSTER_ID,
                "controller.quorum.voters": voters,
                "controller.listener.names": "CONTROLLER",
                "listeners": listeners,
                "log.dirs": place / "data",
                "offsets.topic.replication.factor": 3,
                "transaction.state.log.replication.factor": 3,
                "transaction.state.log.min.isr": 2,
                "min.insync.replicas": 2,
                "group.initial.rebalance.delay.ms": 0,
            }
            text = "".join(f"{name}={value}\n" for name, value in (every | settings).items())
            (place / "server.properties").write_text(text)

    def __enter__(self) -> ThreeNodes:
        for number in self._folders:
            self.start(number)
        deadline = time.monotonic() + _WAIT_SECONDS
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while len(admin.list_topics(timeout=_WAIT_SECONDS).brokers) < len(self._folders):
            assert time.monotonic() < deadline, "the nodes do not find together"
            time.sleep(0.1)
        return self

    def __exit__(self, *failure: object) -> None:
        for number in list(self._processes):
            self.kill(number)

    def start(self, number: int) -> None:
        """Start a node that does not run; it is not waited for."""
        place = self._folders[number]
        command = [sys.executable, "-m", "kbroker.cli.main", "start"]
        with (place / "log").open("a") as log:
            self._processes[number] = subprocess.Popen(
                [*command, "--config", str(place / "server.properties")],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ,
            )

    def wait_in_sync(self) -> None:
        """Until every replica of every partition is in sync."""
        deadline = time.monotonic() + _WAIT_SECONDS
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while True:
            topics = admin.list_topics(timeout=_WAIT_SECONDS).topics.values()
            states = [state for topic in topics for state in topic.partitions.values()]
            if states and all(set(state.isrs) == set(state.replicas) for state in states):
                return
            assert time.monotonic() < deadline, "not all replicas are in sync"
            time.sleep(0.2)

    def kill(self, number: int) -> None:
        """As `kill -9`."""
        process = self._processes.pop(number)
        process.send_signal(signal.SIGKILL)
        process.wait()
