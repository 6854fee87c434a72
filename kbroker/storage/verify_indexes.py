"""Holding a segment's indexes against its batches, while these go by once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from kbroker.protocol.record_batch import BatchHeader

#: The entries of an index; None if it will be built anew anyway, so that nothing about it matters.
Entries: TypeAlias = Sequence[tuple[int, int]] | None
#: Called with what is wrong.
Tell: TypeAlias = Callable[[str], None]

#: Further apart than this, index entries leave out batches that they should name.
_THIN_BYTES, _THIN_BATCHES = 4 << 20, 64


class OffsetEntries:
    """The offset index, compared while batches go by."""

    def __init__(self, entries: Entries, base: int, tell: Tell) -> None:
        self._tell, self._base = tell, base
        self._unsettled = entries is None
        self._entries: Iterator[tuple[int, int]] = iter(entries or ())
        self._next = next(self._entries, None)
        self._since, self._since_bytes = 0, 0

    def next_batch(self, position: int, header: BatchHeader) -> None:
        """A batch goes by."""
        self._since += 1
        self._since_bytes += header.size
        if self._next is None or position < self._next[1]:
            return
        relative, at = self._next
        if at != position or relative < 0 or header.last_offset > self._base + relative:
            self._tell(f"its entry for byte {at} names no batch")
            self._next = None
            return
        following = next(self._entries, None)
        if following is not None and (following[0] <= relative or following[1] <= at):
            self._tell("its entries are not in order")
            following = None
        self._next = following
        self._since = self._since_bytes = 0

    def finish(self, size: int) -> None:
        """The segment is over."""
        if self._next is not None and self._next[1] >= size:
            self._tell(f"its entry for byte {self._next[1]} lies behind the segment's end")
        elif self._since > _THIN_BATCHES and self._since_bytes > _THIN_BYTES and not self._unsettled:
            self._tell(f"it tells nothing of the last {self._since_bytes} bytes")


class TimeEntries:
    """The time index, compared while batches go by."""

    def __init__(self, entries: Entries, base: int, tell: Tell) -> None:
        self._tell, self._base = tell, base
        self._unsettled = entries is None
        self._entries = list(entries or ())
        self._at = 0
        self._newest = -1
        previous = (-1, -1)
        for entry in self._entries:
            if entry[0] <= previous[0] or entry[1] < max(previous[1], 0):
                self._tell("its entries are not in order")
                self._entries = []
                return
            previous = entry

    def next_batch(self, header: BatchHeader) -> None:
        """A batch goes by."""
        if header.record_count:
            self._newest = max(self._newest, header.max_timestamp)
        while self._at < len(self._entries):
            timestamp, relative = self._entries[self._at]
            if self._base + relative > header.last_offset:
                return
            if self._newest > timestamp:
                self._tell(f"a record before offset {self._base + relative} is younger than it says")
                self._entries = []
                return
            self._at += 1

    def finish(self) -> None:
        """The segment is over."""
        if self._entries and not self._unsettled:
            if self._at < len(self._entries):
                self._tell("it has entries of offsets behind the segment's end")
            elif self._newest > self._entries[-1][0]:
                self._tell("the youngest records are not in it")
        elif not self._unsettled and self._newest >= 0:
            self._tell("it is empty")
