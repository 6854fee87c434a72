"""Coordinators killed at every step, zombies, lost answers and late markers; then three things must hold.

Each transaction is read as a whole or not at all; nothing is open at the end; what a replaced producer wrote
is in no later transaction. Every history has a seed, and is the same again with it.
"""

from __future__ import annotations

import contextlib
from random import Random

import pytest

from kbroker.errors import ApiError, ErrorCode as E
from tests.coordinator.txn_world import Lost, Producer, World

_RETRIED = (E.CONCURRENT_TRANSACTIONS,)


class Client:
    """A producer of one transactional id that runs transactions of a few records each."""

    def __init__(self, world, name, number, random, version):
        self.world, self.name, self.number, self.random, self.version = world, name, number, random, version
        self.producer = None
        self.dead = False
        self.sequences = {}
        self.count = 0
        self.values = []
        #: Transaction -> what the client was told of it: True committed, False aborted, None nobody knows.
        self.told = {}
        self.wrote = {}
        self.plan = self._run()

    def step(self):
        """Do one request."""
        try:
            next(self.plan)
        except StopIteration:
            self.dead = True

    def _ask(self, request):
        """Until it is answered: a lost answer means the same request again. Yields while it waits."""
        while True:
            try:
                answer = request()
            except Lost:
                yield
                continue
            code = answer if isinstance(answer, E) else answer.code
            if code in _RETRIED:
                yield
                continue
            return answer

    def _run(self):
        answer = yield from self._ask(lambda: self.world.init(self.name))
        self.producer = answer.producer
        yield
        while True:
            self.count += 1
            key = (self.number, self.count)
            self.wrote[key] = []
            self.told[key] = None
            places = self.random.sample(list(self.world.partitions), self.random.randint(1, 3))
            for place in places * self.random.randint(1, 2):
                ok = yield from self._write(place, key)
                if not ok:
                    return
                yield
            commit = self.random.random() < 0.6
            answer = yield from self._ask(
                lambda: self.world.end(self.name, self.producer, commit, self.version)  # noqa: B023
            )
            if answer.code is not E.NONE:
                return
            self.told[key] = commit
            if self.version >= 2:
                self.producer = answer.producer
                self.sequences = {}
            yield

    def _write(self, place, key):
        if self.version < 2:
            code = yield from self._ask(lambda: self.world.add(self.name, self.producer, [place], 0))
            if code is not E.NONE:
                return False
        sequence = self.sequences.get(place, 0)
        value = (*key, place, len(self.wrote[key]))
        code = yield from self._ask(
            lambda: self.world.produce(self.name, self.producer, place, sequence, value, self.version)
        )
        if code is not E.NONE:
            return False
        self.sequences[place] = sequence + 1
        self.wrote[key].append(value)
        return True


def run(seed, version, die_at=None):
    random = Random(seed)
    world = World(server_version=2)
    world.die_at = die_at
    clients = []
    live = {}
    for _turn in range(150):
        roll = random.random()
        if roll < 0.05 or not live:
            name = random.choice("xy")
            live[name] = Client(world, name, len(clients), random, version)
            clients.append(live[name])
        elif roll < 0.65:
            # Also those that were replaced: they do not know.
            random.choice(clients).step()
        elif roll < 0.95:
            world.deliver(random.randrange)
        elif roll < 0.97:
            _late_marker(world, random)
        else:
            world.pass_ms(random.choice([10, 100, 70_000]))
        if die_at is None and random.random() < 0.02:
            world.start()
    # Heal: no more deaths, whoever is open runs out of time.
    world.die_at = None
    world.deliver_all()
    world.pass_ms(1_000_000)
    world.deliver_all()
    return world, clients


def _late_marker(world, random):
    """A message of a dead coordinator arrives now."""
    if world.late:
        due, place = world.late.pop(random.randrange(len(world.late)))
        with contextlib.suppress(ApiError):
            world.partitions[place].mark(due)


def check(world, clients):
    assert world.settled()
    seen = [value for partition in world.partitions.values() for value in partition.read_committed()]
    assert len(seen) == len(set(seen)), "read twice"
    for client in clients:
        for key, values in client.wrote.items():
            read = [value for value in seen if value[:2] == key]
            told = client.told[key]
            if told is None and not read:
                continue
            if told is False:
                assert not read, f"aborted, and read: {key}"
            else:
                # Nobody was told of a value that was appended when the coordinator died: it may be there.
                assert set(values) <= set(read), f"half of {key}: {values} and {read}"
    _check_epochs(world)


def _check_epochs(world):
    """Data of one epoch ends by one marker: a zombie's never lies in a transaction of its successor."""
    for partition in world.partitions.values():
        open_by, last = {}, {}
        events = [(offset, producer, None) for offset, producer, _, _ in partition.data]
        events += [(offset, Producer(i, e), commit) for offset, i, e, commit in partition.markers]
        for _, (producer_id, epoch), commit in sorted(events, key=lambda each: each[0]):
            assert epoch >= last.get(producer_id, -1), "an old epoch wrote after a new one"
            last[producer_id] = epoch
            if commit is None:
                assert open_by.setdefault(producer_id, epoch) == epoch, "two producers in one transaction"
            else:
                open_by.pop(producer_id, None)
        assert not open_by


@pytest.mark.parametrize("version", [2, 0])
def test_histories_with_deaths(version):
    for seed in range(60):
        check(*run(seed, version))


@pytest.mark.parametrize("version", [2, 0])
def test_a_death_at_every_step(version):
    world, _ = run(7, version)
    for step in range(1, world.steps + 1):
        check(*run(7, version, die_at=step))


def test_a_history_is_the_same_again():
    first, second = run(3, 2)[0], run(3, 2)[0]
    assert first.log == second.log
    assert [p.data for p in first.partitions.values()] == [p.data for p in second.partitions.values()]
