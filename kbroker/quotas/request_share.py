"""How much of a broker's time the requests of a client take (`request_percentage`, KIP-124).

In Kafka 100 is one of the threads that handle requests. kbroker has one for all, so that 100 is all of it.
"""

from __future__ import annotations

from kbroker.quotas.rate import Rate
from kbroker.quotas.windows import Windows


class RequestShare:
    """The time that those who share a quota have taken.

    Args:
        limit: per cent.
        windows: how rates are measured.
        now_ms: the time.
    """

    __slots__ = ("_delay_ms_max", "_full_s", "_rate", "limit", "used_ms")

    def __init__(self, limit: float, windows: Windows, now_ms: float) -> None:
        self.limit = limit
        self.used_ms = now_ms
        self._rate = Rate(windows.samples, windows.ms)
        self._full_s = windows.full_s
        self._delay_ms_max = windows.ms

    def charge(self, seconds: float, now_ms: float) -> int:
        """So much time was taken; the ms until they may go on: never more than one sample, as in Kafka."""
        self.used_ms = now_ms
        if self._rate.add(seconds * 100, now_ms) <= self.limit * self._full_s:
            return 0
        delay_ms = self._rate.delay_ms(self.limit, now_ms)
        return round(delay_ms) if delay_ms < self._delay_ms_max else self._delay_ms_max

    @property
    def is_far(self) -> bool:
        """Whether so little of it is used that a request more or less makes no difference."""
        return self._rate.total * 2 <= self.limit * self._full_s

    def change(self, limit: float, now_ms: float) -> None:
        """From now on another limit."""
        self.limit = limit

    def observed(self, now_ms: float) -> float:
        """Per cent, lately."""
        return self._rate.value(now_ms)
