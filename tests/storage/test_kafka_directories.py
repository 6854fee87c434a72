"""kbroker starts on directories that Apache Kafka wrote and tells of them what Kafka told."""

from __future__ import annotations

from hashlib import sha256

import pytest

from kbroker.protocol.record_batch import check_crc, iter_batches
from kbroker.storage.log import Log
from kbroker.types import TopicPartition, uuid_to_string
from tests.storage.kafka_dirs import kafka_disk, kafka_says, load

CRASHED = "kafka-4.4.0-crashed"
SINGLE = "kafka-4.4.0-single"
#: Its cleaner left an empty segment, where Kafka's look-up by time ends.
HIDES_LATER_SEGMENTS = TopicPartition("__consumer_offsets", 0)


def read_all(log: Log, end: int, max_bytes: int = 1 << 20) -> list[list[int]]:
    """[base offset, last offset, crc, size] of every batch."""
    found = []
    offset = log.log_start_offset
    while offset < end:
        part = log.read(offset, max_bytes, end)
        if not part.parts:
            break
        data = part.parts[0].read()
        for header in iter_batches(data):
            assert check_crc(data, header)
            found.append([header.base_offset, header.last_offset, header.crc, header.size])
        offset = part.next_offset
    return found


def producers(log: Log) -> dict[int, tuple]:
    return {
        entry.producer_id: (
            entry.epoch,
            entry.last_sequence,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.current_txn_first_offset,
        )
        for entry in log.producers.entries.values()
    }


def kafka_producers(says: dict) -> dict[int, tuple]:
    def number(value: int | None) -> int:
        return -1 if value is None else value

    return {
        p["producerId"]: (
            p["producerEpoch"],
            p["lastSequence"],
            p["lastTimestamp"],
            number(p["coordinatorEpoch"]),
            number(p["currentTransactionStartOffset"]),
        )
        for p in says["producers"] or ()
    }


def check(log: Log, says: dict) -> None:
    """Everything that Kafka's clients could ask of the partition."""
    assert (log.log_start_offset, log.log_end_offset) == (says["earliest"], says["latest"])
    log.high_watermark = log.log_end_offset
    assert log.last_stable_offset == says["lastStable"]
    for max_bytes in (1 << 20, 1000):
        assert read_all(log, log.log_end_offset, max_bytes) == says["batches"]
    assert producers(log) == kafka_producers(says)
    for answer in says["offsetForLeaderEpoch"]:
        epoch, end = log.end_offset_for_epoch(answer["ask"])
        assert (epoch, end) == (answer["leaderEpoch"], answer["endOffset"])
    for answer in says["offsetsForTimes"]:
        found = log.offset_for_timestamp(answer["ask"], log.log_end_offset)
        if answer["offset"] < 0 and log.topic_partition == HIDES_LATER_SEGMENTS:
            continue
        expected = None if answer["offset"] < 0 else (answer["timestamp"], answer["offset"])
        assert (found and found[:2]) == expected
    newest = log.max_timestamp_offset()
    assert (newest and (newest.offset, newest.timestamp)) == (
        None
        if says["maxTimestamp"]["offset"] < 0
        else (says["maxTimestamp"]["offset"], says["maxTimestamp"]["timestamp"])
    )
    for fetch in says["readCommitted"]:
        aborted = log.aborted_txns(fetch["fetchOffset"], fetch["nextOffset"])
        assert [(txn.producer_id, txn.first_offset) for txn in aborted] == [
            (txn["producerId"], txn["firstOffset"]) for txn in fetch["aborted"]
        ]


def partitions(name: str, moment: str) -> list[str]:
    return sorted(name for name, says in kafka_says(name)[moment].items() if "batches" in says)


@pytest.mark.parametrize("name", partitions(SINGLE, "client.json"))
def test_a_cleanly_stopped_directory(name: str) -> None:
    says = kafka_says(SINGLE)["client.json"][name]
    topic, _, partition = name.rpartition("-")
    manager = load(kafka_disk(SINGLE))
    log = manager.get(TopicPartition(topic, int(partition)))
    assert manager.previous_broker_epoch == 271
    assert uuid_to_string(log.topic_id) == says["topicId"]
    assert log.recovery_point == log.log_end_offset
    check(log, says)


@pytest.mark.parametrize("variant", ["base", "torn", "zeroed-index"])
def test_a_crashed_directory(variant: str) -> None:
    moment = f"{variant}/after-recovery/client.json"
    manager = load(kafka_disk(CRASHED, variant))
    assert manager.previous_broker_epoch == -1
    for name, says in kafka_says(CRASHED)[moment].items():
        topic, _, partition = name.rpartition("-")
        log = manager.get(TopicPartition(topic, int(partition)))
        # Kafka led in a new epoch when it was asked.
        log.assign_epoch(says["offsetForLeaderEpoch"][-1]["ask"], log.log_end_offset)
        check(log, says)


@pytest.mark.parametrize("variant", ["base", "torn"])
def test_recovery_writes_the_files_that_kafka_wrote(variant: str) -> None:
    """Byte for byte: segments, indexes, snapshots, epochs after recovery and a clean stop."""
    disk = kafka_disk(CRASHED, variant)
    manager = load(disk)
    for name, says in kafka_says(CRASHED)[f"{variant}/after-recovery/client.json"].items():
        topic, _, partition = name.rpartition("-")
        log = manager.get(TopicPartition(topic, int(partition)))
        log.assign_epoch(says["offsetForLeaderEpoch"][-1]["ask"], log.log_end_offset)
    manager.close()
    expected = kafka_says(CRASHED)[f"{variant}/files"]
    for path, digest in expected.items():
        assert sha256(disk.read_file(f"/data/{path}")).hexdigest() == digest, path
    for name in {path.partition("/")[0] for path in expected}:
        ours = {f"{name}/{e.name}" for e in disk.list_dir(f"/data/{name}") if not e.name.endswith(".deleted")}
        assert ours == {path for path in expected if path.startswith(name + "/")}


def test_a_start_and_stop_change_nothing() -> None:
    """A directory that Kafka stopped cleanly is the same after kbroker has been on it."""
    disk = kafka_disk(SINGLE)
    before = {path: bytes(inode.data) for path, inode in disk._files.items()}
    load(disk).close(271)
    for path, content in before.items():
        if path.endswith(".deleted") and not path.startswith("/data/doomed"):
            assert not disk.exists(path)
        elif path.endswith("offset-checkpoint"):
            assert sorted(disk.read_file(path).splitlines()) == sorted(content.splitlines())
        elif path.endswith(".snapshot") and not disk.exists(path):
            pass  # of an earlier boot; Kafka's next start would remove it, too
        else:
            assert disk.read_file(path) == content, path
