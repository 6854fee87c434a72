"""Reading a log: where whole batches lie. Nothing is decoded (look-ups by time: `time_search`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage import txn_index
from kbroker.storage.disk import DiskFile
from kbroker.storage.producer_replay import rebuild_txn_index
from kbroker.storage.segment import Segment
from kbroker.storage.txn_index import AbortedTxn

if TYPE_CHECKING:
    from kbroker.storage.log import Log

#: How many readers' next positions are remembered.
_HINTS = 64


class FileSlice(NamedTuple):
    """A stretch of a segment. It stays readable while somebody holds it, also after the segment is gone."""

    file: DiskFile
    position: int
    length: int

    def read(self) -> bytes:
        """The bytes. Raises OSError."""
        return self.file.read(self.position, self.length)

    def fileno(self) -> int:
        """The descriptor, for sendfile."""
        return self.file.fileno()


class LogSlice(NamedTuple):
    """What a read found: at most one part, as a read does not cross segments.

    `next_offset` is where the next read goes on; with no parts it is the offset that was asked for.
    """

    parts: list[FileSlice]
    size: int
    next_offset: int


def read(log: Log, offset: int, max_bytes: int, max_offset: int, min_one_message: bool = True) -> LogSlice:
    """Whole batches from the one that holds `offset` on, below `max_offset`, of one segment.

    At most `max_bytes`, but the first one whole if `min_one_message`. Empty from `max_offset` to the end.

    Raises:
        ApiError: OFFSET_OUT_OF_RANGE.
        StorageError: the directory is offline, or the read failed.
    """
    if log.directory.failure is not None:
        log.directory.check()
    if log._kept:
        log.settle()
    recent, min_one = log._recent, min_one_message
    end_offset = log.log_end_offset
    if not log.log_start_offset <= offset <= end_offset:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Received request for offset {offset} for partition {log.topic_partition}, but we only have log "
            f"segments from offset {log.log_start_offset} up to {end_offset}.",
        )
    if max_offset > end_offset:
        max_offset = end_offset
    if offset >= max_offset:
        return LogSlice([], 0, offset)
    try:
        if offset >= recent.floor:
            segment = log.segments.active
            found = recent.find(offset, max_bytes, max_offset, min_one)
        else:
            segment, found = _find(log, offset, max_bytes, max_offset, min_one)
        if found is None:
            return LogSlice([], 0, offset)
        position, end, next_offset = found
        size = end - position
        # Three times as fast as calling the named tuples.
        part = tuple.__new__(FileSlice, (segment.file(), position, size))
        return tuple.__new__(LogSlice, ([part], size, next_offset))
    except OSError as error:
        raise log.directory.fail(error) from error


def _find(
    log: Log, offset: int, max_bytes: int, max_offset: int, min_one: bool
) -> tuple[Segment, tuple[int, int, int] | None]:
    segments = log.segments
    index = segments.index_of(offset)
    while True:
        segment = segments[index]
        last_segment = index + 1 == len(segments)
        segment_end = log.log_end_offset if last_segment else segments[index + 1].base_offset
        hint = log.read_hints.get(offset)
        if hint is not None and hint[0] == segment.base_offset:
            position = hint[1]
        else:
            batch = segment.locate(offset)
            if batch is None or batch.last_offset >= segment_end:
                # The rest of this segment was compacted away: what follows lies in the next one.
                if last_segment or segment_end >= max_offset:
                    return segment, None
                index += 1
                continue
            position = batch.position
        limit, next_offset = segment.size, segment_end
        if max_offset < segment_end:
            stop = segment.locate(max_offset)
            if stop is not None:
                limit, next_offset = stop.position, stop.base_offset
        if limit - position > max_bytes:
            end, next_offset = segment.boundary_before(position, position + max_bytes)
            if end == position:
                if not min_one:
                    return segment, None
                first = next(iter(segment.walk(position)))
                end, next_offset = position + first.size, first.last_offset + 1
            limit = min(limit, end)
        if limit <= position:
            return segment, None
        _remember(log, next_offset, segment, limit)
        return segment, (position, limit, next_offset)


def _remember(log: Log, next_offset: int, segment: Segment, position: int) -> None:
    if position >= segment.size:
        return
    hints = log.read_hints
    if len(hints) >= _HINTS:
        del hints[next(iter(hints))]
    hints[next_offset] = (segment.base_offset, position)


def aborted_txns(log: Log, start_offset: int, end_offset: int) -> list[AbortedTxn]:
    """Aborted transactions that overlap [start, end), for read_committed."""
    found: list[AbortedTxn] = []
    try:
        log.txn_check.check(log, start_offset, end_offset)
        for segment in log.segments.from_offset(start_offset):
            try:
                entries = segment.aborted_txns()
            except ValueError:
                rebuild_txn_index(log, segment)
                entries = segment.aborted_txns()
            some, complete = txn_index.collect(entries, start_offset, end_offset)
            found += some
            if complete:
                break
    except OSError as error:
        raise log.directory.fail(error) from error
    return found
