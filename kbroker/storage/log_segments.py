"""The segments of a log in offset order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from kbroker.storage.segment import Segment


class LogSegments:
    """Sorted by base offset; never empty once a log is in use."""

    __slots__ = ("_bases", "_segments")

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        self._bases = [segment.base_offset for segment in segments]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __getitem__(self, index: int) -> Segment:
        return self._segments[index]

    @property
    def first(self) -> Segment:
        """The oldest one."""
        return self._segments[0]

    @property
    def active(self) -> Segment:
        """The one that grows."""
        return self._segments[-1]

    @property
    def bases(self) -> list[int]:
        """All base offsets (a copy)."""
        return list(self._bases)

    def add(self, segment: Segment) -> None:
        """Append a new active segment."""
        self._segments.append(segment)
        self._bases.append(segment.base_offset)

    def index_of(self, offset: int) -> int:
        """Index of the segment that would hold `offset` (the first one for offsets below it)."""
        return max(bisect_right(self._bases, offset) - 1, 0)

    def from_offset(self, offset: int) -> list[Segment]:
        """The segment that would hold `offset`, and all behind it."""
        return self._segments[self.index_of(offset) :]

    def remove_first(self, count: int) -> list[Segment]:
        """Take the oldest `count` out."""
        removed = self._segments[:count]
        del self._segments[:count], self._bases[:count]
        return removed

    def remove_from(self, index: int) -> list[Segment]:
        """Take those from `index` on out."""
        removed = self._segments[index:]
        del self._segments[index:], self._bases[index:]
        return removed

    def replace(self, index: int, count: int, segment: Segment) -> list[Segment]:
        """Put one in the place of the `count` from `index` on; those."""
        replaced = self._segments[index : index + count]
        self._segments[index : index + count] = [segment]
        self._bases[index : index + count] = [segment.base_offset]
        return replaced
