"""Time-outs by the thousand: adding and cancelling costs the same however many there are.

Entries fall into buckets of one tick; a heap orders only the buckets. Pure: times come in, due callbacks come
out, and `next_deadline_ms` tells when to look again, so that nothing ticks while nothing is due. Most waits
(a parked Fetch) are cancelled long before their time, and a bucket they leave empty wakes nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class WheelEntry:
    """One time-out; `cancel` forgets it."""

    __slots__ = ("_bucket", "callback")

    def __init__(self, callback: Callable[[], None], bucket: dict[WheelEntry, None]) -> None:
        self.callback = callback
        self._bucket: dict[WheelEntry, None] | None = bucket
        bucket[self] = None

    def cancel(self) -> None:
        """Forget the call; harmless when it has been made or cancelled already."""
        if self._bucket is not None:
            self._bucket.pop(self, None)
            self._bucket = None


class TimingWheel:
    """Callbacks ordered by deadline, to the tick.

    Args:
        tick_ms: width of a bucket. A callback comes due at the end of its bucket: never early, at most one
        tick
            late.
    """

    __slots__ = ("_buckets", "_order", "_tick_ms")

    def __init__(self, tick_ms: int = 1) -> None:
        self._tick_ms = tick_ms
        self._buckets: dict[int, dict[WheelEntry, None]] = {}
        self._order: list[int] = []

    def __len__(self) -> int:
        return sum(len(bucket) for bucket in self._buckets.values())

    def add(self, deadline_ms: float, callback: Callable[[], None]) -> WheelEntry:
        """Have `callback` come out of `advance` once the time is `deadline_ms` or later."""
        tick = -int(-deadline_ms // self._tick_ms)
        bucket = self._buckets.get(tick)
        if bucket is None:
            bucket = self._buckets[tick] = {}
            heappush(self._order, tick)
        return WheelEntry(callback, bucket)

    def next_deadline_ms(self) -> int | None:
        """When `advance` has something to give; None while nothing waits."""
        while self._order:
            tick = self._order[0]
            if self._buckets[tick]:
                return tick * self._tick_ms
            heappop(self._order)
            del self._buckets[tick]
        return None

    def advance(self, now_ms: float) -> int:
        """Call what is due at `now_ms`, earliest first; how many that were.

        A callback may add and cancel entries, also such as are due now.
        """
        called = 0
        while self._order and self._order[0] * self._tick_ms <= now_ms:
            bucket = self._buckets[self._order[0]]
            while bucket:
                entry = next(iter(bucket))
                entry.cancel()
                called += 1
                entry.callback()
            if self._order and self._buckets.get(self._order[0]) is bucket:
                del self._buckets[heappop(self._order)]
        return called
