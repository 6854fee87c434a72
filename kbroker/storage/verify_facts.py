"""What a check of files finds, and what it may expect of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from kbroker.storage.leader_epochs import LeaderEpochs
from kbroker.storage.txn_index import AbortedTxn


class Level(Enum):
    """How bad it is."""

    DAMAGE = "damage"  # records cannot be read, or are missing
    WRONG = "wrong"  # a file that can be told from the records again is not what they say
    NOTE = "note"  # nothing is wrong, but somebody should know


class Cause(Enum):
    """What it is about, for those who mend it."""

    BATCHES = "batches"  # bytes of a segment that are no good batch
    OVERLAP = "overlap"  # a segment begins before the one in front of it ends
    GAP = "gap"  # offsets are missing
    ORPHAN = "orphan"  # an index without its segment
    OTHER = "other"


class Finding(NamedTuple):
    """One thing found. `position` is the first byte that is concerned, -1: the whole file."""

    level: Level
    path: str
    text: str
    position: int = -1
    cause: Cause = Cause.OTHER


class SegmentFacts(NamedTuple):
    """What the scan of a segment came to: it is good up to byte `good_bytes` and offset `end` - 1.

    `aborted`: what its transaction index should say; None if that cannot be known.
    """

    base_offset: int
    good_bytes: int
    size: int
    end: int
    aborted: list[AbortedTxn] | None


@dataclass
class PartitionFacts:
    """What was found in one partition's directory."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    segments: list[SegmentFacts] = field(default_factory=list)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)

    @property
    def end(self) -> int:
        """The offset behind the last good batch."""
        return self.segments[-1].end if self.segments else 0


@dataclass(frozen=True)
class Expectations:
    """What the log directory says of the partition.

    Attributes:
        clean: the last stop was clean, and nobody runs on the directory now.
        recovery_point: all below is durable.
        compacted: the cleaner has been at work: offsets may be missing.
        metadata: it is the metadata log, which has no recovery point and keeps snapshots of another kind.
    """

    clean: bool = True
    recovery_point: int = 0
    compacted: bool = False
    metadata: bool = False
