"""One KRaft node over a disk in memory; blocking work happens when the test says so."""

from __future__ import annotations

import itertools

from kbroker.broker.kraft_node import KraftNode, KraftSetup
from kbroker.broker.storage_format import StorageFormat, format_storage
from kbroker.controller.topics import TopicRules, create_topics
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.image import Endpoint
from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.raft.snapshot import DEFAULT_POLICY
from kbroker.storage.log_dir import LogDir
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.storage.open_files import OpenFiles
from tests.doubles import StandingClock

FOLDER = "/data"
PARTITION = FOLDER + "/__cluster_metadata-0"


class Alarm:
    def __init__(self, due, callback):
        self.due = due
        self.callback = callback

    def cancel(self):
        self.callback = None


class World:
    """A disk and the node that runs on it now."""

    def __init__(self, disk=None, ids=None):
        self.disk = disk or MemoryDisk()
        self.clock = StandingClock()
        self.alarms = []
        #: Topic ids and the like; a world that goes on with a disk goes on with its ids, too.
        self.ids = ids or itertools.count(1)
        #: Blocking work that waits; None: it is done at once.
        self.waiting = None
        self.failures = []
        self.published = []
        self.node = None
        self.cache = None

    def uuid(self):
        return next(self.ids).to_bytes(16, "big")

    def format(self, **changes):
        plan = {
            "log_dirs": [FOLDER],
            "metadata_dir": FOLDER,
            "cluster_id": "cluster",
            "node_id": 1,
            "directory_ids": [self.uuid()],
        }
        format_storage(self.disk, StorageFormat(**{**plan, **changes}), self.clock.now)
        return self

    def call_later(self, delay_ms, callback):
        alarm = Alarm(self.clock.now + delay_ms, callback)
        self.alarms.append(alarm)
        return alarm

    def advance(self, ms):
        self.clock.now += ms
        due = [alarm for alarm in self.alarms if alarm.due <= self.clock.now]
        self.alarms = [alarm for alarm in self.alarms if alarm.due > self.clock.now]
        for alarm in due:
            if alarm.callback is not None:
                alarm.callback()

    def run_blocking(self, work, done):
        if self.waiting is None:
            self._run(work, done)
        else:
            self.waiting.append((work, done))

    @staticmethod
    def _run(work, done):
        error = None
        try:
            work()
        except OSError as failure:
            error = failure
        done(error)

    def finish_blocking(self):
        """Do what waits now; what that causes waits for the next call."""
        waiting, self.waiting = self.waiting, []
        for work, done in waiting:
            self._run(work, done)

    def open(self, policy=DEFAULT_POLICY, **changes):
        self.cache = MetadataCache("cluster")
        self.published = []
        self.cache.subscribe(lambda old, new, delta: self.published.append(new))
        setup = KraftSetup(
            node_id=1,
            cluster_id="cluster",
            incarnation_id=self.uuid(),
            broker_endpoints=[Endpoint("PLAINTEXT", "h", 9092)],
            log_dir_ids=[bytes(15) + b"\x77"],
            snapshots=policy,
            **changes,
        )
        self.node = KraftNode(
            setup,
            LogDir(FOLDER, self.disk, OpenFiles(self.disk)),
            self.cache,
            clock=self.clock,
            timer=self,
            run_blocking=self.run_blocking,
            on_failure=self.failures.append,
        )
        return self

    def start(self, **settings):
        self.open(**settings)
        self.node.start()
        if self.waiting is None:
            self.node.started.result()
        return self

    @property
    def image(self):
        return self.cache.image

    def create(self, *names, partitions=1, timeout_ms=1000):
        """The Deferred of a CreateTopics."""
        rules = TopicRules(1, 1, lambda configs: None, self.uuid, lambda limit: 0)
        topics = [CreatableTopic(name=n, num_partitions=partitions, replication_factor=1) for n in names]
        return self.node.controller.append_records(
            lambda image: create_topics(image, topics, False, rules), timeout_ms
        )

    def files(self):
        return [entry.name for entry in self.disk.list_dir(PARTITION)]
