"""How much replication may move in a second where it is throttled (KIP-73): for followers that catch up.

Only replicas named in `leader.` or `follower.replication.throttled.replicas` count, and only while they
are behind: what keeps the in-sync set whole is never held up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

EVERYBODY = "*"
UNLIMITED = 0x7FFF_FFFF_FFFF_FFFF


class ReplicationQuota:
    """The bytes moved lately, against a rate.

    What may be moved grows with time, up to that of one window, and what is moved is taken from it, below
    nothing if it must be: so the rate holds for each stretch of time. Kafka's mean over eleven windows lets
    ten seconds' worth through at once, and then nothing for ten seconds.

    Args:
        rate: bytes a second, asked anew each time.
        window_ms: `replication.quota.window.size.seconds`.
    """

    __slots__ = ("_at_ms", "_left", "_rate", "_window_ms")

    def __init__(self, rate: Callable[[], int], window_ms: float = 1000) -> None:
        self._rate = rate
        self._window_ms = window_ms
        #: Bytes that may be moved, as of `_at_ms`; None: as many as ever.
        self._left: float | None = None
        self._at_ms = 0.0

    def record(self, size: int, now_ms: float) -> None:
        """So much was moved for throttled replicas."""
        self._left = self._grown(now_ms) - size
        self._at_ms = now_ms

    def is_exceeded(self, now_ms: float) -> bool:
        """Whether they have to wait."""
        if self._left is None or self._rate() >= UNLIMITED:
            return False
        return self._grown(now_ms) <= 0

    def room(self, now_ms: float) -> float | None:
        """Bytes that may be moved now; None: as many as there are."""
        return None if self._rate() >= UNLIMITED else self._grown(now_ms)

    @property
    def at_once(self) -> float:
        """The most that `room` grows to."""
        return self._rate() * self._window_ms / 1000

    def _grown(self, now_ms: float) -> float:
        rate, most = self._rate(), self.at_once
        if self._left is None or rate >= UNLIMITED:
            return most
        return min(self._left + rate * (now_ms - self._at_ms) / 1000, most)


def is_throttled(replicas: Iterable[str], partition: int, broker_id: int) -> bool:
    """Whether a list of `partition:broker` pairs, or `*`, names this broker's replica."""
    wanted = f"{partition}:{broker_id}"
    return any(each.strip() in (EVERYBODY, wanted) for each in replicas)
