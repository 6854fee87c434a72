from __future__ import annotations

from hypothesis import given, strategies as st

from kbroker.replication.throttle import UNLIMITED, ReplicationQuota, is_throttled


def test_a_second_may_come_at_once_and_what_is_too_much_is_waited_for():
    quota = ReplicationQuota(lambda: 1000)
    assert not quota.is_exceeded(0)
    quota.record(900, 50_000)
    assert not quota.is_exceeded(50_000)
    quota.record(5_100, 50_000)
    assert quota.is_exceeded(54_900)
    assert not quota.is_exceeded(55_100)
    assert not quota.is_exceeded(70_000)
    quota.record(1000, 70_000)
    assert quota.is_exceeded(70_000)


def test_a_rate_holds_from_when_it_is_set():
    rate = [UNLIMITED]
    quota = ReplicationQuota(lambda: rate[0])
    quota.record(1 << 40, 0)
    rate[0] = 1000
    assert not quota.is_exceeded(10)
    quota.record(2000, 10)
    assert quota.is_exceeded(20)


def test_no_limit_is_never_exceeded():
    quota = ReplicationQuota(lambda: UNLIMITED)
    quota.record(1 << 60, 0)
    assert not quota.is_exceeded(1)


@given(st.lists(st.integers(1, 5000), min_size=50, max_size=200))
def test_scenario_123_who_asks_before_each_send_keeps_to_the_rate(sizes):
    quota, now, sent = ReplicationQuota(lambda: 1000), 0.0, 0
    for size in sizes:
        while quota.is_exceeded(now):
            now += 100
        quota.record(size, now)
        sent += size
        now += 10
    assert sent <= 1.5 * now + 16_000


def test_replicas_are_named_by_partition_and_broker():
    assert is_throttled(["0:1", " 3:2"], 3, 2)
    assert not is_throttled(["0:1", "3:2"], 3, 1)
    assert is_throttled(["*"], 9, 9)
    assert not is_throttled([], 9, 9)
