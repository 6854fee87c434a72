"""Waiting for acknowledgement by all in-sync replicas (acks=-1).

`CommitQueue` holds the waits of one partition, ordered by offset, so that an advance of the high watermark
looks only at those it releases. `DelayedProduce` gathers one request's partitions and answers when the last
is in, or when its time is over.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Generic, TypeVar

from kbroker.errors import ErrorCode

W = TypeVar("W")


class CommitQueue(Generic[W]):
    """Waiters for the commit of an offset, lowest first, those of one offset in order of arrival."""

    __slots__ = ("_heap", "_order")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, W]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, last_offset: int, waiter: W) -> None:
        """`waiter` waits until the record at `last_offset` is committed."""
        self._order += 1
        heappush(self._heap, (last_offset, self._order, waiter))

    def release(self, high_watermark: int) -> list[W]:
        """Take out the waiters whose record lies below `high_watermark`."""
        released: list[W] = []
        heap = self._heap
        while heap and heap[0][0] < high_watermark:
            released.append(heappop(heap)[2])
        return released

    def drain(self) -> list[W]:
        """Take out all of them: nothing will be committed here any more."""
        heap, self._heap = self._heap, []
        return [waiter for _, _, waiter in sorted(heap, key=lambda entry: entry[:2])]


class DelayedProduce:
    """One request's partitions that are not committed yet.

    Args:
        count: how many there are (at least 1).
        finish: called once, with the error of each partition by its position: NONE, what `settle` was given,
            or REQUEST_TIMED_OUT. A timed-out record stays appended.
    """

    __slots__ = ("_errors", "_finish", "_open")

    def __init__(self, count: int, finish: Callable[[list[ErrorCode]], None]) -> None:
        self._errors = [ErrorCode.REQUEST_TIMED_OUT] * count
        self._open = count
        self._finish: Callable[[list[ErrorCode]], None] | None = finish

    @property
    def done(self) -> bool:
        """Whether `finish` has been called."""
        return self._finish is None

    def settle(self, position: int, error: ErrorCode) -> None:
        """The partition at `position` is committed (NONE) or cannot be. Only once for each position."""
        self._errors[position] = error
        self._open -= 1
        if self._open == 0:
            self.expire()

    def expire(self) -> None:
        """The time is over: answer with what there is."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish(self._errors)
