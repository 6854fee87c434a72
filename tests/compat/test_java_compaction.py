"""What our cleaner leaves on disk, read by Apache Kafka's kafka-dump-log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kbroker.testing import Broker
from tests.compat.javatools import JavaTools
from tests.doubles import wait_until

pytestmark = pytest.mark.jvm

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
TOPIC = {
    "cleanup.policy": "compact",
    "segment.bytes": 1 << 20,
    "index.interval.bytes": 1000,
    "min.cleanable.dirty.ratio": 0.01,
}


def test_compacted_segments(java: JavaTools, tmp_path: Path) -> None:
    with Broker(
        subprocess=True, data=str(tmp_path / "data"), config={"log.cleaner.backoff.ms": 100}
    ) as broker:
        broker.create_topic("t", config=TOPIC)
        for number, codec in enumerate([*CODECS, "none"]):
            producer = Producer(
                {
                    "bootstrap.servers": broker.bootstrap,
                    "compression.type": codec,
                    "enable.idempotence": True,
                    "batch.num.messages": 7,
                }
            )
            for i in range(900):
                value = (
                    None if i % 50 == 0 else b"%s %d " % (codec.encode(), i) + os.urandom(500).hex().encode()
                )
                # Each codec has keys of its own and supersedes some of the one before.
                producer.produce("t", key=b"%d" % (number * 60 + i % 100), value=value, partition=0)
            producer.flush(30)
        folder = Path(broker.data) / "t-0"
        checkpoint = Path(broker.data) / "cleaner-offset-checkpoint"

        def is_clean() -> bool:
            active = int(max(folder.glob("*.log")).stem)
            return checkpoint.exists() and checkpoint.read_text().endswith(f"\nt 0 {active}\n")

        wait_until(is_clean, "a compacted log", 60)
    # Stopped: nothing changes under the tool.
    seen = ""
    for log in sorted(folder.glob("*.log"))[:-1]:
        done = java.run("kafka-dump-log", "--files", log, "--deep-iteration", "--print-data-log")
        seen += done.ok()
        for index in (log.with_suffix(".index"), log.with_suffix(".timeindex")):
            out = java.run("kafka-dump-log", "--files", index)
            assert "mismatch" not in (out.ok() + out.err).lower()
    assert seen.count("baseOffset: ") == seen.count("isvalid: true") > 10
    assert {codec for codec in CODECS if f"compresscodec: {codec}" in seen} == set(CODECS)
    assert "deleteHorizonMs: OptionalLong[" in seen
