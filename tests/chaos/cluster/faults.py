"""Faults: each a context manager that breaks something, says what, and mends it at the end."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress

from kbroker.client.errors import ClientError
from kbroker.errors import ApiError
from kbroker.testing.cluster import ZOOKEEPER
from kbroker.testing.links import both_ways
from tests.chaos.cluster.history import FaultSpan, History
from tests.chaos.cluster.nodes import LoopbackCluster
from tests.chaos.test_disks import fill

Fault = Callable[["Chooser"], AbstractContextManager[str]]
READY_S = 60.0


class Chooser:
    """Picks whom a fault strikes: anybody, the active controller, or who leads some partition."""

    def __init__(self, cluster: LoopbackCluster, rng: random.Random) -> None:
        self.cluster = cluster
        self.rng = rng

    def node(self) -> int:
        """One that runs."""
        alive = [n.id for n in self.cluster.nodes.values() if n.running and not n.paused]
        role = self.rng.choice(["any", "controller", "leader", "leader"])
        found = -1
        with suppress(ApiError, ClientError, OSError, KeyError, AssertionError):
            if role == "controller":
                found = self.cluster.controller()
            elif role == "leader":
                parts = [p for topic in self.cluster.metadata().topics for p in topic.partitions]
                found = self.rng.choice(parts).leader_id if parts else -1
        return found if found in alive else self.rng.choice(alive)

    def others(self, node: int) -> list[int]:
        """All but one, in any order."""
        found = [other for other in self.cluster.nodes if other != node]
        self.rng.shuffle(found)
        return found

    def spawn(self, node: int) -> None:
        """Start it if it does not run; whoever called the fault waits for it."""
        if not self.cluster.nodes[node].running:
            self.cluster.nodes[node].spawn()


@contextmanager
def kill(chooser: Chooser) -> Iterator[str]:
    """kill -9."""
    node = chooser.node()
    chooser.cluster.kill(node)
    yield f"{node}"
    chooser.spawn(node)


@contextmanager
def stop(chooser: Chooser) -> Iterator[str]:
    """SIGTERM; kill -9 after a while, as process managers do."""
    node = chooser.node()
    chooser.cluster.stop_node(node)
    yield f"{node}"
    chooser.spawn(node)


@contextmanager
def kill_all(chooser: Chooser) -> Iterator[str]:
    """Every process at once."""
    for node in chooser.cluster.nodes.values():
        if node.running:
            node.kill()
    yield "all"
    for node_id in chooser.cluster.nodes:
        chooser.spawn(node_id)


@contextmanager
def pause(chooser: Chooser) -> Iterator[str]:
    """SIGSTOP."""
    node = chooser.node()
    chooser.cluster.pause(node)
    yield f"{node}"
    if chooser.cluster.nodes[node].running:
        chooser.cluster.resume(node)


@contextmanager
def isolate(chooser: Chooser) -> Iterator[str]:
    """One node hears nothing of the others, nor they of it; clients reach all."""
    node = chooser.node()
    chooser.cluster.cut(*both_ways([node], chooser.others(node)))
    yield f"{node}"


@contextmanager
def one_way(chooser: Chooser) -> Iterator[str]:
    """One node is not heard, or does not hear."""
    node = chooser.node()
    ways = [(node, other) for other in chooser.others(node)]
    if chooser.rng.random() < 0.5:
        ways = [(b, a) for a, b in ways]
    chooser.cluster.cut(*ways)
    yield f"{ways[0][0]}->{ways[0][1]}…"


@contextmanager
def one_link(chooser: Chooser) -> Iterator[str]:
    """Two nodes do not hear each other: three nodes make a bridge of the third."""
    node = chooser.node()
    other = chooser.others(node)[0]
    chooser.cluster.cut(*both_ways([node], [other]))
    yield f"{node}|{other}"


@contextmanager
def bridge(chooser: Chooser) -> Iterator[str]:
    """Two halves that only one node connects."""
    middle = chooser.node()
    others = chooser.others(middle)
    half = len(others) // 2
    chooser.cluster.cut(*both_ways(others[:half], others[half:]))
    yield f"{others[:half]}-{middle}-{others[half:]}"


@contextmanager
def halves(chooser: Chooser) -> Iterator[str]:
    """A minority and a majority."""
    node = chooser.node()
    others = chooser.others(node)
    minority = [node, *others[: (len(others) - 1) // 2]]
    majority = [other for other in others if other not in minority]
    chooser.cluster.cut(*both_ways(minority, majority))
    yield f"{minority}|{majority}"


@contextmanager
def ring(chooser: Chooser) -> Iterator[str]:
    """Each sees its neighbours in a ring only: everybody a majority, no two the same (five nodes)."""
    nodes = list(chooser.cluster.nodes)
    chooser.rng.shuffle(nodes)
    count = len(nodes)
    far = [
        (nodes[i], nodes[j])
        for i in range(count)
        for j in range(count)
        if i != j and (i - j) % count not in (1, count - 1)
    ]
    chooser.cluster.cut(*far)
    yield "-".join(map(str, nodes))


@contextmanager
def flap(chooser: Chooser) -> Iterator[str]:
    """A node's cable is pulled and put in again, every 0.2 to 1 s."""
    node, over = chooser.node(), threading.Event()
    pauses = [chooser.rng.uniform(0.2, 1.0) for _ in range(100)]

    def work() -> None:
        for turn, pause_s in enumerate(pauses):
            chooser.cluster.network.link(node, bool(turn % 2))
            if over.wait(pause_s):
                return

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield f"{node}"
    over.set()
    thread.join()
    chooser.cluster.network.link(node, True)


@contextmanager
def no_clients(chooser: Chooser) -> Iterator[str]:
    """A node that clients do not reach, though the others do."""
    node = chooser.node()
    chooser.cluster.cut_clients(node)
    yield f"{node}"


@contextmanager
def power(chooser: Chooser) -> Iterator[str]:
    """What a node had not synced is gone. Only while all replicas are in sync: the promise holds for one."""
    with suppress(AssertionError):
        chooser.cluster.wait_for(chooser.cluster.all_in_sync, 20)
    if not _in_sync(chooser.cluster):
        yield "nobody: not all in sync"
        return
    node = chooser.node()
    chooser.cluster.cut_power(node)
    yield f"{node}"
    chooser.spawn(node)


@contextmanager
def power_all(chooser: Chooser) -> Iterator[str]:
    """All nodes lose power at the same instant: what is not synced is on none of them."""
    chooser.cluster.cut_power(*chooser.cluster.nodes)
    yield "all"
    for node_id in chooser.cluster.nodes:
        chooser.spawn(node_id)


def _in_sync(cluster: LoopbackCluster) -> bool:
    with suppress(ApiError, ClientError, OSError):
        return cluster.all_in_sync()
    return False


@contextmanager
def full(chooser: Chooser) -> Iterator[str]:
    """A disk without room."""
    node = chooser.node()
    ballast = fill(chooser.cluster.disk_folder(node))
    yield f"{node}"
    ballast.unlink()


@contextmanager
def clock(chooser: Chooser) -> Iterator[str]:
    """A node's wall clock jumps."""
    node = chooser.node()
    seconds = chooser.rng.choice([3600, -120, 30, -30, 86_400])
    chooser.cluster.set_clock(node, seconds)
    yield f"{node} {seconds:+d} s"
    chooser.cluster.set_clock(node, 0)


@contextmanager
def no_zookeeper(chooser: Chooser) -> Iterator[str]:
    """A node that does not reach ZooKeeper, though it reaches the others."""
    node = chooser.node()
    chooser.cluster.cut(*both_ways([node], [ZOOKEEPER]))
    yield f"{node}"


@contextmanager
def zookeeper(chooser: Chooser) -> Iterator[str]:
    """ZooKeeper is away."""
    chooser.cluster.stop_zookeeper()
    yield "all"
    chooser.cluster.start_zookeeper()


ALWAYS: dict[str, Fault] = {
    fault.__name__: fault for fault in (kill, stop, kill_all, pause, isolate, one_way, one_link)
}
#: Those that must be the only one.
ALONE = {"power", "power_all", "kill_all"}
LINKS = {"isolate", "one_way", "one_link", "bridge", "halves", "ring", "no_clients", "no_zookeeper"}


def possible(cluster: LoopbackCluster) -> dict[str, Fault]:
    """What can be done to this cluster."""
    found = dict(ALWAYS)
    if cluster.in_zookeeper:
        found |= {"no_zookeeper": no_zookeeper, "zookeeper": zookeeper}
    if cluster.can_flap:
        found |= {"flap": flap, "no_clients": no_clients}
    if len(cluster.nodes) >= 5:
        found |= {"bridge": bridge, "halves": halves, "ring": ring}
    if cluster.can_lose_power:
        found |= {"power": power, "power_all": power_all}
    if cluster.can_fill:
        found["full"] = full
    if cluster.can_jump:
        found["clock"] = clock
    return found


class Nemesis:
    """Breaks and mends, as the seed says, until the time is over."""

    def __init__(
        self,
        cluster: LoopbackCluster,
        history: History,
        rng: random.Random,
        kinds: list[str],
        rhythm_s: float,
    ) -> None:
        self._cluster = cluster
        self._history = history
        self._rng = rng
        self._chooser = Chooser(cluster, rng)
        self._kinds = kinds
        self._rhythm_s = rhythm_s

    def work(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        faults = possible(self._cluster)
        cycle = 0
        while time.monotonic() < until:
            cycle += 1
            names = [self._rng.choice(self._kinds)]
            second = self._rng.choice(self._kinds)
            if cycle % 3 == 0 and not ALONE & {*names, second} and {second} != set(names):
                names.append(second)
            self._strike(names, [faults[name] for name in names])
            time.sleep(self._rng.uniform(0.5, 1.2) * self._rhythm_s)

    def _strike(self, names: list[str], faults: list[Fault]) -> None:
        began = time.monotonic()
        with ExitStack() as stack:
            targets = [stack.enter_context(fault(self._chooser)) for fault in faults]
            self._wait(self._rng.uniform(0.5, 1.2) * self._rhythm_s, may_end="full" in names)
        if LINKS & {*names}:
            self._cluster.heal()
        span = FaultSpan("+".join(sorted(names)), " ".join(targets), began, time.monotonic())
        self._history.faults.append(span)
        self.bring_back(may_end="full" in names)

    def _wait(self, seconds: float, *, may_end: bool) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._look(may_end)
            time.sleep(0.05)

    def _look(self, may_end: bool) -> None:
        for node in self._cluster.ended():
            if not may_end:
                self._history.problems.append(f"node {node} ended by itself")

    def bring_back(self, *, may_end: bool = False) -> None:
        """Start what does not run, and wait for all."""
        self._look(may_end)
        waits = []
        for node in self._cluster.nodes.values():
            if not node.running:
                node.spawn()
            thread = threading.Thread(target=self._ready, args=(node,), daemon=True)
            thread.start()
            waits.append((node.id, thread))
        until = time.monotonic() + READY_S
        for node_id, thread in waits:
            thread.join(max(until - time.monotonic(), 0))
            if thread.is_alive():
                self._history.problems.append(f"node {node_id} is not ready after {READY_S:.0f} s")

    def _ready(self, node: object) -> None:
        try:
            if not node.is_ready:
                node.wait_ready()
        except Exception as error:
            self._history.problems.append(f"node {node.id} does not start: {error}")
