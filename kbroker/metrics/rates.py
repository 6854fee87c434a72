"""Events a second: since the start, and moving averages over 1, 5 and 15 minutes as the JMX meters have."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import exp
from typing import Any

_TICK_MS = 5000
_RECENT_MS = 30_000
_MINUTES = (1, 5, 15)


class Rates:
    """Of one meter.

    Args:
        start_ms: when it began to count.
    """

    __slots__ = ("_averages", "_count", "_last_ms", "_start_ms", "mean")

    def __init__(self, start_ms: int) -> None:
        self._start_ms = self._last_ms = start_ms
        self._count = 0
        self._averages: list[float] | None = None
        #: Events a second since the start.
        self.mean = 0.0

    def update(self, count: int, now_ms: int) -> None:
        """Take the count of now; averages move once 5 s have gone by.

        What came between two calls that are further apart counts as spread evenly.
        """
        age_ms = now_ms - self._start_ms
        self.mean = count * 1000 / age_ms if age_ms > 0 else 0.0
        elapsed_ms = now_ms - self._last_ms
        if elapsed_ms < _TICK_MS:
            return
        now = (count - self._count) * 1000 / elapsed_ms
        if self._averages is None:
            self._averages = [now] * len(_MINUTES)
        else:
            for at, minutes in enumerate(_MINUTES):
                weight = exp(-elapsed_ms / (minutes * 60_000))
                self._averages[at] = now + (self._averages[at] - now) * weight
        self._count, self._last_ms = count, now_ms

    @property
    def averages(self) -> tuple[float, float, float]:
        """Events a second over the last 1, 5 and 15 minutes; the mean until 5 s have gone by."""
        one, five, fifteen = self._averages or [self.mean] * 3
        return one, five, fifteen


class RecentRates:
    """Events a second over the last half a minute, as Kafka's own metrics (`…-rate`) have them.

    Args:
        totals: what has been counted so far, by any key; asked at each tick.
    """

    def __init__(self, totals: Callable[[], dict[Any, int]]) -> None:
        self._totals = totals
        self._samples: deque[tuple[int, dict[Any, int]]] = deque()

    def tick(self, now_ms: int) -> None:
        """Take the totals of now."""
        self._samples.append((now_ms, self._totals()))
        while len(self._samples) > 2 and self._samples[1][0] <= now_ms - _RECENT_MS:
            self._samples.popleft()

    def of(self, key: Any) -> float:
        """The rate of a key; 0 until there were two ticks with it."""
        if len(self._samples) < 2:
            return 0.0
        (first_ms, first), (last_ms, last) = self._samples[0], self._samples[-1]
        if key not in last or key not in first or last_ms <= first_ms:
            return 0.0
        return max(last[key] - first[key], 0) * 1000 / (last_ms - first_ms)
