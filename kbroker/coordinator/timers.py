"""Deadlines of a coordinator: set and moved in O(1), fired from outside.

A heartbeat moves a deadline later without touching the heap: the timer's old entry stays, and when it
comes up too early it is put back at the time it now has. So the heap holds at most one live entry a timer
(a stale one more for each time a deadline was moved *earlier*, until that time passes).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T")


class Timer(Generic[T]):
    """One deadline and what is done when it passes; `deadline_ms` None: not running."""

    __slots__ = ("action", "deadline_ms", "queued_ms")

    def __init__(self, action: Callable[[int], T]) -> None:
        #: Called with the present time when the deadline has passed.
        self.action = action
        self.deadline_ms: int | None = None
        self.queued_ms: int | None = None

    def cancel(self) -> None:
        """Stop; harmless when not running."""
        self.deadline_ms = None

    @property
    def running(self) -> bool:
        """A deadline is set."""
        return self.deadline_ms is not None


class TimerQueue(Generic[T]):
    """All timers of one coordinator shard."""

    __slots__ = ("_heap", "_sequence")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer[T]]] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._heap)

    def start(self, timer: Timer[T], deadline_ms: int) -> None:
        """Let `timer` run until `deadline_ms`; it forgets the deadline it had."""
        timer.deadline_ms = deadline_ms
        queued = timer.queued_ms
        if queued is None or deadline_ms < queued:
            self._push(timer, deadline_ms)

    def deadline(self) -> int | None:
        """When to call `pop_due` next: never too late, maybe too early."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> Timer[T] | None:
        """One timer whose deadline has passed, now stopped; None when there is none. Call until None."""
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            at, _, timer = heappop(heap)
            if timer.queued_ms != at:
                continue  # superseded by an earlier entry
            timer.queued_ms = None
            deadline = timer.deadline_ms
            if deadline is None:
                continue
            if deadline > now_ms:
                self._push(timer, deadline)
                continue
            timer.deadline_ms = None
            return timer
        return None

    def _push(self, timer: Timer[T], deadline_ms: int) -> None:
        timer.queued_ms = deadline_ms
        self._sequence += 1
        heappush(self._heap, (deadline_ms, self._sequence, timer))
