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


class RecentTimes:
    """Mean and maximum over the last half a minute, as Kafka's own metrics (`…-avg`, `…-max`) have them.

    Args:
        now_s: a clock that never runs backwards.
    """

    __slots__ = ("_now_s", "_seconds")

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        #: Second, how many, their sum, the greatest.
        self._seconds: deque[tuple[int, int, float, float]] = deque()

    def record(self, value: float) -> None:
        """Take one of now."""
        second = self._forget()
        count, total, most = 0, 0.0, value
        if self._seconds and self._seconds[-1][0] == second:
            _, count, total, most = self._seconds.pop()
        self._seconds.append((second, count + 1, total + value, max(most, value)))

    @property
    def mean(self) -> float:
        """0 where there is none."""
        self._forget()
        count = sum(each[1] for each in self._seconds)
        return sum(each[2] for each in self._seconds) / count if count else 0.0

    @property
    def most(self) -> float:
        """0 where there is none."""
        self._forget()
        return max((each[3] for each in self._seconds), default=0.0)

    def _forget(self) -> int:
        second = int(self._now_s())
        while self._seconds and self._seconds[0][0] <= second - _RECENT_MS // 1000:
            self._seconds.popleft()
        return second
