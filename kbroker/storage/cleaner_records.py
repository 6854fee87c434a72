"""Single records under the cleaner's eyes: which keys a batch has, and a batch without some of its records.

Records are kept as the bytes that they are: offset and time are relative to the batch, whose base offset
does not change. Only a batch that gets a delete horizon has its records written anew, because the horizon
takes the place of the base timestamp (KIP-534).
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct, error as StructError
from typing import NamedTuple, TypeAlias

from kbroker.protocol.compression import compress
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    DELETE_HORIZON_BIT,
    LOG_OVERHEAD,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
)
from kbroker.protocol.record_codec import encode_varint
from kbroker.protocol.sealed_batch import SEALED_BIT
from kbroker.storage.cleaner_map import DROP, KEEP, TOMBSTONE, OffsetMap, Verdicts, batch_is_wide

_PREFIX = Struct(">qiibI")
_CHECKED = Struct(">hiqqqhii")
_VARINT_BITS_MAX = 63
_INT64 = 0xFFFF_FFFF_FFFF_FFFF

#: The verdict on a record by its offset delta.
BatchVerdicts: TypeAlias = bytes | bytearray | Mapping[int, int]


class CleanError(Exception):
    """The log cannot be compacted: what is in it is damaged or beyond our limits."""


class Kept(NamedTuple):
    """What is left of a batch: bytes of whole records, how many, the largest timestamp delta (None: none),
    and whether a tombstone is among them."""

    payload: bytes
    record_count: int
    newest_delta: int | None
    has_tombstones: bool


def _long(data: bytes, pos: int, raw: int) -> tuple[int, int]:
    """The rest of a varint after a first byte with its high bit set."""
    raw &= 0x7F
    shift = 7
    while True:
        byte = data[pos]
        pos += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            return raw & _INT64, pos
        shift += 7
        if shift > _VARINT_BITS_MAX:
            raise CleanError("a record has a number that is too long")


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    raw = data[pos]
    return _long(data, pos + 1, raw) if raw >= 0x80 else (raw, pos + 1)


def index_payload(
    data: bytes,
    pos: int,
    end: int,
    header: BatchHeader,
    start_offset: int,
    keys: OffsetMap,
    verdicts: Verdicts,
) -> bool:
    """Note the keys of a batch's records from `start_offset` on; False if there was no room for all.

    `data[pos:end]` is its uncompressed payload.

    Raises:
        CleanError: it is damaged.
    """
    base, last_delta, put, mark = header.base_offset, header.last_offset_delta, keys.put, verdicts.mark
    try:
        for _ in range(header.record_count):
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            stop = pos + (raw >> 1)
            pos += 1
            while data[pos] >= 0x80:
                pos += 1
            pos += 1
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            if raw & 1 or raw >> 1 > last_delta or stop > end:
                raise CleanError(f"a record of the batch at offset {base} is damaged")
            offset = base + (raw >> 1)
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            if offset >= start_offset:
                if keys.is_full or verdicts.is_full:
                    return False
                if raw & 1:
                    mark(offset, DROP)
                else:
                    key_end = pos + (raw >> 1)
                    if key_end >= stop:
                        raise CleanError(f"a record of the batch at offset {base} is damaged")
                    previous = put(data[pos:key_end], offset)
                    if previous >= 0:
                        mark(previous, DROP)
                    if data[key_end] & 1:
                        mark(offset, TOMBSTONE)
                keys.latest_offset = offset
            pos = stop
    except IndexError:
        raise CleanError(f"the batch at offset {base} ends within a record") from None
    if pos != end:
        raise CleanError(f"the batch at offset {base} has not as many records as it says")
    return True


def look_up_payload(
    data: bytes,
    pos: int,
    end: int,
    header: BatchHeader,
    first_dirty: int,
    keys: OffsetMap,
    verdicts: Verdicts,
) -> BatchVerdicts | None:
    """Verdicts on a batch that was cleaned before, or in part; None if all of its records stay.

    The walk is that of `index_payload`, written out again: a call for each record would double what it costs.

    Raises:
        CleanError: it is damaged.
    """
    base, last_delta, get = header.base_offset, header.last_offset_delta, keys.get
    wide = batch_is_wide(base, header.last_offset)
    found: dict[int, int] | bytearray = {} if wide else bytearray(last_delta + 1)
    changed = False
    try:
        for _ in range(header.record_count):
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            stop = pos + (raw >> 1)
            pos += 1
            while data[pos] >= 0x80:
                pos += 1
            pos += 1
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            delta = raw >> 1
            if raw & 1 or delta > last_delta or stop > end:
                raise CleanError(f"a record of the batch at offset {base} is damaged")
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            verdict = KEEP
            if base + delta >= first_dirty:
                verdict = verdicts.of(base + delta)
            elif raw & 1:
                verdict = DROP
            else:
                key_end = pos + (raw >> 1)
                if key_end >= stop:
                    raise CleanError(f"a record of the batch at offset {base} is damaged")
                if get(data[pos:key_end]) > base + delta:
                    verdict = DROP
                elif data[key_end] & 1:
                    verdict = TOMBSTONE
            if verdict != KEEP or wide:
                found[delta] = verdict
                changed = changed or verdict != KEEP
            pos = stop
    except IndexError:
        raise CleanError(f"the batch at offset {base} ends within a record") from None
    if pos != end:
        raise CleanError(f"the batch at offset {base} has not as many records as it says")
    return found if changed else None


def filter_payload(
    data: bytes, pos: int, end: int, header: BatchHeader, verdicts: BatchVerdicts, drop_tombstones: bool
) -> Kept:
    """The records that stay.

    Raises:
        CleanError: the payload is damaged.
    """
    parts: list[bytes] = []
    run = pos
    count = 0
    newest: int | None = None
    has_tombstones = False
    try:
        for _ in range(header.record_count):
            start = pos
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = _long(data, pos, raw)
            stop = pos + (raw >> 1)
            pos += 1
            time = data[pos]
            pos += 1
            if time >= 0x80:
                time, pos = _long(data, pos, time)
            raw = data[pos]
            if raw >= 0x80:
                raw, pos = _long(data, pos + 1, raw)
            verdict = verdicts[raw >> 1]
            pos = stop
            if verdict == DROP or (verdict == TOMBSTONE and drop_tombstones):
                if run < start:
                    parts.append(data[run:start])
                run = stop
                continue
            count += 1
            if verdict == TOMBSTONE:
                has_tombstones = True
            delta = (time >> 1) ^ -(time & 1)
            if newest is None or delta > newest:
                newest = delta
    except (IndexError, KeyError):
        raise CleanError(f"the batch at offset {header.base_offset} ends within a record") from None
    if pos != end:
        raise CleanError(f"the batch at offset {header.base_offset} has not as many records as it says")
    if run < pos:
        parts.append(data[run:pos])
    return Kept(b"".join(parts) if len(parts) != 1 else parts[0], count, newest, has_tombstones)


def shift_times(payload: bytes, count: int, by: int) -> bytes:
    """The same records for a base timestamp that is `by` ms lower.

    Raises:
        CleanError: the payload is damaged.
    """
    out = bytearray()
    pos = 0
    try:
        for _ in range(count):
            raw, pos = _varint(payload, pos)
            stop = pos + (raw >> 1)
            attributes = payload[pos : pos + 1]
            time, pos = _varint(payload, pos + 1)
            body = encode_varint(((time >> 1) ^ -(time & 1)) + by)
            out += encode_varint(1 + len(body) + stop - pos)
            out += attributes
            out += body
            out += payload[pos:stop]
            pos = stop
    except IndexError:
        raise CleanError("a record ends within its header") from None
    return bytes(out)


def rebuild_batch(header: BatchHeader, kept: Kept, horizon_ms: int | None) -> bytes:
    """The batch with only the kept records: same offsets, producer and codec.

    Args:
        horizon_ms: the delete horizon that it gets now; None: as it has it or not.

    Raises:
        CleanError: its timestamps are no timestamps.
    """
    attributes, base_timestamp, payload = header.attributes, header.base_timestamp, kept.payload
    if attributes & TIMESTAMP_TYPE_BIT or kept.newest_delta is None:
        newest = header.max_timestamp
    else:
        newest = base_timestamp + kept.newest_delta
    if horizon_ms is not None:
        payload = shift_times(payload, kept.record_count, base_timestamp - horizon_ms)
        attributes |= DELETE_HORIZON_BIT
        base_timestamp = horizon_ms
    codec = attributes & CODEC_MASK
    packed = compress(codec, payload) if codec else payload
    try:
        return _assemble(header, attributes, base_timestamp, newest, kept.record_count, packed)
    except StructError:
        raise CleanError(f"the batch at offset {header.base_offset} has times beyond 64 bits") from None


def empty_batch(header: BatchHeader) -> bytes:
    """The batch without records: what is left to remember its producer's sequence, or where the log ended."""
    # Without records there is nothing to encrypt.
    attributes = header.attributes & ~(CODEC_MASK | DELETE_HORIZON_BIT | SEALED_BIT)
    return _assemble(header, attributes, -1, header.max_timestamp, 0, b"")


def _assemble(
    header: BatchHeader, attributes: int, base_timestamp: int, max_timestamp: int, count: int, packed: bytes
) -> bytes:
    checked = _CHECKED.pack(
        attributes,
        header.last_offset_delta,
        base_timestamp,
        max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        count,
    )
    crc = crc32c(packed, crc32c(checked))
    length = len(packed) + BATCH_OVERHEAD - LOG_OVERHEAD
    return _PREFIX.pack(header.base_offset, length, header.leader_epoch, 2, crc) + checked + packed
