"""Messages of magic 0 and 1 under the cleaner: few, old, and decoded one by one."""

from __future__ import annotations

from collections.abc import Callable

from kbroker.protocol.legacy_messages import build_message_set, decode_messages
from kbroker.protocol.record_batch import TIMESTAMP_TYPE_BIT, BatchHeader, Buffer
from kbroker.protocol.record_codec import Record
from kbroker.storage.cleaner_map import DROP, TOMBSTONE, OffsetMap, Verdicts


def index_messages(
    buf: Buffer, header: BatchHeader, start_offset: int, keys: OffsetMap, verdicts: Verdicts
) -> bool:
    """As `cleaner_records.index_payload`. Raises ApiError if the message is damaged."""
    for record in decode_messages(buf, header):
        if record.offset < start_offset:
            continue
        if keys.is_full or verdicts.is_full:
            return False
        if record.key is None:
            verdicts.mark(record.offset, DROP)
        else:
            previous = keys.put(record.key, record.offset)
            if previous >= 0:
                verdicts.mark(previous, DROP)
            if record.value is None:
                verdicts.mark(record.offset, TOMBSTONE)
        keys.latest_offset = record.offset
    return True


def look_up(record: Record, first_dirty: int, keys: OffsetMap, verdicts: Verdicts) -> int:
    """The verdict on one record, wherever it lies."""
    if record.offset >= first_dirty:
        return verdicts.of(record.offset)
    if record.key is None or keys.get(record.key) > record.offset:
        return DROP
    return TOMBSTONE if record.value is None else 0


def filter_messages(
    buf: Buffer, header: BatchHeader, verdict_of: Callable[[Record], int], drop_tombstones: bool
) -> bytes | None:
    """What is left of the message or message set; None if nothing, the same bytes if all.

    Raises ApiError if it is damaged.
    """
    records = decode_messages(buf, header)
    kept = []
    for record in records:
        verdict = verdict_of(record)
        if verdict != DROP and not (verdict == TOMBSTONE and drop_tombstones):
            kept.append(record)
    if len(kept) == len(records):
        return bytes(memoryview(buf)[header.position : header.end])
    if not kept:
        return None
    stamped = header.magic == 1 and header.attributes & TIMESTAMP_TYPE_BIT
    return build_message_set(
        header.magic, kept, header.codec, append_time=header.max_timestamp if stamped else None
    )
