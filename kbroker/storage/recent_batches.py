"""Where the last batches of a log lie, so that a read near the end needs no index and no disk."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

KEPT_AT_LEAST = 256
KEPT_AT_MOST = 512


class RecentBatches:
    """The tail of one segment: last offsets and positions, two numbers a batch.

    Everything from `floor` on is known; `end` is the position behind the last batch. An append adds to
    `lasts`, `positions` and `end` itself (a call would cost more than that), and calls `trim` now and then.
    """

    __slots__ = ("end", "floor", "lasts", "positions")

    def __init__(self, floor: int, end: int) -> None:
        self.lasts = array("q")
        self.positions = array("q")
        self.floor = floor
        self.end = end

    def trim(self) -> None:
        """Forget old batches if there are too many."""
        lasts = self.lasts
        if len(lasts) > KEPT_AT_MOST:
            drop = len(lasts) - KEPT_AT_LEAST
            self.floor = lasts[drop - 1] + 1
            del lasts[:drop], self.positions[:drop]

    def find(
        self, offset: int, max_bytes: int, max_offset: int, min_one: bool
    ) -> tuple[int, int, int] | None:
        """(position, end, next offset) of whole batches from the one that holds `offset` on; None if none
        fits.

        Batches that end at or behind `max_offset` are left out. Only for offsets from `floor` on.
        """
        lasts, positions = self.lasts, self.positions
        first = bisect_left(lasts, offset)
        stop = bisect_left(lasts, max_offset)
        if first >= stop:
            return None
        position = positions[first]
        end = positions[stop] if stop < len(positions) else self.end
        if end - position > max_bytes:
            # One more than the last batch that begins within the limit: it may end outside.
            stop = bisect_right(positions, position + max_bytes, first, stop) - 1
            if stop <= first:
                if not min_one:
                    return None
                stop = first + 1
            end = positions[stop] if stop < len(positions) else self.end
        return position, end, lasts[stop - 1] + 1
