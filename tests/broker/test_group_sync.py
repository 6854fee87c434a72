"""Group commit: one sync for all that wait, nothing acknowledged before it, none tried twice."""

from __future__ import annotations

import errno

from kbroker.broker.group_sync import GroupSync
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.types import TopicPartition
from tests.doubles import HandThread
from tests.storage.world import NOW_MS, TOPIC_ID, append, batch, manager


class World:
    def __init__(self, *dirs, **more):
        self.disk = MemoryDisk()
        self.logs = manager(self.disk, *dirs)
        self.thread = HandThread()
        self.told = []
        self.failed = []
        self.syncs = GroupSync(
            self.thread.run_blocking,
            self.told.append,
            self._failed,
            lambda log: self.logs.get(log.topic_partition) is log,
            **more,
        )

    def _failed(self, log, error):
        self.failed.append(log)
        log.directory.fail_for_good(error)

    def log(self, number=0):
        tp = TopicPartition("t", number)
        return self.logs.get_or_create(tp, TOPIC_ID, LogConfig(flush_messages=1), NOW_MS)

    def write(self, log, done):
        append(log, batch())
        self.syncs.ask(log)
        self.syncs.when_synced([log], done)


def test_what_comes_during_a_sync_shares_the_next_one() -> None:
    world, done = World(), []
    log, other = world.log(), world.log(1)
    world.write(log, lambda lost: done.append((1, log.durable_end)))
    world.write(log, lambda lost: done.append((2, log.durable_end)))
    world.write(other, lambda lost: done.append((3, other.durable_end)))
    world.write(log, lambda lost: done.append((4, log.durable_end)))
    assert (done, log.committable_end) == ([], 0)
    world.thread.finish()
    assert done == [(1, 1)]
    assert len(world.thread.jobs) == 1
    world.thread.finish()
    assert done == [(1, 1), (2, 3), (3, 1), (4, 3)]
    assert world.told == [log, log, other]
    assert not world.thread.jobs


def test_two_directories_sync_side_by_side_and_one_waiter_waits_for_both() -> None:
    world, done = World("/a", "/b"), []
    log, other = world.log(), world.log(1)
    assert log.directory is not other.directory
    for each in (log, other):
        append(each, batch())
        world.syncs.ask(each)
    world.syncs.when_synced([log, other], lambda lost: done.append(1))
    assert len(world.thread.jobs) == 2
    world.thread.finish()
    assert not done
    world.thread.finish()
    assert done == [1]
    world.syncs.when_synced([log, other], lambda lost: done.append(2))
    assert done == [1, 2]


def test_a_failed_sync_is_not_tried_again() -> None:
    world, done = World(), []
    log, other = world.log(), world.log(1)
    world.write(log, lambda lost: done.append(log.directory.offline))
    world.write(other, lambda lost: done.append(other.directory.offline))

    def fail(operation, path):
        if operation == "sync":
            world.disk.on_step = None
            raise OSError(errno.EIO, "Input/output error")

    world.disk.on_step = fail
    world.thread.finish()
    assert (done, world.failed[0]) == ([True, True], log)
    assert log.durable_end == other.durable_end == 0
    assert not world.thread.jobs


def test_even_a_lack_of_room_is_fatal_for_an_fsync() -> None:
    world = World()
    log = world.log()
    world.write(log, lambda lost: None)

    def fail(operation, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    world.disk.on_step = fail
    world.thread.finish()
    assert log.directory.offline


def test_a_cut_during_a_sync_is_not_taken_for_durable() -> None:
    world = World()
    log = world.log()
    for _ in range(3):
        append(log, batch())
    world.syncs.ask(log)
    log.truncate_to(1)
    append(log, batch(b"other"))
    append(log, batch(b"other"))
    world.thread.finish()
    assert log.durable_end == 0


def test_a_log_that_is_deleted_during_its_sync_harms_nobody() -> None:
    world, done = World(), []
    log = world.log()
    world.write(log, lambda lost: done.append(1))
    world.logs.delete(log.topic_partition)
    world.thread.finish()
    assert done == [1]


def test_a_log_that_is_deleted_while_it_waits_for_a_sync() -> None:
    world, done = World(), []
    log, other = world.log(), world.log(1)
    world.write(other, lambda lost: done.append(1))
    world.write(log, lambda lost: done.append(2))
    world.logs.delete(log.topic_partition)
    world.thread.finish()
    assert sorted(done) == [1, 2]
    assert not world.failed


def stage(log):
    log.append_as_leader(memoryview(bytearray(batch())), 0, NOW_MS)


def test_what_comes_in_one_turn_of_the_loop_shares_one_sync_and_one_write() -> None:
    turn, done = [], []
    world = World(call_soon=turn.append)
    log = world.log()
    world.write(log, lambda lost: done.append(1))
    assert not world.thread.jobs
    for number in (2, 3):
        stage(log)
        assert world.syncs.take_over(log) is not None
        world.syncs.when_synced([log], lambda lost, number=number: done.append(number))
    assert (log.log_end_offset, log.staged_end_offset, len(turn)) == (1, 3, 1)
    turn.pop()()
    assert (log.log_end_offset, len(world.thread.jobs)) == (3, 1)
    stage(log)
    assert world.syncs.take_over(log) is not None, "the next one begins when this one is over"
    assert not turn
    world.thread.finish()
    assert (done, log.durable_end, len(world.thread.jobs)) == ([1, 2, 3], 3, 1)
    world.thread.finish()
    assert log.durable_end == 4
    stage(log)
    assert world.syncs.take_over(log) is not None, "none is under way: the loop's next turn begins one"
    turn.pop()()
    world.thread.finish()
    assert log.durable_end == 5


class Kernel:
    """Syncs files without a thread, when `finish` is called."""

    def __init__(self):
        self.asked = []
        self.takes = True

    def sync(self, files, done):
        if self.takes:
            self.asked.append((files, done))
        return self.takes

    def finish(self, *errors):
        files, done = self.asked.pop(0)
        done(list(errors) or [None] * len(files))


def test_a_sync_without_a_thread_once_the_names_of_its_files_are_durable() -> None:
    kernel, done = Kernel(), []
    world = World(sync_files=kernel.sync)
    log = world.log()
    world.write(log, lambda lost: done.append(log.durable_end))
    assert not kernel.asked, "directories want a thread"
    world.thread.finish()
    world.write(log, lambda lost: done.append(log.durable_end))
    assert [file.path for files, _ in kernel.asked for file in files] == [log.segments.active.path]
    kernel.finish()
    kernel.takes = False
    world.write(log, lambda lost: done.append(log.durable_end))
    world.thread.finish()
    assert (done, world.told, world.syncs.times.count) == ([1, 2, 3], [log] * 3, 3)


def test_of_those_synced_without_a_thread_only_the_failed_one_fails() -> None:
    kernel, done = Kernel(), []
    world = World("/a", sync_files=kernel.sync)
    logs = [world.log(number) for number in range(3)]
    for log in logs:
        world.write(log, lambda lost: None)
    while world.thread.jobs:
        world.thread.finish()
    world.write(logs[0], lambda lost: None)
    for log in logs:
        world.write(log, lambda lost, log=log: done.append((log in lost, log.durable_end)))
    kernel.finish()
    error = OSError(errno.EIO, "Input/output error")
    kernel.finish(None, error, None)
    assert done == [(False, 3), (True, 1), (False, 2)]
    assert world.failed == [logs[1]]
    assert logs[1].directory.failure == str(error)
