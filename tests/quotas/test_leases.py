from __future__ import annotations

import pytest

from kbroker.quotas.leases import LEASE_S, CentralBucket, Health, LeasedAllowance
from kbroker.quotas.windows import Windows

LIMIT = 3000.0


class World:
    """Three brokers with a central counter, and clients that want so much a second at each."""

    def __init__(self, *wanted, size=50):
        self.size = size
        self.now_ms = 0.0
        self.health = [Health() for _ in wanted]
        for each in self.health:
            each.is_up = True
        self.brokers = [LeasedAllowance(LIMIT, 1 / 3, Windows(), 0, health) for health in self.health]
        self.central = CentralBucket(LIMIT, 0)
        self.wanted = list(wanted)
        self.waiting = [0.0] * len(wanted)
        self.free_ms = [0.0] * len(wanted)
        self.done = 0.0
        self.answers = True

    def run(self, seconds):
        before = self.done
        for _ in range(round(seconds * 100)):
            self.now_ms += 10
            for index, broker in enumerate(self.brokers):
                self.waiting[index] = min(self.waiting[index] + self.wanted[index] / 100, 10_000)
                while self.waiting[index] >= self.size and self.now_ms >= self.free_ms[index]:
                    self.waiting[index] -= self.size
                    self.done += self.size
                    self.free_ms[index] = self.now_ms + broker.charge(self.size, self.now_ms)
            if round(self.now_ms) % round(LEASE_S * 1000) == 0:
                self.round()
        return (self.done - before) / seconds

    def round(self):
        for broker, health in zip(self.brokers, self.health):
            health.is_up = self.answers
            if self.answers:
                broker.granted(self.central.take(broker.wants(), self.now_ms / 1000))


@pytest.mark.parametrize("wanted", [(9000, 0, 0), (9000, 300, 20), (9000, 9000, 100), (9000, 9000, 9000)])
def test_however_the_load_lies_the_sum_is_the_quota(wanted):
    world = World(*wanted)
    world.run(5)
    assert world.run(10) == pytest.approx(LIMIT, rel=0.05)


def test_what_is_less_than_the_quota_never_waits():
    world = World(500, 1000, 700)
    world.run(5)
    assert world.run(10) == pytest.approx(2200, rel=0.03)


def test_without_the_counter_each_has_its_share_and_it_comes_back():
    world = World(9000, 0, 0)
    world.run(5)
    world.answers = False
    world.run(20)
    assert world.run(10) == pytest.approx(LIMIT / 3, rel=0.05)
    world.answers = True
    world.run(2)
    assert world.run(10) == pytest.approx(LIMIT, rel=0.05)


def test_a_consumer_gets_what_is_at_hand_and_owes_the_rest():
    health = Health()
    health.is_up = True
    broker = LeasedAllowance(LIMIT, 1 / 3, Windows(), 0, health)
    assert broker.ask(2000, 0) == 0
    assert broker.ask(2000, 1) > 1000
    assert broker.wants() > 1900
    broker.granted(4000)
    assert broker.ask(2000, 2) == 0
