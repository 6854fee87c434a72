"""The driver gives work to workers, swaps what they made, and survives what can happen to them."""

from __future__ import annotations

import errno
import json
from types import SimpleNamespace

import pytest

from kbroker.broker.cleaner_driver import CleanerDriver
from kbroker.config.broker_config import BrokerConfig
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.security.data_keys import KeyRing
from kbroker.storage.cleaner import Cleaner
from kbroker.storage.cleaner_job import decode_job
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.types import TopicPartition

NOW_MS = 1_800_000_000_000
COMPACT = LogConfig(cleanup_policy=frozenset({"compact"}), file_delete_delay_ms=0)


class FakeWorker:
    """Runs a job when told to, in this process."""

    def __init__(self, world, on_message, on_exit):
        self.world, self.on_message, self.on_exit = world, on_message, on_exit
        self.jobs = []
        self.state = "alive"

    def submit(self, job, bytes_per_s, keys=None):
        self.jobs.append((decode_job(job), bytes_per_s))
        self.keys = keys

    def close(self):
        self.state = "closed"

    def kill(self):
        self.state = "killed"

    def work(self, stop_after=10**9):
        """Do the oldest job; the messages of at most `stop_after` groups."""
        job, _ = self.jobs.pop(0)
        cleaner = Cleaner(self.world.disk, job)
        for count, group in enumerate(cleaner.run()):
            if count >= stop_after or self.state == "killed":
                return
            self.say({"group": [source.base_offset for source in group.sources], "sizes": group.sizes})
        result = cleaner.result
        self.say(
            {
                "done": result.end_offset,
                "horizon": result.latest_horizon_ms,
                "read": result.bytes_read,
                "written": result.bytes_written,
            }
        )

    def say(self, message):
        self.on_message(json.loads(json.dumps(message)))


class World:
    """A broker's surroundings: clock, timer, threads that run at once or later, workers."""

    def __init__(self, **settings):
        self.disk = MemoryDisk()
        self.now = NOW_MS
        self.workers = []
        self.alarm = None
        self.blocked = []
        self.hold_writes = False
        self.config = BrokerConfig({"node.id": "1", **settings})
        self.logs = LogManager(self.disk, ["/data"])
        self.logs.lock()
        self.logs.load(NOW_MS)
        self.driver = self.make_driver()

    def make_driver(self):
        return CleanerDriver(
            self.logs,
            self.config,
            clock=SimpleNamespace(now_ms=lambda: self.now),
            timer=self,
            run_blocking=self.run_blocking,
            start_worker=self.start_worker,
        )

    def start_worker(self, on_message, on_exit):
        self.workers.append(FakeWorker(self, on_message, on_exit))
        return self.workers[-1]

    def call_later(self, delay_ms, callback):
        self.alarm = (delay_ms, callback)
        return SimpleNamespace(cancel=lambda: setattr(self, "alarm", None))

    def ring(self):
        _, callback = self.alarm
        callback()

    def run_blocking(self, work, done):
        if self.hold_writes:
            self.blocked.append((work, done))
        else:
            work()
            done(None)

    def log(self, name="t", rounds=3, keys=2):
        """A log of which all but the last segment can be compacted."""
        log = self.logs.get_or_create(TopicPartition(name, 0), name.encode().ljust(16), COMPACT, NOW_MS)
        for i in range(rounds):
            made = [Record(-1, NOW_MS, b"%d" % key, b"%d" % i) for key in range(keys)]
            log.append_as_leader(memoryview(bytearray(build_batch(made))), 0, NOW_MS)
            log.roll(None, NOW_MS)
        log.high_watermark = log.log_end_offset
        log.fsync()
        return log

    def checkpoint(self):
        path = "/data/cleaner-offset-checkpoint"
        return self.disk.read_file(path).decode() if self.disk.exists(path) else None


@pytest.fixture
def world():
    return World()


def start(world):
    world.driver.start()
    world.ring()


def test_nothing_to_do_starts_nobody(world):
    world.logs.get_or_create(TopicPartition("t", 0), bytes(16), COMPACT, NOW_MS)
    start(world)
    assert world.workers == []
    assert world.alarm[0] == 15_000


def test_a_log_is_compacted_and_noted(world):
    log = world.log()
    start(world)
    [worker] = world.workers
    worker.work()
    assert log.segments.bases == [0, 6]
    assert world.checkpoint() == "0\n1\nt 0 6\n"
    assert worker.state == "closed"
    assert world.driver.stats().rounds == 1
    world.ring()
    assert len(world.workers) == 1, "it ends first"
    worker.on_exit(None)
    log.append_as_leader(memoryview(bytearray(build_batch([Record(-1, NOW_MS, b"1", b"x")]))), 0, NOW_MS)
    log.roll(None, NOW_MS)
    log.high_watermark = 7
    log.fsync()
    log.config = LogConfig(cleanup_policy=COMPACT.cleanup_policy, min_cleanable_dirty_ratio=0.1)
    world.ring()
    assert world.workers[1].jobs[0][0].first_dirty == 6


def test_a_worker_goes_on_with_the_next_log(world):
    world.log("a")
    world.log("b")
    start(world)
    [worker] = world.workers
    worker.work()
    assert worker.state == "alive"
    worker.work()
    assert worker.state == "closed"
    assert world.checkpoint() == "0\n2\na 0 6\nb 0 6\n"


def test_threads_and_limits():
    world = World(
        **{
            "log.cleaner.threads": "2",
            "log.cleaner.dedupe.buffer.size": "4194304",
            "log.cleaner.io.max.bytes.per.second": "1000",
        }
    )
    for name in ("a", "b", "c"):
        world.log(name)
    start(world)
    assert len(world.workers) == 2
    job, rate = world.workers[0].jobs[0]
    assert (job.map_bytes, rate) == (2 << 20, 500.0)


def test_switched_off():
    world = World(**{"log.cleaner.enable": "false"})
    world.log()
    start(world)
    assert world.workers == []


def test_a_start_reads_how_far_logs_are(world):
    log = world.log()
    world.disk.write_file("/data/cleaner-offset-checkpoint", b"0\n2\nt 0 4\ngone 0 7\n")
    start(world)
    assert world.driver.state.checkpoint(log) == 4
    assert world.workers == [], "a third is not half"
    world.now += COMPACT.delete_retention_ms
    world.ring()
    assert len(world.workers) == 1, "it may have tombstones whose time has come"
    world.workers.pop().kill()
    world.disk.write_file("/data/cleaner-offset-checkpoint", b"rubbish")
    world.driver = world.make_driver()
    start(world)
    assert world.workers[0].jobs[0][0].first_dirty == 0


def test_damage_is_told_and_the_log_left_alone(world, caplog):
    log = world.log()
    file = log.segments.first.file()
    file.write(40, b"\xff")
    start(world)
    [worker] = world.workers
    worker.say({"failed": "damaged", "text": "the CRC is wrong"})
    assert world.driver.stats().uncleanable == {log.topic_partition: "the CRC is wrong"}
    assert "t-0 cannot be compacted" in caplog.text
    assert worker.state == "closed"
    worker.on_exit(None)
    world.ring()
    assert len(world.workers) == 1


@pytest.mark.parametrize(("number", "offline"), [(errno.ENOSPC, False), (errno.EIO, True)])
def test_errors_of_the_disk(world, number, offline):
    log = world.log()
    start(world)
    world.workers[0].say({"failed": "disk", "text": "no", "errno": number})
    world.workers[0].on_exit(None)
    assert log.directory.offline is offline
    world.ring()
    assert len(world.workers) == 1
    world.now += 60_001
    world.ring()
    assert len(world.workers) == (1 if offline else 2)


def test_a_worker_of_an_encrypted_log_gets_keys_and_tells_which_one_it_lacks(world):
    log = world.log()
    start(world)
    assert world.workers[0].keys is None
    world.workers[0].on_exit("gone")
    log.encrypted = True
    wanted = []
    ring = KeyRing({"k": b"k" * 32})
    ring.check = wanted.append
    log.directory.files.data_keys = ring, bytes
    world.now += 60_001
    world.ring()
    assert world.workers[1].keys == {"k": b"k" * 32}
    world.workers[1].say({"failed": "key", "text": "it is not here", "key": "other"})
    assert wanted == [b"other"]
    world.workers[1].on_exit(None)
    assert not log.directory.offline
    world.ring()
    assert len(world.workers) == 2
    world.now += 60_001
    world.ring()
    assert len(world.workers) == 3


def test_a_worker_that_dies(world):
    log = world.log()
    start(world)
    [worker] = world.workers
    world.disk.open(f"{log.path}/{0:020d}.log.cleaned", create=True)
    worker.on_exit("the worker ended with status 1")
    assert not world.disk.exists(f"{log.path}/{0:020d}.log.cleaned")
    world.now += 60_001
    world.ring()
    assert len(world.workers) == 2


def test_a_log_that_changes_under_the_worker(world):
    log = world.log()
    start(world)
    log.delete_records_to(2)
    log.delete_old_segments(NOW_MS)
    [worker] = world.workers
    with pytest.raises(FileNotFoundError):
        worker.work()
    worker.say({"group": [0, 2, 4], "sizes": {".log": 10, ".index": 0, ".timeindex": 0}})
    assert worker.state == "killed"
    assert log.segments.bases == [2, 4, 6]
    world.ring()
    world.workers[1].work()
    assert log.segments.bases == [2, 6]


def test_a_topic_that_is_deleted_under_the_worker(world):
    log = world.log()
    start(world)
    world.logs.delete(log.topic_partition)
    [worker] = world.workers
    worker.say({"group": [0], "sizes": {".log": 10, ".index": 0, ".timeindex": 0}})
    assert worker.state == "killed"
    world.ring()
    assert len(world.workers) == 1


def test_stopping_kills_and_forgets(world):
    log = world.log()
    start(world)
    [worker] = world.workers
    world.disk.open(f"{log.path}/{0:020d}.log.cleaned", create=True)
    world.driver.stop()
    assert worker.state == "killed"
    assert world.alarm is None
    assert not world.disk.exists(f"{log.path}/{0:020d}.log.cleaned")
    worker.say({"done": 6, "horizon": -1, "read": 0, "written": 0})
    assert world.checkpoint() is None


def test_checkpoints_are_written_one_at_a_time(world):
    world.hold_writes = True
    world.log("a")
    world.log("b")
    start(world)
    [worker] = world.workers
    worker.work()
    worker.work()
    assert len(world.blocked) == 1
    work, done = world.blocked.pop()
    work()
    assert world.checkpoint() == "0\n1\na 0 6\n"
    done(None)
    work, done = world.blocked.pop()
    work()
    assert world.checkpoint() == "0\n2\na 0 6\nb 0 6\n"
    done(OSError(errno.EIO, "Input/output error"))
    assert world.logs.dirs[0].offline


def test_settings_take_effect_at_once(world):
    world.log()
    world.driver.start()
    world.alarm = None
    world.config.update_dynamic({"log.cleaner.backoff.ms": "77"}, {})
    assert world.alarm[0] == 0
    world.ring()
    assert world.alarm[0] == 77
