from __future__ import annotations

import pytest

from kbroker.broker.blocking import when_run
from kbroker.broker.deferred import Deferred


def test_the_listener_hears_at_once_or_later_and_only_once():
    heard = []
    later = Deferred()
    later.then(lambda done: heard.append(done.result()))
    later.resolve(1)
    later.resolve(2)
    later.fail(ValueError())
    ready = Deferred()
    ready.resolve(3)
    ready.then(lambda done: heard.append(done.result()))
    assert heard == [1, 3]


def test_an_error_is_raised_by_result():
    failed = Deferred()
    failed.fail(KeyError("x"))
    with pytest.raises(KeyError):
        failed.result()


def test_cancelling_tells_the_resolver_and_silences_the_listener():
    told = []
    waiting = Deferred()
    waiting.on_cancel = lambda: told.append("cancelled")
    waiting.then(lambda done: told.append("heard"))
    waiting.cancel()
    waiting.cancel()
    waiting.resolve(1)
    assert told == ["cancelled"]


def test_nothing_is_told_to_a_resolver_that_has_finished():
    told = []
    done = Deferred()
    done.on_cancel = lambda: told.append("cancelled")
    done.resolve(1)
    done.cancel()
    assert told == []
    assert done.result() == 1


def test_map_changes_the_value_and_lets_errors_and_cancellations_through():
    source = Deferred()
    doubled = source.map(lambda value: value * 2)
    source.resolve(4)
    assert doubled.result() == 8
    failed = Deferred()
    mapped = failed.map(lambda value: value)
    failed.fail(KeyError("x"))
    with pytest.raises(KeyError):
        mapped.result()
    odd = Deferred()
    mapped = odd.map(lambda value: 1 // value)
    odd.resolve(0)
    with pytest.raises(ZeroDivisionError):
        mapped.result()
    told = []
    waiting = Deferred()
    waiting.on_cancel = lambda: told.append("cancelled")
    waiting.map(str).cancel()
    assert told == ["cancelled"]


def test_lead_to_goes_on_to_what_comes_later_and_not_for_who_has_cancelled():
    first, second = Deferred(), Deferred()
    led = first.lead_to(lambda value: second)
    first.resolve(1)
    assert not led.done
    second.resolve(2)
    assert led.result() == 2
    failed = Deferred()
    led = failed.lead_to(lambda value: value)
    failed.fail(KeyError("x"))
    with pytest.raises(KeyError):
        led.result()
    called = []
    source = Deferred()
    source.lead_to(called.append).cancel()
    assert not source.done
    source.resolve(3)
    assert called == []


def test_when_run_tells_of_the_work_and_of_its_error():
    def run_blocking(work, done):
        try:
            done(work())
        except ValueError as error:
            done(error)

    ran = []
    assert when_run(run_blocking, lambda: ran.append(1)).result() is None
    assert ran == [1]
    with pytest.raises(ValueError, match="invalid literal"):
        when_run(run_blocking, lambda: int("x")).result()
