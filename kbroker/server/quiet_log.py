"""Log lines that strangers can cause: one short line each, and never more than a few a second."""

from __future__ import annotations

import logging
from collections.abc import Callable


class QuietLog:
    """A logger with a budget; what goes over it is counted and told with the next line.

    Args:
        logger: where the lines go.
        monotonic_s: the time in seconds.
        lines_per_second: refill rate of the budget.
        burst: how many lines may come at once.
    """

    __slots__ = ("_burst", "_logger", "_monotonic_s", "_rate", "_suppressed", "_tokens", "_updated")

    def __init__(
        self,
        logger: logging.Logger,
        monotonic_s: Callable[[], float],
        lines_per_second: float = 2.0,
        burst: int = 10,
    ) -> None:
        self._logger = logger
        self._monotonic_s = monotonic_s
        self._rate = lines_per_second
        self._burst = burst
        self._tokens = float(burst)
        self._updated = monotonic_s()
        self._suppressed = 0

    def info(self, message: str, *args: object) -> None:
        """Log at INFO if the budget allows."""
        now = self._monotonic_s()
        self._tokens = min(self._burst, self._tokens + (now - self._updated) * self._rate)
        self._updated = now
        if self._tokens < 1:
            self._suppressed += 1
            return
        self._tokens -= 1
        if self._suppressed:
            message += f" ({self._suppressed} more lines like this suppressed)"
            self._suppressed = 0
        self._logger.info(message, *args)
