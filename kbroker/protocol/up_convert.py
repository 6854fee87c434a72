"""Message sets of magic 0 and 1 become one record batch of magic 2: what old producers send, as it is stored.

Produce 0–2 carries a row of messages, or one wrapper around a compressed row (`legacy_messages` has the
layout). Whatever was sent, one batch comes out: offsets are given anew, timestamps stay (magic 0 has none,
that is -1), a wrapper's codec stays unless the topic wants another.

The law of this file: everything is checked that cannot be checked in the batch any more (checksums of the
messages, formats that are mixed, timestamp types); keys, ranges of timestamps and the batch's size are left
to the log, which looks at the batch like at any other.
"""

from __future__ import annotations

from struct import Struct, error as StructError

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec, CompressionError, DecompressedTooLarge, compress, decompress
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    MAX_DECOMPRESSED_BYTES,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    ensure_valid,
    iter_batches,
)
from kbroker.protocol.record_codec import InvalidRecord, encode_varint
from kbroker.protocol.unpack_room import Unpacked

_CHECKED = Struct(">hiqqqhii")
_PREFIX = Struct(">qiibI")
_INT = Struct(">i")
#: Where key and value begin, and the size of the head before it, by magic.
_KEY_AT = (18, 26)
_TIMESTAMP = Struct(">q")
_NULL = b"\x01"
_NO_HEADERS = b"\0"
_ATTRIBUTES = b"\0"


def up_convert(
    records: memoryview,
    max_message_bytes: int,
    *,
    codec: int | None = None,
    level: int | None = None,
    append_time: bool = False,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> bytes | memoryview | None:
    """The record set of a Produce 0–2 as one batch of magic 2, for `Log.append_as_leader`.

    Args:
        max_message_bytes: largest message, as the topic has it.
        codec: what the topic wants the batch compressed with; None: as it came.
        append_time: the topic stamps its records (LogAppendTime), so no message may claim to be stamped.
        max_bytes: the most that a wrapper may unpack to.

    Returns:
        None if there is no complete message (Kafka answers that with success and offset -1); `records` itself
        if they are of magic 2 already.

    Raises:
        ApiError: CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, INVALID_RECORD or INVALID_TIMESTAMP.
    """
    headers = _checked_headers(records, max_message_bytes)
    if not headers:
        return None
    first = headers[0]
    if first.magic == 2:
        return records
    source = next((header.codec for header in reversed(headers) if header.codec), Codec.NONE)
    if source and len(headers) > 1:
        raise InvalidRecord("Compressed outer record has more than one batch")
    target = source if codec is None else codec
    builder = _Builder(append_time, None if target else max_message_bytes)
    if source:
        inner = _unwrap(records, first, max_bytes)
        _take_inner(inner, first, builder)
    else:
        for header in headers:
            if header.magic != first.magic:
                raise InvalidRecord(
                    f"Batch magic {header.magic} is not the same as the first batch's magic byte "
                    f"{first.magic}"
                )
            builder.take(records, header.position, header.end, header.magic, header.attributes, None)
    return builder.batch(target, level)


def _checked_headers(records: memoryview, max_message_bytes: int) -> list[BatchHeader]:
    """Every complete message, all of them intact and none too large. Raises ApiError."""
    headers: list[BatchHeader] = []
    for header in iter_batches(records):
        if header.size > max_message_bytes:
            raise ApiError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"The record batch size is {header.size} bytes which exceeds the maximum configured value of "
                f"{max_message_bytes}.",
            )
        ensure_valid(records, header)
        headers.append(header)
    return headers


def _unwrap(records: memoryview, wrapper: BatchHeader, max_bytes: int) -> Unpacked:
    _, value = _key_and_value(records, wrapper.position, wrapper.end, wrapper.magic)
    if wrapper.codec > Codec.LZ4:
        raise InvalidRecord(
            f"Invalid wrapper compressionType found in legacy deep record iterator {wrapper.magic}"
        )
    if value is None:
        raise InvalidRecord(f"Found invalid compressed record set with null value (magic = {wrapper.magic})")
    try:
        return decompress(wrapper.codec, value, max_bytes, lenient_lz4_header=wrapper.magic == 0)
    except DecompressedTooLarge:
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE, f"The message set unpacks to more than {max_bytes} bytes"
        ) from None
    except CompressionError as error:
        raise InvalidRecord(f"Failed to decompress message set: {error}") from None


def _take_inner(inner: Unpacked, wrapper: BatchHeader, builder: _Builder) -> None:
    """The messages in a wrapper; one that says LogAppendTime overrides their timestamps (KIP-32)."""
    view = memoryview(inner)
    stamp = wrapper.max_timestamp if wrapper.magic and wrapper.attributes & TIMESTAMP_TYPE_BIT else None
    last = -1
    for header in iter_batches(view):
        if header.magic != wrapper.magic:
            raise InvalidRecord(
                f"Compressed message magic {header.magic} does not match wrapper magic {wrapper.magic}"
            )
        if header.codec:
            raise InvalidRecord("Inner messages must not be compressed")
        ensure_valid(view, header)
        attributes = header.attributes & ~TIMESTAMP_TYPE_BIT | wrapper.attributes & TIMESTAMP_TYPE_BIT
        builder.take(view, header.position, header.end, header.magic, attributes, stamp)
        last = header.base_offset
    if builder.count == 0:
        raise InvalidRecord("Found invalid compressed record set with no inner records")
    # Some versions of librdkafka left the wrapper's offset 0; offsets are given anew anyhow.
    if wrapper.magic == 1 and 0 != wrapper.base_offset < last:
        raise InvalidRecord(
            "Found invalid wrapper offset in compressed v1 message set, wrapper offset "
            f"'{wrapper.base_offset}' is less than the last inner message offset '{last}' and it is not zero."
        )


class _Builder:
    """Collects messages as the records of one batch.

    Args:
        append_time: see `up_convert`.
        limit: the most bytes the batch may have; None: to be seen after compression.
    """

    __slots__ = ("_append_time", "_base_timestamp", "_limit", "_newest", "_payload", "count")

    def __init__(self, append_time: bool, limit: int | None) -> None:
        self.count = 0
        self._append_time = append_time
        self._limit = limit
        self._payload = bytearray()
        self._base_timestamp = -1
        self._newest = -1

    def take(
        self, view: memoryview, position: int, end: int, magic: int, attributes: int, stamp: int | None
    ) -> None:
        """Append the message at `view[position:end]`; `stamp` overrides its timestamp. Raises ApiError."""
        timestamp = -1
        if magic:
            timestamp = _TIMESTAMP.unpack_from(view, position + 18)[0] if stamp is None else stamp
            if timestamp < -1:
                raise ApiError(ErrorCode.INVALID_TIMESTAMP, f"Invalid negative timestamp {timestamp}")
            if attributes & TIMESTAMP_TYPE_BIT and (self._append_time or timestamp == -1):
                raise ApiError(
                    ErrorCode.INVALID_TIMESTAMP,
                    "Invalid timestamp type in message. Producer should not set it to LogAppendTime",
                )
        key, value = _key_and_value(view, position, end, magic)
        if self.count == 0:
            self._base_timestamp = timestamp
        if timestamp > self._newest:
            self._newest = timestamp
        time_delta = encode_varint(timestamp - self._base_timestamp)
        delta = encode_varint(self.count)
        key_size = _NULL if key is None else encode_varint(len(key))
        value_size = _NULL if value is None else encode_varint(len(value))
        size = 2 + len(time_delta) + len(delta) + len(key_size) + len(value_size)
        size += (0 if key is None else len(key)) + (0 if value is None else len(value))
        payload = self._payload
        payload += encode_varint(size)
        payload += _ATTRIBUTES
        payload += time_delta
        payload += delta
        payload += key_size
        if key is not None:
            payload += key
        payload += value_size
        if value is not None:
            payload += value
        payload += _NO_HEADERS
        self.count += 1
        if self._limit is not None and len(payload) + BATCH_OVERHEAD > self._limit:
            raise ApiError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"The converted batch is larger than the maximum configured size of {self._limit}.",
            )

    def batch(self, codec: int, level: int | None) -> bytes:
        """The batch; offsets from 0, CreateTime, without a producer id."""
        packed = compress(codec, self._payload, level) if codec else self._payload
        checked = _CHECKED.pack(
            codec, self.count - 1, self._base_timestamp, self._newest, -1, -1, -1, self.count
        )
        crc = crc32c(packed, crc32c(checked))
        prefix = _PREFIX.pack(0, len(packed) + BATCH_OVERHEAD - LOG_OVERHEAD, -1, 2, crc)
        return b"".join((prefix, checked, packed))


def _key_and_value(
    view: memoryview, position: int, end: int, magic: int
) -> tuple[memoryview | None, memoryview | None]:
    """Slices of a message that lies in `view[position:end]`; Kafka does not mind bytes behind the value.

    Raises:
        InvalidRecord: they do not fit the message.
    """
    try:
        at = position + _KEY_AT[magic]
        key, at = _nullable(view, at, end)
        value, at = _nullable(view, at, end)
    except StructError:
        raise InvalidRecord("A message ends before its value") from None
    return key, value


def _nullable(view: memoryview, at: int, end: int) -> tuple[memoryview | None, int]:
    length = _INT.unpack_from(view, at)[0]
    at += 4
    if length == -1:
        return None, at
    if length < 0 or at + length > end:
        raise InvalidRecord(f"A key or value of {length} bytes does not fit its message")
    return view[at : at + length], at + length
