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
    def __init__(self, *dirs):
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
