"""A quota counted in one place for all brokers, without asking there for each request.

Every twentieth of a second a broker asks the central counter for as many tokens as its clients will need
until the next time (`wants`), and gets what there is (`granted`). Requests take from what is at hand; whoever
takes more waits as long as it will be until it is paid. When the counter does not answer in that time, each
broker goes by its even share (`Allowance`), and back as soon as it does: so a tenth of a second after the
counter has stopped nobody waits for it.
"""

from __future__ import annotations

from kbroker.quotas.allowance import Allowance
from kbroker.quotas.windows import DELAY_MS_MAX, Windows

#: How often tokens are asked for; while an answer is later than this there is no counter.
LEASE_S = 0.05
#: What the counter lets accumulate, in seconds of the quota.
CAPACITY_S = 1.0
#: Rounds for which unused tokens are kept at hand.
AT_HAND_ROUNDS = 2


class Health:
    """Whether the central counter answers."""

    __slots__ = ("is_up",)

    def __init__(self) -> None:
        self.is_up = False


class LeasedAllowance(Allowance):
    """One quota of bytes of the whole cluster, as one broker has it.

    Args:
        whole: units a second, in the whole cluster.
        part: this broker's even share, of 1.
        windows: how rates are measured.
        now_ms: the time.
        health: of the counter.
    """

    __slots__ = ("_health", "_needed", "_part", "_pool", "_supply")

    def __init__(self, whole: float, part: float, windows: Windows, now_ms: float, health: Health) -> None:
        super().__init__(whole * part, windows, now_ms)
        self.whole = whole
        self._part = part
        self._health = health
        #: At hand; negative: owed.
        self._pool = whole * part * LEASE_S
        #: Taken since the last round, and what comes in a second, lately.
        self._needed = 0.0
        self._supply = whole * part

    def charge(self, value: float, now_ms: float) -> int:
        """See `Allowance.charge`."""
        if not self._health.is_up:
            return super().charge(value, now_ms)
        self.done += value
        self._take(value, now_ms)
        return self._wait_ms(now_ms)

    def prepay(self, most: float, now_ms: float) -> float:
        """Nothing: what is leased is not ours to keep."""
        return 0.0

    def ask(self, value: float, now_ms: float) -> int:
        """See `Allowance.ask`. What is at hand need not be enough: the rest is owed."""
        if not self._health.is_up:
            return super().ask(value, now_ms)
        if self._pool < 0:
            self.used_ms = now_ms
            return self._wait_ms(now_ms)
        self.done += value
        self._take(value, now_ms)
        return 0

    def change(self, limit: float, now_ms: float) -> None:
        """The quota of the whole cluster is another one."""
        if limit != self.whole:
            self.whole = limit
            super().change(limit * self._part, now_ms)

    @property
    def window_max(self) -> float:
        """See `Allowance.window_max`."""
        return (self.whole if self._health.is_up else self.limit) * self._full_s

    def observed(self, now_ms: float) -> float:
        """Units a second, lately."""
        if not self._health.is_up:
            return super().observed(now_ms)
        return self._supply if now_ms - self.used_ms < 1000 else 0.0

    def wants(self) -> float:
        """Tokens to ask for in this round; 0: nobody uses them."""
        at_hand = max(self._needed, self.whole * LEASE_S * 0.01) * AT_HAND_ROUNDS
        needed, self._needed = self._needed, 0.0
        if not needed and self._pool >= 0:
            return 0.0
        return max(at_hand - self._pool, 0.0)

    def granted(self, tokens: float) -> None:
        """So many came."""
        self._pool += tokens
        self._supply += (tokens / LEASE_S - self._supply) * 0.2

    def _take(self, value: float, now_ms: float) -> None:
        self.used_ms = now_ms
        self._pool -= value
        self._needed += value

    def _wait_ms(self, now_ms: float) -> int:
        if self._pool >= 0:
            return 0
        supply = max(self._supply, self.whole * 0.01)
        delay_ms = round(min(max(-self._pool / supply, LEASE_S) * 1000, DELAY_MS_MAX))
        self._hold(delay_ms, now_ms)
        return delay_ms


class CentralBucket:
    """What the counter does for one quota; the Redis script does the same."""

    __slots__ = ("_at_s", "_tokens", "rate")

    def __init__(self, rate: float, now_s: float) -> None:
        self.rate = rate
        self._tokens = rate * LEASE_S
        self._at_s = now_s

    def take(self, wanted: float, now_s: float) -> float:
        """As many as there are, at most what is wanted."""
        self._tokens = min(self._tokens + (now_s - self._at_s) * self.rate, self.rate * CAPACITY_S)
        self._at_s = now_s
        given = max(min(wanted, self._tokens), 0.0)
        self._tokens -= given
        return given
