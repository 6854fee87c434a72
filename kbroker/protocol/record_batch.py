"""Record batches of magic 2: records unpacked, batches built and rebuilt. Takes in all of `batch_header`.

Law of this file: what unpacks a payload takes the most bytes that it may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.batch_header import (
    ATTRIBUTES,
    BATCH_OVERHEAD as BATCH_OVERHEAD,
    CHECKED_POSITION,
    CODEC_MASK as CODEC_MASK,
    CONTROL_BIT as CONTROL_BIT,
    CRC,
    CRC_POSITION,
    CREATE_TIME as CREATE_TIME,
    DELETE_HORIZON_BIT as DELETE_HORIZON_BIT,
    LOG_APPEND_TIME as LOG_APPEND_TIME,
    LOG_OVERHEAD as LOG_OVERHEAD,
    NO_TIMESTAMP_TYPE as NO_TIMESTAMP_TYPE,
    TIMESTAMP_TYPE_BIT as TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT as TRANSACTIONAL_BIT,
    BatchHeader as BatchHeader,
    Buffer as Buffer,
    CorruptBatch as CorruptBatch,
    check_crc as check_crc,
    compute_crc as compute_crc,
    ensure_valid as ensure_valid,
    increment_sequence as increment_sequence,
    iter_batches as iter_batches,
    parse_batch_header as parse_batch_header,
    set_max_timestamp as set_max_timestamp,
)
from kbroker.protocol.compression import Codec, CompressionError, DecompressedTooLarge, compress, decompress
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_codec import (
    RECORD_BYTES_MAX,
    InvalidRecord as InvalidRecord,
    Record as Record,
    RecordScan as RecordScan,
    decode_payload,
    encode_payload,
    encode_varint,
    payload_times,
    scan_payload,
)
from kbroker.protocol.unpack_room import Unpacked

#: Default bound of every unpacking here, in bytes. Producers with the default limits (1 MB a batch, of which
#: they assume at most 20-fold compression) stay far below.
MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024

#: A produced batch may unpack to this many times its size, and anyhow to what a batch may have unpacked.
UNPACK_RATIO_MAX = 100
_UNPACKED_ALWAYS = 4 * 1024 * 1024
#: So many records a batch may always have; from there on, each needs a byte of the packed batch.
RECORDS_ALWAYS = 100_000

_INT = Struct(">i")
_PREFIX = Struct(">qiibI")
_CHECKED = Struct(">hiqqqhii")
_TIMES, _TIMES_POSITION = Struct(">qq"), 27


def unpacked_bytes_max(size: int, message_bytes_max: int) -> int:
    """What a produced batch of `size` bytes may unpack to on a topic with that `max.message.bytes`.

    A bomb is more: a producer packs at most `max.message.bytes` of records, or finds out that its batches
    pack well and puts more into them.
    """
    packed = min(UNPACK_RATIO_MAX * size, MAX_DECOMPRESSED_BYTES)
    return max(size, packed, message_bytes_max, _UNPACKED_ALWAYS)


def check_record_count(header: BatchHeader) -> None:
    """Before looking into each record of a compressed batch: are there as many as only a bomb has?

    Raises:
        ApiError: MESSAGE_TOO_LARGE, which makes producers send smaller batches.
    """
    if header.codec and header.record_count > max(RECORDS_ALWAYS, header.size):
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE, f"{header.record_count} records in a batch of {header.size} bytes"
        )


def uncompressed_payload(
    buf: Buffer, header: BatchHeader, max_bytes: int = MAX_DECOMPRESSED_BYTES
) -> Unpacked:
    """The records of a magic 2 batch in their plain layout, as a copy.

    Raises:
        InvalidRecord: the compressed bytes are damaged or of no codec that exists. (Kafka answers most of
            these with UNKNOWN_SERVER_ERROR. The CRC was right: to send the same again would not help.)
        ApiError: MESSAGE_TOO_LARGE, more than `max_bytes`.
    """
    data = memoryview(buf)[header.position + BATCH_OVERHEAD : header.position + header.size]
    try:
        return decompress(header.attributes & CODEC_MASK, data, max_bytes)
    except DecompressedTooLarge:
        damage = ""
    except CompressionError as error:
        damage = str(error)
    # Raised in there the error would know the other one, and that one all that was unpacked.
    if damage:
        raise InvalidRecord(f"Failed to decompress record stream: {damage}")
    raise ApiError(
        ErrorCode.MESSAGE_TOO_LARGE, f"The records of the batch unpack to more than {max_bytes} bytes"
    )


def decode_records(
    buf: Buffer,
    header: BatchHeader,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> list[Record]:
    """All records of the batch, of any magic; keys and values are copies.

    Args:
        record_bytes_max: `max.decompressed.message.bytes`: the largest record of a compressed magic 2 batch.

    Raises:
        InvalidRecord: damaged, a record too large, or not as many records as the header says.
        ApiError: MESSAGE_TOO_LARGE, unpacks to more than `max_bytes`.
    """
    if header.magic < 2:
        from kbroker.protocol.legacy_messages import decode_messages

        return decode_messages(buf, header, max_bytes)
    payload = bytes(uncompressed_payload(buf, header, max_bytes))
    append_time = header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT else None
    return decode_payload(
        payload,
        header.record_count,
        header.base_offset,
        header.base_timestamp,
        append_time,
        record_bytes_max if header.codec else RECORD_BYTES_MAX,
    )


def record_times(
    buf: Buffer,
    header: BatchHeader,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> Iterator[tuple[int, int]]:
    """Timestamp and offset of each record of the batch, of any magic. Args, Raises: as `decode_records`."""
    if header.magic < 2:
        for record in decode_records(buf, header, max_bytes):
            yield record.timestamp, record.offset
        return
    yield from payload_times(
        uncompressed_payload(buf, header, max_bytes),
        header.record_count,
        header.base_offset,
        header.base_timestamp,
        header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT else None,
        record_bytes_max if header.codec else RECORD_BYTES_MAX,
    )


def scan_records(
    buf: Buffer,
    header: BatchHeader,
    *,
    min_timestamp: int | None = None,
    max_timestamp: int | None = None,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> RecordScan:
    """Walk a magic 2 batch's records for validation; see `record_codec.scan_payload`.

    Raises:
        As `decode_records`.
    """
    payload = uncompressed_payload(buf, header, max_bytes)
    return scan_payload(
        payload,
        header.record_count,
        header.base_timestamp,
        min_timestamp,
        max_timestamp,
        record_bytes_max if header.codec else RECORD_BYTES_MAX,
    )


def recompress(
    buf: Buffer,
    header: BatchHeader,
    codec: int,
    level: int | None = None,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> bytearray:
    """The same magic 2 batch with its payload in another codec; the records are not touched.

    Raises:
        As `uncompressed_payload`.
    """
    packed = compress(codec, uncompressed_payload(buf, header, max_bytes), level)
    start = header.position
    out = bytearray(memoryview(buf)[start : start + BATCH_OVERHEAD])
    out += packed
    _INT.pack_into(out, 8, len(out) - LOG_OVERHEAD)
    ATTRIBUTES.pack_into(out, CHECKED_POSITION, header.attributes & ~CODEC_MASK | codec)
    CRC.pack_into(out, CRC_POSITION, crc32c(memoryview(out)[CHECKED_POSITION:]))
    return out


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    codec: int = Codec.NONE,
    level: int | None = None,
    leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
    timestamp_type: int = CREATE_TIME,
    max_timestamp: int | None = None,
    last_offset_delta: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytes:
    """A batch of magic 2.

    Args:
        records: those with offset -1 follow the one before; given offsets must not be below `base_offset`.
        max_timestamp: None: the largest of the records'. With `LOG_APPEND_TIME` this is every record's time.
        last_offset_delta: None: that of the last record; compaction keeps the original one.
        delete_horizon_ms: see `BatchHeader.delete_horizon_ms`.
    """
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
    else:
        base_timestamp = records[0].timestamp if records else -1
    payload, count, last_delta, newest = encode_payload(records, base_offset, base_timestamp)
    packed: bytes | bytearray = compress(codec, payload, level) if codec else payload
    attributes = (
        codec
        | (TIMESTAMP_TYPE_BIT if timestamp_type == LOG_APPEND_TIME else 0)
        | (TRANSACTIONAL_BIT if transactional else 0)
        | (CONTROL_BIT if control else 0)
        | (DELETE_HORIZON_BIT if delete_horizon_ms is not None else 0)
    )
    checked = _CHECKED.pack(
        attributes,
        last_delta if last_offset_delta is None else last_offset_delta,
        base_timestamp,
        newest if max_timestamp is None else max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    crc = crc32c(packed, crc32c(checked))
    length = len(packed) + BATCH_OVERHEAD - LOG_OVERHEAD
    prefix = _PREFIX.pack(base_offset, length, leader_epoch, 2, crc)
    return b"".join((prefix, checked, packed))


def build_lone_batch(timestamp: int, key: bytes, value: bytes | None) -> bytearray:
    """`build_batch` for one record without headers, of no producer: what coordinators write all the time."""
    body = b"\0\0\0%b%b" % (encode_varint(len(key)), key)
    body += b"\x01\0" if value is None else b"%b%b\0" % (encode_varint(len(value)), value)
    size = encode_varint(len(body))
    checked = b"%b%b%b" % (_CHECKED.pack(0, 0, timestamp, timestamp, -1, -1, -1, 1), size, body)
    length = len(checked) + CHECKED_POSITION - LOG_OVERHEAD
    out = bytearray(_PREFIX.pack(0, length, -1, 2, crc32c(checked)))
    out += checked
    return out


def set_time(batch: bytearray, timestamp: int) -> None:
    """Another time for a batch whose records all have the batch's, and the checksum of what it holds now."""
    _TIMES.pack_into(batch, _TIMES_POSITION, timestamp, timestamp)
    CRC.pack_into(batch, CRC_POSITION, crc32c(memoryview(batch)[CHECKED_POSITION:]))


def batch_of(timestamp: int, records: bytes, count: int) -> bytearray:
    """A batch of no producer around encoded records that all have that time and follow one another."""
    checked = _CHECKED.pack(0, count - 1, timestamp, timestamp, -1, -1, -1, count)
    crc = crc32c(records, crc32c(checked))
    out = bytearray(_PREFIX.pack(0, len(records) + BATCH_OVERHEAD - LOG_OVERHEAD, -1, 2, crc))
    out += checked
    out += records
    return out
