"""How far the opening of logs has come, for a person who waits: partitions, bytes, seconds left."""

from __future__ import annotations

import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)

#: Whoever waits for less need not be told.
_INTERVAL_MS = 1000
#: What opening a log costs besides reading, in bytes that could be read meanwhile.
_PARTITION_BYTES = 200_000


def _standing_still() -> int:
    return 0


class RecoveryProgress:
    """Counts what is done and tells the log, once a second.

    Args:
        monotonic_ms: the time; without one nothing is told.
    """

    __slots__ = (
        "_bytes",
        "_monotonic_ms",
        "_partitions",
        "_started_ms",
        "_told_ms",
        "_total_bytes",
        "_total_partitions",
    )

    def __init__(self, monotonic_ms: Callable[[], int] = _standing_still) -> None:
        self._monotonic_ms = monotonic_ms
        self._partitions = self._bytes = self._total_partitions = self._total_bytes = 0
        self._started_ms = self._told_ms = monotonic_ms()

    def expect(self, partitions: int, unread_bytes: int) -> None:
        """So many logs are to be opened; so many bytes of them have to be read."""
        self._total_partitions += partitions
        self._total_bytes += unread_bytes

    def counted(self, read: Callable[[int, int], bytes]) -> Callable[[int, int], bytes]:
        """The same `read`, whose bytes count as done."""

        def counting(position: int, length: int) -> bytes:
            data = read(position, length)
            self._bytes += len(data)
            self._tell()
            return data

        return counting

    def skip(self, count: int) -> None:
        """So many bytes need not be read after all."""
        self._total_bytes -= count

    def opened(self) -> None:
        """One more log is open."""
        self._partitions += 1
        self._tell()

    def _tell(self) -> None:
        now_ms = self._monotonic_ms()
        if now_ms - self._told_ms < _INTERVAL_MS:
            return
        self._told_ms = now_ms
        done = self._bytes + self._partitions * _PARTITION_BYTES
        total = self._total_bytes + self._total_partitions * _PARTITION_BYTES
        left_ms = (now_ms - self._started_ms) * max(total - done, 0) // max(done, 1)
        # What was before the first one says nothing of the others.
        known = done * 50 >= total
        logger.info(
            "opening logs: %d of %d partitions, %.1f of %.1f MB read%s",
            self._partitions,
            self._total_partitions,
            self._bytes / 1e6,
            max(self._total_bytes, self._bytes) / 1e6,
            f", about {-(-left_ms // 1000):.0f} s left" if known else "",
        )
