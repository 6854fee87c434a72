"""When a log's active segment has to give way to a new one, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.storage.log_files import give_back
from kbroker.storage.segment import Segment
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.storage.log import Log

_INT_MAX = 0x7FFF_FFFF
_NEVER = MAX_LONG
#: For a timestamp: that of the first batch has not been read yet.
UNRESOLVED = -(2**63)


class RollLimits(NamedTuple):
    """Four numbers that an append compares; a batch that goes beyond one of them needs a new segment."""

    bytes: int
    offset: int
    timestamp: int
    now_ms: int


def limits(
    config: LogConfig, active: Segment, staged_position: int, topic_partition: TopicPartition
) -> RollLimits:
    """Those of the active segment."""
    size, offset = config.segment_bytes, active.base_offset + _INT_MAX
    if active.is_empty and not staged_position:
        return RollLimits(size, offset, _NEVER, _NEVER)
    first = active.known_first_timestamp
    if first is None:
        # Opened from disk: the next append comes to `Log._make_room`, which reads it.
        return RollLimits(size, offset, UNRESOLVED, _NEVER)
    jitter = min(config.segment_jitter_ms, config.roll_ms)
    if jitter > 0:
        # Spread over partitions and segments, yet the same each time that it is asked.
        jitter = crc32(f"{topic_partition}/{active.base_offset}".encode()) % jitter
    age = config.roll_ms - jitter
    if first >= 0:
        return RollLimits(size, offset, first + age, _NEVER)
    return RollLimits(size, offset, _NEVER, active.created_ms + age)


def resolve(log: Log) -> None:
    """Read the time of the active segment's first batch. Raises StorageError."""
    try:
        log.segments.active.first_timestamp()
    except OSError as error:
        raise log.directory.fail(error) from error


def next_segment(log: Log, base: int, now_ms: int) -> None:
    """Close the active segment and add an empty one, its file made. Raises StorageError."""
    try:
        log.segments.active.seal()
        give_back(log)
        log.write_snapshot(base)
        segment = Segment(log.directory.files, log.path, base, {}, now_ms)
        segment.file()
    except OSError as error:
        raise log.directory.fail(error) from error
    log.segments.add(segment)
