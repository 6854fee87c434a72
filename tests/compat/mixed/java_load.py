"""Java's idempotent producer with five requests under way, through faults, and what it must leave behind."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

from tests.compat.mixed.load import read_all
from tests.compat.mixed.mixed_cluster import JAVA, KAFKA
from tests.doubles import wait_until
from tests.needs import cache_folder
from tools.kafka_jars import class_path

_SETTINGS = {
    "enable.idempotence": "true",
    "max.in.flight.requests.per.connection": 5,
    "batch.size": 1,  # a batch of one record, so that several requests are under way
    "linger.ms": 0,
    "retries": 2**31 - 1,  # the tool itself would set none
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 200,
    "reconnect.backoff.ms": 50,
    "delivery.timeout.ms": 120_000,
}
_RECORDS_PER_S = 300


class JavaLoad:
    """Apache Kafka's VerifiableProducer of 4.4 with acks=all until the end of the block, in a process.

    It sends the numbers from 0 on and tells of each record where it is.
    """

    def __init__(self, folder: Path, bootstrap: str, topic: str, partitions: int = 1) -> None:
        self.topic, self.partitions = topic, partitions
        self.acknowledged: dict[tuple[int, int], int] = {}
        self.failed: list[str] = []
        self._settings = folder / "java-producer.properties"
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in _SETTINGS.items()))
        self._bootstrap = bootstrap
        self._told = (folder / "java-producer.log").open("wb")
        self._thread = threading.Thread(target=self._listen)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> JavaLoad:
        command = [
            *JAVA,
            "-cp",
            class_path(cache_folder(), KAFKA),
            "org.apache.kafka.tools.VerifiableProducer",
        ]
        command += ["--bootstrap-server", self._bootstrap, "--topic", self.topic, "--acks", "-1"]
        command += ["--throughput", str(_RECORDS_PER_S), "--producer.config", str(self._settings)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._told, text=True
        )
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process is not None
        self._process.terminate()  # it sends what it has, and waits for the answers
        try:
            self._process.wait(90)
        finally:
            self._process.kill()
            self._thread.join(30)
            self._told.close()

    def _listen(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line) if line.startswith("{") else {}
            if told.get("name") == "producer_send_success":
                self.acknowledged[told["partition"], told["offset"]] = int(told["value"])
            elif told.get("name") == "producer_send_error":
                self.failed.append(line)

    def wait_for_more(self, count: int = 50, patience_s: float = 60) -> None:
        """Until so many more were acknowledged."""
        wanted = len(self.acknowledged) + count
        wait_until(lambda: len(self.acknowledged) >= wanted, "more records of Java's producer", patience_s)

    def check(self, bootstrap: str) -> None:
        """All that was sent is there, where it was said to be, once, and in order."""
        assert not self.failed, self.failed[:3]
        found = {
            place: int(value) for place, value in read_all(bootstrap, self.topic, self.partitions).items()
        }
        wrong = [place for place, value in self.acknowledged.items() if found.get(place) != value]
        assert not wrong, f"lost or changed: {wrong[:5]} of {len(self.acknowledged)}"
        assert sorted(found.values()) == list(range(len(found))), "lost or doubled"
        for partition in range(self.partitions):
            values = [found[place] for place in sorted(found) if place[0] == partition]
            assert values == sorted(values), f"out of order in partition {partition}"
