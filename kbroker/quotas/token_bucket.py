"""A token bucket (KIP-599): bursts as large as a window of the rate, and debts that are waited off."""

from __future__ import annotations

from kbroker.quotas.windows import DELAY_MS_MAX


class TokenBucket:
    """Starts full. May be in debt: what is taken is taken, the next one waits.

    Args:
        rate: tokens a second that come back.
        burst_s: so many seconds' tokens fit in.
        now_ms: the time.
    """

    __slots__ = ("burst_s", "rate", "tokens", "used_ms")

    def __init__(self, rate: float, burst_s: float, now_ms: float) -> None:
        self.rate = rate
        self.burst_s = burst_s
        self.tokens = rate * burst_s
        self.used_ms = now_ms

    def refill(self, now_ms: float) -> float:
        """The tokens there are now."""
        passed_s = max(now_ms - self.used_ms, 0) / 1000
        self.tokens = min(self.rate * self.burst_s, self.tokens + self.rate * passed_s)
        self.used_ms = now_ms
        return self.tokens

    def take(self, count: float, now_ms: float) -> int:
        """Take so many, into debt if need be; the ms until the debt is paid, 0 without one."""
        self.tokens = self.refill(now_ms) - count
        return self.wait_ms()

    def take_if_solvent(self, count: float, now_ms: float) -> int:
        """Take so many unless there is a debt; the ms until it is paid, 0: they are taken.

        What is taken may itself make a debt: a large request passes once the small ones before it are paid.
        """
        self.refill(now_ms)
        wait_ms = self.wait_ms()
        if wait_ms == 0:  # perhaps a debt that is no millisecond: also taken
            self.tokens -= count
        return wait_ms

    def change_rate(self, rate: float, now_ms: float) -> None:
        """From now on another rate; a fuller bucket than that holds loses the rest."""
        self.refill(now_ms)
        self.rate = rate
        self.refill(now_ms)

    def wait_ms(self) -> int:
        """The ms until nothing is owed."""
        return round(min(-self.tokens / self.rate * 1000, DELAY_MS_MAX)) if self.tokens < 0 else 0
