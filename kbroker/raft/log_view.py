"""What a raft node knows of its log: where it begins and ends, its epochs, and how far it is durable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from kbroker.raft.messages import EpochStart
from kbroker.types import OffsetAndEpoch


class Match(NamedTuple):
    """Whether a follower's log is a prefix of this one; if not, where they part or what to fetch first."""

    diverging: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None


MATCHES = Match()
_NO_LIMIT = 1 << 63


class LogView:
    """Offsets and epochs of one log. `flushed` never exceeds `end`."""

    __slots__ = (
        "_flush_limit",
        "end",
        "epochs",
        "flushed",
        "flushing",
        "snapshot_id",
        "start",
        "start_epoch",
    )

    def __init__(self) -> None:
        self.start = 0
        #: Of the record before `start`; -1: unknown.
        self.start_epoch = 0
        self.end = 0
        self.flushed = 0
        self.flushing = False
        self.epochs: list[EpochStart] = []
        self.snapshot_id: OffsetAndEpoch | None = None
        self._flush_limit = _NO_LIMIT

    def open(
        self, start: int, end: int, epochs: Sequence[EpochStart], snapshot_id: OffsetAndEpoch | None
    ) -> None:
        """The log as it was found.

        Raises:
            ValueError: it begins later than any snapshot ends.
        """
        if start > (snapshot_id.offset if snapshot_id is not None else 0):
            raise ValueError(f"the log begins at {start}, and no snapshot has what is before")
        self.start, self.end, self.snapshot_id = start, end, snapshot_id
        self.epochs = list(epochs)
        if snapshot_id is not None and snapshot_id.offset == start:
            self.start_epoch = snapshot_id.epoch
        elif start > 0:
            self.start_epoch = -1

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record."""
        return self.epochs[-1].epoch if self.epochs else max(self.start_epoch, 0)

    def append(self, end: int, epochs: Sequence[EpochStart]) -> None:
        """Batches were appended; the ends of this log only grow by it."""
        for epoch in epochs:
            if epoch.epoch > self.last_epoch or (not self.epochs and epoch.start_offset >= self.start):
                self.epochs.append(epoch)
        self.end = max(self.end, end)

    def flush_begins(self) -> None:
        """A flush of everything so far is under way."""
        self.flushing = True
        self._flush_limit = _NO_LIMIT

    def flush_ended(self, end: int) -> None:
        """It is done. What was cut off and written anew meanwhile is not durable by it."""
        self.flushing = False
        self.flushed = max(self.flushed, min(end, self._flush_limit, self.end))

    def truncate(self, end: int) -> None:
        """Everything from `end` on is gone."""
        self.end = end
        self.flushed = min(self.flushed, end)
        self._flush_limit = min(self._flush_limit, end)
        while self.epochs and self.epochs[-1].start_offset >= end:
            self.epochs.pop()

    def start_at(self, snapshot_id: OffsetAndEpoch) -> None:
        """The log was dropped for this snapshot; it is empty and durable."""
        self.start = self.end = self.flushed = snapshot_id.offset
        self.start_epoch = snapshot_id.epoch
        self.snapshot_id = snapshot_id
        self.epochs = []
        self._flush_limit = -1

    def snapshot_taken(self, snapshot_id: OffsetAndEpoch, start: int) -> None:
        """There is a newer snapshot, and the log may begin later."""
        self.snapshot_id = snapshot_id
        if start > self.start:
            self.start_epoch = self._epoch_before(start)
            self.start = start
            first = bisect_right(self.epochs, start, key=lambda epoch: epoch.start_offset) - 1
            del self.epochs[: max(first, 0)]

    def _epoch_before(self, offset: int) -> int:
        index = bisect_right(self.epochs, offset - 1, key=lambda epoch: epoch.start_offset)
        return self.epochs[index - 1].epoch if index else self.start_epoch

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch | None:
        """The largest epoch of this log up to `epoch` and where it ends; None: all of it is later."""
        index = bisect_right(self.epochs, epoch, key=lambda entry: entry.epoch)
        if not index:
            return OffsetAndEpoch(self.start, self.start_epoch) if 0 <= self.start_epoch <= epoch else None
        end = self.epochs[index].start_offset if index < len(self.epochs) else self.end
        return OffsetAndEpoch(end, self.epochs[index - 1].epoch)

    def match(self, offset: int, epoch: int) -> Match:
        """Whether a log that ends before `offset` with a record of `epoch` is a prefix of this one (KIP-595).

        A node that has nothing takes the snapshot rather than the log (KIP-630).
        """
        if offset == 0 and self.start == 0 and self.snapshot_id is None:
            return MATCHES
        if offset == 0 or offset < self.start or (offset == self.start and epoch != self.start_epoch):
            return Match(snapshot_id=self.snapshot_id)
        known = self.end_of_epoch(epoch)
        if known is None:
            return Match(snapshot_id=self.snapshot_id) if self.start else Match(OffsetAndEpoch(0, 0))
        if known.epoch != epoch or known.offset < offset:
            return Match(diverging=known)
        return MATCHES

    def cut_for(self, diverging: OffsetAndEpoch) -> int:
        """Where to cut this log so that it may be a prefix of the one that ends `diverging`."""
        own = self.end_of_epoch(diverging.epoch)
        if own is None:
            return self.start
        return min(own.offset, diverging.offset) if own.epoch == diverging.epoch else own.offset
