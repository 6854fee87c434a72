"""A rate over the last few seconds, and how long to wait until it is back at a limit.

Kafka's numbers: samples of `window_ms` each, as many as `samples` (10 full ones and the one that runs). The
time that a sum is spread over begins with the oldest sample; but never counts less than all windows but one,
so that a burst after a pause is measured against a whole window, not against the instant it took.
"""

from __future__ import annotations

from collections import deque


class Rate:
    """What was recorded lately, in units a second.

    Args:
        samples: how many windows count (`quota.window.num`).
        window_ms: their length (`quota.window.size.seconds`).
    """

    __slots__ = ("_kept", "_samples", "_total", "_window_ms")

    def __init__(self, samples: int, window_ms: float) -> None:
        self._samples = samples
        self._window_ms = window_ms
        #: [start, time of the last value, sum], oldest first.
        self._kept: deque[list[float]] = deque()
        self._total = 0.0

    def record(self, value: float, now_ms: float) -> None:
        """So much happened. A negative value takes back what was recorded just now."""
        self._total += value
        kept = self._kept
        if kept:
            last = kept[-1]
            if now_ms - last[0] < self._window_ms:
                last[1] = now_ms
                last[2] += value
                return
        if len(kept) > self._samples:
            self._forget_oldest()
        kept.append([now_ms, now_ms, value])

    def add(self, value: float, now_ms: float) -> float:
        """Record; what all samples come to, those included that are too old and not yet forgotten.

        A rate that is at its limit has at least all windows but one full: less than that needs no look.
        """
        self.record(value, now_ms)
        return self._total

    @property
    def total(self) -> float:
        """What all samples come to, those included that are too old and not yet forgotten."""
        return self._total

    def elapsed_ms(self, now_ms: float) -> float:
        """The time that the rate is taken over."""
        kept, window_ms = self._kept, self._window_ms
        oldest = now_ms - self._samples * window_ms
        while kept and kept[0][1] <= oldest:
            self._forget_oldest()
        elapsed = now_ms - kept[0][0] if kept else 0.0
        missing = self._samples - 1 - elapsed // window_ms
        if missing > 0:
            elapsed += missing * window_ms
        return max(elapsed, 1.0)

    def value(self, now_ms: float) -> float:
        """Units a second."""
        elapsed = self.elapsed_ms(now_ms)
        return self._total * 1000 / elapsed

    def delay_ms(self, limit: float, now_ms: float) -> float:
        """How long nothing may happen until the rate is at `limit` again; 0: it is not above it.

        X = (O - T) / T * W, with O observed, T the limit and W the time the rate is taken over.
        """
        elapsed = self.elapsed_ms(now_ms)
        observed = self._total * 1000 / elapsed
        return (observed - limit) / limit * elapsed if observed > limit else 0.0

    def is_idle(self, now_ms: float) -> bool:
        """Whether nothing happened in the whole window."""
        kept = self._kept
        if kept and now_ms - kept[-1][1] < self._window_ms and self._total > 0:
            return False
        self.elapsed_ms(now_ms)
        return self._total <= 0

    def spread(self, value: float, now_ms: float) -> None:
        """As if this rate had been kept all the time."""
        each = value * self._window_ms / 1000
        starts = [now_ms - age * self._window_ms for age in range(self._samples - 1, 0, -1)]
        self._kept = deque([start, start, each] for start in starts)
        self._total = each * len(starts)

    def _forget_oldest(self) -> None:
        self._total -= self._kept.popleft()[2]
        if not self._kept:
            self._total = 0.0  # and not what rounding has left
