"""The seeded world: time, network, faults and what a crash leaves of a disk, for cores of any kind.

A world is a heap of (instant, sequence, process, life, kind, payload). Time is in microseconds. Everything
random comes from one generator, so a seed replays exactly, under any PYTHONHASHSEED. A core is put into a
`Process`; what a kind of world must hold true is checked by its own file (`raft_checks.py`).
"""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random

MS = 1000
SECOND = 1000 * MS

#: Kinds of events that the world itself delivers; a process may have more, from 10 on.
REQUEST, ANSWER, FAILED, TIMER, GONE, START = range(6)


class Violation(AssertionError):
    """Something that must hold does not."""


class Exchange:
    """One request and its answer. The asker hears ANSWER or FAILED, once, or nothing if it died."""

    __slots__ = ("answer", "asker", "asker_life", "context", "ended", "peer", "request", "target")

    def __init__(self, asker, target, request, context):
        self.asker, self.asker_life = asker, asker.life
        self.target, self.request, self.context = target, request, context
        self.peer = target.id
        self.answer = None
        self.ended = False


class Process:
    """Something that runs on a node: it has a clock of its own, and lives until it is killed."""

    def __init__(self, world, node_id):
        self.world = world
        self.id = node_id
        self.life = 0
        self.up = False
        self.paused_until = 0
        self.clock_rate = 1.0
        self.clock_offset_ms = 0
        self._armed = None

    def handle(self, kind, payload):
        """An event; in subclasses."""
        raise NotImplementedError

    def started(self):
        """The process begins, on what its disk holds; in subclasses."""
        raise NotImplementedError

    def stop(self):
        """It is asked to stop, and will be killed in a moment; in subclasses."""

    def killed(self, power):
        """It ended; with `power` its disk lost what was not synced; in subclasses."""
        raise NotImplementedError

    # -- time --

    def now_ms(self):
        """This node's monotonic clock."""
        return int(self.world.now * self.clock_rate) // MS + self.clock_offset_ms

    def arm(self, deadline_ms):
        """Deliver TIMER at this time of the own clock; an earlier one that was armed still comes."""
        if deadline_ms is None:
            return
        at = int((deadline_ms - self.clock_offset_ms) * MS / self.clock_rate) + 1
        at = max(at, self.world.now + 1)
        if self._armed is None or at < self._armed:
            self._armed = at
            self.world.push(at, self, TIMER, at)

    # -- life --

    def start(self):
        """Begin a life."""
        if not self.up:
            self.up = True
            self._armed = None
            self.started()

    def kill(self, power=False):
        """End it at once."""
        if self.up:
            self.up = False
            self.life += 1
            self.paused_until = 0
            self.killed(power)
            self.world.network.process_died(self)


class World:
    """The heap, the clock, the chance. `check` is called after every event."""

    def __init__(self, seed):
        self.seed = seed
        self.random = Random(seed)
        self.now = 0
        self.events = 0
        self.processes = {}
        self.network = Network(self)
        self.check = None
        self._heap = []
        self._sequence = 0

    def below(self, n):
        """A number from 0 to n - 1."""
        return int(self.random.random() * n)

    def chance(self, probability):
        """True in so many of 1 cases."""
        return self.random.random() < probability

    def between(self, low, high):
        """A number of the range."""
        return low + int(self.random.random() * (high - low + 1))

    def push(self, at, process, kind, payload):
        """Deliver an event, unless the process is another one by then."""
        self._sequence += 1
        heappush(self._heap, (at, self._sequence, process, process.life, kind, payload))

    def call(self, at, action):
        """Do something at an instant that belongs to nobody."""
        self._sequence += 1
        heappush(self._heap, (at, self._sequence, None, 0, 0, action))

    def add(self, process):
        """A process; it is not started."""
        self.processes[process.id] = process

    def run(self, until, stop=None):
        """Play until this instant, or until `stop()` is true (asked after every event)."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            at, _, process, life, kind, payload = heappop(heap)
            self.now = at
            if process is None:
                payload()
            else:
                if process.life != life or not process.up:
                    continue
                if process.paused_until > at:
                    self.push(process.paused_until, process, kind, payload)
                    continue
                if kind == TIMER:
                    if process._armed != payload:
                        continue
                    process._armed = None
                self.events += 1
                process.handle(kind, payload)
            if stop is not None and stop():
                return True
        self.now = max(self.now, until) if stop is None else self.now
        return False


class Network:
    """Requests and answers as over TCP: in order in each direction, or the connection breaks.

    A blocked direction swallows what is sent; the asker notices by its time-out only.
    """

    def __init__(self, world):
        self.world = world
        self.delay = (200, 2 * MS)
        self.loss = 0.0
        self.blocked = set()
        self.detects_death = True
        self._last = {}
        self._under_way = {}

    def request(self, asker, target_id, request, timeout_us, context=None):
        """Send it; the target gets REQUEST with the exchange."""
        world = self.world
        target = world.processes[target_id]
        exchange = Exchange(asker, target, request, context)
        self._under_way.setdefault((asker.id, target_id), []).append(exchange)
        world.push(world.now + timeout_us, asker, FAILED, exchange)
        if (asker.id, target_id) in self.blocked:
            return exchange
        if self.loss and world.chance(self.loss):
            self._break(asker, target)
            return exchange
        at = self._arrival(asker.id, target_id)
        if target.up:
            world.push(at, target, REQUEST, exchange)
        else:
            self._fail(exchange, at + self._some_delay())
        return exchange

    def answer(self, exchange, response):
        """The target answers."""
        world, asker, target = self.world, exchange.asker, exchange.target
        if exchange.ended or asker.life != exchange.asker_life or (target.id, asker.id) in self.blocked:
            return
        if self.loss and world.chance(self.loss):
            self._break(asker, target)
            return
        exchange.answer = response
        world.push(self._arrival(target.id, asker.id), asker, ANSWER, exchange)

    def end(self, exchange):
        """The asker takes notice of answer or failure; whether it is the first."""
        if exchange.ended:
            return False
        exchange.ended = True
        self._under_way[exchange.asker.id, exchange.target.id].remove(exchange)
        return True

    def process_died(self, process):
        """Connections are reset; where the reset is blocked only a time-out tells."""
        world = self.world
        for (asker_id, target_id), exchanges in self._under_way.items():
            if target_id == process.id:
                for exchange in [*exchanges]:
                    if (process.id, asker_id) not in self.blocked:
                        self._fail(exchange, self._arrival(process.id, asker_id))
            elif asker_id == process.id:
                for exchange in [*exchanges]:
                    exchange.ended = True
                exchanges.clear()
        if self.detects_death:
            for other in world.processes.values():
                pair = (process.id, other.id)
                if other.up and pair not in self.blocked and pair[::-1] not in self.blocked:
                    world.push(world.now + 2 * self._some_delay(), other, GONE, process.id)

    def _fail(self, exchange, at):
        if not exchange.ended and exchange.asker.life == exchange.asker_life:
            self.world.push(at, exchange.asker, FAILED, exchange)

    def _break(self, asker, target):
        """The connection between the two is reset: what is under way on it fails, delivered or not."""
        for pair in ((asker.id, target.id), (target.id, asker.id)):
            for exchange in self._under_way.get(pair, ()):
                self._fail(exchange, self.world.now + self._some_delay())

    def _some_delay(self):
        low, high = self.delay
        return low + int(self.world.random.random() * (high - low + 1))

    def _arrival(self, source, target):
        at = max(self.world.now + self._some_delay(), self._last.get((source, target), 0) + 1)
        self._last[source, target] = at
        return at


class SyncedList:
    """A log on disk: a list of which a crash keeps what was synced and some of the changes after that.

    Changes are applied in order, so a crash keeps a prefix of them; the last may be kept in part.
    """

    def __init__(self, start=0):
        self.start = start
        self.items = []
        self._synced = (start, [])
        self._changes = []

    @property
    def end(self):
        """Behind the last item."""
        return self.start + len(self.items)

    def append(self, items):
        """Write at the end."""
        self.items.extend(items)
        self._changes.append((self.end, items))

    def truncate(self, end):
        """Cut back."""
        del self.items[end - self.start :]
        self._changes.append((end, None))

    def mark(self):
        """A sync begins: what it will cover. `synced(mark)` when it is done."""
        return (len(self._changes), self.start, self.end, self._changes)

    def synced(self, mark):
        """Everything before the mark is durable. A mark of before a crash or reset counts for nothing."""
        count, start, _, changes = mark
        if changes is not self._changes or start != self.start:
            return
        done, rest = changes[:count], changes[count:]
        items = self._replay(*self._synced, done)
        self._synced = (self.start, items)
        self._changes = rest

    def reset(self, start):
        """Drop everything durably and begin at `start`."""
        self.start, self.items = start, []
        self._synced = (start, [])
        self._changes = []

    def drop_before(self, start):
        """Delete the beginning, durably."""
        count = start - self.start
        if count <= 0:
            return
        at, items = self._synced
        items = self._replay(at, items, self._changes)
        del self.items[:count]
        self.start = start
        self._synced = (start, items[start - at :])
        self._changes = []

    def crash(self, random):
        """Lose some of what was not synced."""
        keep = int(random.random() * (len(self._changes) + 1))
        start, items = self._synced
        kept = self._changes[:keep]
        if keep < len(self._changes) and self._changes[keep][1]:
            end, more = self._changes[keep]
            some = more[: int(random.random() * (len(more) + 1))]
            kept.append((end - len(more) + len(some), some))
        self.items = self._replay(start, items, kept)
        self._synced = (start, [*self.items])
        self._changes = []

    @staticmethod
    def _replay(start, items, changes):
        items = [*items]
        for end, more in changes:
            if more is None:
                del items[end - start :]
            else:
                items.extend(more)
        return items


# -- faults --------------------------------------------------------------------------------------------------

FAULTS = (
    "kill",
    "stop",
    "power",
    "pause",
    "split",
    "isolate",
    "one_way",
    "slow",
    "flaky",
    "blackout",
    "false_alarm",
)


class Faults:
    """Chooses, for this seed, which kinds of faults happen (swarm), and makes them happen at random."""

    def __init__(self, world, kinds=FAULTS, mean_gap=700 * MS, longest=2500 * MS):
        self.world = world
        self.kinds = [kind for kind in kinds if world.chance(0.5)] or [kinds[world.below(len(kinds))]]
        self.mean_gap, self.longest = mean_gap, longest
        self.until = 0
        self.healed = False
        self._delay = world.network.delay

    def begin(self, until):
        """Faults from now to that instant."""
        self.until = until
        self._next()

    def _next(self):
        at = self.world.now + self.world.between(self.mean_gap // 4, self.mean_gap * 7 // 4)
        if at < self.until:
            self.world.call(at, self._strike)

    def _strike(self):
        kind = self.kinds[self.world.below(len(self.kinds))]
        getattr(self, "_" + kind)()
        self._next()

    def heal(self):
        """No more faults: everybody is up, sees everybody, and time passes for all."""
        self.healed = True
        network = self.world.network
        network.blocked.clear()
        network.loss = 0.0
        network.delay = self._delay
        for process in self.world.processes.values():
            process.paused_until = 0
            process.start()

    def _somebody(self):
        processes = list(self.world.processes.values())
        return processes[self.world.below(len(processes))]

    def _later(self, action):
        self.world.call(self.world.now + self.world.between(1, self.longest), action)

    def _kill(self):
        victim = self._somebody()
        victim.kill()
        self._later(victim.start)

    def _stop(self):
        victim = self._somebody()
        if victim.up:
            victim.stop()
            self.world.call(self.world.now + 50 * MS, lambda: self._end(victim))

    def _end(self, victim):
        victim.kill()
        if self.healed:
            victim.start()
        else:
            self._later(victim.start)

    def _power(self):
        victim = self._somebody()
        victim.kill(power=True)
        self._later(victim.start)

    def _blackout(self):
        for process in self.world.processes.values():
            process.kill(power=True)
            self._later(process.start)

    def _pause(self):
        victim = self._somebody()
        if victim.up:
            victim.paused_until = self.world.now + self.world.between(1, self.longest)

    def _block(self, pairs):
        blocked = self.world.network.blocked
        new = [pair for pair in pairs if pair not in blocked]
        blocked.update(new)
        self._later(lambda: blocked.difference_update(new))

    def _split(self):
        ids = list(self.world.processes)
        side = [i for i in ids if self.world.chance(0.5)]
        rest = [i for i in ids if i not in side]
        self._block([pair for a in side for b in rest for pair in ((a, b), (b, a))])

    def _isolate(self):
        one = self._somebody().id
        self._block([pair for b in self.world.processes if b != one for pair in ((one, b), (b, one))])

    def _one_way(self):
        one, ids = self._somebody().id, list(self.world.processes)
        inward = self.world.chance(0.5)
        self._block([(b, one) if inward else (one, b) for b in ids if b != one and self.world.chance(0.7)])

    def _slow(self):
        network = self.world.network
        network.delay = (self.world.between(1, 50) * MS, self.world.between(50, 400) * MS)

        def fast():
            network.delay = self._delay

        self._later(fast)

    def _flaky(self):
        network = self.world.network
        network.loss = 0.02 + 0.3 * self.world.random.random()

        def sound():
            network.loss = 0.0

        self._later(sound)

    def _false_alarm(self):
        ear, other = self._somebody(), self._somebody()
        if ear.up and ear is not other:
            self.world.push(self.world.now, ear, GONE, other.id)
