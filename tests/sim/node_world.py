"""Whole nodes in one seeded world: `kbroker.main.Node` as it is, over simulated loops, sockets and disks.

Real is everything from the listener's bytes to the log's: server, dispatch, handlers, replica manager,
fetchers, raft, controller, coordinators. Played are the clock, the network, the disks and what they take,
chance, and clients. Not there: the cleaner's process.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from unittest import mock

import kbroker.main
from kbroker.config.loading import load_config
from kbroker.main import Node
from kbroker.storage.memory_disk import MemoryDisk
from tests.sim.node_loop import Network, Process, Scheduler, SimListener

CLIENT_PORT, CONTROLLER_PORT = 9092, 9093
#: For nodes that have transactions and share groups.
GROUP_SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    "group.share.record.lock.duration.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.delivery.count.limit": "10",
    "group.share.assignment.interval.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.share.initialize.retry.interval.ms": "1000",
}
#: Each so many-th seed plays transactions and groups as well.
GROUPS_EVERY = 3
#: Each so many-th seed acknowledges nothing that is not synced, and all may lose power at the same time.
SYNCS_EVERY = 5
#: Never made: the disks are in memory.
FOLDER = "/tmp/kbroker-sim"
CLUSTER_ID = "c2ltdWxhdGVkLWNsdXN0ZXI"


@dataclass
class Options:
    """What one run is like; `draw` takes them from a seed."""

    nodes: int = 3
    partitions: int = 2
    min_isr: int = 2
    unclean: bool = False
    delay_ms: tuple[float, float] = (0.2, 3)
    disk_ms: tuple[float, float] = (0.1, 3)
    kinds: tuple[str, ...] = ("kill", "stop", "pause", "cut", "one_way", "slow_disk")
    pause_ms: float = 1200
    faults_end_ms: int = 6000
    heal_ms: int = 30_000
    #: Transactions, groups and share groups, too.
    groups: bool = False
    #: flush.messages=1 everywhere.
    syncs: bool = False
    #: controller.quorum.fetch.timeout.ms.
    patience_ms: int = 500

    @staticmethod
    def of_seed(seed, random):
        """By chance, but for what was added later: that goes by the number, so that other seeds stay."""
        options = replace(Options.draw(random), groups=seed % GROUPS_EVERY == 0)
        if seed % SYNCS_EVERY == SYNCS_EVERY - 1:
            options = replace(options, syncs=True, kinds=(*options.kinds, "power", "blackout"))
        return options

    @staticmethod
    def draw(random):
        """Some kinds of faults, some speed (swarm testing)."""
        all_kinds = ["kill", "kill_all", "stop", "pause", "cut", "one_way", "slow_disk", "power"]
        return Options(
            partitions=random.choice([1, 2]),
            delay_ms=random.choice([(0.1, 1), (0.2, 3), (1, 25)]),
            disk_ms=random.choice([(0.05, 1), (0.1, 3), (1, 40)]),
            kinds=tuple(random.sample(all_kinds, random.randint(2, 5))),
            pause_ms=random.choice([300, 1200, 3000]),
            faults_end_ms=random.choice([4000, 6000]),
        )


class SimClock:
    def __init__(self, world):
        self._world = world

    def now_ms(self):
        return int(1_700_000_000_000 + self._world.now)

    def monotonic_ms(self):
        return int(self._world.now)


class SimRunner:
    """`BlockingRunner` without threads: what blocks takes as long as the disk does."""

    def __init__(self, loop, threads=2, name="disk", nice=0):
        self._process = loop._process
        self._machine = self._process.machine
        self._open = 0
        self._closed = False

    def run(self, work, done):
        self._open += 1
        world = self._process.world
        world.later(self._machine.disk_delay(), lambda: self._process.run(lambda: self._work(work, done)))

    def _work(self, work, done):
        if self._closed:
            self._open -= 1
            return
        error = None
        try:
            work()
        except BaseException as problem:
            error = problem

        def tell():
            self._open -= 1
            done(error)

        world = self._process.world
        world.later(self._machine.disk_delay() / 4, lambda: self._process.run(tell))

    async def idle(self):
        while self._open:
            await asyncio.sleep(0.001)

    def close(self):
        self._closed = True


class NoKernelSync:
    """What the system could sync without a thread: nothing."""

    def __init__(self, loop):
        pass

    def sync(self, files, done):
        return False

    def close(self):
        pass


class SimNode(Node):
    """A node on a machine's disk and clock."""

    def __init__(self, config, machine):
        super().__init__(config)
        self._machine, self._process = machine, machine.process
        self._clock = machine.clock
        self._disk = machine.disk

    async def stop(self):
        """Nothing, if it is the end of a process that was killed, and its coroutines are thrown away."""
        if not self._process.dead:
            await super().stop()

    def _wire(self, *arguments):
        services = super()._wire(*arguments)
        self._machine.wired(services, self._kraft)
        return services


class Machine:
    """Its disk stays; its process comes and goes. What the checker asks of a node."""

    def __init__(self, world, node_id):
        self.world, self.id = world, node_id
        self.host = f"n{node_id}"
        self.clock = SimClock(world)
        self.disk = MemoryDisk()
        self.process = None
        self.node = self.services = self.kraft = None
        self.incarnations = 0
        self.serves = False
        self.slow_until = -1.0

    @property
    def alive(self):
        return self.process is not None and self.services is not None

    @property
    def replicas(self):
        return self.services.replicas

    @property
    def epoch(self):
        return self.node._broker_epoch if self.node is not None else -1

    def disk_delay(self):
        delay = self.world.random.uniform(*self.world.options.disk_ms)
        return delay * 100 if self.world.now < self.slow_until else delay

    def wired(self, services, kraft):
        self.services, self.kraft = services, kraft
        services.metadata.subscribe(lambda old, new, delta: self.world.published(self, new))

    def boot(self):
        """Start a process."""
        self.incarnations += 1
        process = self.process = Process(self.world, self.host)
        process.machine = self
        self.serves = False
        config = load_config(profile="dev", assignments=self.world.settings(self).items()).config

        async def live():
            self.node = SimNode(config, self)
            await self.node.start()
            self.serves = True

        def begin():
            self.main_task = process.loop.create_task(live())
            self.main_task.add_done_callback(lambda task: self._started(process, task))

        self.world.later(0, lambda: process.run(begin))

    def _started(self, process, task):
        if not process.dead and not task.cancelled() and task.exception() is not None:
            self.world.problems.append(task.exception())

    def stop(self):
        """A clean stop; it takes its time."""
        process, node = self.process, self.node

        async def end():
            await node.stop()
            if self.process is process:
                self.gone()

        if self.serves:
            self.serves = False
            process.run(lambda: process.loop.create_task(end()))

    def gone(self, silent_ms=0.0):
        """The process ended: its memory is lost."""
        self.world.graves.append((self.process, self.node, self.main_task))
        self.process.kill(silent_ms)
        self.process = self.services = self.kraft = self.node = None
        self.serves = False

    def kill(self, tail=None):
        """kill -9; with `tail` the machine loses power."""
        from kbroker.storage.memory_disk import Tail

        # What was synced before it was acknowledged is there.
        if tail is not None and self.world.checker is not None and not self.world.options.syncs:
            self.world.checker.lost_power(self.id)
        self.gone(0.0 if tail is None else 400.0)
        self.disk = self.disk.crash(tail or Tail.KEPT, self.world.random.randrange)


class NodeWorld(Scheduler):
    """A cluster of real nodes. Use `with world.patched():` around all that it does."""

    def __init__(self, seed, options=None):
        super().__init__(seed)
        self.seed = seed
        self.options = options or Options.of_seed(seed, self.random)
        self.network = Network(self, self.options.delay_ms)
        self.nodes = {node_id: Machine(self, node_id) for node_id in range(1, self.options.nodes + 1)}
        self.checker = None
        self.acked = []
        #: Processes that ended: their coroutines must not be taken apart while others run.
        self.graves = []
        self._ids = itertools.count(1)
        self._image = None

    def settings(self, machine):
        voters = ",".join(f"{each.id}@{each.host}:{CONTROLLER_PORT}" for each in self.nodes.values())
        places = f"PLAINTEXT://{machine.host}:{CLIENT_PORT},CONTROLLER://{machine.host}:{CONTROLLER_PORT}"
        return {
            "process.roles": "broker,controller",
            "node.id": str(machine.id),
            "listeners": places,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": voters,
            "kbroker.cluster.id": CLUSTER_ID,
            "log.dirs": f"{FOLDER}/{machine.host}",
            "default.replication.factor": "3",
            "min.insync.replicas": str(self.options.min_isr),
            "offsets.topic.replication.factor": "3",
            "offsets.topic.num.partitions": "1",
            "broker.heartbeat.interval.ms": "200",
            "broker.session.timeout.ms": "1500",
            "controller.quorum.fetch.timeout.ms": str(self.options.patience_ms),
            "controller.quorum.election.timeout.ms": "300",
            "replica.lag.time.max.ms": "1200",
            "log.cleaner.enable": "false",
            "kbroker.metadata.fsync": "true",
            "log.segment.bytes": "1048576",
            **(GROUP_SETTINGS if self.options.groups else {}),
            **({"log.flush.interval.messages": "1"} if self.options.syncs else {}),
        }

    def new_uuid(self):
        return self.random.getrandbits(120).to_bytes(15, "big") + b"\x07"

    @contextmanager
    def patched(self):
        """The machine that nodes see is this world's."""
        world, random = self, self.random
        process_of = lambda host: next(m.process for m in world.nodes.values() if m.host == host)  # noqa: E731
        secrets = SimpleNamespace(randbits=random.getrandbits, randbelow=random.randrange)
        main = {
            "BlockingRunner": SimRunner,
            "KernelSync": NoKernelSync,
            "secrets": secrets,
            "new_uuid": world.new_uuid,
            "preload": lambda timer, **_: lambda: None,
        }
        bind = lambda name, host, port: [SimListener(process_of(host), (host, port))]  # noqa: E731
        clock = SimpleNamespace(perf_counter=lambda: world.now / 1000)
        with (
            mock.patch.multiple(kbroker.main, **main),
            mock.patch("kbroker.server.node_folders.new_uuid", world.new_uuid),
            mock.patch("kbroker.server.node_sockets.bind_sockets", bind),
            mock.patch("kbroker.server.listener.time", clock),
            mock.patch("kbroker.server.transport._HAS_SENDFILE", False),
        ):
            try:
                yield
            finally:
                for machine in self.nodes.values():
                    if machine.process is not None:
                        machine.process.dead = True

    # -- what the checker asks --

    def published(self, machine, image):
        """A node knows more of the cluster; the first one that does tells all."""
        if self._image is None or image.offset > self._image.offset:
            old, self._image = self._image, image
            if self.checker is not None and old is not None:
                self.checker.on_commit(old, image)

    @property
    def image(self):
        return self._image

    def state(self, index):
        return self._image.topics.get("t").partitions[index]

    def partition(self, node_id, index):
        machine = self.nodes[node_id]
        return machine.replicas.get("t", index) if machine.alive else None

    def leader(self, index):
        state = self.state(index)
        partition = self.partition(state.leader, index) if state.leader >= 0 else None
        if partition is None or not partition.is_leader or partition.leader_epoch != state.leader_epoch:
            return None
        return self.nodes[state.leader]

    # -- life --

    def start(self, patience_ms=10_000):
        """Boot all; returns when all serve."""
        for machine in self.nodes.values():
            machine.boot()
        self.wait(lambda: all(machine.serves for machine in self.nodes.values()), patience_ms, "the start")

    def wait(self, test, patience_ms, what, step_ms=50):
        end = self.now + patience_ms
        while not test():
            if self.now >= end:
                raise AssertionError(f"seed {self.seed} at {self.now:.0f} ms: {what} takes too long")
            self.run_until(self.now + step_ms)
