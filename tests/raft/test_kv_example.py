"""The key-value store of docs/examples in the simulated world: nothing acknowledged is lost, no read old."""

from __future__ import annotations

import subprocess
import sys

import pytest

from docs.examples.replicated_kv import MemoryDisk, Node
from tests.sim.world import (
    ANSWER,
    FAILED,
    GONE,
    MS,
    REQUEST,
    SECOND,
    TIMER,
    Faults,
    Process,
    SyncedList,
    World,
)

SYNCED = 10
KEYS = 5


class Disk(MemoryDisk):
    """Loses what was not synced."""

    def __init__(self):
        super().__init__()
        self.list = SyncedList()

    @property
    def log(self):
        return self.list.items

    @log.setter
    def log(self, _):
        pass

    def append(self, entries):
        self.list.append(list(entries))

    def truncate(self, end):
        self.list.truncate(end)


class StoreProcess(Process):
    """A node of the store, and the outside that it sees."""

    def __init__(self, world, node_id, voters):
        super().__init__(world, node_id)
        self.voters, self.disk, self.node = voters, Disk(), None

    def started(self):
        self.node = Node(self.id, self.voters, self.disk, self, self.world.below)

    def stop(self):
        self.node.stop()

    def killed(self, power):
        if power:
            self.disk.list.crash(self.world.random)

    def wake_at(self, ms):
        self.arm(ms)

    def send(self, to, request):
        self.world.network.request(self, to, request, 2000 * MS)

    def reply(self, token, response):
        self.world.network.answer(token, response)

    def sync(self, done):
        at = self.world.now + self.world.between(100, 4 * MS)
        self.world.push(at, self, SYNCED, (self.disk.list.mark(), done))

    def handle(self, kind, payload):
        if kind == TIMER:
            self.node.tick()
        elif kind == REQUEST:
            if payload.asker.life == payload.asker_life:
                self.node.received(payload, payload.request)
        elif kind in (ANSWER, FAILED):
            if self.world.network.end(payload):
                self.node.answered(payload.peer, payload.request, payload.answer if kind == ANSWER else None)
        elif kind == GONE:
            self.node.peer_gone(payload)
        elif kind == SYNCED:
            mark, done = payload
            self.disk.list.synced(mark)
            done()


class Users:
    """Put and get at random, and remember what they were told."""

    def __init__(self, world):
        self.world = world
        self.count = 0
        self.puts, self.gets = [], []

    @property
    def committed(self):
        """How much of the log any node has applied."""
        return max((p.node.applied for p in self.world.processes.values() if p.node), default=0)

    def act(self):
        world = self.world
        for process in world.processes.values():
            if process.up and process.paused_until <= world.now:
                key, before = world.below(KEYS), self.most
                if world.chance(0.6):
                    self.count += 1
                    put = [key, self.count, before, None]
                    self.puts.append(put)
                    process.node.put(key, self.count, lambda known, put=put: self._put(put, known))
                else:
                    process.node.get(
                        key, lambda ok, value, key=key, before=before: self._got(key, ok, value, before)
                    )
        world.call(world.now + world.between(2 * MS, 20 * MS), self.act)

    most = 0

    def watch(self):
        self.most = max(self.most, self.committed)
        return False

    def _put(self, put, known):
        put[3] = known

    def _got(self, key, ok, value, before):
        if ok:
            self.watch()
            self.gets.append((key, value, before, self.most))


def play(seed):
    world = World(seed)
    voters = range(1, (3, 5)[world.below(2)] + 1)
    for node_id in voters:
        world.add(StoreProcess(world, node_id, voters))
    for process in world.processes.values():
        process.start()
    users, faults = Users(world), Faults(world)
    users.act()
    faults.begin(4 * SECOND)
    world.run(4 * SECOND, users.watch)
    faults.heal()
    world.call(world.now + 1, faults.heal)
    world.run(9 * SECOND, users.watch)
    return world, users


@pytest.mark.parametrize("seed", range(30))
def test_the_store_keeps_what_it_acknowledged(seed):
    world, users = play(seed)
    nodes = [process.node for process in world.processes.values()]
    shortest = min(node.applied for node in nodes)
    assert shortest > users.count // 50, "it did not go on after the faults"
    history = max((node.disk.log[: node.applied] for node in nodes), key=len)
    for node in nodes:
        assert node.disk.log[: node.applied] == history[: node.applied]
    places = {value: offset for offset, (_, key, value) in enumerate(history) if key is not None}
    assert len(places) == sum(key is not None for _, key, _ in history)
    for key, value, before, known in users.puts:
        if known:
            assert places[value] >= before
            assert history[places[value]][1:] == (key, value)
        elif known is False:
            assert value not in places
    assert sum(bool(put[3]) for put in users.puts) > 20
    for key, value, before, after in users.gets:
        seen = [v for _, k, v in history[:before] if k == key][-1:] or [None]
        seen += [v for _, k, v in history[before:after] if k == key]
        assert value in seen
    assert users.gets


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, "docs/examples/replicated_kv.py"], capture_output=True, text=True, check=True
    )
    assert "put: True" in done.stdout
    assert done.stdout.rstrip().endswith("get: hello")
