"""How much of a broker's time the requests of a client take (`request_percentage`, KIP-124).

In Kafka 100 is one of the threads that handle requests. kbroker has one for all, so that 100 is all of it.
"""

from __future__ import annotations

from kbroker.quotas.allowance import PREPAID_PART, Allowance
from kbroker.quotas.windows import Windows

#: Who asks does not rest any more, though what that takes is charged later.
_NEXT_TO_NOTHING = 1e-9


class RequestShare(Allowance):
    """The time that those who share a quota have taken, in per cent times seconds.

    Nobody waits for more than one sample at a time, as in Kafka. What is owed is remembered, so that many
    clients for whom that is too short a time do not get a new burst whenever the old one leaves the window.

    Args:
        limit: per cent.
        windows: how rates are measured.
        now_ms: the time.
    """

    __slots__ = ("_delay_ms_max",)

    def __init__(self, limit: float, windows: Windows, now_ms: float) -> None:
        super().__init__(limit, windows, now_ms)
        self._delay_ms_max = windows.ms

    def charge(self, value: float, now_ms: float) -> int:
        """So many seconds were taken; the ms until they may go on."""
        delay_ms = super().charge(value * 100 or _NEXT_TO_NOTHING, now_ms)
        if delay_ms < self._delay_ms_max:
            return delay_ms
        # Delays that could not keep the quota are no reason for endless ones once there is less to do.
        windows = 2 if now_ms < self._grace_until_ms else 1
        self._credit = max(self._credit, -windows * self.window_max)
        return self._delay_ms_max

    @property
    def spare_s(self) -> float:
        """So much may a connection take before it is charged; 0: each of its requests is charged."""
        most, total = self.window_max, self._rate.total
        if total * 2 > most or self._credit * 2 < -most or self._debt_ms(self.used_ms) > 0:
            return 0.0
        return (most - total) / 100 / PREPAID_PART
