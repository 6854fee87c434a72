"""Logs at rest are sealed ahead of a stop; a crash at any moment of that loses nothing."""

from __future__ import annotations

import errno

import pytest

from kbroker.storage.idle_logs import MANY_LOGS, IdleLogs, SealJob
from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk, MemoryFile, Tail
from kbroker.types import TopicPartition
from tests.storage.world import NOW_MS, TOPIC_ID, TP, append, batch, idempotent, manager, marker, offsets


def logs_at_rest(count, disk=None):
    disk = disk or MemoryDisk()
    logs = manager(disk)
    made = [
        logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS)
        for number in range(count)
    ]
    for log in made:
        log.assign_epoch(3, 0)
        append(log, idempotent(0), epoch=3)
    idle = IdleLogs(logs)
    assert not idle.look()
    return disk, logs, made, idle


def seal_all(logs, idle, most=100):
    while sealed := idle.seal_some(most, None):
        job = SealJob(sealed[0].directory, sealed)
        job.run()
        job.finish(NOW_MS, lambda log: logs.get(log.topic_partition) is log)


@pytest.mark.parametrize("count", [2, MANY_LOGS + 3])
def test_a_stop_finds_nothing_to_do_for_logs_at_rest(count) -> None:
    disk, logs, made, idle = logs_at_rest(count)
    assert idle.look()
    seal_all(logs, idle)
    assert all(log.is_sealed for log in made)
    assert not idle.look()
    touched = []
    disk.on_step = lambda operation, path: touched.append(path)
    logs.close(7)
    assert not [path for path in touched if "/t-" in path]
    after = manager(disk.crash(Tail.LOST))
    assert after.previous_broker_epoch == 7
    for log in made:
        found = after.get(log.topic_partition)
        assert (found.log_end_offset, found.latest_epoch, list(found.producers.entries)) == (1, 3, [7])


def test_what_is_in_use_is_left_alone() -> None:
    _, logs, (log, other), idle = logs_at_rest(2)
    append(log, batch())
    assert idle.look()
    append(other, batch())
    assert idle.seal_some(100, None) == []
    assert [each.is_sealed for each in (log, other)] == [False, False]
    idle.look()
    assert idle.look()
    seal_all(logs, idle)
    assert log.is_sealed
    append(log, batch())
    assert not log.is_sealed


def test_a_log_that_goes_on_and_rests_again_keeps_one_snapshot() -> None:
    disk, logs, (log,), idle = logs_at_rest(1)
    for sequence in range(1, 4):
        idle.look()
        seal_all(logs, idle)
        assert list(log.snapshots) == [sequence]
        append(log, idempotent(sequence), epoch=3)
        idle.look()
    idle.look()
    seal_all(logs, idle)
    logs.tick_removals(NOW_MS)
    names = [entry.name for entry in disk.list_dir("/data/t-0") if entry.name.endswith(".snapshot")]
    assert names == ["00000000000000000004.snapshot"]
    logs.close(1)
    after = manager(disk).get(log.topic_partition)
    assert offsets(after) == [0, 1, 2, 3]
    assert after.producers.entries[7].last_sequence == 3


@pytest.mark.parametrize("count", [1, MANY_LOGS + 1])
def test_what_is_cut_back_during_the_sync_is_not_taken_for_durable(count) -> None:
    _, logs, made, idle = logs_at_rest(count)
    idle.look()
    sealed = idle.seal_some(100, None)
    job = SealJob(sealed[0].directory, sealed)
    job.run()
    made[0].truncate_to(0)
    append(made[0], batch(b"other"))
    job.finish(NOW_MS, lambda log: logs.get(log.topic_partition) is log)
    assert made[0].recovery_point == 0
    assert all(log.recovery_point == 1 for log in made[1:])


@pytest.mark.parametrize("count", [1, MANY_LOGS + 1])
def test_a_failed_sync_takes_the_directory_offline(count) -> None:
    disk, _, made, idle = logs_at_rest(count)
    idle.look()
    sealed = idle.seal_some(100, None)
    job = SealJob(sealed[0].directory, sealed)

    def fail(operation, path):
        if operation.startswith("sync"):
            raise OSError(errno.EIO, "Input/output error")

    disk.on_step = fail
    job.run()
    job.finish(NOW_MS, lambda log: True)
    assert sealed[0].directory.offline
    assert not any(log.is_sealed for log in made)


def test_each_directory_has_a_sync_of_its_own() -> None:
    logs = manager(MemoryDisk(), "/a", "/b")
    made = [
        logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS) for number in range(6)
    ]
    for log in made:
        append(log, batch())
    idle = IdleLogs(logs)
    idle.look()
    assert idle.look()
    rounds = []
    while sealed := idle.seal_some(100, None):
        rounds.append({log.directory.path for log in sealed})
        assert SealJob(sealed[0].directory, sealed).run() is None
    assert all(len(each) == 1 for each in rounds)
    assert {path for each in rounds for path in each} == {"/a", "/b"}


def test_a_topic_that_goes_away_meanwhile_harms_nobody() -> None:
    _, logs, made, idle = logs_at_rest(3)
    idle.look()
    sealed = idle.seal_some(100, None)
    job = SealJob(sealed[0].directory, sealed)
    logs.delete(made[1].topic_partition)
    job.run()
    job.finish(NOW_MS, lambda log: logs.get(log.topic_partition) is log)
    assert not made[0].directory.offline
    assert made[0].recovery_point == 1 or not made[0].is_sealed


@pytest.mark.parametrize("tail", list(Tail))
@pytest.mark.parametrize("more", [0, 1, 30])
def test_recovery_reads_only_what_came_after_the_rest(tail, more, monkeypatch) -> None:
    disk = MemoryDisk()
    logs = manager(disk, index_interval_bytes=200)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(index_interval_bytes=200), NOW_MS)
    for number in range(200):
        append(log, batch(b"x" * 5000, timestamp=NOW_MS + number))
        append(log, idempotent(number, transactional=True), epoch=number // 50, now_ms=NOW_MS)
        if number % 10 == 9:
            append(log, marker(7, 0, abort=True), epoch=number // 50, origin=AppendOrigin.COORDINATOR)
    idle = IdleLogs(logs)
    idle.look()
    idle.look()
    seal_all(logs, idle)
    logs.tick_recovery_points()
    sealed = log.segments.active.size
    for number in range(more):
        append(log, idempotent(200 + number, transactional=True), epoch=4)
    after = disk.crash(tail, lambda size: size // 2)
    read = []
    real = MemoryFile.read

    def reading(file, position, length):
        data = real(file, position, length)
        read.append(len(data) if file.path.endswith(".log") else 0)
        return data

    monkeypatch.setattr(MemoryFile, "read", reading)
    found = manager(after, index_interval_bytes=200).get(TP)
    end = found.log_end_offset
    assert 420 <= end <= 420 + more
    assert sum(read) < log.segments.active.size - sealed + 100_000 < 1_000_000, "not all of it"
    assert offsets(found) == offsets(log)[:end]
    assert found.epochs.entries() == [entry for entry in log.epochs.entries() if entry[1] < end]
    assert found.producers.entries[7].last_sequence == end - 221
    assert found.aborted_txns(0, end) == log.aborted_txns(0, end)
    assert found.offset_for_timestamp(NOW_MS + 199).offset == 417
    assert append(found, batch(b"x")) == end


# -- no snapshot where there is nothing to tell --


def stopped(count, *sequences):
    """The disk after a clean stop of logs with a plain batch each, and idempotent ones in the first."""
    disk = MemoryDisk()
    logs = manager(disk)
    for number in range(count):
        log = logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS)
        append(log, batch())
    for sequence in sequences:
        append(logs.get(TopicPartition("t", 0)), idempotent(sequence))
    made = []
    disk.on_step = lambda operation, path: made.append(path)
    logs.close(7)
    disk.on_step = None
    return disk.crash(Tail.LOST), [path for path in made if path.endswith(".snapshot")]


def test_a_stop_of_many_logs_writes_no_snapshot_of_no_producers(monkeypatch) -> None:
    disk, made = stopped(MANY_LOGS + 3, 0)
    assert set(made) == {"/data/t-0/00000000000000000002.snapshot"}
    read = []
    real = MemoryFile.read

    def reading(file, position, length):
        read.append(length if file.path.endswith(".log") else 0)
        return real(file, position, length)

    monkeypatch.setattr(MemoryFile, "read", reading)
    logs = manager(disk)
    assert list(logs.get(TopicPartition("t", 0)).producers.entries) == [7]
    assert not any(
        logs.get(TopicPartition("t", number)).producers.entries for number in range(1, len(logs.logs))
    )
    assert max(read, default=0) < 8192, "no log was read for its producers"
    assert not disk.exists("/data/kbroker-no-producers-checkpoint")
    logs.close(8)
    assert disk.exists("/data/kbroker-no-producers-checkpoint")


def test_few_logs_are_stopped_as_kafka_does_it() -> None:
    disk, made = stopped(2)
    assert {path[6:9] for path in made} == {"t-0", "t-1"}
    assert not disk.exists("/data/kbroker-no-producers-checkpoint")


def test_a_snapshot_that_was_lost_is_no_sign_that_there_are_no_producers() -> None:
    disk, _ = stopped(MANY_LOGS + 1, 0, 1)
    disk.remove("/data/t-0/00000000000000000003.snapshot")
    assert manager(disk).get(TopicPartition("t", 0)).producers.entries[7].last_sequence == 1


def test_what_was_said_of_another_end_counts_for_nothing() -> None:
    disk, _ = stopped(MANY_LOGS + 1, 0)
    disk.remove("/data/t-0/00000000000000000002.snapshot")
    disk.write_file("/data/kbroker-no-producers-checkpoint", b"0\n2\nt 0 1\nt 1 1\n")
    assert list(manager(disk).get(TopicPartition("t", 0)).producers.entries) == [7]


def test_a_large_log_gets_its_snapshot_so_that_recovery_need_not_read_it_again() -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    for number in range(MANY_LOGS + 1):
        log = logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS)
        append(log, batch(b"x" * (300_000 if number == 5 else 10)))
    logs.close(7)
    found = [number for number in range(MANY_LOGS + 1) if disk.exists(f"/data/t-{number}/{1:020d}.snapshot")]
    assert found == [5]
