"""Apache Kafka's kafka-dump-log reads the files that our broker writes, and has nothing to complain of."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.compat.conftest import BrokerUnderTest
from tests.compat.javatools import JavaTools
from tests.needs import need

pytestmark = pytest.mark.jvm

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def data(broker: BrokerUnderTest) -> Path:
    need(broker.data, "KBROKER_TEST_DATA, the data folder of the broker under test")
    assert broker.data is not None
    return broker.data


@pytest.fixture
def topic(java: JavaTools, bootstrap: str, name: str) -> str:
    """A topic of one partition with ten batches of each codec, finely indexed, read by a group."""
    server = ["--bootstrap-server", bootstrap, "--topic", name]
    settings = ["--config", "index.interval.bytes=100", "--config", "segment.bytes=1048576"]
    java.run("kafka-topics", *server, "--create", *settings).ok()
    for codec in CODECS:
        text = "".join(f"{codec} {i} {'x' * 100}\n" for i in range(10))
        sizes = ["--batch-size", "1", "--compression-codec", codec]
        java.run("kafka-console-producer", *server, *sizes, stdin=text).ok()
    read = ["--max-messages", 50, "--timeout-ms", 30000, "--from-beginning", "--group", name]
    assert len(java.run("kafka-console-consumer", *server, *read).ok().splitlines()) == 50
    return name


def dump(java: JavaTools, file: Path, *options: str) -> str:
    """The dump of one file; a complaint would be on standard error or among the lines."""
    done = java.run("kafka-dump-log", "--files", file, *options)
    out = done.ok()
    assert "Exception" not in out + done.err, done.err
    assert "invalid" not in out.lower().replace("isvalid", "")
    return out


def test_segment(java: JavaTools, data: Path, topic: str) -> None:
    folder = data / f"{topic}-0"
    out = dump(java, folder / "00000000000000000000.log", "--deep-iteration", "--print-data-log")
    assert "Log starting offset: 0" in out
    assert out.count("isvalid: true") == out.count("baseOffset: ") > 0
    assert re.findall(r"payload: (\w+) (\d+) ", out) == [(c, str(i)) for c in CODECS for i in range(10)]
    codecs = {"none": "none", "gzip": "gzip", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}
    assert set(re.findall(r"compresscodec: (\w+)", out)) == set(codecs.values())


def test_indexes(java: JavaTools, bootstrap: str, data: Path, topic: str) -> None:
    """Of a segment that is complete: in the one still written to, Kafka's own are full of zeros."""
    producer = Producer({"bootstrap.servers": bootstrap, "batch.num.messages": 10})
    for _ in range(1200):
        producer.produce(topic, b"x" * 1000, partition=0)
    producer.flush(30)
    first = data / f"{topic}-0" / "00000000000000000000.log"
    assert len(list(first.parent.glob("*.log"))) > 1
    offsets = dump(java, first.with_suffix(".index"))
    assert "mismatches" not in offsets.lower()
    assert offsets.count("offset: ") > 50
    times = dump(java, first.with_suffix(".timeindex"))
    assert "mismatch" not in times.lower()
    assert "timestamp: " in times
    for suffix in (".index", ".timeindex"):
        assert "passed sanity check" in dump(java, first.with_suffix(suffix), "--index-sanity-check")


def test_committed_offsets(java: JavaTools, data: Path, topic: str) -> None:
    [partition] = {
        folder
        for folder in data.glob("__consumer_offsets-*")
        for file in folder.glob("*.log")
        if topic.encode() in file.read_bytes()
    }
    out = dump(java, next(iter(sorted(partition.glob("*.log")))), "--offsets-decoder")
    assert f'"group":"{topic}"' in out
    assert f'"topic":"{topic}"' in out
    assert '"offset":50' in out


def test_cluster_metadata(java: JavaTools, data: Path, topic: str) -> None:
    folder = data / "__cluster_metadata-0"
    deadline = time.monotonic() + 10
    while True:
        logs = sorted(folder.glob("*.log"))
        out = "\n".join(dump(java, log, "--cluster-metadata-decoder") for log in logs)
        if f'"name":"{topic}"' in out:
            break
        assert time.monotonic() < deadline, "the topic's record is not in the log"
    assert '"type":"TOPIC_RECORD"' in out
    assert '"type":"PARTITION_RECORD"' in out
    assert '"type":"CONFIG_RECORD"' in out
    assert "LeaderChange" in out
    for snapshot in folder.glob("*.checkpoint"):
        out = dump(java, snapshot, "--cluster-metadata-decoder")
        assert "SnapshotHeader" in out
        assert "SnapshotFooter" in out
