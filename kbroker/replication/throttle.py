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

    Args:
        rate: bytes a second, asked anew each time.
        windows: how many samples count, of `window_ms` each (`replication.quota.window.…`).
    """

    __slots__ = ("_rate", "_samples", "_window_ms", "_windows")

    def __init__(self, rate: Callable[[], int], windows: int = 11, window_ms: float = 1000) -> None:
        self._rate = rate
        self._windows = windows
        self._window_ms = window_ms
        #: Bytes by number of the window, oldest first.
        self._samples: dict[int, int] = {}

    def record(self, size: int, now_ms: float) -> None:
        """So much was moved for throttled replicas."""
        window = int(now_ms // self._window_ms)
        self._samples[window] = self._samples.get(window, 0) + size
        self._forget(window)

    def is_exceeded(self, now_ms: float) -> bool:
        """Whether they have to wait: the rate over the windows kept is above the limit."""
        rate = self._rate()
        if rate >= UNLIMITED:
            return False
        window = int(now_ms // self._window_ms)
        self._forget(window)
        if not self._samples:
            return False
        # As Kafka counts: as if all windows but the one that runs were over, so that a burst is no licence.
        first = min(next(iter(self._samples)), window - self._windows + 1)
        elapsed_s = max(now_ms - first * self._window_ms, self._window_ms) / 1000
        return sum(self._samples.values()) / elapsed_s > rate

    def _forget(self, window: int) -> None:
        while self._samples and (first := next(iter(self._samples))) <= window - self._windows:
            del self._samples[first]


def is_throttled(replicas: Iterable[str], partition: int, broker_id: int) -> bool:
    """Whether a list of `partition:broker` pairs, or `*`, names this broker's replica."""
    wanted = f"{partition}:{broker_id}"
    return any(each.strip() in (EVERYBODY, wanted) for each in replicas)
