"""Record batches of magic 2 become messages of magic 0 or 1, for consumers that ask with Fetch 0–3.

A batch without compression becomes a row of messages, a compressed one a wrapper with the same codec around
such a row. Headers are dropped, and so are control batches (transaction markers), which old consumers would
take for data. Offsets stay as they are, so there are gaps.

This is the one loop over records on the way of a Fetch, so it is written for speed: nothing is decoded into
objects, keys and values are slices, the checksum is taken over what will be sent.
"""

from __future__ import annotations

from struct import Struct, error as StructError
from zlib import crc32

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec, compress
from kbroker.protocol.record_batch import (
    MAX_DECOMPRESSED_BYTES,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    iter_batches,
    uncompressed_payload,
)
from kbroker.protocol.record_codec import InvalidRecord, long_varint
from kbroker.protocol.unpack_room import Unpacked

#: offset, size, crc; then magic, attributes(, timestamp) and the key's length.
_ENTRY = Struct(">qiI")
_HEAD_0 = Struct(">bbi")
_HEAD_1 = Struct(">bbqi")
_INT = Struct(">i")
_NULL = _INT.pack(-1)
_NO_LIMIT = 1 << 62


def down_convert(
    records: bytes | memoryview,
    magic: int,
    first_offset: int,
    limit: int,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> bytes:
    """What `records` (whole batches, as they lie in the log) hold, as messages of `magic`.

    Args:
        first_offset: messages below are left out, except inside a compressed set.
        limit: stop before the messages have more bytes; the first batch comes whole however large it is, or
            no consumer could ever get past it.
        max_bytes: the most that one batch may unpack to.

    Raises:
        ApiError: UNSUPPORTED_COMPRESSION_TYPE if the first batch to convert is zstd, which these formats do
            not have (KIP-110); a later one ends the answer. What is wrong with a damaged batch.
    """
    parts: list[bytes | memoryview] = []
    size = 0
    for header in iter_batches(records):
        if header.magic == 2 and (header.is_control or header.last_offset < first_offset):
            continue
        try:
            room = limit - size if parts else _NO_LIMIT
            found, count, complete = _convert(records, header, magic, first_offset, room, max_bytes)
        except ApiError:
            if parts:
                break
            raise
        if parts and size + count > limit:
            break
        parts += found
        size += count
        if not complete:
            break
    return b"".join(parts)


def _convert(
    records: bytes | memoryview, header: BatchHeader, magic: int, first_offset: int, room: int, max_bytes: int
) -> tuple[list[bytes | memoryview], int, bool]:
    """Messages of one batch, their bytes, and whether those are all."""
    view = memoryview(records)
    if header.magic <= magic:
        return [view[header.position : header.end]], header.size, True
    if header.magic == 1:
        data = _from_messages(records, header, max_bytes)
        return [data], len(data), True
    if header.codec == Codec.ZSTD:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            "Down-conversion of zstandard-compressed batches is not supported",
        )
    payload = uncompressed_payload(records, header, max_bytes)
    stamped = magic == 1 and header.attributes & TIMESTAMP_TYPE_BIT
    row = _Row(payload, header, magic, TIMESTAMP_TYPE_BIT if stamped else 0)
    if header.codec == Codec.NONE:
        row.write(first_offset, room, 0)
        return row.parts, row.size, row.complete
    base = row.first_offset if magic == 1 else 0
    row.write(0, _NO_LIMIT, base)
    if not row.parts:
        return [], 0, True
    timestamp = header.max_timestamp if stamped else row.newest
    inner = compress(header.codec, b"".join(row.parts), broken_lz4_header=magic == 0)
    wrapper = _message(
        magic, header.codec | (TIMESTAMP_TYPE_BIT if stamped else 0), timestamp, row.last, inner
    )
    return [wrapper], len(wrapper), True


def _message(magic: int, attributes: int, timestamp: int, offset: int, value: bytes) -> bytes:
    """A wrapper: a message without a key."""
    head = _HEAD_1.pack(magic, attributes, timestamp, -1) if magic else _HEAD_0.pack(magic, attributes, -1)
    body = head + _INT.pack(len(value)) + value
    return _ENTRY.pack(offset, len(body) + 4, crc32(body)) + body


def _from_messages(records: bytes | memoryview, header: BatchHeader, max_bytes: int) -> bytes:
    """A message or set of magic 1 (from a folder of an older Kafka) as magic 0."""
    from kbroker.protocol.legacy_messages import build_message_set, decode_messages

    return build_message_set(0, decode_messages(records, header, max_bytes), header.codec)


class _Row:
    """Walks a batch's payload and writes each record as a message.

    Args:
        payload: the records of the batch, unpacked.
        attributes: of each message.
    """

    __slots__ = (
        "_attributes",
        "_header",
        "_magic",
        "_payload",
        "complete",
        "last",
        "newest",
        "parts",
        "size",
    )

    def __init__(self, payload: Unpacked, header: BatchHeader, magic: int, attributes: int) -> None:
        self._payload = payload
        self._header = header
        self._magic = magic
        self._attributes = attributes
        self.parts: list[bytes | memoryview] = []
        self.size = 0
        self.last = header.base_offset
        self.newest = -1
        self.complete = True

    @property
    def first_offset(self) -> int:
        """Offset of the first record (the batch's base offset, unless compaction removed that one)."""
        data, pos = self._payload, 0
        try:
            _, pos = _varint(data, pos, 28)
            _, pos = _varint(data, pos + 1, 63)
            return self._header.base_offset + _varint(data, pos, 28)[0]
        except IndexError:
            return self._header.base_offset

    def write(self, first_offset: int, room: int, base: int) -> None:
        """Write the records from `first_offset` on, until `room` bytes are full.

        Args:
            base: is subtracted from the offsets (inside a wrapper of magic 1 they count from 0).

        Raises:
            InvalidRecord: the payload is damaged.
        """
        try:
            self._write(first_offset, room, base)
        except (IndexError, StructError):  # StructError: a timestamp beyond 64 bits
            raise InvalidRecord("Found invalid record structure") from None

    def _write(self, first_offset: int, room: int, base: int) -> None:
        header, magic, attributes = self._header, self._magic, self._attributes
        base_offset, base_timestamp = header.base_offset, header.base_timestamp
        append_time = header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT else None
        data = self._payload
        view = memoryview(data)
        append = self.parts.append
        pack_entry, pack_head, pack_int = _ENTRY.pack, _HEAD_1.pack, _INT.pack
        end, limit = 0, len(data)
        size, newest, offset = 0, self.newest, self.last
        for _ in range(header.record_count):
            pos = end
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            end = pos + (raw >> 1)
            if raw & 1 or end > limit:
                raise InvalidRecord("Found invalid record structure")
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
            offset = base_offset + ((raw >> 1) ^ -(raw & 1))
            if offset < first_offset:
                continue
            raw = data[pos]
            pos += 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            stop = pos if raw & 1 else pos + (raw >> 1)
            key_size = -1 if raw & 1 else stop - pos
            head = pack_head(1, attributes, timestamp, key_size) if magic else _HEAD_0.pack(0, 0, key_size)
            if stop > pos:
                head += data[pos:stop]
            raw = data[stop]
            pos = stop + 1
            if raw >= 0x80:
                raw, pos = long_varint(data, pos, raw, 28)
            if raw & 1:
                head += _NULL
                value = view[0:0]
            else:
                stop = pos + (raw >> 1)
                head += pack_int(stop - pos)
                value = view[pos:stop]
            if stop >= end:  # at least the count of headers follows
                raise InvalidRecord("Found invalid record structure")
            length = len(head) + len(value) + 4
            if size + length + 12 > room:
                self.complete = False
                break
            if timestamp > newest:
                newest = timestamp
            append(pack_entry(offset - base, length, crc32(value, crc32(head))))
            append(head)
            append(value)
            size += length + 12
        self.size, self.newest, self.last = size, newest, offset


def _varint(data: Unpacked, pos: int, max_shift: int) -> tuple[int, int]:
    raw = data[pos]
    pos += 1
    if raw >= 0x80:
        raw, pos = long_varint(data, pos, raw, max_shift)
    return (raw >> 1) ^ -(raw & 1), pos
