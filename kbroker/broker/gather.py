"""Many answers into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError

T = TypeVar("T")


def gather(parts: Sequence[Deferred[T]]) -> Deferred[list[T | ApiError]]:
    """All values in order, when the last one is there; a part that failed gives its ApiError instead.

    Another exception of a part fails the whole.
    """
    whole: Deferred[list[T | ApiError]] = Deferred()
    values: list[Any] = [None] * len(parts)
    left = len(parts)

    def take(index: int, done: Deferred[T]) -> None:
        nonlocal left
        try:
            values[index] = done.result()
        except ApiError as error:
            # Without its frames: there may be tens of thousands.
            values[index] = error.with_traceback(None)
        except Exception as error:
            whole.fail(error)
        left -= 1
        if left == 0:
            whole.resolve(values)

    for index, part in enumerate(parts):
        part.then(lambda done, index=index: take(index, done))  # type: ignore[misc]
    if not parts:
        whole.resolve([])
    return whole


def failed(error: ApiError) -> Deferred[Any]:
    """An answer that is an error already."""
    deferred: Deferred[Any] = Deferred()
    deferred.fail(error)
    return deferred
