"""The header of a record batch: its layout, its checksum, and what is patched in place.

Law of this file: what a broker does to every batch (parse the header, check the CRC) takes no copy and no
loop over records.

    0 base_offset:8      8 batch_length:4    12 leader_epoch:4     16 magic:1
    17 crc:4             21 attributes:2     23 last_offset_delta:4
    27 base_timestamp:8  35 max_timestamp:8  43 producer_id:8      51 producer_epoch:2
    53 base_sequence:4   57 record_count:4   61 records            (crc: CRC-32C of everything from byte 21)

Headers of magic 0 and 1 are read here too, so that a buffer may mix them; their records: `legacy_messages`.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple, TypeAlias
from zlib import crc32

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.crc import crc32c

Buffer: TypeAlias = bytes | bytearray | memoryview

LOG_OVERHEAD = 12
BATCH_OVERHEAD = 61

NO_TIMESTAMP_TYPE, CREATE_TIME, LOG_APPEND_TIME = -1, 0, 1

CODEC_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

#: All of it, of magic 2.
HEADER = Struct(">qiibIhiqqqhii")
#: Where the checksum is, and where begins what it covers.
CRC, CRC_POSITION, CHECKED_POSITION = Struct(">I"), 17, 21
ATTRIBUTES = Struct(">h")
_PREFIX = Struct(">qi4xb")
_INT = Struct(">i")
_LEGACY = Struct(">qiIbbq")
_LONG = Struct(">q")
_MAGIC_POSITION = 16
_MAX_TIMESTAMP_POSITION = 35
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
        header: BatchHeader = tuple.__new__(BatchHeader, (*HEADER.unpack_from(buf, pos), pos))
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
        header: BatchHeader = tuple.__new__(BatchHeader, (*HEADER.unpack_from(buf, pos), pos))
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
        return crc32c(view[pos + CHECKED_POSITION : pos + header.batch_length + LOG_OVERHEAD])
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
    ATTRIBUTES.pack_into(buf, pos + CHECKED_POSITION, attributes)
    _LONG.pack_into(buf, pos + _MAX_TIMESTAMP_POSITION, max_timestamp)
    checked = memoryview(buf)[pos + CHECKED_POSITION : pos + header.size]
    CRC.pack_into(buf, pos + CRC_POSITION, crc32c(checked))
    return True
