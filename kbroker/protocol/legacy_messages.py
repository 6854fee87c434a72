"""Messages of magic 0 and 1, the formats before Kafka 0.11; read always, written for old consumers.

A compressed set is one wrapper message whose value unpacks to a row of messages. Inner offsets are absolute
in magic 0, and counted from 0 in magic 1 (KIP-31), where the wrapper has the offset of the last one.

    0 offset:8     8 length:4      12 crc:4 (CRC-32 from byte 16)
    16 magic:1     17 attributes:1 18 timestamp:8 (magic 1 only)
    key length:4   key             value length:4   value         (a length of -1: null)
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from zlib import crc32

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec, CompressionError, DecompressedTooLarge, compress, decompress
from kbroker.protocol.record_batch import (
    LOG_OVERHEAD,
    MAX_DECOMPRESSED_BYTES,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    Buffer,
    CorruptBatch,
    iter_batches,
)
from kbroker.protocol.record_codec import InvalidRecord, Record
from kbroker.protocol.unpack_room import Unpacked

_ENTRY = Struct(">qiI")
_FIXED = (Struct(">bb"), Struct(">bbq"))
_INT = Struct(">i")
_CRC_END = 16


def decode_messages(
    buf: Buffer, header: BatchHeader, max_bytes: int = MAX_DECOMPRESSED_BYTES
) -> list[Record]:
    """The message at `header`, or those inside of it, with absolute offsets.

    Raises:
        InvalidRecord: damaged, or a wrapper holds what it must not.
        ApiError: MESSAGE_TOO_LARGE, unpacks to more than `max_bytes`.
    """
    key, value = _key_and_value(memoryview(buf), header)
    if header.codec == Codec.NONE:
        return [Record(header.base_offset, header.max_timestamp, key, value)]
    inner = _unwrap(header, value, max_bytes)
    try:
        headers = list(iter_batches(inner))
    except CorruptBatch as error:
        raise InvalidRecord(f"Inner messages: {error.text}") from None
    if not headers:
        raise InvalidRecord("Found invalid compressed record set with no inner records")
    shift = header.base_offset - headers[-1].base_offset if header.magic == 1 else 0
    append_time = (
        header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT and header.magic == 1 else None
    )
    view = memoryview(inner)
    records = []
    for entry in headers:
        if entry.magic != header.magic:
            raise InvalidRecord(f"An inner message has magic {entry.magic}, its wrapper {header.magic}")
        if entry.codec != Codec.NONE:
            raise InvalidRecord("Inner messages must not be compressed")
        key, value = _key_and_value(view, entry)
        timestamp = entry.max_timestamp if append_time is None else append_time
        records.append(Record(entry.base_offset + shift, timestamp, key, value))
    return records


def _unwrap(header: BatchHeader, value: bytes | None, max_bytes: int) -> Unpacked:
    if header.codec > Codec.LZ4:
        raise InvalidRecord(
            f"Invalid wrapper compressionType found in legacy deep record iterator {header.magic}"
        )
    if value is None:
        raise InvalidRecord("Found invalid compressed record set with null value")
    try:
        return decompress(header.codec, value, max_bytes, lenient_lz4_header=header.magic == 0)
    except DecompressedTooLarge:
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE, f"The message set unpacks to more than {max_bytes} bytes"
        ) from None
    except CompressionError as error:
        raise InvalidRecord(f"Failed to decompress message set: {error}") from None


def _key_and_value(view: memoryview, header: BatchHeader) -> tuple[bytes | None, bytes | None]:
    end = header.end
    key, pos = _read_nullable(view, header.position + (18 if header.magic == 0 else 26), end)
    value, pos = _read_nullable(view, pos, end)
    if pos != end:
        raise InvalidRecord(f"A message of {header.size} bytes has {end - pos} behind its value")
    return key, value


def _read_nullable(view: memoryview, pos: int, end: int) -> tuple[bytes | None, int]:
    if pos + 4 > end:
        raise InvalidRecord("A message ends before its value")
    (length,) = _INT.unpack_from(view, pos)
    pos += 4
    if length == -1:
        return None, pos
    if length < 0 or pos + length > end:
        raise InvalidRecord(f"A key or value of {length} bytes does not fit its message")
    return bytes(view[pos : pos + length]), pos + length


def encode_message(magic: int, record: Record, attributes: int = 0) -> bytes:
    """One message; magic 0 drops the timestamp, both drop headers."""
    fixed = _FIXED[magic]
    body = fixed.pack(magic, attributes) if magic == 0 else fixed.pack(magic, attributes, record.timestamp)
    body += _nullable(record.key) + _nullable(record.value)
    return _ENTRY.pack(record.offset, len(body) + _CRC_END - LOG_OVERHEAD, crc32(body)) + body


def build_message_set(
    magic: int, records: Sequence[Record], codec: int = Codec.NONE, *, append_time: int | None = None
) -> bytes:
    """Messages one behind the other, or one wrapper around them.

    Args:
        records: with absolute offsets.
        append_time: magic 1: ms, marks the messages as LogAppendTime; None: CreateTime.

    Raises:
        ValueError: zstd, which these formats do not have.
    """
    if codec > Codec.LZ4:
        raise ValueError(f"magic {magic} has no codec {codec}")
    bit = TIMESTAMP_TYPE_BIT if append_time is not None and magic == 1 else 0
    if append_time is not None:
        records = [record._replace(timestamp=append_time) for record in records]
    if codec == Codec.NONE or not records:
        return b"".join(encode_message(magic, record, bit) for record in records)
    base = records[0].offset if magic == 1 else 0
    inner = b"".join(
        encode_message(magic, record._replace(offset=record.offset - base)) for record in records
    )
    value = compress(codec, inner, broken_lz4_header=magic == 0)
    timestamp = max(record.timestamp for record in records)
    return encode_message(magic, Record(records[-1].offset, timestamp, None, value), codec | bit)


def _nullable(value: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if value is None else _INT.pack(len(value)) + value
