"""Connections that have more to do than one turn of the loop allows: in a row, a little of each at a time.

A peer that pipelines requests would have the loop for as long as its bytes last, and fifty of them one after
the other. What a connection may not do at once waits here, and all that wait share a slice of each turn of
the loop. So a client that asks one thing at a time waits for the slice, not for everybody's backlog.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

#: Of a turn of the loop, for all connections that wait together.
SLICE_S = 0.002
#: Of work that is less urgent than what else the loop has to do: so much of a turn, or this part of what the
#: others took, as work would hardly get on between long turns.
SLICE_S_MIN = 0.0001
SHARE = 0.25


class Turns:
    """The queue of one event loop.

    Args:
        call_soon: the loop's; runs a function in its next turn.
        now_s: a clock that never runs backwards, finer than a millisecond.
    """

    __slots__ = ("_asked", "_call_soon", "_now_s", "_slice_s", "_waiting")

    def __init__(self, call_soon: Callable[[Callable[[], None]], object], now_s: Callable[[], float]) -> None:
        self._call_soon = call_soon
        self._now_s = now_s
        self._slice_s = SLICE_S
        self._waiting: deque[Callable[[], None]] = deque()
        #: Whether `_run` is under way or will be.
        self._asked = False

    def wait(self, go_on: Callable[[], None]) -> None:
        """Call `go_on` later, after those that wait already; it may wait again."""
        self._waiting.append(go_on)
        if not self._asked:
            self._asked = True
            self._call_soon(self._run)

    def _run(self) -> None:
        waiting = self._waiting
        end = self._now_s() + self._slice_s
        try:
            while waiting:
                waiting.popleft()()
                if self._now_s() >= end:
                    break
        finally:
            if waiting:
                self._call_soon(self._run)
            else:
                self._asked = False


class Slices(Turns):
    """The same for work that is done at once while a slice of this turn is left, and waits only then.

    Slices are short while the loop has little else to do, so that those others wait for little.
    """

    __slots__ = ("_ended_s", "_is_counting", "_spent_s")

    def __init__(self, call_soon: Callable[[Callable[[], None]], object], now_s: Callable[[], float]) -> None:
        super().__init__(call_soon, now_s)
        self._spent_s = self._ended_s = 0.0
        #: Whether `_begin_turn` will come.
        self._is_counting = False

    def wait(self, go_on: Callable[[], None]) -> None:
        """See `Turns.wait`."""
        if self._asked:
            self._waiting.append(go_on)
        else:
            self._ended_s = self._now_s()
            super().wait(go_on)

    def _run(self) -> None:
        others_s = self._now_s() - self._ended_s
        self._slice_s = min(max(SHARE * others_s, SLICE_S_MIN), SLICE_S)
        try:
            super()._run()
        finally:
            self._ended_s = self._now_s()

    def begin(self) -> float | None:
        """Before work that is done at once: what `end` needs. None: it has to `wait`."""
        return None if self._waiting or self._spent_s >= SLICE_S_MIN else self._now_s()

    def end(self, began_s: float) -> None:
        """After it."""
        self._spent_s += self._now_s() - began_s
        if not self._is_counting:
            self._is_counting = True
            self._call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._spent_s, self._is_counting = 0.0, False
