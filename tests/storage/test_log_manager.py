"""Log directories: creating, deleting, checkpoints, foreign files, failures."""

from __future__ import annotations

import pytest

from kbroker.errors import ConfigError
from kbroker.storage.checkpoints import parse_offsets
from kbroker.storage.data_sync import DataSync
from kbroker.storage.disk import StorageError
from kbroker.storage.file_names import CHECKPOINTS
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk, Tail
from kbroker.types import TopicPartition
from tests.storage.world import NOW_MS, TOPIC_ID, TP, append, batch, manager


def test_a_new_partition_costs_a_directory_and_one_file() -> None:
    logs = manager()
    logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    assert [e.name for e in logs._disk.list_dir(f"/data/{TP}")] == ["partition.metadata"]
    assert logs._disk.read_file(f"/data/{TP}/partition.metadata") == (
        b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    )


def test_a_clean_stop_leaves_an_empty_partition_as_it_is() -> None:
    logs = manager()
    logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS).assign_epoch(3, 0)
    logs.close(4)
    assert [e.name for e in logs._disk.list_dir(f"/data/{TP}")] == ["partition.metadata"]


def test_a_log_that_only_got_a_leader_is_not_written_again() -> None:
    logs = manager()
    append(logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS), batch(), epoch=3)
    logs.close(4)
    before = logs._disk.list_dir(f"/data/{TP}")
    logs = manager(logs._disk)
    log = logs.get(TP)
    log.assign_epoch(4, 1)
    assert log.is_sealed
    logs.close(5)
    assert logs._disk.list_dir(f"/data/{TP}") == before
    # Whoever leads next begins where that one had begun.
    log = manager(logs._disk).get(TP)
    log.assign_epoch(5, 1)
    assert log.epochs.entries() == [(3, 0), (5, 1)]


@pytest.mark.parametrize("can_sync_all", [True, False])
def test_a_clean_stop_of_many_logs_is_durable(can_sync_all: bool) -> None:
    logs = manager()
    disk = logs._disk
    disk.can_sync_all = can_sync_all
    names = [TopicPartition("many", number) for number in range(20)]
    for tp in names:
        append(logs.get_or_create(tp, TOPIC_ID, LogConfig(), NOW_MS), batch(), epoch=3)
    steps: list[str] = []
    disk.on_step = lambda operation, path: steps.append(operation)
    logs.close(4)
    assert steps.count("sync_all") == (1 if can_sync_all else 0)
    assert steps.count("sync") > 20 or can_sync_all
    logs = manager(disk.crash(Tail.LOST))
    assert logs.previous_broker_epoch == 4
    for tp in names:
        log = logs.get(tp)
        assert (log.log_end_offset, log.recovery_point, log.epochs.entries()) == (1, 1, [(3, 0)])
        assert log.is_sealed


def test_a_failed_sync_of_everything_leaves_no_marker() -> None:
    logs = manager()
    for number in range(20):
        append(logs.get_or_create(TopicPartition("many", number), TOPIC_ID, LogConfig(), NOW_MS), batch())

    def fail(operation: str, path: str) -> None:
        if operation == "sync_all":
            raise OSError(5, "Input/output error")

    logs._disk.on_step = fail
    logs.close(4)
    logs._disk.on_step = None
    assert manager(logs._disk).previous_broker_epoch == -1


def test_directories_of_different_lives_were_not_stopped_together() -> None:
    logs = manager(None, "/a", "/b")
    logs.close(4)
    disk = logs._disk
    assert manager(disk.crash(Tail.KEPT), "/a", "/b").previous_broker_epoch == 4
    disk.write_file("/b/.kafka_cleanshutdown", b'{"version":0,"brokerEpoch":3}')
    assert manager(disk, "/a", "/b").previous_broker_epoch == -1


def test_the_directory_with_the_fewest_logs_gets_the_next() -> None:
    logs = manager(None, "/a", "/b", "/c")
    places = [
        logs.get_or_create(TopicPartition("t", n), TOPIC_ID, LogConfig(), NOW_MS).directory.path
        for n in range(6)
    ]
    assert sorted(places) == ["/a", "/a", "/b", "/b", "/c", "/c"]
    again = manager(logs._disk.crash(Tail.KEPT), "/a", "/b", "/c")
    assert [again.get(TopicPartition("t", n)).directory.path for n in range(6)] == places


def test_one_directory_fails_the_other_goes_on() -> None:
    logs = manager(None, "/a", "/b")
    first = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    second = logs.get_or_create(TP._replace(partition=1), TOPIC_ID, LogConfig(), NOW_MS)

    def fail(operation: str, path: str) -> None:
        if operation == "write" and path.startswith("/a"):
            raise OSError(5, "Input/output error")

    logs._disk.on_step = fail
    first.append_as_leader(batch(), 0, NOW_MS)
    with pytest.raises(StorageError):
        first.flush_staged()
    append(second, batch())
    third = logs.get_or_create(TP._replace(partition=2), TOPIC_ID, LogConfig(), NOW_MS)
    assert third.directory.path == "/b"
    assert [(s.path, s.offline) for s in logs.dir_stats()] == [("/a", True), ("/b", False)]
    logs.tick_high_watermarks()
    logs.tick_recovery_points()
    logs.tick_retention(NOW_MS)
    assert logs.sync_jobs(NOW_MS) == []
    logs.close(8)
    assert not logs._disk.exists("/a/.kafka_cleanshutdown")
    assert logs._disk.read_file("/b/.kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":8}'


def test_a_directory_that_cannot_be_read_at_start() -> None:
    disk = MemoryDisk()
    manager(disk, "/a", "/b").close()

    def fail(operation: str, path: str) -> None:
        if operation == "list" and path == "/a":
            raise OSError(5, "Input/output error")

    disk.on_step = fail
    logs = manager(disk, "/a", "/b")
    assert [d.offline for d in logs.dirs] == [True, False]


def test_deleting_renames_now_and_removes_later() -> None:
    logs = manager()
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(file_delete_delay_ms=60_000), NOW_MS)
    append(log, batch())
    logs.tick_removals(NOW_MS)
    logs.delete(TP)
    assert logs.get(TP) is None
    name = f"/data/{TP}.{TOPIC_ID.hex()}-delete"
    assert logs._disk.exists(name + "/00000000000000000000.log")
    # The same name may come back at once.
    append(logs.get_or_create(TP, bytes(15) + b"\x01", LogConfig(), NOW_MS), batch())
    logs.tick_removals(NOW_MS + 59_999)
    assert logs._disk.exists(name)
    logs.tick_removals(NOW_MS + 60_000)
    assert not logs._disk.exists(name)
    assert logs._disk.exists(f"/data/{TP}/00000000000000000000.log")


def test_an_unfinished_deletion_goes_on_after_a_restart() -> None:
    logs = manager()
    logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    logs.delete(TP)
    logs.close()
    again = manager(logs._disk)
    name = f"/data/{TP}.{TOPIC_ID.hex()}-delete"
    assert logs._disk.exists(name)
    again.tick_removals(NOW_MS + 60_000)
    assert not logs._disk.exists(name)


def test_what_is_not_ours_is_left_alone() -> None:
    disk = MemoryDisk()
    for name in ("lost+found", "topic-x", "notes", f"t-0.{'ab' * 16}-stray", f"t-0.{'cd' * 16}-future", "-1"):
        disk.make_dir(f"/data/{name}")
        disk.write_file(f"/data/{name}/file", b"precious")
    disk.write_file("/data/README", b"precious")
    logs = manager(disk)
    assert logs.logs == {}
    logs.tick_removals(NOW_MS + 10**9)
    logs.close()
    assert disk.read_file(f"/data/t-0.{'ab' * 16}-stray/file") == b"precious"
    assert disk.read_file("/data/lost+found/file") == disk.read_file("/data/README") == b"precious"


def test_another_topics_directory_is_set_aside_not_deleted() -> None:
    logs = manager()
    append(logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS), batch())
    other = logs.get_or_create(TP, bytes(15) + b"\x09", LogConfig(), NOW_MS)
    assert other.log_end_offset == 0
    logs.tick_removals(NOW_MS + 10**9)
    assert logs._disk.exists(f"/data/{TP}.{TOPIC_ID.hex()}-stray/00000000000000000000.log")


def test_checkpoints() -> None:
    logs = manager(retention_ms=-1)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(retention_ms=-1), NOW_MS)
    for _ in range(5):
        append(log, batch())
    log.fsync()
    append(log, batch())
    log.delete_records_to(2)
    logs.tick_recovery_points()

    def read(name: str) -> dict:
        return parse_offsets(logs._disk.read_file(f"/data/{name}").decode())

    assert read("recovery-point-offset-checkpoint") == {TP: 5}
    assert read("log-start-offset-checkpoint") == {TP: 2}
    assert read("replication-offset-checkpoint") == {TP: 6}
    before = logs._disk.steps
    logs.tick_recovery_points()
    assert logs._disk.steps == before  # nothing changed, nothing is written


def test_the_high_watermark_comes_back_within_the_log() -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    for _ in range(5):
        append(log, batch())
    log.high_watermark = 3
    logs.close()
    assert manager(disk).get(TP).high_watermark == 3
    disk.write_file("/data/replication-offset-checkpoint", b"0\n1\ntopic 0 999\n")
    assert manager(disk.crash(Tail.KEPT)).get(TP).high_watermark == 5


def test_checkpoints_written_one_by_one_forget_a_deleted_log() -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    for _ in range(3):
        append(log, batch())
    log.fsync()
    log.delete_records_to(2)
    logs.tick_recovery_points()
    logs.delete(TP)
    for name in CHECKPOINTS[:2]:
        job = logs.checkpoint_job(name)
        assert job is not None
        job.run()
        job.finish()
    written = []
    disk.on_step = lambda operation, path: written.append(path)
    # The third still names the old log.
    logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    names = {name for name in CHECKPOINTS if any(name in path for path in written)}
    assert names == {CHECKPOINTS[2]}


@pytest.mark.parametrize("garbage", [b"", b"\x00\x00", b"1\n0\n", b"0\n2\ntopic 0 1\n", b"0\n1\ntopic 0 x\n"])
def test_a_damaged_checkpoint_counts_as_empty(garbage: bytes) -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    append(log, batch())
    for name in ("recovery-point", "log-start", "replication", "cleaner"):
        disk.write_file(f"/data/{name}-offset-checkpoint", garbage)
    disk.write_file(f"/data/{TP}/leader-epoch-checkpoint", garbage)
    disk.write_file(f"/data/{TP}/partition.metadata", garbage)
    log = manager(disk.crash(Tail.KEPT)).get(TP)
    assert (log.log_end_offset, log.log_start_offset) == (1, 0)


def test_locks() -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    with pytest.raises(ConfigError, match="in use by another broker"):
        manager(disk)
    logs.close()
    manager(disk)


def test_the_same_partition_in_two_directories() -> None:
    disk = MemoryDisk()
    disk.make_dir("/a/t-0")
    disk.make_dir("/b/t-0")
    logs = LogManager(disk, ["/a", "/b"])
    logs.lock()
    with pytest.raises(ConfigError, match="t-0 lies in /a and in /b"):
        logs.load(NOW_MS)


def test_syncs_by_flush_ms_and_after_a_roll() -> None:
    logs = manager()
    logs.tick_removals(NOW_MS)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(flush_ms=1000), NOW_MS)
    append(log, batch())
    assert logs.sync_jobs(NOW_MS + 999) == []
    ((same, job),) = logs.sync_jobs(NOW_MS + 1000)
    assert same is log
    assert job.run() == 1
    log.fsynced(job.offset, NOW_MS + 1000)
    assert log.recovery_point == 1
    assert logs.sync_jobs(NOW_MS + 5000) == []
    log.config = LogConfig()
    append(log, batch())
    log.roll(None, NOW_MS)
    assert len(logs.sync_jobs(NOW_MS + 5000)) == 1


def test_flush_messages_syncs_before_the_answer() -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(flush_messages=3), NOW_MS)
    append(log, batch(b"1", b"2"))
    assert (log.durable_end, log.committable_end) == (0, 2)
    append(log, batch(b"3"))
    assert log.committable_end == 0, "no more than two records may be shown that are not durable"
    job = DataSync(log)
    job.run()
    append(log, batch(b"4"))
    job.finish()
    assert (log.durable_end, log.committable_end, log.recovery_point) == (3, 4, 0)
    after = manager(disk.crash(Tail.LOST)).get(TP)
    assert (after.log_end_offset, after.topic_id) == (3, TOPIC_ID)


def test_few_files_stay_open() -> None:
    logs = LogManager(MemoryDisk(), ["/data"], open_files=3)
    logs.lock()
    logs.load(NOW_MS)
    for number in range(10):
        append(logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS), batch())
    assert len(logs._files) == 3
    assert logs.get(TopicPartition("t", 0)).read(0, 100, 1).size > 0


def test_descriptors_run_out() -> None:
    """Fewer files stay open then; the directory is not to blame."""
    disk = MemoryDisk()
    logs = manager(disk)
    for number in range(10):
        append(logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS), batch())
    eleventh = logs.get_or_create(TopicPartition("t", 10), TOPIC_ID, LogConfig(), NOW_MS)

    def fail(operation: str, path: str) -> None:
        if operation == "open" and len(logs._files) > room:
            raise OSError(24, "Too many open files")

    disk.on_step = fail
    room = 9
    append(eleventh, batch())
    assert len(logs._files) == 5
    room = -1
    logs._files.clear()
    records = batch(b"kept")
    eleventh.append_as_leader(records, 0, NOW_MS)
    with pytest.raises(StorageError):
        eleventh.flush_staged()
    records[:] = bytes(len(records))  # the caller uses its buffer again
    with pytest.raises(StorageError):
        logs.get_or_create(TopicPartition("t", 11), TOPIC_ID, LogConfig(), NOW_MS)
    assert not logs.dirs[0].offline
    room = 9
    append(logs.get_or_create(TopicPartition("t", 11), TOPIC_ID, LogConfig(), NOW_MS), batch())
    eleventh.flush_staged()
    assert (eleventh.log_end_offset, b"kept" in eleventh.read(1, 1000, 2).parts[0].read()) == (2, True)


def test_a_process_that_was_killed_while_the_machine_ran_on_has_lost_nothing() -> None:
    logs = manager(None, "/a", "/b")
    append(logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS), batch())
    logs.mark_running(7)
    again = manager(logs._disk.crash(Tail.KEPT), "/a", "/b")
    assert again.previous_broker_epoch == 7
    # Killed once more before it was registered.
    again = manager(again._disk.crash(Tail.KEPT), "/a", "/b")
    assert again.previous_broker_epoch == 7
    again.mark_running(9)
    assert manager(again._disk.crash(Tail.KEPT), "/a", "/b", "/new").previous_broker_epoch == -1


@pytest.mark.parametrize("tail", [Tail.LOST, Tail.TORN, Tail.ZEROED])
def test_after_a_power_cut_nobody_says_that_all_is_there(tail: Tail) -> None:
    logs = manager()
    append(logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS), batch())
    logs.mark_running(7)
    after = manager(logs._disk.crash(tail))
    assert after.previous_broker_epoch == -1
    assert manager(after._disk.crash(Tail.KEPT)).previous_broker_epoch == -1


@pytest.mark.parametrize("clean", [False, True])
def test_a_log_that_had_to_be_cut_counts_as_incomplete(clean: bool) -> None:
    logs = manager()
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    append(log, batch())
    logs.mark_running(7)
    if clean:
        logs.close(7)
    file = logs._disk.open(f"{log.path}/{0:020}.log")
    file.truncate(file.size() - 1)
    assert manager(logs._disk.crash(Tail.KEPT)).previous_broker_epoch == -1


def test_a_directory_that_failed_is_not_said_to_be_whole() -> None:
    logs = manager()
    logs.mark_running(7)
    logs.dirs[0].fail_for_good(OSError(5, "Input/output error"))
    assert manager(logs._disk.crash(Tail.KEPT)).previous_broker_epoch == -1
