"""A full disk: what does not fit is taken back whole, the rest stays readable, appends go on with room."""

from __future__ import annotations

import errno
import random

import pytest

from kbroker.errors import ErrorCode
from kbroker.storage import producer_snapshot
from kbroker.storage.disk import StorageError
from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_dir import ROOM_BYTES
from kbroker.storage.memory_disk import MemoryDisk, Tail
from kbroker.types import TopicPartition
from tests.storage.world import NOW_MS, TOPIC_ID, TP, append, batch, idempotent, manager, marker, offsets

CONFIG = {"segment_bytes": 2000, "index_interval_bytes": 100, "file_delete_delay_ms": 0}


def new_log(disk):
    logs = manager(disk, **CONFIG)
    return logs, logs.get_or_create(TP, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)


def used(disk):
    return disk.capacity_bytes - disk.free_bytes("/")


def fill(disk, spare=0):
    """From now on only `spare` bytes are free."""
    disk.capacity_bytes = sum(len(inode.data) for inode in disk._files.values()) + spare


def make_room(disk, logs):
    disk.capacity_bytes = 1 << 30
    logs.tick_room(0)


def test_a_short_write_is_cut_back_and_appends_go_on_when_there_is_room() -> None:
    disk = MemoryDisk()
    logs, log = new_log(disk)
    append(log, idempotent(0))
    size = log.segments.active.size
    fill(disk, spare=30)
    log.append_as_leader(idempotent(1), 0, NOW_MS)
    with pytest.raises(StorageError) as caught:
        log.flush_staged()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "full" in caught.value.message
    assert not log.directory.offline
    assert (log.log_end_offset, log.staged_end_offset, log.segments.active.file().size()) == (1, 1, size)
    assert offsets(log) == [0]
    for origin in (AppendOrigin.CLIENT, AppendOrigin.COORDINATOR):
        with pytest.raises(StorageError):
            log.append_as_leader(idempotent(1), 0, NOW_MS, origin)
    logs.tick_room(0)
    with pytest.raises(StorageError):
        log.append_as_leader(idempotent(1), 0, NOW_MS)
    make_room(disk, logs)
    # The producer's state was taken back, too: the retry is not a duplicate.
    assert append(log, idempotent(1)) == 1
    assert offsets(log) == [0, 1]
    after = manager(disk.crash(Tail.KEPT), **CONFIG).get(TP)
    assert (after.log_end_offset, after.producers.entries[7].last_sequence) == (2, 1)


def test_metadata_are_appended_as_long_as_the_disk_takes_them() -> None:
    """Who makes room by deleting a topic changes metadata."""
    disk = MemoryDisk()
    logs, log = new_log(disk)
    append(log, batch(b"x"))
    fill(disk)
    for _ in range(2):
        with pytest.raises(StorageError):
            append(log, batch(b"y"), origin=AppendOrigin.RAFT)
    fill(disk, spare=1000)
    logs.tick_room(0)
    with pytest.raises(StorageError):
        append(log, batch(b"y"))
    assert append(log, batch(b"y"), origin=AppendOrigin.RAFT) == 1
    log.directory.fail_for_good(OSError(errno.EIO, "gone"))
    with pytest.raises(StorageError):
        append(log, batch(b"z"), origin=AppendOrigin.RAFT)


def test_the_first_batch_of_a_partition() -> None:
    disk = MemoryDisk()
    logs, log = new_log(disk)
    fill(disk, spare=10)
    with pytest.raises(StorageError):
        append(log, batch(b"x"))
    make_room(disk, logs)
    assert append(log, batch(b"x")) == 0
    assert offsets(log) == [0]


def test_what_was_staged_before_a_roll_is_not_lost_silently() -> None:
    disk = MemoryDisk()
    _, log = new_log(disk)
    append(log, batch(b"x" * 1500))
    fill(disk)
    log.append_as_leader(batch(b"y" * 100), 0, NOW_MS)
    with pytest.raises(StorageError):
        log.append_as_leader(batch(b"z" * 1000), 0, NOW_MS)  # rolls, and so writes y
    with pytest.raises(StorageError):
        log.flush_staged()  # whoever staged y hears of it
    log.flush_staged()
    assert (log.log_end_offset, offsets(log)) == (1, [0])


def test_clients_are_refused_below_the_minimum_and_others_are_not() -> None:
    disk = MemoryDisk()
    logs, log = new_log(disk)
    append(log, batch())
    disk.capacity_bytes = 10_000
    logs.tick_room(50_000)
    with pytest.raises(StorageError) as caught:
        log.append_as_leader(batch(), 0, NOW_MS)
    assert "kbroker.log.dir.min.free.bytes asks for 50000" in caught.value.message
    assert append(log, batch(), origin=AppendOrigin.COORDINATOR) == 1
    assert offsets(log) == [0, 1]
    log.delete_records_to(1)
    disk.capacity_bytes = 1 << 30
    logs.tick_room(50_000)
    assert append(log, batch()) == 2
    disk.capacity_bytes = 10_000
    logs.tick_room(50_000)
    logs.tick_room(0)  # the setting is taken back
    assert append(log, batch()) == 3


def test_full_stays_full_until_there_is_more_than_a_little_room() -> None:
    disk = MemoryDisk()
    logs, log = new_log(disk)
    fill(disk, spare=5)
    with pytest.raises(StorageError):
        append(log, batch())
    disk.capacity_bytes = used(disk) + ROOM_BYTES - 1
    logs.tick_room(0)
    with pytest.raises(StorageError):
        append(log, batch())
    disk.capacity_bytes = used(disk) + ROOM_BYTES
    logs.tick_room(0)
    append(log, batch())


def test_a_checkpoint_that_finds_no_room_keeps_the_old_one() -> None:
    disk = MemoryDisk()
    logs, log = new_log(disk)
    append(log, batch())
    log.fsync()
    logs.tick_recovery_points()
    before = disk.read_file("/data/recovery-point-offset-checkpoint")
    append(log, batch())
    log.fsync()
    fill(disk, spare=3)
    logs.tick_recovery_points()
    assert not log.directory.offline
    assert disk.read_file("/data/recovery-point-offset-checkpoint") == before
    make_room(disk, logs)
    logs.tick_recovery_points()
    assert disk.read_file("/data/recovery-point-offset-checkpoint") != before


def test_an_error_while_taking_back_is_a_failure() -> None:
    disk = MemoryDisk()
    _, log = new_log(disk)
    append(log, batch())
    fill(disk, spare=5)

    def fail(operation, path):
        if operation == "truncate":
            raise OSError(errno.EIO, "Input/output error")

    disk.on_step = fail
    with pytest.raises(StorageError):
        append(log, batch())
    assert log.directory.offline


@pytest.mark.parametrize("seed", range(40))
def test_no_instant_of_filling_up_loses_what_was_acknowledged(seed) -> None:
    """Against a list: fill, free, retry, roll, abort, crash."""
    rng = random.Random(seed)
    disk = MemoryDisk()
    logs, log = new_log(disk)
    model, sequence, transaction, aborted = [], 0, False, 0
    for _ in range(120):
        choice = rng.random()
        if choice < 0.15:
            fill(disk, spare=rng.randrange(400))
        elif choice < 0.35:
            make_room(disk, logs)
        elif choice < 0.4:
            logs.tick_recovery_points()
        value = bytes(rng.randrange(300))
        if transaction and rng.random() < 0.3:
            records, how = marker(7, 0, abort=True), {"origin": AppendOrigin.COORDINATOR}
        elif rng.random() < 0.5:
            records = idempotent(sequence, transactional=True)
            how = {}
        else:
            records, how = batch(value), {}
        try:
            base = append(log, records, **how)
        except StorageError:
            assert not log.directory.offline
            assert log.staged_end_offset == log.log_end_offset
        else:
            model.append(base)
            if how:
                transaction, aborted = False, aborted + 1
            elif records[43:51].hex() == (7).to_bytes(8, "big").hex():
                sequence, transaction = sequence + 1, True
        entry = log.producers.entries.get(7)
        assert (entry.last_sequence + 1 if entry is not None and sequence else 0) == sequence
        assert (log.producers.first_unstable is not None) >= transaction
    assert offsets(log) == model == list(range(len(model)))
    assert len(log.aborted_txns(0, log.log_end_offset)) == aborted
    for tail in (Tail.KEPT, Tail.TORN):
        after = manager(disk.crash(tail, rng.randrange), **CONFIG).get(TP)
        if tail is Tail.KEPT:
            after.high_watermark = after.log_end_offset
            assert offsets(after) == model
            assert producer_snapshot.encode(after.producers) == producer_snapshot.encode(log.producers)
            assert after.aborted_txns(0, after.log_end_offset) == log.aborted_txns(0, log.log_end_offset)


def test_new_partitions_go_where_there_is_room() -> None:
    logs = manager(MemoryDisk(), "/a", "/b")
    logs.dirs[0].note_full(OSError(errno.ENOSPC, "No space left on device"))
    made = [logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig()) for number in range(3)]
    assert {log.directory.path for log in made} == {"/b"}
    logs.dirs[1].note_full(OSError(errno.ENOSPC, "No space left on device"))
    assert logs.get_or_create(TopicPartition("t", 3), TOPIC_ID, LogConfig()).directory.path == "/a"
