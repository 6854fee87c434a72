from __future__ import annotations

from itertools import product
from math import inf, nan

import pytest

from kbroker.quotas.allowance import Allowance
from kbroker.quotas.request_share import RequestShare
from kbroker.quotas.sensors import IDLE_MS, Sensors
from kbroker.quotas.table import LEAST, MOST, QuotaTable, levels
from kbroker.quotas.token_bucket import TokenBucket
from kbroker.quotas.windows import DELAY_MS_MAX, Windows

KEY = "producer_byte_rate"


def test_the_first_level_that_has_a_value_counts():
    every = levels("u", "c")
    for present in product([False, True], repeat=8):
        quotas = {level.entity: {KEY: float(level.number)} for level, there in zip(every, present) if there}
        match = QuotaTable(quotas).find(KEY, "u", "c")
        if not any(present):
            assert match is None
        else:
            assert match.limit == present.index(True) + 1


def test_who_shares_a_quota():
    sharers = [
        QuotaTable({level.entity: {KEY: 1.0}}).find(KEY, "u", "c").sharers for level in levels("u", "c")
    ]
    both, user, client = ("u", "c"), ("u", ""), ("", "c")
    assert sharers == [both, both, user, both, both, user, client, client]


def test_each_kind_is_looked_up_by_itself():
    table = QuotaTable({(("user", "u"),): {KEY: 1.0}, (("user", None),): {"consumer_byte_rate": 2.0}})
    assert table.find(KEY, "u", "c").limit == 1.0
    assert table.find("consumer_byte_rate", "u", "c").limit == 2.0
    assert table.find("request_percentage", "u", "c") is None
    assert table.has(KEY)
    assert not table.has("request_percentage")


def test_without_a_client_id_only_the_users_quotas_hold():
    # As Kafka 4.4 does: neither <default> of client ids holds for an empty one.
    defaults = {(("client-id", None),): {KEY: 1.0}, (("client-id", None), ("user", None)): {KEY: 2.0}}
    assert QuotaTable(defaults).find(KEY, "u", "") is None
    table = QuotaTable({**defaults, (("user", None),): {KEY: 3.0}})
    assert table.find(KEY, "u", "").limit == 3.0


@pytest.mark.parametrize(
    ("value", "limit"),
    [(0.0, LEAST), (-1.0, LEAST), (-inf, LEAST), (5e-324, LEAST), (nan, MOST), (inf, MOST), (1e308, MOST)],
)
def test_values_that_nobody_can_reckon_with(value, limit):
    table = QuotaTable({(("user", "u"),): {KEY: value}, (("ip", None),): {"connection_creation_rate": value}})
    assert table.find(KEY, "u", "c").limit == table.connection_rate("10.0.0.1") == limit
    for sensor in (Allowance(limit, Windows(), 0), RequestShare(limit, Windows(), 0)):
        delays = [sensor.charge(1e6, now_ms) for now_ms in (0, 0, 5, 5_000, 1e9)]
        assert all(0 <= delay <= DELAY_MS_MAX for delay in delays)
        assert any(delays) == (limit == LEAST)
    bucket = TokenBucket(limit, 11, 0)
    assert (bucket.take(1, 0) > 0) == (limit == LEAST)


def test_the_rate_of_an_address():
    table = QuotaTable({(("ip", None),): {"connection_creation_rate": 5.0}})
    assert table.connection_rate("10.0.0.1") == 5.0
    assert QuotaTable({}).connection_rate("10.0.0.1") is None


class Used:
    def __init__(self, limit, now_ms):
        self.limit = limit
        self.used_ms = now_ms


def test_sensors_are_bounded():
    sensors = Sensors(Used, limit=3)
    first = sensors.get(("a", ""), 1.0, 0)
    assert sensors.get(("a", ""), 1.0, 0) is first
    for name in "bcd":
        sensors.get((name, ""), 1.0, 1)
    assert len(sensors) == 3


def test_sensors_that_are_not_used_are_forgotten():
    sensors = Sensors(Used)
    used = sensors.get(("used", ""), 1.0, 0)
    for name in "abc":
        sensors.get((name, ""), 1.0, 0)
    used.used_ms = IDLE_MS
    for _ in range(5):
        sensors.forget_idle(IDLE_MS + 10)
    assert [sharers for sharers, _ in sensors.items()] == [("used", "")]
