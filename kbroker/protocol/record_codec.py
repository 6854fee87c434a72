"""Single records of a v2 batch: the varint layout inside the (decompressed) payload, and nothing around it.

The loops read varints in line, because a function call per field would triple their time; the slow forms (two
bytes and more) go through `long_varint`. Whatever is wrong with a record is `INVALID_RECORD`, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.unpack_room import Unpacked

#: Header key and value; a key that is no UTF-8 keeps its bytes as surrogates (`surrogateescape`).
Header = tuple[str, bytes | None]

#: The largest record that is read from a compressed batch if nobody says less (the longest array of Java).
RECORD_BYTES_MAX = 2**31 - 1 - 8

_INT32 = 0xFFFF_FFFF
_INT64 = 0xFFFF_FFFF_FFFF_FFFF
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1


class InvalidRecord(ApiError):
    """The batch arrived whole, but what is in it breaks the format (`INVALID_RECORD`, no use to retry)."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_RECORD, message)


class Record(NamedTuple):
    """One record. `timestamp` is in milliseconds since 1970, -1 for none.

    An offset of -1 means, when a batch is built: the one after the record before.
    """

    offset: int = -1
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[Header] = ()


class RecordScan(NamedTuple):
    """What `scan_payload` saw, without building the records. Indexes count from 0 within the batch."""

    #: Offset deltas are 0, 1, 2 … without a gap.
    consecutive: bool
    #: Largest timestamp and the delta of the first record that has it; (-1, -1) for no records.
    max_timestamp: int
    max_timestamp_delta: int
    #: Records without a key (not allowed in a compacted topic).
    null_keys: list[int]
    #: (index, timestamp) of records outside the given range; those without a timestamp (-1) are never in it.
    bad_timestamps: list[tuple[int, int]]


def long_varint(data: Unpacked, pos: int, raw: int, max_shift: int) -> tuple[int, int]:
    """Go on with an unsigned varint after a first byte with its high bit set; over-long forms are legal."""
    raw &= 0x7F
    shift = 7
    while True:
        byte = data[pos]
        pos += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            return raw & (_INT32 if max_shift < 32 else _INT64), pos
        shift += 7
        if shift > max_shift:
            raise InvalidRecord("Varint is too long")


def decode_payload(
    data: bytes,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None = None,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> list[Record]:
    """All records of a decompressed payload; keys and values are copies.

    Args:
        append_time: overrides every timestamp (a batch with LogAppendTime), None otherwise.
        record_bytes_max: the largest record, without the bytes that tell its size.

    Raises:
        InvalidRecord: a record is damaged or too large, or there are not exactly `count`.
    """
    if count < 0:
        raise InvalidRecord(f"Found invalid record count {count} in magic v2 batch")
    new = tuple.__new__
    records: list[Record] = []
    append = records.append
    pos = 0
    size = len(data)
    try:
        for _ in range(count):
            if pos >= size:
                raise InvalidRecord("Incorrect declared batch size, premature EOF reached")
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            end = pos + ((raw >> 1) ^ -(raw & 1))
            if end > size or end < pos or end - pos > record_bytes_max:
                raise _bad_size(end - pos, size - pos, record_bytes_max)
            pos += 1  # the record's attributes: no bit has a meaning yet
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 63)
            timestamp = base_timestamp + ((raw >> 1) ^ -(raw & 1)) if append_time is None else append_time
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            offset = base_offset + ((raw >> 1) ^ -(raw & 1))
            key, pos = _read_nullable(data, pos, end)
            value, pos = _read_nullable(data, pos, end)
            if data[pos] == 0:
                pos += 1
                headers: Sequence[Header] = ()
            else:
                headers, pos = _read_headers(data, pos, end)
            if pos != end:
                raise _bad_end(pos, end)
            if not _INT64_MIN <= timestamp <= _INT64_MAX:
                raise InvalidRecord("A record's timestamp does not fit 64 bits")
            append(new(Record, (offset, timestamp, key, value, headers)))
    except IndexError:
        raise InvalidRecord("Found invalid record structure") from None
    if pos != size:
        raise InvalidRecord("Incorrect declared batch size, records still remaining in file")
    return records


def payload_times(
    data: Unpacked,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None = None,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> Iterator[tuple[int, int]]:
    """Timestamp and offset of each record, one after the other; what else is in them is not looked at.

    Args, Raises: as `decode_payload`.
    """
    pos, size = 0, len(data)
    try:
        for _ in range(count):
            if pos >= size:
                raise InvalidRecord("Incorrect declared batch size, premature EOF reached")
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            end = pos + ((raw >> 1) ^ -(raw & 1))
            if end > size or end < pos or end - pos > record_bytes_max:
                raise _bad_size(end - pos, size - pos, record_bytes_max)
            pos += 1
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 63)
            timestamp = base_timestamp + ((raw >> 1) ^ -(raw & 1)) if append_time is None else append_time
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            if pos > end:
                raise _bad_end(pos, end)
            yield timestamp, base_offset + ((raw >> 1) ^ -(raw & 1))
            pos = end
    except IndexError:
        raise InvalidRecord("Found invalid record structure") from None


def scan_payload(
    data: Unpacked,
    count: int,
    base_timestamp: int,
    min_timestamp: int | None = None,
    max_timestamp: int | None = None,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> RecordScan:
    """Walk the records as a leader must that may not take the header's word for it.

    Args:
        min_timestamp, max_timestamp: records with a timestamp outside (in ms) are listed; None: not checked.
        record_bytes_max: the largest record, without the bytes that tell its size.

    Raises:
        InvalidRecord: a record is damaged or too large, or there are not exactly `count`.
    """
    if count < 0:
        raise InvalidRecord(f"Found invalid record count {count} in magic v2 batch")
    low = _INT64_MIN if min_timestamp is None else min_timestamp
    high = _INT64_MAX if max_timestamp is None else max_timestamp
    newest, newest_delta, consecutive = -1, -1, True
    null_keys: list[int] = []
    bad_timestamps: list[tuple[int, int]] = []
    pos = 0
    size = len(data)
    try:
        for index in range(count):
            if pos >= size:
                raise InvalidRecord("Incorrect declared batch size, premature EOF reached")
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            end = pos + ((raw >> 1) ^ -(raw & 1))
            if end > size or end < pos or end - pos > record_bytes_max:
                raise _bad_size(end - pos, size - pos, record_bytes_max)
            pos += 1
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 63)
            timestamp = base_timestamp + ((raw >> 1) ^ -(raw & 1))
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            delta = (raw >> 1) ^ -(raw & 1)
            if delta != index:
                consecutive = False
            if not _INT64_MIN <= timestamp <= _INT64_MAX:
                raise InvalidRecord("A record's timestamp does not fit 64 bits")
            if timestamp > newest:
                newest, newest_delta = timestamp, delta
            if not low <= timestamp <= high and timestamp != -1:
                bad_timestamps.append((index, timestamp))
            if data[pos] & 1:  # an odd zigzag length is negative: no key
                null_keys.append(index)
            pos = _skip_nullable(data, pos, end)
            pos = _skip_nullable(data, pos, end)
            pos = pos + 1 if data[pos] == 0 else _skip_headers(data, pos, end)
            if pos != end:
                raise _bad_end(pos, end)
    except IndexError:
        raise InvalidRecord("Found invalid record structure") from None
    if pos != size:
        raise InvalidRecord("Incorrect declared batch size, records still remaining in file")
    return RecordScan(consecutive, newest, newest_delta, null_keys, bad_timestamps)


def _bad_size(size: int, remaining: int, allowed: int) -> InvalidRecord:
    if size > allowed:
        return InvalidRecord(f"A record of {size} bytes exceeds the configured maximum of {allowed}")
    return InvalidRecord(
        f"Invalid record size: expected {size} bytes in record payload, but instead the buffer has only "
        f"{remaining} remaining bytes."
    )


def _bad_end(pos: int, end: int) -> InvalidRecord:
    if pos > end:
        return InvalidRecord("Found invalid record structure")
    return InvalidRecord(f"Invalid record size: {end - pos} bytes in record payload were not read")


def _skip_nullable(data: Unpacked, pos: int, end: int) -> int:
    raw = data[pos]
    pos += 1
    if raw >= 0x80:
        raw, pos = long_varint(data, pos, raw, 28)
    if raw & 1:
        return pos
    pos += raw >> 1
    if pos > end:
        raise InvalidRecord("Found invalid record structure")
    return pos


def _read_nullable(data: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    raw = data[pos]
    pos += 1
    if raw >= 0x80:
        raw, pos = long_varint(data, pos, raw, 28)
    if raw & 1:
        return None, pos
    stop = pos + (raw >> 1)
    if stop > end:
        raise InvalidRecord("Found invalid record structure")
    return data[pos:stop], stop


def _header_count(data: Unpacked, pos: int, end: int) -> tuple[int, int]:
    raw = data[pos]
    pos += 1
    if raw >= 0x80:
        raw, pos = long_varint(data, pos, raw, 28)
    count = (raw >> 1) ^ -(raw & 1)
    if count < 0:
        raise InvalidRecord(f"Found invalid number of record headers {count}")
    if count > end - pos:
        raise InvalidRecord(
            f"Found invalid number of record headers. {count} is larger than the remaining size of the buffer"
        )
    return count, pos


def _skip_headers(data: Unpacked, pos: int, end: int) -> int:
    count, pos = _header_count(data, pos, end)
    for _ in range(count):
        if data[pos] & 1:
            raise InvalidRecord("Invalid negative header key size")
        pos = _skip_nullable(data, pos, end)
        pos = _skip_nullable(data, pos, end)
    return pos


def _read_headers(data: bytes, pos: int, end: int) -> tuple[list[Header], int]:
    count, pos = _header_count(data, pos, end)
    headers: list[Header] = []
    for _ in range(count):
        key, pos = _read_nullable(data, pos, end)
        if key is None:
            raise InvalidRecord("Invalid negative header key size")
        value, pos = _read_nullable(data, pos, end)
        headers.append((key.decode("utf-8", "surrogateescape"), value))
    return headers, pos


def encode_varint(value: int) -> bytes:
    """Zigzag varint of a signed number, of int32 or int64 (their encodings agree)."""
    raw = (value << 1) ^ (value >> 63)
    if 0 <= raw < 0x80:
        return _ONE_BYTE[raw]
    raw &= _INT64
    out = bytearray()
    while raw >= 0x80:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)


_ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))


def encode_payload(
    records: Iterable[Record], base_offset: int, base_timestamp: int
) -> tuple[bytearray, int, int, int]:
    """The uncompressed payload; the inverse of `decode_payload`.

    Returns:
        payload, number of records, offset delta of the last one (-1: none), largest timestamp (-1: none).
    """
    out = bytearray()
    count, delta, newest = 0, -1, -1
    for record in records:
        offset, timestamp, key, value, headers = record
        delta = delta + 1 if offset < 0 else offset - base_offset
        count += 1
        newest = max(newest, timestamp)
        body = bytearray(1)
        body += encode_varint(timestamp - base_timestamp)
        body += encode_varint(delta)
        _write_nullable(body, key)
        _write_nullable(body, value)
        body += encode_varint(len(headers))
        for name, content in headers:
            _write_nullable(body, name.encode("utf-8", "surrogateescape"))
            _write_nullable(body, content)
        out += encode_varint(len(body))
        out += body
    return out, count, delta, newest


def _write_nullable(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out += b"\x01"
    else:
        out += encode_varint(len(value))
        out += value
