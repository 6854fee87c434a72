from __future__ import annotations

import heapq

import pytest

from kbroker.quotas.request_share import RequestShare
from kbroker.quotas.windows import Windows

LIMIT = 5.0


def played(clients, cost_s, *, from_s=0, seconds=60):
    """Clients that share a quota of one thread and ask again at once: what they took, in parts of it."""
    share = RequestShare(LIMIT, Windows(), 0)
    ready = [(0.0, client) for client in range(clients)]
    free_ms, used = 0.0, 0.0
    while ready[0][0] < (from_s + seconds) * 1000:
        now, client = heapq.heappop(ready)
        free_ms = max(now, free_ms) + cost_s * 1000
        delay_ms = share.charge(cost_s, free_ms)
        if free_ms >= from_s * 1000:
            used += cost_s * 100
        heapq.heappush(ready, (free_ms + delay_ms + 1.0, client))
    return used / seconds / LIMIT


@pytest.mark.parametrize("from_s", [0, 60])
@pytest.mark.parametrize(("clients", "cost_s"), [(1, 0.0003), (1, 0.002), (50, 0.00006), (50, 0.0003)])
def test_what_is_taken_in_a_minute_is_within_two_percent(clients, cost_s, from_s):
    assert played(clients, cost_s, from_s=from_s) == pytest.approx(1, abs=0.02)


def test_the_first_delays_are_kafkas():
    share = RequestShare(LIMIT, Windows(), 0)
    assert share.charge(0.4, 0) == 0
    assert share.charge(0.11, 0) == 200
    assert share.charge(0.01, 210) == 190  # a sample that is not over makes the window longer


def test_no_delay_is_longer_than_a_sample():
    share = RequestShare(LIMIT, Windows(2, 3), 0)
    assert share.charge(100.0, 0) == 3000


def test_a_burst_that_has_left_the_window_is_paid_back_before_the_next():
    share = RequestShare(LIMIT, Windows(), 0)
    assert share.charge(0.9, 0) == 1000
    assert share.charge(0.0001, 11_500) == 1000
    assert share.charge(0.0001, 18_500) == 0


def test_the_time_runs_from_the_first_request_on_though_it_is_charged_later():
    share = RequestShare(LIMIT, Windows(), 0)
    assert share.charge(0.0, 0) == 0
    assert share.charge(0.55, 900) == 100
    assert share.charge(0.0, 11_100) == 0


def test_what_delays_of_a_sample_could_not_keep_is_not_owed_for_ever():
    share = RequestShare(LIMIT, Windows(), 0)
    delays = [share.charge(0.2, second * 1000) for second in range(600)]
    assert set(delays[3:]) == {1000}
    assert share.charge(0.0001, 607_000) == 1000
    assert share.charge(0.0001, 611_000) == 0


def test_who_has_used_little_need_not_be_charged_at_once_and_who_owes_must():
    share = RequestShare(LIMIT, Windows(), 0)
    share.charge(0.1, 0)
    assert 256 * share.spare_s == pytest.approx(0.4)
    share.charge(0.2, 100)
    assert not share.spare_s
    share.charge(0.6, 200)
    assert not share.spare_s
    share.charge(0.0001, 12_000)
    assert not share.spare_s  # the window is empty, and yet something is owed
    share.charge(0.0001, 30_000)
    assert share.spare_s
