"""When a log's active segment has to give way to a new one, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from kbroker.storage.disk import StorageError
from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.storage.log_files import give_back
from kbroker.storage.segment import Segment
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.storage.log import Log

_INT_MAX = 0x7FFF_FFFF
_NEVER = MAX_LONG
#: For a timestamp: that of the first batch has not been read yet.
_UNRESOLVED = -(2**63)


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
        # Opened from disk: the next append comes to `make_room`, which reads it.
        return RollLimits(size, offset, _UNRESOLVED, _NEVER)
    jitter = min(config.segment_jitter_ms, config.roll_ms)
    if jitter > 0:
        # Spread over partitions and segments, yet the same each time that it is asked.
        jitter = crc32(f"{topic_partition}/{active.base_offset}".encode()) % jitter
    age = config.roll_ms - jitter
    if first >= 0:
        return RollLimits(size, offset, first + age, _NEVER)
    return RollLimits(size, offset, _NEVER, active.created_ms + age)


def make_room(log: Log, size: int, last: int, max_ts: int, now_ms: int) -> int:
    """Roll if the batch must not go into the active segment; the position where it goes."""
    if log._roll_timestamp == _UNRESOLVED:
        _resolve(log)
        log._set_roll_limits()
    position = log._staged_position
    if (
        position > log._roll_bytes - size
        or max_ts > log._roll_timestamp
        or now_ms > log._roll_now_ms
        or last > log._roll_offset
    ):
        # Named by the log's end even if a follower's next batch lies behind a gap, so that recovery can
        # tell a segment whose predecessor lost its tail.
        log.roll(max(log.staged_end_offset, last - _INT_MAX), now_ms)
        return log._staged_position
    return position


def roll(log: Log, base_offset: int | None = None, now_ms: int = 0) -> None:
    """Begin a new segment at the log's end (0 for `now_ms`: the last tick). Raises StorageError."""
    try:
        log.flush_staged()
    except StorageError as error:
        if not log._staged:
            # Those who staged it will ask for the flush, and must hear.
            log._dropped = error
        raise
    base = log.staged_end_offset if base_offset is None else base_offset
    now_ms = now_ms or log.directory.now_ms
    active = log._active
    if active.base_offset == base and not active.size:
        active.reset_indexes()
        active.created_ms = now_ms
        return
    _next_segment(log, base, now_ms)
    log._sealed_end = -1
    log.names_dirty = True
    log.staged_end_offset = max(log.staged_end_offset, base)
    log._start_on_active()
    log.wants_sync = True


def _resolve(log: Log) -> None:
    """Read the time of the active segment's first batch. Raises StorageError."""
    try:
        log.segments.active.first_timestamp()
    except OSError as error:
        raise log.directory.fail(error) from error


def _next_segment(log: Log, base: int, now_ms: int) -> None:
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
