"""Power cuts: whatever was synced is there, and the rest is a prefix, wherever the cut strikes."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from kbroker.protocol.record_batch import check_crc, decode_records, iter_batches
from kbroker.storage import producer_snapshot
from kbroker.storage.data_sync import DataSync
from kbroker.storage.log import AppendOrigin, Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.storage.world import NOW_MS, TOPIC_ID, TP, batch, idempotent, manager, marker

CONFIG = {"segment_bytes": 700, "index_interval_bytes": 100, "file_delete_delay_ms": 0}


class PowerCut(BaseException):
    """Not an OSError: nothing may catch it."""


@dataclass
class Promise:
    """What had been acknowledged as durable when the power went."""

    durable_end: int = 0
    written: list[tuple[int, int, int]] = None
    log_start: int = 0
    epoch: int = 0
    #: What `written` was before each truncation; a cut that was not synced may be undone.
    before: list[list[tuple[int, int, int]]] = field(default_factory=list)


def work(disk: MemoryDisk, promise: Promise, seed: int) -> None:
    """Everything that writes, in an order drawn from the seed."""
    rng = random.Random(seed)
    promise.written = []
    logs = manager(disk, **CONFIG)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)
    sequence = 0
    for step in range(25):
        action = rng.randrange(12)
        if action < 6:
            count = rng.randint(1, 3)
            transactional = step % 8 < 4
            if rng.random() < 0.5:
                records = idempotent(sequence, count, transactional=transactional)
                sequence += count
            else:
                records = batch(*[bytes(rng.randrange(120))] * count, timestamp=NOW_MS + step)
            header = next(iter_batches(records))
            if transactional or log.producers.first_unstable is None or header.producer_id < 0:
                start = log.staged_end_offset
                promise.written.append((start, start + count - 1, header.crc))
                log.append_as_leader(records, promise.epoch, NOW_MS)
            else:
                sequence -= count
                start = log.staged_end_offset
                end_of_txn = marker(7, 0, abort=rng.random() < 0.5)
                promise.written.append((start, start, next(iter_batches(end_of_txn)).crc))
                log.append_as_leader(end_of_txn, promise.epoch, NOW_MS, AppendOrigin.COORDINATOR)
            log.flush_staged()
            log.high_watermark = log.log_end_offset
        elif action < 8:
            promise.durable_end = max(promise.durable_end, log.fsync())
        elif action == 8:
            logs.tick_recovery_points()
        elif action == 9:
            promise.epoch += 1
            log.assign_epoch(promise.epoch, log.log_end_offset)
        elif action == 10 and log.log_end_offset > 4:
            start = log.delete_records_to(rng.randrange(log.log_end_offset // 2 + 1))
            promise.log_start = start
            log.delete_old_segments(NOW_MS)
            logs.tick_removals(NOW_MS + 10)
        elif action == 11 and log.producers.first_unstable is None:
            promise.before.append(list(promise.written))
            # A cut that keeps a whole batch's end and does not touch the producer's sequence.
            ends = [last + 1 for first, last, _ in promise.written if last >= promise.log_start]
            end = rng.choice(ends) if ends else promise.log_start
            promise.durable_end = min(promise.durable_end, end)
            promise.written = [b for b in promise.written if b[1] < end]
            log.truncate_to(end)
            entry = log.producers.entries.get(7)
            sequence = entry.last_sequence + 1 if entry else 0
        else:
            logs.tick_high_watermarks()
    if rng.random() < 0.3:
        logs.close(9)
        promise.durable_end = log.log_end_offset


def steps_of(seed: int) -> int:
    disk = MemoryDisk()
    work(disk, Promise(), seed)
    return disk.steps


def check(log: Log, promise: Promise) -> None:
    """A prefix that holds all that is durable, with producers and epochs as the batches tell."""
    found = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        part = log.read(offset, 1 << 20, log.log_end_offset)
        assert part.parts
        data = part.parts[0].read()
        for header in iter_batches(data):
            assert check_crc(data, header)
            found.append((header.base_offset, header.last_offset, header.crc))
        offset = part.next_offset
    assert log.log_end_offset >= promise.durable_end
    assert log.log_start_offset <= promise.log_start
    versions = [
        [b for b in written if log.log_start_offset <= b[1] < log.log_end_offset]
        for written in (promise.written, *promise.before)
    ]
    assert found in versions
    assert log.log_end_offset == (found[-1][1] + 1 if found else log.log_start_offset)


@pytest.mark.parametrize("seed", range(12))
def test_a_cut_at_any_operation(seed: int) -> None:
    rng = random.Random(seed)
    total = steps_of(seed)
    for cut_at in sorted(rng.sample(range(1, total + 1), min(25, total))):
        disk, promise = MemoryDisk(), Promise()

        def cut(operation: str, path: str, disk: MemoryDisk = disk, cut_at: int = cut_at) -> None:
            if disk.steps == cut_at:
                raise PowerCut

        disk.on_step = cut
        with suppress(PowerCut):
            work(disk, promise, seed)
        for tail in Tail:
            after = disk.crash(tail, rng.randrange)
            where = f"seed {seed}, operation {cut_at} of {total}, tail {tail.value}"
            logs = manager(after, **CONFIG)
            log = logs.get(TP)
            if log is None:
                assert promise.durable_end == 0, where
                continue
            log.high_watermark = log.log_end_offset
            try:
                check(log, promise)
                twice(after, log)
            except AssertionError as error:
                raise AssertionError(f"{where}: {error}") from error


def twice(disk: MemoryDisk, first: Log) -> None:
    """Recovery comes to the same result again, and the log can be written afterwards."""
    again = manager(disk.crash(Tail.KEPT), **CONFIG).get(TP)
    again.high_watermark = again.log_end_offset
    assert (again.log_start_offset, again.log_end_offset) == (first.log_start_offset, first.log_end_offset)
    assert producer_snapshot.encode(again.producers) == producer_snapshot.encode(first.producers)
    assert again.producers.first_unstable == first.producers.first_unstable
    assert again.epochs.entries() == first.epochs.entries()
    end = again.log_end_offset
    again.append_as_leader(batch(b"after"), 99, NOW_MS)
    again.flush_staged()
    again.high_watermark = again.log_end_offset
    assert again.read(end, 1 << 20, end + 1).size > 0


def test_a_failed_write_takes_the_directory_offline() -> None:
    """What a failed write or fsync left is unknown, so it is not tried again."""
    from kbroker.storage.disk import StorageError

    for operation in ("write", "sync"):
        disk = MemoryDisk()
        logs = manager(disk, **CONFIG)
        log = logs.get_or_create(TP, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)
        log.append_as_leader(batch(b"a"), 0, NOW_MS)
        log.flush_staged()

        def fail(op: str, path: str, operation: str = operation) -> None:
            if op == operation and path.endswith(".log"):
                raise OSError(5, "Input/output error")

        disk.on_step = fail
        log.append_as_leader(batch(b"b"), 0, NOW_MS)
        with pytest.raises(StorageError):
            log.flush_staged() if operation == "write" else log.fsync()
        disk.on_step = None
        assert logs.dirs[0].offline
        assert log.recovery_point == 0
        for attempt in (
            lambda log=log: log.append_as_leader(batch(b"c"), 0, NOW_MS),
            lambda log=log: log.read(0, 100, 1),
            lambda log=log: log.fsync(),
            lambda logs=logs: logs.get_or_create(TP._replace(partition=1), TOPIC_ID, LogConfig(), NOW_MS),
        ):
            with pytest.raises(StorageError):
                attempt()
        logs.close(5)
        assert not disk.exists("/data/.kafka_cleanshutdown")


def test_a_clean_stop_is_durable() -> None:
    disk = MemoryDisk()
    logs = manager(disk, **CONFIG)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)
    for sequence in range(30):
        log.append_as_leader(idempotent(sequence), 2, NOW_MS)
    logs.close(77)
    again = manager(disk.crash(Tail.LOST), **CONFIG)
    assert again.previous_broker_epoch == 77
    log = again.get(TP)
    assert (log.log_end_offset, log.topic_id, log.recovery_point) == (30, TOPIC_ID, 30)
    assert log.producers.entries[7].last_sequence == 29
    assert log.epochs.entries() == [(2, 0)]
    # It counts only once.
    assert manager(again._disk.crash(Tail.KEPT), **CONFIG).previous_broker_epoch == -1


@pytest.mark.parametrize("tail", Tail)
@pytest.mark.parametrize(("offset", "sync"), [(7, True), (7, False), (8, False), (9, False), (20, False)])
def test_a_cut_at_any_operation_of_a_truncation(tail: Tail, offset: int, sync: bool) -> None:
    """What was synced before is there up to the cut, then it ends, or goes on as before; there is no hole.

    Without `sync` some of what was cut off may come back behind what was written over it. Then the log says
    that it is of the epoch of before, which ends at the cut in the leader's log, and is cut there again.
    """
    cut_at = 0
    while True:
        cut_at += 1
        disk = MemoryDisk()
        logs = manager(disk, segment_bytes=300)
        log = logs.get_or_create(TP, TOPIC_ID, LogConfig(segment_bytes=300), NOW_MS)
        for number in range(20):
            log.append_as_leader(batch(b"%d" % number), 0, NOW_MS)
            log.flush_staged()
        log.fsync()
        logs.tick_recovery_points()
        start = disk.steps

        def cut(operation: str, path: str, disk: MemoryDisk = disk, at: int = start + cut_at) -> None:
            if disk.steps == at:
                raise PowerCut

        disk.on_step = cut
        done = False
        with suppress(PowerCut):
            log.truncate_to(offset, sync=sync)
            log.assign_epoch(1, offset)
            for number in range(4):
                log.append_as_leader(batch(b"%d of 1" % number), 1, NOW_MS)
                log.flush_staged()
                if sync or number > 2:
                    make_durable(log, number)
            done = True
        again = manager(disk.crash(tail, random.Random(cut_at).randrange), segment_bytes=300).get(TP)
        found = values_of(again)
        old, new = [b"%d" % n for n in range(20)], [b"%d" % n for n in range(offset)]
        new += [b"%d of 1" % n for n in range(4)]
        assert found[:offset] == old[:offset], cut_at
        if not sync and again.epochs.latest == 0:
            found = found[:offset]
        assert found in (old[: len(found)], new[: len(found)]), cut_at
        if done:
            assert found == new
            break


@pytest.mark.parametrize("number", [0, 1])
def test_what_is_durable_behind_a_segment_that_was_cut_does_not_meet_what_was_cut_off(number: int) -> None:
    """The segment ends where the next one begins: both are synced, or the next one would be out of place."""
    disk = MemoryDisk()
    logs = manager(disk, segment_bytes=300)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(segment_bytes=300), NOW_MS)
    for value in range(20):
        log.append_as_leader(batch(b"%d" % value), 0, NOW_MS)
        log.flush_staged()
    log.fsync()
    logs.tick_recovery_points()
    offset = next(base for base in log.segments.bases if base > 8) - 2
    log.truncate_to(offset, sync=False)
    log.append_as_leader(batch(bytes(170)), 1, NOW_MS)
    log.flush_staged()
    assert log.segments.active.base_offset == offset
    make_durable(log, number)
    again = manager(disk.crash(Tail.LOST), segment_bytes=300).get(TP)
    assert again.log_end_offset == offset + 1
    assert values_of(again) == [*(b"%d" % value for value in range(offset)), bytes(170)]
    assert again.epochs.entries() == [(0, 0), (1, offset)]


def test_84_a_log_that_lost_all_but_its_start_knows_of_no_epoch() -> None:
    """Epochs of before would have it cut below its start, and fetch again what was deleted."""
    disk = MemoryDisk()
    logs = manager(disk, segment_bytes=300)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(segment_bytes=300), NOW_MS)
    for value in range(12):
        log.append_as_leader(batch(b"%d" % value), value // 5, NOW_MS)
        log.flush_staged()
        if value == 6:
            log.fsync()
    log.high_watermark = 12
    log.delete_records_to(11)
    logs.checkpoint_log_starts()
    again = manager(disk.crash(Tail.LOST), segment_bytes=300).get(TP)
    assert (again.log_start_offset, again.log_end_offset) == (11, 11)
    assert again.epochs.entries() == []


def make_durable(log: Log, number: int) -> None:
    """As for a recovery point, or as for an acknowledgement."""
    if number % 2:
        sync = DataSync(log)
        sync.run()
        sync.finish()
    else:
        log.fsync()


def values_of(log: Log) -> list[bytes]:
    found = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        part = log.read(offset, 1 << 20, log.log_end_offset)
        data = part.parts[0].read()
        found += [record.value for header in iter_batches(data) for record in decode_records(data, header)]
        offset = part.next_offset
    return found
