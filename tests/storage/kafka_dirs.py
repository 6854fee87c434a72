"""The log directories that Apache Kafka wrote (tests/data/disk), unpacked into a disk in memory."""

from __future__ import annotations

import gzip
import json
import tarfile
from functools import cache
from pathlib import Path

from kbroker.protocol.record_batch import check_crc, iter_batches
from kbroker.storage.log import Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.types import TopicPartition

DATA = Path(__file__).parent.parent / "data" / "disk"
#: Shortly after those brokers stopped.
NOW_MS = 1_795_973_400_000
FOR_EVER = 2**62
#: Its cleaner left an empty segment, where Kafka's look-up by time ends.
HIDES_LATER_SEGMENTS = TopicPartition("__consumer_offsets", 0)


def kafka_disk(name: str, variant: str = "base") -> MemoryDisk:
    """The archive under /data, with the variant's damage done."""
    disk = MemoryDisk()
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        for member in archive:
            directory = "/" + member.name.rpartition("/")[0]
            disk.make_dir(directory)
            file = disk.open("/" + member.name, create=True)
            file.write(0, archive.extractfile(member).read())
            file.sync()
            disk._files["/" + member.name].modified_ms = int(member.mtime * 1000)
            disk.sync_dir(directory)
    if variant != "base":
        for change in changes(name):
            if change["variant"] == variant:
                damage(disk, "/data/" + change["file"], change)
    return disk


def changes(name: str) -> list[dict]:
    """The damage of all variants."""
    return json.loads((DATA / f"{name}.changes.json").read_text())


def damage(disk: MemoryDisk, path: str, change: dict) -> None:
    """One entry of changes.json."""
    what = change["change"]
    if what.startswith("removed"):
        disk.remove(path)
        return
    file = disk.open(path)
    if what.startswith("every byte made zero"):
        file.write(0, bytes(file.size()))
    elif what.startswith("one byte flipped"):
        position = change["position"]
        file.write(position, bytes([file.read(position, 1)[0] ^ 0xFF]))
    elif change["new_size"] < change["old_size"]:
        file.truncate(change["new_size"])
    else:
        file.write(change["old_size"], bytes(change["new_size"] - change["old_size"]))


@cache
def kafka_says(name: str) -> dict:
    """What Kafka answered, by moment and partition."""
    with gzip.open(DATA / f"{name}.expected.json.gz") as file:
        return json.load(file)


def load(disk: MemoryDisk, directory: str = "/data", **config: object) -> LogManager:
    """Start on a directory."""

    def config_for(topic: str) -> LogConfig:
        interval = 4096 if topic.startswith("__") else 256
        return LogConfig(producer_id_expiration_ms=FOR_EVER, index_interval_bytes=interval, **config)

    manager = LogManager(disk, [directory], config_for)
    manager.lock()
    manager.load(NOW_MS)
    return manager


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
