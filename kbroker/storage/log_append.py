"""Appends that are not a client's, and what a write that failed leaves.

Batches of coordinators and raft, and those fetched from a leader, may be several, and what a client may not
write is allowed; `Log.stage` puts them down like any other.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.batch_header import HEADER
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    BatchHeader,
    check_crc,
    iter_batches,
)
from kbroker.storage import log_trim
from kbroker.storage.append_checks import (
    AppendError,
)
from kbroker.storage.disk import Buffer, StorageError
from kbroker.storage.log_types import AppendOrigin, AppendResult
from kbroker.storage.open_files import NO_ROOM
from kbroker.storage.producer_replay import count_batch, read_marker

if TYPE_CHECKING:
    from kbroker.storage.log import Log

_PREFIX = Struct(">qii")


def own(staged: list[Buffer], first: int) -> int:
    """The connections use their buffers again: have bytes of our own from `first` on; how many there are."""
    for index in range(first, len(staged)):
        staged[index] = bytes(staged[index])
    return len(staged)


def not_written(log: Log, error: OSError) -> StorageError:
    """What a flush that failed says; what was staged is dropped, or waits for the next one."""
    failure = log.directory.fail(error)
    if log._kept:
        log.lost = failure
    if error.errno in NO_ROOM:
        log_trim.drop_staged(log)
    elif not log.directory.offline:
        # No descriptor was free, nothing is written: it waits for the next flush.
        log._kept = own(log._staged, log._kept)
    return failure


def larger_than_segment(log: Log, size: int) -> AppendError:
    """The error for a batch that no segment could hold."""
    return AppendError(
        ErrorCode.RECORD_LIST_TOO_LARGE,
        f"Message batch size is {size} bytes in append to partition {log.topic_partition}, which exceeds the "
        f"maximum configured segment size of {log.config.segment_bytes}.",
    )


def append_trusted(
    log: Log, records: memoryview, leader_epoch: int, now_ms: int, origin: AppendOrigin
) -> AppendResult:
    """`Log.append_as_leader` for a coordinator or raft."""
    start, check = log.staged_end_offset, origin is AppendOrigin.COORDINATOR
    if not _stage_plain(log, records, leader_epoch, now_ms):
        stage_trusted(log, records, leader_epoch, now_ms, check_producers=check)
    return AppendResult(start, log.staged_end_offset - 1, -1, log.log_start_offset)


def append_own(log: Log, batch: bytearray, delta: int, timestamp: int, leader_epoch: int, now_ms: int) -> int:
    """Append and write a coordinator's batch that was made just now; its first offset.

    For one of no producer. As `append_trusted` and `flush_staged`, but nothing that its maker knows is looked
    at again: its records end at offset `delta` from the first, and all have that time. Where there is nothing
    but this batch to do, what those two do is done here in one go, in half the time.
    """
    if log.directory.refusal is not None:
        log.directory.check_append(AppendOrigin.COORDINATOR)
    size, config, active = len(batch), log._config, log._active
    if size > config.max_message_bytes:
        raise AppendError(ErrorCode.MESSAGE_TOO_LARGE)
    if size > config.segment_bytes:
        raise larger_than_segment(log, size)
    base, position = log.staged_end_offset, log._staged_position
    last, newest = base + delta, active.max_timestamp
    if (
        position > log._roll_bytes - size
        or timestamp > log._roll_timestamp
        or now_ms > log._roll_now_ms
        or last > log._roll_offset
        or not position
        or leader_epoch > log.epochs.latest
        or newest is None
        or active.bytes_since_index_entry > config.index_interval_bytes
        or log._staged
        or log._dropped is not None
    ):
        log.stage(memoryview(batch), size, base, last, timestamp, leader_epoch, now_ms)
        log.flush_staged()
        return base
    _PREFIX.pack_into(batch, 0, base, size - LOG_OVERHEAD, leader_epoch)
    try:
        log.directory.files.get(active.path).write(position, batch)
    except OSError as error:
        raise not_written(log, error) from error
    if timestamp > newest:
        active.max_timestamp, active.max_timestamp_offset = timestamp, last
    active.bytes_since_index_entry += size
    recent, counts = log._recent, log.counts
    recent.lasts.append(last)
    recent.positions.append(position)
    recent.trim()
    counts.bytes += size
    counts.messages += delta + 1
    active.size = recent.end = log._staged_position = position + size
    log.log_end_offset = log.staged_end_offset = log.producers.end_offset = last + 1
    return base


def _stage_plain(log: Log, records: memoryview, leader_epoch: int, now_ms: int) -> bool:
    """Stage the usual batch of a coordinator, one without a producer that fits; False: look closer at it."""
    size = len(records)
    if size < BATCH_OVERHEAD:
        return False
    _, length, _, magic, crc, _, delta, _, max_ts, producer_id, _, _, _ = HEADER.unpack_from(records)
    if magic != 2 or length != size - LOG_OVERHEAD or producer_id >= 0 or crc32c(records[21:]) != crc:
        return False
    if size > log.config.max_message_bytes or size > log.config.segment_bytes:
        return False
    base = log.staged_end_offset
    log.stage(records, size, base, base + delta, max_ts, leader_epoch, now_ms)
    return True


def stage_trusted(
    log: Log, records: memoryview, leader_epoch: int, now_ms: int, *, check_producers: bool
) -> None:
    """Stage the batches of a coordinator or of raft: markers are allowed, sequences are not needed.

    Raises:
        AppendError: damaged, too large, or (with `check_producers`) of a fenced producer or coordinator.
    """
    for header in iter_batches(records):
        size = header.size
        if not check_crc(records, header):
            raise AppendError(ErrorCode.CORRUPT_MESSAGE)
        if size > log.config.max_message_bytes:
            raise AppendError(ErrorCode.MESSAGE_TOO_LARGE)
        if size > log.config.segment_bytes:
            raise larger_than_segment(log, size)
        if header.producer_id >= 0 and check_producers:
            _check_producer(log, records, header)
        base = log.staged_end_offset
        batch = records[header.position : header.end]
        last = base + header.last_offset_delta
        log.stage(batch, size, base, last, header.max_timestamp, leader_epoch, now_ms)
        if header.producer_id >= 0:
            count_producer(log, records, header, base)


def _check_producer(log: Log, records: memoryview, header: BatchHeader) -> None:
    producer_id, epoch = header.producer_id, header.producer_epoch
    try:
        if header.is_control:
            _, coordinator_epoch = read_marker(records, header)
            # What version 2 demands, WriteTxnMarkers has checked: only its request tells the version.
            log.producers.check_marker(producer_id, epoch, coordinator_epoch, 0)
        else:
            log.producers.check_coordinator_batch(producer_id, epoch, header.is_transactional)
    except ApiError as error:
        raise AppendError(error.code, error.message, log_start_offset=log.log_start_offset) from None


def count_producer(log: Log, records: memoryview, header: BatchHeader, base: int) -> None:
    """Count a batch in whose sequences were not checked: a marker, a coordinator's or the leader's."""
    completed = count_batch(log.producers, records, header, base)
    if completed is not None:
        try:
            log.segments.active.add_aborted(completed)
        except OSError as error:
            raise log.directory.fail_for_good(error) from error
