"""What a leader does with a batch that a client has produced: it is checked, numbered and staged.

Header and CRC are looked at, and `producer_state` is asked. No call looks at single records unless the
topic's config or a suspicious header demands it (`append_checks.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.batch_header import HEADER
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL_BIT,
    LOG_OVERHEAD,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    CorruptBatch,
    parse_batch_header,
)
from kbroker.protocol.sealed_batch import SEALED_BIT
from kbroker.storage.append_checks import (
    AppendError,
    BatchLook,
    check_payload_start,
    checked_batch,
    is_long_look,
    may_be_long_look,
    not_one_batch,
    refuse_header,
    short_look,
    the_one_batch,
    unpacks_to_much,
)
from kbroker.storage.log_append import append_trusted, larger_than_segment
from kbroker.storage.log_types import AppendOrigin, AppendResult
from kbroker.storage.producer_lookback import sent_before

if TYPE_CHECKING:
    from kbroker.storage.log import Log
    from kbroker.storage.producer_state import BatchMemory

#: Of its own: an append was measured to be 4 % slower with the shared one.
_HEADER = Struct(HEADER.format)
_INT_MAX = 0x7FFF_FFFF
#: An enumeration looks its members up at each use.
_CLIENT = AppendOrigin.CLIENT
_NOT_OF_CLIENTS = CONTROL_BIT | SEALED_BIT


def append_as_leader(
    log: Log,
    records: memoryview,
    leader_epoch: int,
    now_ms: int,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    look: Callable[[], memoryview] | None = None,
) -> AppendResult:
    """Check and stage one produced batch; `flush_staged` must follow before anybody is answered.

    `records` is kept until then, and its first 16 bytes are patched in place if it is writable. Time is
    in ms since 1970. `look`: what a job of `long_look` for these records found.
    Raises ApiError: AppendError, CannotOpen (no key), StorageError (the directory is offline).
    """
    if log.directory.refusal is not None:
        log.directory.check_append(origin)
    if origin is not _CLIENT:
        return append_trusted(log, records, leader_epoch, now_ms, origin)
    config = log._config
    size = len(records)
    if size < BATCH_OVERHEAD:
        raise not_one_batch(records)
    base, length, _, magic, crc, attributes, delta, _, max_ts, producer_id, epoch, sequence, count = (
        _HEADER.unpack_from(records)
    )
    if magic != 2 or length != size - LOG_OVERHEAD:
        records = the_one_batch(records)
        size = len(records)
    if base:
        raise refuse_header(parse_batch_header(records), log.topic_partition, log.log_start_offset)
    if size > config.max_message_bytes:
        raise _larger_than_allowed(log, size)
    if crc32c(records[21:]) != crc:
        raise AppendError(ErrorCode.CORRUPT_MESSAGE, "Record is corrupt: its CRC does not match")
    wrong = delta + 1 != count or count <= 0 or (producer_id >= 0 and sequence < 0)
    if wrong or attributes & _NOT_OF_CLIENTS:
        raise refuse_header(parse_batch_header(records), log.topic_partition, log.log_start_offset)
    if attributes & CODEC_MASK:
        check_payload_start(records, attributes, log.log_start_offset)
    append_time = -1
    if (
        log._needs_look[attributes & CODEC_MASK]
        or max_ts - now_ms > config.message_timestamp_after_max_ms
        or attributes & TIMESTAMP_TYPE_BIT
    ):
        records, max_ts, append_time = _looked_into(log, records, look, now_ms)
        size = len(records)
    if size > config.segment_bytes:
        raise larger_than_segment(log, size)
    base = log.staged_end_offset
    last = base + delta
    if log.encryption is not None:
        records = log.encryption.seal(records, base)
        size = len(records)
    if producer_id >= 0:
        transactional = attributes & TRANSACTIONAL_BIT != 0
        last_sequence = (sequence + delta) & _INT_MAX
        try:
            seen = log.producers.verdict(producer_id, epoch, sequence, delta, transactional)
        except ApiError as error:
            seen = sent_before(log, error, producer_id, epoch, sequence, last_sequence)
        if seen is not None:
            return _duplicate(log, seen)
        log.stage(records, size, base, last, max_ts, leader_epoch, now_ms)
        log.producers.add_batch(producer_id, epoch, last_sequence, base, delta, max_ts, transactional)
    else:
        log.stage(records, size, base, last, max_ts, leader_epoch, now_ms)
    # Twice as fast as calling the named tuple.
    return tuple.__new__(AppendResult, (base, last, append_time, log.log_start_offset, False))


def long_look(log: Log, records: memoryview | bytes, now_ms: int) -> BatchLook | None:
    """A job for a thread, if `append_as_leader` would look into so much that others had to wait."""
    config, size = log.config, len(records)
    if not may_be_long_look(records) or size > config.max_message_bytes:
        return None
    try:
        header = parse_batch_header(records)
    except CorruptBatch:
        return None
    if header.magic != 2 or header.size != size:
        return None
    needed = (
        log._needs_look[header.attributes & CODEC_MASK]
        or header.max_timestamp - now_ms > config.message_timestamp_after_max_ms
        or header.attributes & TIMESTAMP_TYPE_BIT
    )
    if not needed or not (is_long_look(records) or unpacks_to_much(records, header)):
        return None
    return BatchLook(memoryview(records), log.topic_partition, config, now_ms, log.log_start_offset)


def looked_into_here(log: Log, records: memoryview, now_ms: int) -> memoryview:
    """A look for `append_as_leader` which is an AppendError where `long_look` would give a job."""
    return short_look(records, log.topic_partition, log.config, now_ms, log.log_start_offset)


def _looked_into(
    log: Log, records: memoryview, look: Callable[[], memoryview] | None, now_ms: int
) -> tuple[memoryview, int, int]:
    """The batch as it is to be stored, its largest timestamp, and the time that was put on it (-1: none)."""
    config = log.config
    if look is not None:
        records = look()
    else:
        records = checked_batch(records, log.topic_partition, config, now_ms, log.log_start_offset)
    max_ts = int.from_bytes(records[35:43], "big", signed=True)
    return records, max_ts, -1 if config.message_timestamp_type == "CreateTime" else now_ms


def _larger_than_allowed(log: Log, size: int) -> AppendError:
    """The error for a batch of more than max.message.bytes."""
    return AppendError(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"The record batch size in the append to {log.topic_partition} is {size} bytes which "
        f"exceeds the maximum configured value of {log.config.max_message_bytes}.",
    )


def _duplicate(log: Log, seen: BatchMemory) -> AppendResult:
    """The answer to a retry: the batch's own time, whatever the topic's timestamp type, as Kafka has it."""
    return AppendResult(seen.first_offset, seen.last_offset, seen.timestamp, log.log_start_offset, True)
