"""Records in flight, as spans of offsets that share one fate."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class RecordState(IntEnum):
    """As Kafka numbers them in the share coordinator's log."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    #: Given up; what becomes of its dead letter is not known yet.
    ARCHIVING = 3
    ARCHIVED = 4


#: States that a record never leaves.
TERMINAL = (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


class StateBatch(NamedTuple):
    """What is kept of a span: never that it is acquired."""

    first: int
    last: int
    state: int
    deliveries: int


class Acquired(NamedTuple):
    """Records that a member has just been given, and how often they have been delivered by now."""

    first: int
    last: int
    deliveries: int


class Span:
    """Neighbouring records in one state.

    `whole`: they were acquired as one and have stayed so; they are given out again as one. `origin`: first
    and last of those that were acquired as one at first. `pending`: the state stands, but has still to be
    written: nobody may touch the span until `SharePartition.settle`.
    """

    __slots__ = ("count", "deadline_ms", "first", "last", "member", "origin", "pending", "state", "whole")

    def __init__(
        self,
        first: int,
        last: int,
        state: RecordState,
        count: int,
        member: str = "",
        deadline_ms: int = 0,
        whole: bool = True,
    ) -> None:
        self.first = first
        self.last = last
        self.state = state
        self.count = count
        self.member = member
        self.deadline_ms = deadline_ms
        self.whole = whole
        self.origin = first, last
        self.pending = False

    def __repr__(self) -> str:
        mark = "*" if self.pending else ""
        return f"<{self.first}-{self.last} {self.state.name}{mark} {self.count} {self.member}>"

    def __len__(self) -> int:
        return self.last - self.first + 1

    def cut(self, offset: int) -> Span:
        """Keep what lies before `offset`; the rest."""
        rest = Span(offset, self.last, self.state, self.count, self.member, self.deadline_ms, whole=False)
        rest.pending = self.pending
        rest.origin = self.origin
        self.last = offset - 1
        self.whole = False
        return rest

    def kept(self) -> StateBatch:
        """For the log."""
        return StateBatch(self.first, self.last, self.state, self.count)

    def is_like(self, other: Span) -> bool:
        """Both could be one: nobody holds them and nothing distinguishes them."""
        if self.pending or other.pending or self.last + 1 != other.first or self.state is not other.state:
            return False
        if self.state in TERMINAL:
            return self.count == other.count
        return (
            self.state is RecordState.AVAILABLE
            and self.count == other.count
            and self.origin == other.origin
            and not (self.whole or other.whole)
        )
