from __future__ import annotations

from hypothesis import given, strategies as st

from kbroker.replication.throttle import UNLIMITED, ReplicationQuota, is_throttled


def test_the_mean_over_the_windows_counts():
    quota = ReplicationQuota(lambda: 1000)
    assert not quota.is_exceeded(0)
    quota.record(9_000, 50_000)
    assert not quota.is_exceeded(50_500)
    quota.record(5_000, 50_500)
    assert quota.is_exceeded(50_500)
    assert not quota.is_exceeded(70_000)


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
