"""Where the records in flight of one partition are: spans, sorted and apart, between a start and an end.

Law of this file: between `start_offset` (nothing before it is of interest) and `end_offset` (the last one
given to anybody) an offset has one span or none; without a span it was never given out. `advance` moves the
start past what is done with, and makes one of spans that need not be apart. Who may do what with a span is
decided elsewhere (`share_partition.py`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from kbroker.coordinator.share.spans import TERMINAL, RecordState, Span, StateBatch

_FIRST = attrgetter("first")
_AVAILABLE = RecordState.AVAILABLE


class ShareLimits(NamedTuple):
    """Settings of the group, as they are now."""

    lock_ms: int = 30_000
    max_deliveries: int = 5
    max_in_flight: int = 2_000
    may_renew: bool = True
    #: Whether dead letters are written of records that are given up.
    dead_letters: bool = False


class InFlight:
    """See the top of the file.

    Args:
        start_offset: where the group begins.
        kept: what the share coordinator knows of the records from there on.
        limits: how many may be in flight, and more.
    """

    __slots__ = ("_may_have_free", "end_offset", "limits", "spans", "start_offset")

    def __init__(
        self, start_offset: int, kept: Iterable[StateBatch] = (), limits: ShareLimits | None = None
    ) -> None:
        self.limits = limits or ShareLimits()
        self.start_offset = start_offset
        #: For others to look at.
        self.spans: list[Span] = []
        for first, last, state, count in sorted(kept):
            first = max(first, start_offset, self.spans[-1].last + 1 if self.spans else first)
            if first <= last:
                self.spans.append(Span(first, last, RecordState(state), count))
        self.end_offset = self.spans[-1].last if self.spans else start_offset - 1
        self._may_have_free = bool(self.spans)
        self.advance()

    # -- what there is ---------------------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """Records between start and end."""
        return self.end_offset - self.start_offset + 1

    @property
    def complete_count(self) -> int:
        """Records in flight that are done with."""
        return sum(len(span) for span in self.spans if span.state in TERMINAL)

    def next_fetch_offset(self) -> int:
        """The first record that may be given out."""
        if self._may_have_free:
            position = self.start_offset
            for span in self.spans:
                if span.first > position:
                    return position
                if span.state is _AVAILABLE and not span.pending:
                    return span.first
                position = span.last + 1
            self._may_have_free = False
        return self.end_offset + 1

    def can_acquire(self) -> bool:
        """There is room for more, or something came back."""
        if self.in_flight < self.limits.max_in_flight:
            return True
        return self.next_fetch_offset() <= self.end_offset

    def index_at(self, offset: int) -> int:
        """Which span is the last that begins at `offset` or before; -1: none."""
        return bisect_right(self.spans, offset, key=_FIRST) - 1

    # -- changing it -----------------------------------------------------------------------------------------

    def insert(self, index: int, span: Span) -> None:
        """A span where there was none."""
        self.spans.insert(index, span)
        self.end_offset = max(self.end_offset, span.last)

    def cut(self, index: int, offset: int) -> Span:
        """Let a new span begin at `offset`, within the one at `index`."""
        rest = self.spans[index].cut(offset)
        self.spans.insert(index + 1, rest)
        return rest

    def carved(self, first: int, last: int) -> list[Span]:
        """The spans from `first` to `last`, cut at both ends."""
        index = max(self.index_at(first), 0)
        found = []
        while index < len(self.spans) and self.spans[index].first <= last:
            span = self.spans[index]
            if span.last >= first:
                if span.first < first:
                    span = self.cut(index, first)
                    index += 1
                if span.last > last:
                    self.cut(index, last + 1)
                found.append(span)
            index += 1
        return found

    def pass_over(self, first: int, last: int) -> None:
        """There are no such records: those that nobody has seen are done with."""
        first = max(first, self.start_offset)
        index = self.index_at(first) + 1
        if index and self.spans[index - 1].last >= first:
            return
        if index < len(self.spans):
            last = min(last, self.spans[index].first - 1)
        if first <= last:
            self.insert(index, Span(first, last, RecordState.ARCHIVED, 0))
            self.advance()

    def log_start_moved(self, log_start: int) -> None:
        """Records before `log_start` are gone."""
        if log_start <= self.start_offset:
            return
        self.start_offset = log_start
        index = bisect_left(self.spans, log_start, key=_FIRST)
        if index and self.spans[index - 1].last >= log_start and not self.spans[index - 1].pending:
            self.cut(index - 1, log_start)
        self._may_have_free = True
        self.advance()

    def advance(self) -> None:
        """The start goes past what is done with; spans that need not be apart become one."""
        done = 0
        for span in self.spans:
            gone = span.last < self.start_offset
            if span.pending or not (gone or (span.first <= self.start_offset and span.state in TERMINAL)):
                break
            self.start_offset = max(self.start_offset, span.last + 1)
            done += 1
        del self.spans[:done]
        if self.end_offset < self.start_offset - 1:
            self.end_offset = self.start_offset - 1
        if len(self.spans) > 1:
            self._join()

    def _join(self) -> None:
        joined = [self.spans[0]]
        for span in self.spans[1:]:
            if joined[-1].is_like(span):
                joined[-1].last = span.last
                joined[-1].whole = False
            else:
                joined.append(span)
        self.spans = joined
