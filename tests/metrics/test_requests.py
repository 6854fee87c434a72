"""The phases of requests, with a clock of our own."""

from __future__ import annotations

import pytest

from kbroker.metrics.histogram import RECENT_MAX
from kbroker.metrics.requests import RequestBook


@pytest.fixture
def clock():
    class Clock:
        now_s = 100.0

        def __call__(self):
            return self.now_s

    return Clock()


@pytest.fixture
def stats(clock):
    return RequestBook(clock).of("Fetch")


def phases(stats):
    return dict(stats.phases())


def test_answered_in_one_go_is_local_and_nothing_else(stats, clock):
    clock.now_s = 100.002
    stats.done(9, 50, 100.0, times=3)
    stats.done(8, 60, 100.0)
    assert stats.versions == {9: 3, 8: 1}
    found = phases(stats)
    assert {name: histogram.count for name, histogram in found.items()} == dict.fromkeys(found, 4)
    assert found["LocalTimeMs"].mean == found["TotalTimeMs"].mean == pytest.approx(2, rel=0.01)
    for name in ("RemoteTimeMs", "RequestQueueTimeMs", "ResponseSendTimeMs", "ThrottleTimeMs"):
        assert found[name].highest == 0
    assert (stats.sizes.count, stats.sizes.total) == (4, 210)


def test_a_parked_request_has_a_time_for_each_phase(stats, clock):
    clock.now_s = 100.003
    waiting = stats.wait(9, 50, 100.0, started_s=100.001)
    assert stats.count == 0
    clock.now_s = 100.5
    waiting.over()
    found = phases(stats)
    assert found["TotalTimeMs"].highest == pytest.approx(500)
    assert found["LocalTimeMs"].highest == pytest.approx(2, rel=0.01)
    assert found["RemoteTimeMs"].highest == pytest.approx(497, rel=0.01)
    assert found["RequestQueueTimeMs"].highest == pytest.approx(1, rel=0.01)


def test_who_waited_for_his_turn_was_queued(stats, clock):
    clock.now_s = 100.011
    stats.done(9, 50, 100.01, read_s=100.0)
    stats.done(9, 50, 100.01, read_s=100.00999)
    found = phases(stats)
    assert found["RequestQueueTimeMs"].highest == pytest.approx(10, rel=0.01)
    assert found["TotalTimeMs"].highest == pytest.approx(11, rel=0.01)
    assert found["RequestQueueTimeMs"].count == found["TotalTimeMs"].count == 2


def test_sending_throttling_and_errors(stats, clock):
    stats.done(9, 50, 100.0)
    stats.sent(7000)
    stats.throttle(250)
    stats.error(3)
    stats.error(3, times=2)
    found = phases(stats)
    assert found["ResponseSendTimeMs"].highest == 7
    assert found["ThrottleTimeMs"].highest == 250
    assert stats.errors == {3: 3}


def test_many_single_requests_are_all_counted(stats, clock):
    count = 3 * RECENT_MAX + 17
    for _ in range(count):
        stats.done(9, 50, 100.0)
    assert len(stats.at_once.recent_s) < RECENT_MAX
    assert stats.at_once.count == stats.count == stats.sizes.count == count
    stats.rotate(0)
    assert phases(stats)["TotalTimeMs"].count == count
