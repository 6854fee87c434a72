"""Moving a log to another directory: nothing is lost or doubled, whatever happens to it meanwhile."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from kbroker.storage.file_names import CHECKPOINTS
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_move import LogMove
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.storage.test_crash import PowerCut
from tests.storage.world import NOW_MS, TOPIC_ID, TP, append, batch, idempotent, manager, offsets

CONFIG = {"segment_bytes": 700, "index_interval_bytes": 100, "file_delete_delay_ms": 0}
HEX = "0123456789abcdef" * 2
DIRS = ("/a", "/b")


def world(disk):
    logs = manager(disk, *DIRS, **CONFIG)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)
    assert log.directory.path == "/a"
    return logs, log


def rounds(move, most_bytes=600):
    while not move.is_near:
        job = move.next_copy(most_bytes)
        job.run()
        move.note(job)


def prepare(logs, move):
    job = move.prepare()
    job.run()
    move.note(job)
    logs.announce(move)
    logs.tick_recovery_points()
    move.is_told = True


def start(logs, log):
    move = LogMove(log, logs.dirs[1], HEX)
    move.begin()
    return move


@pytest.fixture(autouse=True)
def little(monkeypatch):
    monkeypatch.setattr("kbroker.storage.log_move.FINISH_BYTES", 300)


def test_a_log_moves_with_all_it_knows() -> None:
    disk = MemoryDisk()
    logs, log = world(disk)
    for sequence in range(20):
        append(log, idempotent(sequence))
    log.delete_records_to(3)
    move = start(logs, log)
    job = move.next_copy(600)
    job.run()
    move.note(job)
    assert 0 < move.copied_bytes <= 600
    assert move.lag > 0
    append(log, idempotent(20))
    rounds(move)
    append(log, idempotent(21))
    moved = logs.finish_move(move)
    assert logs.get(TP) is moved
    assert (moved.directory.path, moved.path) == ("/b", f"/b/{TP}")
    assert offsets(moved) == list(range(3, 22))
    assert (moved.log_start_offset, moved.high_watermark, moved.durable_end) == (3, 22, 22)
    assert moved.topic_id == TOPIC_ID
    assert moved.append_as_leader(idempotent(18), 0, NOW_MS).duplicate
    assert append(moved, idempotent(22)) == 22
    assert [entry.name for entry in disk.list_dir("/a") if entry.is_dir] == [f"{TP}.{HEX}-delete"]
    logs.tick_removals(NOW_MS + 10)
    assert not [entry for entry in disk.list_dir("/a") if entry.is_dir]
    after = manager(disk.crash(Tail.KEPT), *DIRS, **CONFIG).get(TP)
    assert (after.directory.path, after.log_start_offset, after.log_end_offset) == ("/b", 3, 23)


def test_a_cut_or_a_deleted_segment_during_the_copy_is_seen() -> None:
    disk = MemoryDisk()
    logs, log = world(disk)
    for number in range(20):
        append(log, batch(b"%d" % number))
    move = start(logs, log)
    rounds(move)
    log.truncate_to(10)
    for number in range(5):
        append(log, batch(b"other %d" % number))
    log.delete_records_to(7)
    log.delete_old_segments(NOW_MS)
    rounds(move)
    expected = [log.read(offset, 1, log.log_end_offset).parts[0].read() for offset in offsets(log)]
    moved = logs.finish_move(move)
    assert [
        moved.read(offset, 1, moved.log_end_offset).parts[0].read() for offset in offsets(moved)
    ] == expected
    names = {entry.name for entry in disk.list_dir(moved.path) if entry.name.endswith(".log")}
    assert names == {f"{base:020d}.log" for base in moved.segments.bases}


def test_an_empty_log_moves() -> None:
    disk = MemoryDisk()
    logs, log = world(disk)
    move = start(logs, log)
    moved = logs.finish_move(move)
    assert append(moved, batch()) == 0
    assert manager(disk.crash(Tail.KEPT), *DIRS, **CONFIG).get(TP).directory.path == "/b"


def history(disk, promise, seed):
    rng = random.Random(seed)
    logs, log = world(disk)
    sequence = 0

    def write(log):
        nonlocal sequence
        append(log, idempotent(sequence) if rng.random() < 0.5 else batch(bytes(rng.randrange(200))))
        entry = log.producers.entries.get(7)
        sequence = entry.last_sequence + 1 if entry else 0
        promise["written"] = log.log_end_offset
        if rng.random() < 0.3:
            promise["durable"] = log.fsync()

    for _ in range(rng.randrange(1, 12)):
        write(log)
    if rng.random() < 0.5:
        start_offset = log.delete_records_to(rng.randrange(log.log_end_offset))
        logs.checkpoint_log_starts()
        promise["start"] = start_offset
    move = start(logs, log)
    for _ in range(rng.randrange(5)):
        job = move.next_copy(rng.randrange(100, 500))
        job.run()
        move.note(job)
        write(log)
    for _ in range(rng.randrange(3)):
        prepare(logs, move)
        if rng.random() < 0.5:
            write(log)
        if rng.random() < 0.2:
            start_offset = log.delete_records_to(rng.randrange(log.log_end_offset))
            logs.checkpoint_log_starts()
            promise["start"] = start_offset
        if rng.random() < 0.3:
            logs.tick_recovery_points()
    moved = logs.finish_move(move)
    promise["durable"] = promise["written"]
    for _ in range(rng.randrange(4)):
        write(moved)
    logs.tick_removals(NOW_MS + 10)
    logs.tick_recovery_points()
    write(moved)


def syncs(disk, work):
    found = []
    disk.on_step = lambda operation, path: found.append(operation) if "sync" in operation else None
    try:
        return work(), found
    finally:
        disk.on_step = None


def test_the_last_step_waits_for_the_disk_three_times_if_all_is_prepared() -> None:
    disk = MemoryDisk()
    logs, log = world(disk)
    for sequence in range(25):
        append(log, idempotent(sequence))
    move = start(logs, log)
    rounds(move)
    prepare(logs, move)
    assert move.durable_end == 25
    assert move.is_ready
    append(log, idempotent(25))
    assert move.is_ready
    moved, waits = syncs(disk, lambda: logs.finish_move(move))
    # The last record; and each of the directories after its rename.
    assert len(waits) == 3
    assert (moved.durable_end, moved.recovery_point, moved.wants_sync) == (26, 25, True)
    assert moved.append_as_leader(idempotent(25), 0, NOW_MS).duplicate
    assert append(moved, idempotent(26)) == 26
    ((_, job),) = logs.sync_jobs(NOW_MS)
    job.run()
    moved.fsynced(job.durable_offset(moved), NOW_MS)
    assert moved.recovery_point == 27
    after = manager(disk.crash(Tail.LOST), *DIRS, **CONFIG).get(TP)
    assert (after.directory.path, offsets(after)) == ("/b", list(range(27)))


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.truncate_to(10),
        lambda log: log.assign_epoch(7, log.log_end_offset),
        lambda log: [append(log, batch(b"x" * 300)) for _ in range(4)],
        lambda log: (log.delete_records_to(9), log.delete_old_segments(NOW_MS)),
    ],
)
def test_what_is_not_as_it_was_prepared_is_done_in_the_last_step(change) -> None:
    disk = MemoryDisk()
    logs, log = world(disk)
    for number in range(20):
        append(log, batch(b"%d" % number))
    move = start(logs, log)
    rounds(move)
    prepare(logs, move)
    change(log)
    assert not move.is_ready
    expected, epochs, begin = offsets(log), log.epochs.entries(), log.log_start_offset
    moved = logs.finish_move(move)
    assert (offsets(moved), moved.epochs.entries(), moved.log_start_offset) == (expected, epochs, begin)
    assert moved.recovery_point == moved.log_end_offset
    after = manager(disk.crash(Tail.LOST), *DIRS, **CONFIG).get(TP)
    assert (after.directory.path, offsets(after), after.log_start_offset) == ("/b", expected, begin)


def test_a_move_that_is_renounced_leaves_nothing_in_the_checkpoints() -> None:
    disk = MemoryDisk()
    logs, log = world(disk)
    append(log, batch())
    log.fsync()
    move = start(logs, log)
    prepare(logs, move)
    named = [name for name in CHECKPOINTS if str(TP).encode() in disk.read_file(f"/b/{name}")] or None
    assert named is None or "recovery-point-offset-checkpoint" in named
    logs.renounce(move)
    move.abandon()
    logs.tick_recovery_points()
    assert not any(TP.topic.encode() in disk.read_file(f"/b/{name}") for name in CHECKPOINTS)


@pytest.mark.parametrize("seed", range(10))
def test_power_cuts_at_any_operation_of_a_move(seed: int) -> None:
    rng = random.Random(seed)
    disk = MemoryDisk()
    history(disk, {}, seed)
    total = disk.steps
    for cut_at in sorted(rng.sample(range(1, total + 1), min(60, total))):
        disk, promise = MemoryDisk(), {"written": 0, "durable": 0, "start": 0}

        def cut(operation, path, disk=disk, cut_at=cut_at):
            if disk.steps == cut_at:
                raise PowerCut

        disk.on_step = cut
        with suppress(PowerCut):
            history(disk, promise, seed)
        for tail in Tail:
            where = f"seed {seed}, operation {cut_at} of {total}, tail {tail.value}"
            after = disk.crash(tail, rng.randrange)
            logs = manager(after, *DIRS, **CONFIG)
            log = logs.get(TP)
            if log is None:
                assert promise["durable"] == 0, where
                continue
            assert promise["durable"] <= log.log_end_offset, where
            assert log.log_start_offset >= promise["start"], where
            log.high_watermark = log.log_end_offset
            found = offsets(log)
            assert found == list(range(found[0], log.log_end_offset)) if found else True, where
            # It can be moved, again or for the first time, after whatever is left of the first attempt.
            other = next(log_dir for log_dir in logs.dirs if log_dir is not log.directory)
            pending = {each.unique_hex for each in logs.unfinished_moves}
            assert pending <= {HEX}, where
            again = LogMove(log, other, HEX if pending else HEX[::-1])
            again.begin()
            moved = logs.finish_move(again)
            assert offsets(moved) == found, where
            append(moved, batch(b"after"), epoch=9)
