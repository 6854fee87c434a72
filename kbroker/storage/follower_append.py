"""What a follower does to its log: batches come as the leader has them, and the start follows the leader's.

The leader is believed: offsets, epochs and sequences are taken as they are, no record is looked at. Only what
the wire could have damaged is checked: the CRC, and that the batches continue the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.record_batch import BatchHeader, check_crc, iter_batches
from kbroker.protocol.sealed_batch import SEALED_BIT
from kbroker.storage.append_checks import AppendError
from kbroker.storage.log_append import count_producer
from kbroker.storage.log_encryption import mark
from kbroker.storage.log_trim import advance_log_start
from kbroker.storage.log_types import AppendResult

if TYPE_CHECKING:
    from kbroker.storage.log import Log

_MAGIC_WITH_EPOCHS = 2


def append_as_follower(log: Log, records: memoryview, now_ms: int) -> AppendResult:
    """Stage batches fetched from the leader, as they are; then `flush_staged`.

    Raises:
        AppendError, StorageError: as `stage_as_follower`.
    """
    start = log.staged_end_offset
    stage_as_follower(log, records, now_ms)
    return AppendResult(start, log.staged_end_offset - 1, -1, log.log_start_offset)


def stage_as_follower(log: Log, records: memoryview, now_ms: int, epoch_max: int | None = None) -> bool:
    """Stage what a leader sent; whether there was anything. `flush_staged` must follow, also after an error.

    A batch that is cut at the end is left out, and so is everything from the first batch on whose epoch is
    above `epoch_max`: the follower does not know of it yet (KAFKA-18723).

    Raises:
        AppendError: CORRUPT_MESSAGE, or OFFSET_OUT_OF_RANGE when a batch does not continue the log; the
            batches before it are staged.
        StorageError: the directory is offline.
    """
    log.directory.check()
    start = log.staged_end_offset
    for header in iter_batches(records):
        if epoch_max is not None and header.leader_epoch > epoch_max:
            break
        if not check_crc(records, header):
            raise AppendError(ErrorCode.CORRUPT_MESSAGE)
        if header.base_offset < log.staged_end_offset:
            _begin_inside(log, header, now_ms)
        _stage(log, records, header, now_ms)
    return log.staged_end_offset > start


def _begin_inside(log: Log, header: BatchHeader, now_ms: int) -> None:
    """An empty log may begin inside a batch (of which DeleteRecords has removed the front): take it whole."""
    end = log.staged_end_offset
    if log.log_start_offset == end and header.base_offset < end <= header.last_offset:
        log.truncate_fully_and_start_at(header.base_offset, now_ms)
        return
    raise AppendError(
        ErrorCode.OFFSET_OUT_OF_RANGE,
        f"Out of order offsets in append to {log.topic_partition}: {header.base_offset} after {end - 1}",
    )


def _stage(log: Log, records: memoryview, header: BatchHeader, now_ms: int) -> None:
    base, batch = header.base_offset, records[header.position : header.end]
    last, newest = header.last_offset, header.max_timestamp
    if header.magic >= _MAGIC_WITH_EPOCHS:
        if header.attributes & SEALED_BIT and not log.encrypted:
            mark(log)
        log.stage(batch, header.size, base, last, newest, header.leader_epoch, now_ms)
        if header.producer_id >= 0:
            count_producer(log, records, header, base)
        return
    # Where a batch has its epoch, an old message has its CRC: what `stage` writes there is taken back.
    copy = bytearray(batch)
    log.stage(memoryview(copy), header.size, base, last, newest, -1, now_ms)
    copy[12:16] = batch[12:16]


def follow_log_start(log: Log, offset: int) -> None:
    """The leader's log begins at `offset` now, which is committed here: ours does, too."""
    advance_log_start(log, offset)
