"""What a coordinator has just made is appended in one go: the log is as if it had been checked and staged."""

from __future__ import annotations

import random

import pytest

from kbroker.errors import ApiError
from kbroker.storage.disk import StorageError
from kbroker.storage.log import AppendOrigin, Log
from kbroker.storage.log_append import append_own
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk
from tests.storage.world import NOW_MS, TOPIC_ID, TP, batch, idempotent, manager, offsets


def state(disk: MemoryDisk, log: Log) -> object:
    """All that an append changes."""
    active, recent = log._active, log._recent
    files = {path: bytes(inode.data) for path, inode in disk._files.items() if not path.endswith(".lock")}
    return (
        (log.log_end_offset, log.staged_end_offset, log._staged_position, log.producers.end_offset),
        (len(log.segments), active.size, active.max_timestamp, active.max_timestamp_offset),
        (
            active.bytes_since_index_entry,
            list(recent.lasts),
            list(recent.positions),
            recent.end,
            recent.floor,
        ),
        (log.counts.bytes, log.counts.messages, log.epochs.latest),
        files,
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_log_is_the_same(seed: int) -> None:
    chance = random.Random(seed)
    config = {
        "segment_bytes": chance.choice([700, 3000, 1 << 20]),
        "index_interval_bytes": chance.choice([0, 200, 4096]),
        "segment_ms": chance.choice([50, 1 << 40]),
    }
    disks = [MemoryDisk(), MemoryDisk()]
    one, other = (
        manager(disk, **config).get_or_create(TP, TOPIC_ID, LogConfig(**config), NOW_MS) for disk in disks
    )
    now, epoch = NOW_MS, 0
    for _ in range(60):
        now += chance.choice([0, 0, 1, 30])
        epoch += chance.random() < 0.05
        values = [b"v" * chance.randrange(80)] * chance.choice([1, 1, 1, 3])
        timestamp = now - chance.choice([0, 0, 5])
        if chance.random() < 0.2:  # something else's, which still waits to be written or is written
            for log in (one, other):
                log.append_as_leader(batch(*values, timestamp=timestamp), epoch, now)
        made = [bytearray(batch(*values, timestamp=timestamp)) for _ in range(2)]
        first = append_own(one, made[0], len(values) - 1, timestamp, epoch, now)
        result = other.append_as_leader(memoryview(made[1]), epoch, now, AppendOrigin.COORDINATOR)
        other.flush_staged()
        assert first == result.base_offset
        assert state(disks[0], one) == state(disks[1], other)


@pytest.mark.parametrize("spare", [0, 30])
def test_what_does_not_fit_on_the_disk_is_taken_back(spare: int) -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    log.append_as_leader(idempotent(0), 0, NOW_MS)
    log.flush_staged()
    size = log.segments.active.size
    disk.capacity_bytes = sum(len(inode.data) for inode in disk._files.values()) + spare
    for _ in range(2):
        with pytest.raises(StorageError):
            append_own(log, bytearray(batch(b"x" * 50)), 0, NOW_MS, 0, NOW_MS)
        assert (log.log_end_offset, log.staged_end_offset, log.segments.active.file().size()) == (1, 1, size)
        assert (log.counts.messages, log.segments.active.size) == (1, size)
    disk.capacity_bytes = 1 << 30
    logs.tick_room(0)
    assert append_own(log, bytearray(batch(b"x" * 50)), 0, NOW_MS, 0, NOW_MS) == 1
    assert offsets(log) == [0, 1]
    assert log.producers.entries[7].last_sequence == 0


def test_too_large_is_refused() -> None:
    for config in ({"max_message_bytes": 100}, {"segment_bytes": 100}):
        log = manager(**config).get_or_create(TP, TOPIC_ID, LogConfig(**config), NOW_MS)
        with pytest.raises(ApiError):
            append_own(log, bytearray(batch(b"x" * 200)), 0, NOW_MS, 0, NOW_MS)
        assert log.staged_end_offset == 0
