"""The two brokers of a comparison, fresh and with the same settings: Apache Kafka and kbroker."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from kbroker.testing import Broker
from tests.conformance.transcript import DEFAULT_PROPS
from tools.bench.brokers import Kafka

CLUSTER_ID = "a2JkaWZmZXJlbnRpYWwwMQ"
#: On top of those of the recorded conversations: nothing is deleted for its age (records are from 2023), and
#: nothing done from time to time, as each broker would have another time for it.
PROPS = {
    **DEFAULT_PROPS,
    "log.retention.ms": "-1",
    "log.initial.task.delay.ms": "100000000",
    "offsets.retention.check.interval.ms": "100000000",
    "producer.id.expiration.check.interval.ms": "100000000",
}
#: With `--authorizer`: access is asked for, and everybody may do everything, or the tester could not go on.
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
_NOTHING: Mapping[str, str] = MappingProxyType({})
_HEAP = "-Xmx512M -Xms256M"
_START_S = 180.0


class ReferenceKafka(Kafka):
    """Apache Kafka with the settings of the recorded conversations, on a given port and the one after it."""

    def __init__(self, cache: Path, port: int, more: Mapping[str, str]) -> None:
        super().__init__(cache)
        self.port = port
        settings = {
            **PROPS,
            **more,
            "controller.quorum.voters": f"1@127.0.0.1:{port + 1}",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{port + 1}",
            "log.dirs": self.folder / "data",
        }
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / "server.properties").write_text(text, encoding="utf-8")

    def prepare(self) -> None:
        """Format the data folder."""
        arguments = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c"]
        command = self._java("-Xmx256M", *arguments, str(self.folder / "server.properties"))
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)

    def command(self) -> list[str]:
        """With a small heap: a comparison is no load."""
        return self._java(_HEAP, "kafka.Kafka", str(self.folder / "server.properties"))


@contextlib.contextmanager
def running_kafka(cache: Path, port: int, more: Mapping[str, str] = _NOTHING) -> Iterator[str]:
    """A fresh Apache Kafka with `more` settings; its host:port.

    Raises:
        RuntimeError: it did not start.
    """
    kafka = ReferenceKafka(cache, port, more)
    try:
        kafka.prepare()
        kafka.start()
        end = time.monotonic() + _START_S
        while not _listens(kafka.address):
            kafka.check_alive()
            if time.monotonic() > end:
                raise RuntimeError("Kafka does not listen")
            time.sleep(0.2)
        yield kafka.bootstrap
    finally:
        kafka.remove()


@contextlib.contextmanager
def running_kbroker(more: Mapping[str, str] = _NOTHING) -> Iterator[str]:
    """A fresh kbroker with `more` settings in a process of its own; its host:port."""
    config = {**PROPS, **more, "kbroker.cluster.id": CLUSTER_ID, "kbroker.compatibility": "4.4"}
    with Broker(config=config, profile="production", subprocess=True) as broker:
        yield broker.bootstrap


def _listens(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, 1).close()
    except OSError:
        return False
    return True
