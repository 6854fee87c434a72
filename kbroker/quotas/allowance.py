"""What all who share a quota may still do, and how long each of them waits when it was too much.

The delay is Kafka's (rate.py) for as long as a burst is in its window: up to a window's worth passes at once
and is then paid back. After that it is never less than it takes to pay what is owed. By Kafka's formula alone
each client waits as if nobody else did anything meanwhile, so that fifty which share a quota come to half as
much again, and one alone gets a new burst whenever the old one leaves the window.
"""

from __future__ import annotations

from kbroker.quotas.rate import Rate
from kbroker.quotas.windows import DELAY_MS_MAX, Windows

#: How small a part of what is left is paid for at once.
PREPAID_PART = 256
#: Of what they have not used, so many seconds' worth is left to those whose part of a quota is changed:
#: clients that do less than their part do it in bursts, and are not held up for that.
KEPT_S = 1.0


class Allowance:
    """One quota of bytes, for all who share it.

    Args:
        limit: units a second.
        windows: how rates are measured.
        now_ms: the time.
    """

    __slots__ = (
        "_credit",
        "_full_s",
        "_grace_until_ms",
        "_held_ms",
        "_rate",
        "done",
        "held_until_ms",
        "limit",
        "used_ms",
        "whole",
    )

    def __init__(self, limit: float, windows: Windows, now_ms: float) -> None:
        self.limit = limit
        #: The quota that the limit is a part of.
        self.whole = limit
        #: What was ever done, and until when somebody has to wait.
        self.done = 0.0
        self.held_until_ms = 0.0
        self._held_ms = 0.0
        self._full_s = windows.full_s
        self._rate = Rate(windows.samples, windows.ms)
        #: What they have not used; negative: what they owe.
        self._credit = 0.0
        #: When the credit was right.
        self.used_ms = now_ms
        #: Until then a burst is in the window, and Kafka's formula alone counts.
        self._grace_until_ms = now_ms

    def charge(self, value: float, now_ms: float) -> int:
        """So much was done; the ms until they may go on."""
        self._pay(now_ms)
        self.done += value
        self._credit -= value
        total = self._rate.add(value, now_ms)
        if self._credit >= 0 and total <= self.limit * self._full_s:
            return 0
        delay_ms = round(self._delay_ms(now_ms))
        if delay_ms:
            self._hold(delay_ms, now_ms)
        return delay_ms

    def prepay(self, most: float, now_ms: float) -> float:
        """Charge for what is still to come, right after a `charge` that cost no delay; how much that is.

        Who has paid need not ask again until it is used up. It is a small part of what is left, so that all
        who share this together have never paid for much that they do not do.
        """
        spare = min(self._credit, self.limit * self._full_s - self._rate.total) / PREPAID_PART
        paid = spare if spare < most else most
        if paid < 1:
            return 0.0
        self.done += paid
        self._credit -= paid
        self._rate.record(paid, now_ms)
        return paid

    def ask(self, value: float, now_ms: float) -> int:
        """As `charge`, for what can still be left undone: it is not counted if there is a delay.

        What is more than a whole window allows passes when nothing was done for one, else it never could.
        """
        is_rested = self._pay(now_ms)
        self._credit -= value
        self._rate.record(value, now_ms)
        # Later the debt alone counts: a window lets a whole number of answers through, and they may be large.
        is_burst = now_ms < self._grace_until_ms
        delay_ms = self._delay_ms(now_ms) if is_burst else max(self._debt_ms(now_ms), 0)
        if delay_ms < 0.5 or (is_rested and value > self.limit * self._full_s):
            self.done += value
            return 0
        self._hold(delay_ms, now_ms)
        self._credit += value
        self._rate.record(-value, now_ms)
        return round(delay_ms)

    def change(self, limit: float, now_ms: float) -> None:
        """From now on another limit; what was done counts on."""
        if limit != self.limit:
            self._pay(now_ms)
            self.limit = limit

    def share(self, limit: float, now_ms: float) -> None:
        """This node's part of a quota is another one now; what was done counts as it did for the old part.

        Against a smaller part it would be far too much, and a larger one is no licence for a burst: others
        have had theirs.
        """
        if limit != self.limit:
            self._pay(now_ms)
            used = min(self._rate.value(now_ms) / self.limit, 1.0)
            self._rate.spread(used * limit, now_ms)
            self._credit = max(min(self._credit * limit / self.limit, limit * KEPT_S), -limit)
            self._grace_until_ms = now_ms
            self.limit = limit

    @property
    def window_max(self) -> float:
        """The most that can pass at once."""
        return self.limit * self._full_s

    def observed(self, now_ms: float) -> float:
        """Units a second, lately."""
        return self._rate.value(now_ms)

    def held_ms(self, now_ms: float) -> float:
        """For how long somebody had to wait, ever."""
        return self._held_ms - max(self.held_until_ms - now_ms, 0.0)

    def _hold(self, delay_ms: float, now_ms: float) -> None:
        until_ms = now_ms + delay_ms
        if until_ms > self.held_until_ms:
            self._held_ms += until_ms - max(self.held_until_ms, now_ms)
            self.held_until_ms = until_ms

    def _pay(self, now_ms: float) -> bool:
        """Bring the credit up to date; whether they have rested for a window."""
        limit = self.limit
        credit = self._credit + limit * (now_ms - self.used_ms) / 1000
        most = limit * self._full_s
        self._credit = credit if credit < most else most
        self.used_ms = now_ms
        if credit < 0 or not self._rate.is_idle(now_ms):
            return False
        self._credit = 0.0
        self._grace_until_ms = now_ms + self._full_s * 1000
        return True

    def _delay_ms(self, now_ms: float) -> float:
        """By Kafka's formula, and by what is owed beyond the burst that the window has room for."""
        return min(max(self._rate.delay_ms(self.limit, now_ms), self._debt_ms(now_ms)), DELAY_MS_MAX)

    def _debt_ms(self, now_ms: float) -> float:
        burst_s = self._full_s if now_ms < self._grace_until_ms else 0
        return min((-self._credit / self.limit - burst_s) * 1000, DELAY_MS_MAX)
