"""Flows: generators that wait for Deferreds."""

import pytest

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred


def test_values_errors_and_the_result():
    first, second = Deferred(), Deferred()

    def steps():
        value = yield first
        try:
            yield second
        except ValueError:
            return value + 1
        return None

    result = flow.run(steps())
    first.resolve(1)
    assert not result.done
    second.fail(ValueError())
    assert result.result() == 2


def test_an_error_that_nobody_catches_is_the_result():
    def steps():
        failed = Deferred()
        failed.fail(KeyError("x"))
        yield failed

    with pytest.raises(KeyError):
        flow.run(steps()).result()


def test_many_answers_that_are_there_already_need_no_stack():
    def steps():
        total = 0
        for number in range(5000):
            answer = Deferred()
            answer.resolve(number)
            total += yield answer
        return total

    assert flow.run(steps()).result() == sum(range(5000))
