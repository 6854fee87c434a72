"""What goes into a raft node and what comes out: plain values, nothing that knows its driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kbroker.raft.election_state import ElectionState

# -- events: what happened ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """The driver has read its files: the log ends before `log_end_offset`."""

    log_end_offset: int


@dataclass(frozen=True, slots=True)
class ElectionStored:
    """The election state with this epoch is on stable storage."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Appended:
    """Batches were written to the log, which now ends before `end_offset`; durable is another matter."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Flushed:
    """Everything before `end_offset` is on stable storage."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class ShutDown:
    """The node is about to stop."""


Event: TypeAlias = Started | ElectionStored | Appended | Flushed | ShutDown

# -- effects: what the driver does, in the order of the list -------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoreElection:
    """Write the election state durably, then tell by `ElectionStored`. Nothing of its epoch may leave
    before.
    """

    state: ElectionState


@dataclass(frozen=True, slots=True)
class AppendLeaderChange:
    """Append the control batch that opens the leader's epoch, then tell by `Appended`."""

    epoch: int


@dataclass(frozen=True, slots=True)
class FlushLog:
    """Make everything before `end_offset` durable, then tell by `Flushed`. One at a time is under way."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class BecomeLeader:
    """This node leads `epoch`, and everything before its epoch is committed: it may take records."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Everything before `high_watermark` is committed."""

    high_watermark: int


@dataclass(frozen=True, slots=True)
class Resign:
    """This node does not lead `epoch` any more: what was not committed may never be."""

    epoch: int


Effect: TypeAlias = StoreElection | AppendLeaderChange | FlushLog | BecomeLeader | Commit | Resign
