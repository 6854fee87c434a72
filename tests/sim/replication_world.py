"""Brokers' partitions in a world of their own, and a controller that decides with `kbroker.controller`.

What is real: logs, leaders, followers, fetch sessions, the Fetch and ListOffsets handlers and their bytes,
the AlterPartition sender and handler. What is played, all from one seed: clock, network, disks, the
controller's log, registration and heartbeats, clients.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace

from kbroker.broker.deferred import Deferred
from kbroker.broker.fetch_session import FetchSessionCache
from kbroker.broker.peer import PeerError, PeerFailure
from kbroker.broker.replica_fetcher import FetchSettings
from kbroker.broker.replica_manager import ReplicaManager
from kbroker.broker.replication import Replication
from kbroker.broker.topic_settings import TopicSettings
from kbroker.controller.brokers import NodeRegistration, fence_broker, register_broker, unfence_broker
from kbroker.controller.election_rules import ElectionRules
from kbroker.errors import ApiError
from kbroker.handlers import alter_partition, list_offsets
from kbroker.handlers.context import ConnectionContext, RequestContext
from kbroker.handlers.fetch import raw_path
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.image import ClusterImage, Endpoint, FeatureRange
from kbroker.metrics.requests import RequestBook
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.fetch_request import FetchRequest
from kbroker.protocol.generated.fetch_response import FetchResponse
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.sim.replication_options import Options

CONTROLLER = 0
LISTENER = "PLAINTEXT"


class _Entry:
    __slots__ = ("callback", "cancelled")

    def __init__(self, callback):
        self.callback = callback
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


class NodeTimer:
    """A timer whose calls end with the process."""

    def __init__(self, world):
        self._world = world
        self.dead = False

    def call_later(self, delay_ms, callback):
        entry = _Entry(callback)
        self._world.at(self._world.now + max(delay_ms, 0), lambda: self._ring(entry))
        return entry

    def _ring(self, entry):
        if not entry.cancelled and not self.dead:
            entry.callback()


class NodeClock:
    def __init__(self, world):
        self._world = world

    def now_ms(self):
        return int(1_700_000_000_000 + self._world.now)

    def monotonic_ms(self):
        return self._world.now


class SimPeers:
    """`Peers` of one process."""

    def __init__(self, world, node):
        self._world = world
        self._node = node
        self._process = node.process

    def send(self, address, request, *, timeout_ms, channel, version=None):
        world, answer = self._world, Deferred()
        me, target = self._node.id, world.nodes[address.node_id]
        process = self._process
        version = version or (world.options.fetch_version if request.API_KEY == 1 else 10)
        body = request.encode(version)

        def give(finish):
            if self._node.process is process and not answer.done:
                finish()

        def fail(reason, delay):
            world.at(world.now + delay, lambda: give(lambda: answer.fail(PeerError(reason, address))))

        def arrive():
            if world.is_cut(me, target.id):
                fail(PeerFailure.TIMED_OUT, min(timeout_ms, 600))
            elif target.process is None:
                fail(PeerFailure.REFUSED, 0)
            else:
                target.serve(me, request, body, version, back)

        def back(response):
            """None: the connection died."""
            if response is None:
                fail(PeerFailure.CLOSED, world.delay())
            elif world.is_cut(target.id, me):
                fail(PeerFailure.TIMED_OUT, min(timeout_ms, 600))
            else:
                world.deliver((target.id, me, channel), lambda: give(lambda: answer.resolve(response)))

        world.deliver((me, target.id, channel), arrive)
        return answer


class SimNode:
    """A machine: its disk stays, its process comes and goes."""

    def __init__(self, world, node_id):
        self.world = world
        self.id = node_id
        self.disk = MemoryDisk()
        self.process = None
        self.incarnations = 0
        self.epoch = -1

    @property
    def alive(self):
        return self.process is not None

    def boot(self):
        world = self.world
        self.incarnations += 1
        process = self.process = SimpleNamespace(open={}, number=itertools.count())
        process.timer = NodeTimer(world)
        clock = NodeClock(world)
        self.logs = LogManager(self.disk, ["/d"], lambda _: world.log_config)
        self.logs.lock()
        self.logs.load(clock.now_ms())
        self.cache = MetadataCache("sim")
        syncs = self._sync if world.options.syncs else None
        self.replicas = ReplicaManager(self.id, self.logs, clock, process.timer, world.settings, syncs)
        self.epoch = -1
        self.replication = Replication(
            self.replicas,
            self.cache,
            SimPeers(world, self),
            self._to_controller,
            process.timer,
            listener=LISTENER,
            broker_epoch=lambda: self.epoch,
            lag_time_max_ms=world.options.lag_ms,
            settings=FetchSettings(wait_max_ms=200, backoff_ms=200, timeout_ms=1000),
        )
        self.cache.subscribe(self.replicas.apply_metadata)
        ids = itertools.count(self.incarnations * 1_000_000)  # of each process others, as by chance
        self.services = SimpleNamespace(
            metadata=self.cache,
            replicas=self.replicas,
            fetch_sessions=FetchSessionCache(10, clock.monotonic_ms, lambda: next(ids)),
            topic_name_of=self._topic_name_of,
            fetch_bytes_max=1 << 20,
            chooses_read_replica=False,
            led_partition=self._led_partition,
            compatibility="all",
            requests=RequestBook(lambda: 0.0),
            request_log=None,
            authorizer=None,
        )
        self.fetch_path = raw_path(self.services)
        self.applied = 0
        # It may know what the process before it knew, before it is known itself.
        if world.random.random() < 0.5:
            process.timer.call_later(1, self.catch_up)
        world.controller.register(self)
        self._housekeeping()

    def _sync(self, work, done):
        """What waits for the disk, in its time."""

        def finish():
            work()
            done(None)

        self.process.timer.call_later(self.world.random.choice([0.1, 20, 200]), finish)

    def _topic_name_of(self, topic_id):
        return getattr(self.cache.image.topics.by_id(topic_id), "name", None)

    def _led_partition(self, topic, index):
        return self.replicas.led(topic, index)

    def _housekeeping(self):
        random = self.world.random
        self.logs.tick_high_watermarks()
        for log in list(self.logs.logs.values()):
            if random.random() < 0.3:
                log.fsync()
        self.process.timer.call_later(random.uniform(100, 500), self._housekeeping)

    # -- life --

    def kill(self, tail=None):
        """End the process; with `tail` the machine loses power."""
        process, self.process = self.process, None
        process.timer.dead = True
        if tail is not None:
            self.world.lost_power(self.id)
        self.disk = self.disk.crash(tail or Tail.KEPT, self.world.random.randrange)
        for back in list(process.open.values()):
            back(None)
        process.open.clear()

    def stop(self):
        """A clean stop."""
        self.replication.stop()
        self.logs.close(self.epoch)
        self.kill()

    # -- metadata --

    def catch_up(self):
        """Apply what the controller has committed, in one publication or several."""
        world = self.world
        if self.process is None or world.is_cut(self.id, CONTROLLER) or world.is_cut(CONTROLLER, self.id):
            return
        log = world.controller.log
        while self.applied < len(log):
            # What a start finds comes in one; later ones as they come.
            upto = len(log) if self.applied == 0 else self.applied + 1 + world.random.randrange(3)
            delta = ClusterDelta(self.cache.image)
            batch = [record for records in log[self.applied : upto] for record in records]
            for record in batch:
                delta.replay(record)
            self.applied = min(upto, len(log))
            self.cache.publish(delta.image(self.cache.image.offset + len(batch), 1), delta)
            world.check(self)

    # -- requests --

    def serve(self, sender, request, body, version, back):
        process = self.process
        number = next(process.number)
        process.open[number] = back

        def done(response):
            if self.process is process and process.open.pop(number, None) is not None:
                back(response)

        connection = ConnectionContext(f"{sender}", "127.0.0.1", listener_name=LISTENER)
        context = RequestContext(connection, request.API_KEY, version, number)
        if isinstance(request, FetchRequest):
            holder = SimpleNamespace(context=connection, fetch_cache=None, fast={}, began_s=0.0)
            answer = self.fetch_path.request(holder, body, 0, context)
            _when(answer, lambda parts: done(_fetch_response(parts, version)))
        else:
            decoded = type(request).decode(body, version)
            done(list_offsets.handle(self.services, context, decoded))
        self.world.check(self)

    def _to_controller(self, request, timeout_ms):
        world, process, answer = self.world, self.process, Deferred()
        body = request.encode(3)

        def give(finish):
            if self.process is process and not answer.done:
                finish()

        def lost():
            error = PeerError(PeerFailure.TIMED_OUT)
            world.at(world.now + 300, lambda: give(lambda: answer.fail(error)))

        def again():
            if not world.is_cut(self.id, CONTROLLER):
                world.controller.alter(type(request).decode(body, 3))

        def arrive():
            if world.is_cut(self.id, CONTROLLER):
                lost()
                return
            if world.random.random() < world.options.late_duplicates:
                world.at(world.now + world.random.uniform(20, 2000), again)
            response = world.controller.alter(type(request).decode(body, 3))
            if world.is_cut(CONTROLLER, self.id) or world.random.random() < world.options.lost_answers:
                lost()
            else:
                world.at(world.now + world.delay(), lambda: give(lambda: answer.resolve(response)))

        world.at(world.now + world.delay(), arrive)
        return answer


def _when(answer, then):
    if isinstance(answer, Deferred):
        answer.then(lambda done: then(done.result()))
    else:
        then(answer)


def _fetch_response(parts, version):
    if isinstance(parts, bytes):
        parts = [parts]
    data = b"".join(part if isinstance(part, bytes) else part.read() for part in parts)
    response, end = FetchResponse.decode_from(data, version, 9 if version >= 12 else 8)
    assert end == len(data)
    return response


class SimController:
    """The active controller; what it decides is committed at once."""

    def __init__(self, world, min_isr):
        self.world = world
        self.image = ClusterImage("sim")
        self.log = []
        self.rules = ElectionRules(min_isr, world.options.unclean)
        self.heard = {}
        self.services = SimpleNamespace(
            active_chores=SimpleNamespace(rules=self.rules),
            controller=SimpleNamespace(append_records=self.append_records),
        )

    def commit(self, records):
        records = list(records)
        if not records:
            return
        old, self.image = self.image, self.image.apply(records)
        self.log.append(records)
        self.world.on_commit(old, self.image)
        for node in self.world.nodes.values():
            self.world.at(self.world.now + self.world.metadata_delay(), node.catch_up)

    def append_records(self, decide, *, by_leader=False, always=False):
        answer = Deferred()
        try:
            decision = decide(self.image)
        except ApiError as error:
            answer.fail(error)
            return answer
        self.commit(decision.records)
        answer.resolve(decision.response)
        return answer

    def alter(self, request):
        done = alter_partition.handle(self.services, SimpleNamespace(version=3), request)
        try:
            return done.result()
        except ApiError as error:
            return alter_partition.error_response(request, 3, error.code, None)

    def register(self, node):
        """A process begins: it registers as soon as it reaches us."""
        process, world = node.process, self.world

        def attempt():
            if node.process is not process:
                return
            if world.is_cut(node.id, CONTROLLER) or world.is_cut(CONTROLLER, node.id):
                world.at(world.now + 100, attempt)
                return
            registration = NodeRegistration(
                node.id,
                (node.id * 1000 + node.incarnations).to_bytes(16, "big"),
                [Endpoint(LISTENER, f"n{node.id}", 9092)],
                {
                    "metadata.version": FeatureRange(1, 30),
                    "eligible.leader.replicas.version": FeatureRange(0, 1),
                },
                log_dirs=[directory_id(node.id)],
                previous_broker_epoch=node.logs.previous_broker_epoch,
            )
            decision = register_broker(self.image, registration, self.rules)
            self.commit(decision.records)
            node.epoch = self.image.brokers[node.id].epoch
            self.heard[node.id] = world.now

        world.at(world.now + world.delay() + world.random.choice([0, 200]), attempt)

    def tick(self):
        """Heartbeats: fence who is not heard of, unfence who has caught up."""
        world = self.world
        for node in world.nodes.values():
            broker = self.image.brokers.get(node.id)
            if broker is None:
                continue
            reached = (
                node.alive
                and node.epoch == broker.epoch
                and not world.is_cut(node.id, CONTROLLER)
                and not world.is_cut(CONTROLLER, node.id)
            )
            if reached:
                self.heard[node.id] = world.now
                node.catch_up()
                if broker.fenced and node.cache.image.offset >= broker.epoch:
                    self.commit(unfence_broker(self.image, node.id, broker.epoch, self.rules).records)
            elif not broker.fenced and world.now - self.heard[node.id] > world.options.session_ms:
                self.commit(fence_broker(self.image, node.id, broker.epoch, self.rules).records)
        world.at(world.now + 100, self.tick)


def directory_id(node_id):
    return (1_000_000 + node_id).to_bytes(16, "big")


@dataclass
class Acked:
    """What a client was told with acks=all."""

    partition: int
    offset: int
    value: bytes
    epoch: int


@dataclass
class World:
    """All of it; `run` plays one seed."""

    seed: int
    options: Options | None = None
    now: float = 0.0
    acked: list[Acked] = field(default_factory=list)
    events: int = 0

    def __post_init__(self):
        self.random = Random(self.seed)
        if self.options is None:
            self.options = Options.of_seed(self.seed, self.random)
        self._heap = []
        self._order = itertools.count()
        self._last_delivery = {}
        self._cut = {}
        flush_messages = 1 if self.options.syncs else LogConfig().flush_messages
        self.log_config = LogConfig(
            segment_bytes=self.options.segment_bytes,
            message_timestamp_after_max_ms=2**63 - 1,
            flush_messages=flush_messages,
        )
        self.nodes = {}
        self.checker = None
        self.controller = SimController(self, self.options.min_isr)
        for node_id in range(1, self.options.nodes + 1):
            self.nodes[node_id] = SimNode(self, node_id)

    # -- the world's laws --

    def at(self, time, callback):
        heapq.heappush(self._heap, (time, next(self._order), callback))

    def delay(self):
        return self.random.uniform(*self.options.delay_ms)

    def metadata_delay(self):
        return self.random.uniform(*self.options.metadata_delay_ms)

    def deliver(self, link, callback):
        """Messages of one connection stay in order."""
        time = max(self.now + self.delay(), self._last_delivery.get(link, 0.0))
        self._last_delivery[link] = time
        self.at(time, callback)

    def is_cut(self, source, target):
        return (source, target) in self._cut

    def cut(self, *links):
        for link in links:
            self._cut[link] = None

    def heal(self):
        self._cut.clear()

    def settings(self, topic, overrides):
        return TopicSettings(self.log_config, int(overrides.get("min.insync.replicas", self.options.min_isr)))

    def run_until(self, end):
        while self._heap and self._heap[0][0] <= end:
            self.now, _, callback = heapq.heappop(self._heap)
            self.events += 1
            callback()
        self.now = end

    # -- a cluster --

    def start(self):
        self.controller.commit(
            [
                FeatureLevelRecord(name="metadata.version", feature_level=25),
                FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1),
            ]
        )
        for node in self.nodes.values():
            node.boot()
        self.controller.tick()
        self.run_until(self.now + 700)
        ids = list(self.nodes)
        records = [TopicRecord(name="t", topic_id=b"T" * 16)]
        for index in range(self.options.partitions):
            replicas = ids[index % len(ids) :] + ids[: index % len(ids)]
            replicas = replicas[:3]
            records.append(
                PartitionRecord(
                    partition_id=index,
                    topic_id=b"T" * 16,
                    replicas=replicas,
                    isr=replicas,
                    leader=replicas[0],
                    leader_epoch=0,
                    partition_epoch=0,
                    directories=[directory_id(each) for each in replicas],
                )
            )
        self.controller.commit(records)
        self.run_until(self.now + 500)

    def state(self, index):
        """What the controller knows of a partition."""
        return self.controller.image.topics.get("t").partitions[index]

    def partition(self, node_id, index):
        node = self.nodes[node_id]
        return node.replicas.get("t", index) if node.alive else None

    def leader(self, index):
        """The node that leads, as the controller has it and as the node knows; None if there is none."""
        state = self.state(index)
        if state.leader < 0:
            return None
        partition = self.partition(state.leader, index)
        if partition is None or not partition.is_leader or partition.leader_epoch != state.leader_epoch:
            return None
        return self.nodes[state.leader]

    def check(self, node):
        if self.checker is not None:
            self.checker.check(node)

    def lost_power(self, node_id):
        # What was synced before it was acknowledged is there.
        if self.checker is not None and not self.options.syncs:
            self.checker.lost_power(node_id)

    def on_commit(self, old, new):
        if self.checker is not None:
            self.checker.on_commit(old, new)
