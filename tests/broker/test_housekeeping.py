"""The chores come by the clock, and an error of one does not stop the others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.housekeeping import Housekeeping
from kbroker.config.broker_config import BrokerConfig
from kbroker.storage.disk import StorageError
from kbroker.storage.file_names import CHECKPOINTS, HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS


class World:
    """A clock that is moved by hand, its timer, and log manager calls that are noted."""

    def __init__(self):
        self.now = 0
        self.calls = []
        self.timers = []
        self.dirs = [SimpleNamespace(offline=False)]
        self.jobs = []
        self.blocking = []
        self.checkpoints = {}
        self.removals = []
        self.offline = 0
        self.logs = {}

    def now_ms(self):
        return self.now

    def call_later(self, delay_ms, callback):
        timer = [self.now + delay_ms, callback, True]
        self.timers.append(timer)
        return SimpleNamespace(cancel=lambda: timer.__setitem__(2, False))

    def until(self, time_ms):
        while due := [timer for timer in self.timers if timer[2] and timer[0] <= time_ms]:
            first = min(due, key=lambda timer: timer[0])
            self.timers.remove(first)
            self.now = first[0]
            first[1]()
        self.now = time_ms

    def sync_jobs(self, now_ms):
        jobs, self.jobs = self.jobs, []
        return jobs

    def checkpoint_job(self, name):
        self.calls.append((self.now, name))
        return self.checkpoints.pop(name, None)

    def removal_jobs(self, now_ms):
        self.calls.append((self.now, "removals"))
        return self.removals

    def __getattr__(self, name):
        if not name.startswith("tick_"):
            raise AttributeError(name)
        return lambda *args: self.calls.append((self.now, name.removeprefix("tick_")))

    def counts(self):
        names = [name for _, name in self.calls]
        return {name: names.count(name) for name in names}


@pytest.fixture
def world():
    return World()


def housekeeping(world, **settings):
    config = BrokerConfig({"node.id": "1", **settings})

    def all_offline():
        world.offline += 1

    chores = Housekeeping(
        world,
        config,
        clock=world,
        timer=world,
        run_blocking=lambda work, done: world.blocking.append((work, done)),
        on_all_offline=all_offline,
    )
    chores.start()
    return chores


def test_each_chore_has_its_interval(world):
    housekeeping(
        world,
        **{
            "log.retention.check.interval.ms": "60000",
            "log.initial.task.delay.ms": "1000",
            "log.flush.start.offset.checkpoint.interval.ms": "40000",
        },
    )
    world.until(120_999)
    counts = world.counts()
    assert counts["retention"] == 2
    assert counts[RECOVERY_POINTS] == 2
    assert counts[LOG_STARTS] == 3
    assert counts[HIGH_WATERMARKS] == 24
    assert next(time for time, name in world.calls if name == "retention") == 1000


def test_checkpoints_are_written_one_after_the_other_and_none_is_forgotten(world):
    finished = []
    for name in CHECKPOINTS:
        world.checkpoints[name] = SimpleNamespace(run=name, finish=lambda name=name: finished.append(name))
    housekeeping(world, **{"log.initial.task.delay.ms": "1000"})
    world.until(1000)
    for count in (1, 2, 3):
        assert len(world.blocking) == count
        world.blocking[-1][1](None)
    assert {name for name, _ in world.blocking} == set(finished) == set(CHECKPOINTS)


def test_stop_stops(world):
    chores = housekeeping(world)
    chores.stop()
    world.until(10_000_000)
    assert world.calls == []


def test_an_error_is_no_end(world):
    def fail():
        world.calls.append((world.now, "failed"))
        raise StorageError("the disk is gone")

    world.checkpoint_job = lambda name: fail() if name == HIGH_WATERMARKS else None
    housekeeping(world)
    world.until(16_000)
    assert world.counts()["failed"] == 3


def test_the_node_hears_when_no_folder_works_any_more(world):
    housekeeping(world)
    world.dirs[0].offline = True
    world.until(60_000)
    assert world.offline == 1


def test_a_log_is_synced_elsewhere_and_once_at_a_time(world):
    synced, failures = [], []
    directory = SimpleNamespace(fail_for_good=failures.append)
    log = SimpleNamespace(
        topic_partition="t-0", fsynced=lambda offset, now: synced.append((offset, now)), directory=directory
    )
    world.get = {"t-0": log}.get
    job = SimpleNamespace(durable_offset=lambda log: 7, run=lambda: None)
    housekeeping(world)
    world.jobs = [(log, job)]
    world.until(1000)
    world.jobs = [(log, job)]
    world.until(2000)
    ((work, done),) = world.blocking
    assert work is job.run
    done(None)
    assert synced == [(7, 2000)]
    world.jobs = [(log, job)]
    world.until(3000)
    error = OSError("no space")
    world.blocking[1][1](error)
    assert failures == [error]
    world.jobs = [(log, job)]
    world.until(4000)
    world.get = {"t-0": "a new topic of that name"}.get
    world.blocking[2][1](FileNotFoundError("the directory was renamed"))
    assert failures == [error]


def test_checkpoints_are_written_elsewhere_and_one_at_a_time(world):
    finished = []
    job = SimpleNamespace(run=lambda: None, finish=lambda: finished.append(world.now))
    world.checkpoint_job = lambda name: job if name == HIGH_WATERMARKS else None
    housekeeping(world)
    world.until(20_000)
    ((work, done),) = world.blocking
    assert work is job.run
    assert finished == []
    done(None)
    assert finished == [20_000]
    world.until(30_000)
    assert len(world.blocking) == 2


def test_what_is_removed_is_removed_elsewhere(world):
    finished = []
    world.removals = [SimpleNamespace(run="a", finish=lambda: finished.append("a"))]
    housekeeping(world)
    world.until(1000)
    ((work, done),) = world.blocking
    assert work == "a"
    done(None)
    assert finished == ["a"]


def test_logs_at_rest_are_sealed_a_few_at_a_time_and_synced_together(world):
    from kbroker.storage.log_config import LogConfig
    from kbroker.types import TopicPartition
    from tests.storage import world as disk

    logs = disk.manager()
    for number in range(25):
        log = logs.get_or_create(TopicPartition("t", number), disk.TOPIC_ID, LogConfig(), disk.NOW_MS)
        disk.append(log, disk.batch())
    world.logs, world.get = logs.logs, logs.get
    chores = housekeeping(world)
    world.until(15_000)
    assert not any(log.snapshots for log in logs.logs.values())
    world.until(30_000)
    world.until(31_000)
    ((work, done),) = world.blocking
    assert not any(log.is_sealed for log in logs.logs.values())
    work()
    done(None)
    assert all(log.is_sealed for log in logs.logs.values())
    chores.stop()
    world.until(60_000)
    assert len(world.blocking) == 1
