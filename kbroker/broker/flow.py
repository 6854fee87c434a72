"""Steps that wait for one answer after the other, written as a generator that yields `Deferred`s."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from kbroker.broker.deferred import Deferred

T = TypeVar("T")


def run(flow: Generator[Deferred[Any], Any, T]) -> Deferred[T]:
    """Begin the flow; its result. An answer's error is raised where it was waited for."""
    done: Deferred[T] = Deferred()

    def go_on(answer: Deferred[Any] | None) -> None:
        while True:
            try:
                if answer is None:
                    waits_for = next(flow)
                elif answer.succeeded:
                    waits_for = flow.send(answer.result())
                else:
                    waits_for = _throw(flow, answer)
            except StopIteration as end:
                done.resolve(end.value)
                return
            except Exception as error:
                done.fail(error)
                return
            if not waits_for.done:
                waits_for.then(go_on)
                return
            answer = waits_for

    go_on(None)
    return done


def _throw(flow: Generator[Deferred[Any], Any, T], answer: Deferred[Any]) -> Deferred[Any]:
    try:
        answer.result()
    except Exception as error:
        return flow.throw(error)
    raise AssertionError("an answer that failed has an error")
