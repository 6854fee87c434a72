from __future__ import annotations

import pytest

from kbroker.quotas.connections import UNLIMITED, ConnectionRates
from kbroker.quotas.windows import Windows

WINDOWS = Windows()


def test_without_limits_nobody_waits():
    rates = ConnectionRates(WINDOWS)
    assert all(rates.admit("", UNLIMITED, 0) == 0 for _ in range(1000))
    assert rates.admit_address("a", None, 0) == (0, False)


def test_what_is_too_fast_waits_for_its_turn():
    rates = ConnectionRates(WINDOWS)
    delays = [rates.admit("", 2, 0) for _ in range(24)]
    assert delays[:20] == [0] * 20  # a window's worth at once
    assert delays[20:] == [500, 1000, 1500, 2000]


def test_an_address_that_is_too_fast_is_refused_and_does_not_count():
    rates = ConnectionRates(WINDOWS)
    admitted = [rates.admit_address("a", 1, 0) for _ in range(12)]
    assert [each.is_refused for each in admitted] == [False] * 10 + [True] * 2
    assert admitted[-1].delay_ms == 1000
    assert not rates.admit_address("b", 1, 0).is_refused
    assert not rates.admit_address("a", 1, 12_000).is_refused


def test_an_address_that_tries_again_and_again_keeps_to_its_rate():
    rates = ConnectionRates(WINDOWS)
    passed = [now for now in range(0, 60_000, 20) if not rates.admit_address("a", 10, now).is_refused]
    assert len(passed) == pytest.approx(600, rel=0.02)
    assert len([now for now in passed if now >= 11_000]) == pytest.approx(490, rel=0.02)


def test_a_new_rate_holds_at_once():
    rates = ConnectionRates(WINDOWS)
    for _ in range(10):
        rates.admit("L", 1, 0)
    assert rates.admit("L", 1, 0) > 0
    assert rates.admit("L", UNLIMITED, 0) == 0


def test_a_rate_of_nothing_is_no_error():
    assert ConnectionRates(WINDOWS).admit("", 0, 0) > 1000
