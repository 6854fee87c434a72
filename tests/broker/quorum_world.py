"""Several KRaft nodes over disks in memory and one clock; messages are handed over as they are."""

from __future__ import annotations

import heapq
import itertools
import random

from kbroker.broker.deferred import Deferred
from kbroker.broker.kraft_node import KraftNode, KraftSetup
from kbroker.broker.storage_format import StorageFormat, format_storage
from kbroker.controller.features import LATEST_METADATA_VERSION
from kbroker.controller.topics import TopicRules, create_topics
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.image import Endpoint
from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.raft.snapshot import DEFAULT_POLICY
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter
from kbroker.storage.log_dir import LogDir
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.storage.open_files import OpenFiles
from tests.doubles import StandingClock

FOLDER = "/data"
DELAY_MS = 1


class Alarm:
    def __init__(self, callback):
        self.callback = callback

    def cancel(self):
        self.callback = None


class Transport:
    """What one node sees of the others."""

    def __init__(self, world, me):
        self.world = world
        self.me = me
        self.watched = None

    def send(self, to, endpoints, request, timeout_ms):
        answer = Deferred()
        self.world.after(DELAY_MS, lambda: self._deliver(to, request, answer))
        self.world.after(timeout_ms, lambda: answer.fail(OSError("no answer in time")))
        return answer

    def _deliver(self, to, request, answer):
        node = self.world.nodes.get(to)
        if not self.world.reaches(self.me, to):
            return
        if node is None:
            answer.fail(OSError("refused"))
            return
        reply = node.raft.ask(request)

        def pass_on(done):
            if self.world.reaches(to, self.me):
                self.world.after(DELAY_MS, lambda: self._answer(answer, done))

        reply.then(pass_on)

    @staticmethod
    def _answer(answer, done):
        try:
            answer.resolve(done.result())
        except Exception as error:
            answer.fail(error)

    def probe(self, voter, timeout_ms):
        answer = Deferred()
        answer.resolve((0, 1))
        return answer

    def watch(self, to, endpoints, on_gone):
        self.watched = (to, on_gone)


class QuorumWorld:
    """`node_ids` are the voters, all static unless a node is started with other settings."""

    def __init__(self, *node_ids, seed=1):
        self.clock = StandingClock()
        self.random = random.Random(seed)
        self.ids = itertools.count(1)
        self.alarms = []
        self.order = itertools.count()
        self.voters = [
            QuorumVoter(n, endpoints=(QuorumEndpoint("CONTROLLER", f"h{n}", 9093),)) for n in node_ids
        ]
        self.disks = {}
        self.nodes = {}
        self.caches = {}
        self.transports = {}
        self.failures = []
        self.cut = set()
        self.metadata_version = LATEST_METADATA_VERSION

    def reaches(self, one, other):
        return (one, other) not in self.cut

    def after(self, delay_ms, callback):
        return self.call_later(delay_ms, callback)

    def call_later(self, delay_ms, callback):
        alarm = Alarm(callback)
        heapq.heappush(self.alarms, (self.clock.now + max(delay_ms, 0), next(self.order), alarm))
        return alarm

    def run(self, ms):
        end = self.clock.now + ms
        while self.alarms and self.alarms[0][0] <= end:
            due, _, alarm = heapq.heappop(self.alarms)
            self.clock.now = max(self.clock.now, due)
            if alarm.callback is not None:
                alarm.callback()
        self.clock.now = end

    def until(self, test, ms=20_000):
        end = self.clock.now + ms
        while not test():
            assert self.clock.now < end, "it does not happen"
            self.run(5)

    def finish(self, deferred):
        self.until(lambda: deferred.done)
        return deferred.result()

    def uuid(self):
        return next(self.ids).to_bytes(16, "big")

    def run_blocking(self, work, done):
        def later():
            error = None
            try:
                work()
            except OSError as failure:
                error = failure
            done(error)

        self.after(1, later)

    def start(self, *node_ids, is_controller=True, policy=DEFAULT_POLICY, **more):
        for node_id in node_ids:
            self._start(node_id, is_controller, policy, more)
        return self

    def _start(self, node_id, is_controller, policy, more):
        disk = self.disks.get(node_id)
        if disk is None:
            disk = self.disks[node_id] = MemoryDisk()
            plan = StorageFormat(
                log_dirs=[FOLDER],
                metadata_dir=FOLDER,
                cluster_id="cluster",
                node_id=node_id,
                directory_ids=[self.uuid()],
                static_voters=True,
                metadata_version=self.metadata_version,
            )
            format_storage(disk, plan, self.clock.now)
        cache = self.caches[node_id] = MetadataCache("cluster")
        setup = KraftSetup(
            node_id=node_id,
            cluster_id="cluster",
            incarnation_id=self.uuid(),
            broker_endpoints=[Endpoint("PLAINTEXT", "h", 9092)],
            is_controller=is_controller,
            static_voters=self.voters,
            snapshots=policy,
            random=self.random.randrange,
            **more,
        )
        transport = self.transports[node_id] = Transport(self, node_id)
        node = self.nodes[node_id] = KraftNode(
            setup,
            LogDir(FOLDER, disk, OpenFiles(disk)),
            cache,
            clock=self.clock,
            timer=self,
            run_blocking=self.run_blocking,
            on_failure=self.failures.append,
            transport=transport,
        )
        node.start()
        node.publish_from_now()

    def stop(self, node_id):
        self.nodes.pop(node_id).stop()

    def kill(self, node_id):
        """The process is gone; its page cache stays. Who watched it hears."""
        node = self.nodes.pop(node_id)
        node.raft._stopped = True
        node.raft._disk.stop()
        for transport in self.transports.values():
            if transport.watched is not None and transport.watched[0] == node_id:
                self.after(1, transport.watched[1])

    @property
    def leader(self):
        """The active controller, None if there is none (or more than one that believes it)."""
        active = [node for node in self.nodes.values() if node.controller.active]
        return active[0] if len(active) == 1 else None

    def elect(self):
        self.until(lambda: self.leader is not None)
        return self.leader

    def create(self, *names):
        rules = TopicRules(1, 1, lambda configs: None, self.uuid, lambda limit: 0)
        topics = [CreatableTopic(name=n, num_partitions=1, replication_factor=1) for n in names]
        return self.leader.controller.append_records(
            lambda image: create_topics(image, topics, False, rules), 1000
        )
