"""A running broker compacts: readers get the last value of each key, at the offsets that they had."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.records import fetch, produce
from kbroker.protocol.record_codec import Record
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.doubles import wait_until

SETTINGS = {"log.cleaner.backoff.ms": 100, "log.segment.delete.delay.ms": 100}
TOPIC = {
    "cleanup.policy": "compact",
    "segment.bytes": 1 << 20,
    "min.cleanable.dirty.ratio": 0.01,
    "delete.retention.ms": 0,
}
TP = TopicPartition("t", 0)
NOW_MS = time.time_ns() // 1_000_000


def write(broker: Broker, number: int, keys: int, value_bytes: int = 20_000) -> dict[bytes, bytes]:
    """Rounds over the keys; every fifth key ends with a tombstone."""
    last: dict[bytes, bytes] = {}
    with Cluster(broker.bootstrap) as cluster:
        for i in range(number):
            key = b"key-%d" % (i % keys)
            value = None if i >= number - keys and i % 5 == 0 else b"%d:" % i + os.urandom(value_bytes)
            produce(cluster, TP, [Record(-1, NOW_MS, key, value)])
            last[key] = value
        # What closes the last segment of interest.
        for i in range(120):
            produce(cluster, TP, [Record(-1, NOW_MS, b"end-%d" % i, bytes(20_000))])
    return last


def read(broker: Broker) -> list[Record]:
    found: list[Record] = []
    offset, end = 0, 1
    with Cluster(broker.bootstrap) as cluster:
        while offset < end:
            records, offset, end = fetch(cluster, {TP: offset})[TP]
            found += records
    return found


@pytest.mark.parametrize("as_process", [False, True])
def test_only_the_last_values_stay(as_process):
    with Broker(subprocess=as_process, config=SETTINGS) as broker:
        broker.create_topic("t", config=TOPIC)
        last = write(broker, 300, 10)
        folder = Path(broker.data) / "t-0"

        def compacted():
            kept = [record for record in read(broker) if record.key.startswith(b"key-")]
            values = [record for record in kept if record.value is not None]
            return len(values) == 8 and len(kept) == 8

        wait_until(compacted)
        kept = {record.key: record.value for record in read(broker) if record.key.startswith(b"key-")}
        assert kept == {key: value for key, value in last.items() if value is not None}
        wait_until(lambda: not [name for name in os.listdir(folder) if name.endswith((".cleaned", ".swap"))])
        wait_until(lambda: b"t 0 " in (Path(broker.data) / "cleaner-offset-checkpoint").read_bytes())
        if as_process:
            broker.kill()
            broker.start()
        else:
            broker.restart()
        assert {r.key: r.value for r in read(broker) if r.key.startswith(b"key-")} == kept
        assert max(record.offset for record in read(broker)) == 300 + 119
