"""Record batches of magic 2: header, checksum, patching in place, building and rebuilding.

Law of this file: what a broker does to every batch (parse the header, check the CRC, patch offset and epoch)
takes no copy and no loop over records; only functions that say so unpack the payload, and those take the most
bytes it may have.

    0 base_offset:8      8 batch_length:4    12 leader_epoch:4     16 magic:1
    17 crc:4             21 attributes:2     23 last_offset_delta:4
    27 base_timestamp:8  35 max_timestamp:8  43 producer_id:8      51 producer_epoch:2
    53 base_sequence:4   57 record_count:4   61 records            (crc: CRC-32C of everything from byte 21)

Headers of magic 0 and 1 are read here too, so that a buffer may mix them; their records: `legacy_messages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple, TypeAlias
from zlib import crc32

from kbroker.errors import ApiError, ErrorCode
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

Buffer: TypeAlias = bytes | bytearray | memoryview

LOG_OVERHEAD = 12
BATCH_OVERHEAD = 61
#: Default bound of every unpacking here, in bytes. Producers with the default limits (1 MB a batch, of which
#: they assume at most 20-fold compression) stay far below.
MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024

#: A produced batch may unpack to this many times its size, and anyhow to what a batch may have unpacked.
UNPACK_RATIO_MAX = 100
_UNPACKED_ALWAYS = 4 * 1024 * 1024
#: So many records a batch may always have; from there on, each needs a byte of the packed batch.
RECORDS_ALWAYS = 100_000

NO_TIMESTAMP_TYPE, CREATE_TIME, LOG_APPEND_TIME = -1, 0, 1

CODEC_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

_HEADER = Struct(">qiibIhiqqqhii")
_PREFIX = Struct(">qi4xb")
_INT = Struct(">i")
_LEGACY = Struct(">qiIbbq")
_CRC = Struct(">I")
_HEADER_PREFIX = Struct(">qiibI")
_CHECKED = Struct(">hiqqqhii")
_ATTRIBUTES = Struct(">h")
_TIMES = Struct(">qq")
_LONG = Struct(">q")
_MAGIC_POSITION = 16
_CRC_POSITION = 17
_CHECKED_POSITION = 21
_TIMES_POSITION = 27
_MIN_SIZE = {0: 14, 1: 22, 2: BATCH_OVERHEAD - LOG_OVERHEAD}
_INT32_MAX = 0x7FFF_FFFF


class CorruptBatch(ApiError):
    """The bytes are no batch, or not the one that was sent (`CORRUPT_MESSAGE`: the sender may try again)."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.CORRUPT_MESSAGE, message)


class BatchHeader(NamedTuple):
    """The fixed part of a batch, and where in the buffer it starts.

    For magic 0 and 1 it describes one message: `base_offset` is the offset on the wire (of the last inner
    message if compressed), `record_count` is -1 if compressed, and what does not exist there is -1.
    """

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int
    position: int = 0

    @property
    def size(self) -> int:
        """Bytes of the whole batch, with the 12 in front that its length does not count."""
        return self.batch_length + LOG_OVERHEAD

    @property
    def end(self) -> int:
        """Position in the buffer behind the batch."""
        return self.position + self.batch_length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        """Offset of the last record the batch had when it was written (compaction may have removed it)."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The first offset behind the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """The codec's number, as found: not every one is a `Codec`."""
        return self.attributes & CODEC_MASK

    @property
    def is_transactional(self) -> bool:
        """Part of a transaction, or its marker."""
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Holds a control record, which no application sees."""
        return self.attributes & CONTROL_BIT != 0

    @property
    def timestamp_type(self) -> int:
        """`CREATE_TIME`, `LOG_APPEND_TIME`, or -1 for magic 0."""
        if self.magic == 0:
            return NO_TIMESTAMP_TYPE
        return self.attributes >> 3 & 1

    @property
    def has_producer_id(self) -> bool:
        """Written by an idempotent or transactional producer."""
        return self.producer_id >= 0

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record, -1 without sequences; after 2^31 - 1 comes 0."""
        if self.base_sequence < 0:
            return -1
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may drop this batch's tombstones and markers; None: not decided (KIP-534)."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None


def increment_sequence(sequence: int, by: int) -> int:
    """A producer's sequence number `by` records later; it wraps from 2^31 - 1 to 0."""
    return (sequence + by) & _INT32_MAX


def parse_batch_header(buf: Buffer, pos: int = 0) -> BatchHeader:
    """The header of the batch at `pos`; its bytes must all be there.

    Raises:
        CorruptBatch: cut short, a length that cannot be, or a magic that does not exist.
    """
    if len(buf) - pos >= BATCH_OVERHEAD and buf[pos + _MAGIC_POSITION] == 2:
        header: BatchHeader = tuple.__new__(BatchHeader, (*_HEADER.unpack_from(buf, pos), pos))
        length = header[1]
        if _MIN_SIZE[2] <= length <= len(buf) - pos - LOG_OVERHEAD:
            return header
    found = _next_header(buf, pos)
    if found is None:
        raise CorruptBatch(f"Record batch is cut short: only {len(buf) - pos} bytes")
    return found


def iter_batches(buf: Buffer, pos: int = 0) -> Iterator[BatchHeader]:
    """The headers of the batches one behind the other; a batch that is cut at the buffer's end is left out.

    Raises:
        CorruptBatch: what follows cannot be a batch.
    """
    while True:
        header = _next_header(buf, pos)
        if header is None:
            return
        yield header
        pos += header[1] + LOG_OVERHEAD


def _next_header(buf: Buffer, pos: int) -> BatchHeader | None:
    remaining = len(buf) - pos
    if remaining < LOG_OVERHEAD:
        return None
    (length,) = _INT.unpack_from(buf, pos + 8)
    if length < _MIN_SIZE[0]:
        raise CorruptBatch(f"Record size {length} is less than the minimum record overhead ({_MIN_SIZE[0]})")
    if length > _INT32_MAX - LOG_OVERHEAD:
        raise CorruptBatch(f"Record size {length} is more than any buffer can hold")
    if remaining <= _MAGIC_POSITION:
        return None
    _, _, magic = _PREFIX.unpack_from(buf, pos)
    if magic not in _MIN_SIZE:
        raise CorruptBatch(f"Invalid magic found in record: {magic}")
    if remaining < length + LOG_OVERHEAD:
        return None
    if length < _MIN_SIZE[magic]:
        raise CorruptBatch(
            f"Record batch is corrupt (the size {length + LOG_OVERHEAD} is smaller than the minimum allowed "
            f"overhead {_MIN_SIZE[magic] + LOG_OVERHEAD})"
        )
    if magic == 2:
        header: BatchHeader = tuple.__new__(BatchHeader, (*_HEADER.unpack_from(buf, pos), pos))
        return header
    offset, length, crc, magic, attributes, timestamp = _LEGACY.unpack_from(buf, pos)
    if magic == 0:
        timestamp = -1  # what was read there are the lengths of key and value
    count = -1 if attributes & CODEC_MASK else 1
    return BatchHeader(
        offset, length, -1, magic, crc, attributes, 0, timestamp, timestamp, -1, -1, -1, count, pos
    )


def compute_crc(buf: Buffer, header: BatchHeader) -> int:
    """The checksum the batch should have: CRC-32C, of magic 0 and 1 CRC-32."""
    view = memoryview(buf)
    pos = header.position
    if header.magic == 2:
        return crc32c(view[pos + _CHECKED_POSITION : pos + header.batch_length + LOG_OVERHEAD])
    return crc32(view[pos + _MAGIC_POSITION : pos + header.batch_length + LOG_OVERHEAD])


def check_crc(buf: Buffer, header: BatchHeader) -> bool:
    """Is the batch as it was sent?"""
    return compute_crc(buf, header) == header.crc


def ensure_valid(buf: Buffer, header: BatchHeader) -> None:
    """Check the CRC.

    Raises:
        CorruptBatch: it does not match; Kafka's words.
    """
    computed = compute_crc(buf, header)
    if computed != header.crc:
        raise CorruptBatch(f"Record is corrupt (stored crc = {header.crc}, computed crc = {computed})")


def set_max_timestamp(
    buf: bytearray | memoryview, header: BatchHeader, timestamp_type: int, max_timestamp: int
) -> bool:
    """Stamp the batch in place, with a new CRC; records stay as they are.

    With `LOG_APPEND_TIME` every record counts as of `max_timestamp` (ms). Returns False if it was so already.
    """
    if header.timestamp_type == timestamp_type and header.max_timestamp == max_timestamp:
        return False
    attributes = header.attributes & ~TIMESTAMP_TYPE_BIT
    if timestamp_type == LOG_APPEND_TIME:
        attributes |= TIMESTAMP_TYPE_BIT
    pos = header.position
    _ATTRIBUTES.pack_into(buf, pos + _CHECKED_POSITION, attributes)
    _LONG.pack_into(buf, pos + 35, max_timestamp)
    checked = memoryview(buf)[pos + _CHECKED_POSITION : pos + header.size]
    _CRC.pack_into(buf, pos + _CRC_POSITION, crc32c(checked))
    return True


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
    _ATTRIBUTES.pack_into(out, _CHECKED_POSITION, header.attributes & ~CODEC_MASK | codec)
    _CRC.pack_into(out, _CRC_POSITION, crc32c(memoryview(out)[_CHECKED_POSITION:]))
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
    prefix = _HEADER_PREFIX.pack(base_offset, length, leader_epoch, 2, crc)
    return b"".join((prefix, checked, packed))


def build_lone_batch(timestamp: int, key: bytes, value: bytes | None) -> bytearray:
    """`build_batch` for one record without headers, of no producer: what coordinators write all the time."""
    body = b"\0\0\0%b%b" % (encode_varint(len(key)), key)
    body += b"\x01\0" if value is None else b"%b%b\0" % (encode_varint(len(value)), value)
    size = encode_varint(len(body))
    checked = b"%b%b%b" % (_CHECKED.pack(0, 0, timestamp, timestamp, -1, -1, -1, 1), size, body)
    length = len(checked) + _CHECKED_POSITION - LOG_OVERHEAD
    out = bytearray(_HEADER_PREFIX.pack(0, length, -1, 2, crc32c(checked)))
    out += checked
    return out


def set_time(batch: bytearray, timestamp: int) -> None:
    """Another time for a batch whose records all have the batch's, and the checksum of what it holds now."""
    _TIMES.pack_into(batch, _TIMES_POSITION, timestamp, timestamp)
    _CRC.pack_into(batch, _CRC_POSITION, crc32c(memoryview(batch)[_CHECKED_POSITION:]))


def batch_of(timestamp: int, records: bytes, count: int) -> bytearray:
    """A batch of no producer around encoded records that all have that time and follow one another."""
    checked = _CHECKED.pack(0, count - 1, timestamp, timestamp, -1, -1, -1, count)
    crc = crc32c(records, crc32c(checked))
    out = bytearray(_HEADER_PREFIX.pack(0, len(records) + BATCH_OVERHEAD - LOG_OVERHEAD, -1, 2, crc))
    out += checked
    out += records
    return out
