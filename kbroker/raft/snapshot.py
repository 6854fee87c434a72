"""Snapshots of the metadata log: their file names, when to write one, and which ones may go.

A snapshot `<end offset>-<epoch>.checkpoint` says what all records below its end offset come to. It is a
sequence of batches whose offsets start at 0, between a header and a footer control record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kbroker.types import OffsetAndEpoch

SUFFIX = ".checkpoint"
PART_SUFFIX = ".checkpoint.part"
DELETED_SUFFIX = ".checkpoint.deleted"
_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint\Z")

#: What a formatted but never started node has: everything is in the snapshot before offset 0.
BOOTSTRAP_ID = OffsetAndEpoch(0, 0)


def snapshot_file_name(snapshot_id: OffsetAndEpoch, suffix: str = SUFFIX) -> str:
    """The name in the partition's directory."""
    return f"{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{suffix}"


def parse_snapshot_file_name(name: str) -> OffsetAndEpoch | None:
    """The snapshot's end offset and epoch; None for any other file, unfinished and deleted ones included."""
    found = _NAME.match(name)
    return OffsetAndEpoch(int(found[1]), int(found[2])) if found else None


class SnapshotFile(NamedTuple):
    """A finished snapshot on disk; `timestamp_ms` is its last record's."""

    id: OffsetAndEpoch
    size: int
    timestamp_ms: int


class SnapshotPolicy(NamedTuple):
    """Kafka's metadata.log.max.record.bytes.between.snapshots, metadata.log.max.snapshot.interval.ms,
    metadata.max.retention.bytes and metadata.max.retention.ms; -1 (and an interval of 0): no such limit."""

    max_bytes: int = 20 << 20
    max_interval_ms: int = 3_600_000
    retention_bytes: int = 100 << 20
    retention_ms: int = 7 * 24 * 3_600_000

    def due(self, new_bytes: int, last_snapshot_ms: int, now_ms: int) -> bool:
        """Whether to write a snapshot now, with `new_bytes` of news since the last one."""
        if new_bytes >= self.max_bytes:
            return True
        return self.max_interval_ms > 0 and now_ms - last_snapshot_ms >= self.max_interval_ms


#: Kafka's own settings.
DEFAULT_POLICY = SnapshotPolicy()


def expired_snapshots(
    snapshots: Sequence[SnapshotFile], log_size: int, policy: SnapshotPolicy, now_ms: int
) -> list[SnapshotFile]:
    """Which of the snapshots (oldest first) to delete, oldest first.

    The newest always stays. The log may afterwards begin at the oldest one that stays, never later: a
    follower that loads it finds the records that come after it.
    """
    kept = list(snapshots)
    expired: list[SnapshotFile] = []
    total = log_size + sum(snapshot.size for snapshot in kept)
    while len(kept) > 1:
        oldest = kept[0]
        too_large = 0 <= policy.retention_bytes < total
        # The next snapshot tells since when the oldest one is of no use.
        too_old = 0 <= policy.retention_ms < now_ms - kept[1].timestamp_ms
        if not (too_large or too_old):
            break
        expired.append(kept.pop(0))
        total -= oldest.size
    return expired
