from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kbroker.quotas.allowance import Allowance
from kbroker.quotas.shares import HELD_PART, LEASE_MS, REPORT_MS, Collector, Demand, split
from kbroker.quotas.windows import Windows

KEY = ("producer_byte_rate", "u", "")
demands_of_nodes = st.dictionaries(
    st.integers(1, 6),
    st.builds(Demand, st.floats(0, 5000), st.booleans(), st.just(1000.0)),
)


@given(demands_of_nodes, st.integers(1, 6))
def test_shares_come_to_the_limit_and_nobody_has_none(demands, nodes):
    shares = split(1000.0, demands, range(1, nodes + 1))
    assert sum(shares.values()) == pytest.approx(1000.0)
    assert set(shares) == set(demands) | set(range(1, nodes + 1))
    assert min(shares.values()) >= 1000.0 / len(shares) * 0.0199


def test_who_is_held_up_gets_what_the_others_leave():
    shares = split(900.0, {1: Demand(300, True), 2: Demand(40, False)}, [1, 2, 3])
    assert shares[2] == pytest.approx(40 * 1.05 + 4.5)
    assert shares[3] == pytest.approx(6)
    assert shares[1] == pytest.approx(900 - 46.5 - 6)


def test_two_that_are_held_up_get_the_same():
    shares = split(900.0, {1: Demand(500, True), 2: Demand(400, True)}, [1, 2, 3])
    assert shares[1] == shares[2] > 440


def test_who_is_held_up_gets_little_more_than_it_seems_to_need():
    shares = split(900.0, {1: Demand(800, True), 2: Demand(20, True)}, [1, 2, 3])
    assert shares[2] == pytest.approx(58)
    assert shares[1] == pytest.approx(900 - 58 - 6)


class Cluster:
    """Three nodes with allowances, a collector, and clients that want so much a second."""

    def __init__(self, limit):
        self.limit = limit
        self.now = 0.0
        self.collector = Collector()
        self.wanted = {1: 0.0, 2: 0.0, 3: 0.0}
        self.nodes = {node: Allowance(limit / 3, Windows(), 0) for node in self.wanted}
        self.free_at = dict.fromkeys(self.wanted, 0.0)
        self.waiting = dict.fromkeys(self.wanted, 0.0)
        self.done = dict.fromkeys(self.wanted, 0.0)
        self.reported = dict.fromkeys(self.wanted, 0.0)
        self.held = dict.fromkeys(self.wanted, 0.0)
        self.cut = set()
        #: What clients want comes so often.
        self.burst_ms = 5

    def run(self, seconds, step_ms=5):
        until = self.now + seconds * 1000
        while self.now < until:
            self.now += step_ms
            for node, allowance in self.nodes.items():
                if self.now % self.burst_ms == 0:
                    more = self.wanted[node] * self.burst_ms / 1000
                    self.waiting[node] = min(self.waiting[node] + more, 5_000)
                if self.waiting[node] >= 100 and self.now >= self.free_at[node]:
                    self.waiting[node] -= 100
                    self.done[node] += 100
                    self.free_at[node] = self.now + allowance.charge(100, self.now)
            if self.now % REPORT_MS == 0:
                self.report()

    def report(self):
        for node, allowance in self.nodes.items():
            if node in self.cut:
                continue
            rate = (allowance.done - self.reported[node]) / (REPORT_MS / 1000)
            self.reported[node] = allowance.done
            held, self.held[node] = allowance.held_ms(self.now) - self.held[node], allowance.held_ms(self.now)
            demand = Demand(rate, held > HELD_PART * REPORT_MS, self.limit)
            parts = self.collector.report(node, {KEY: demand}, self.nodes, self.now)
            allowance.share(parts[KEY] * self.limit, self.now)

    def rate(self, seconds):
        before = sum(self.done.values())
        self.run(seconds)
        return (sum(self.done.values()) - before) / seconds


@pytest.mark.parametrize(
    "wanted", [(9000, 0, 0), (9000, 300, 40), (9000, 9000, 100), (1500, 1500, 1500), (9000, 1400, 0)]
)
def test_skewed_load_comes_to_the_quota_within_five_percent(wanted):
    cluster = Cluster(3000.0)
    cluster.wanted = dict(zip((1, 2, 3), map(float, wanted)))
    cluster.run(30)
    assert cluster.rate(10) == pytest.approx(min(3000, sum(wanted)), rel=0.05)


@pytest.mark.parametrize("wanted", [(12000, 300, 60), (12000, 12000, 150), (12000, 900, 900)])
@pytest.mark.parametrize("burst_ms", [100, 500, 1000])
def test_who_comes_in_bursts_is_not_taken_for_one_that_is_held_up(wanted, burst_ms):
    cluster = Cluster(3000.0)
    cluster.burst_ms = burst_ms
    cluster.wanted = dict(zip((1, 2, 3), map(float, wanted)))
    cluster.run(30)
    assert cluster.rate(10) == pytest.approx(3000, rel=0.05)


def test_load_that_moves_to_another_node_is_followed():
    cluster = Cluster(3000.0)
    cluster.wanted[1] = 9000.0
    cluster.run(30)
    cluster.wanted = {1: 0.0, 2: 0.0, 3: 9000.0}
    cluster.run(16)
    assert cluster.rate(10) == pytest.approx(3000, rel=0.05)


def test_a_node_that_is_not_heard_of_leaves_its_share_to_others_after_its_lease():
    collector = Collector()
    collector.report(1, {KEY: Demand(600, False, 1000.0)}, [1, 2], 0)
    early = collector.report(2, {KEY: Demand(400, True, 1000.0)}, [1, 2], 1000)
    late = collector.report(2, {KEY: Demand(400, True, 1000.0)}, [2], LEASE_MS + 1001)
    assert early[KEY] == pytest.approx(0.5)
    assert late[KEY] == 1.0
