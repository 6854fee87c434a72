"""What Produce looks at in the bytes of a batch before the log does."""

from __future__ import annotations

from struct import Struct

from kbroker.handlers.produce_prefix import BATCH_BYTES_MIN
from kbroker.protocol.record_batch import LOG_OVERHEAD

ATTRIBUTES_AT = 22
ZSTD = 4
CODEC_BITS = 0x07
TRANSACTIONAL_BIT = 0x10
#: Producer id and epoch.
PRODUCER, PRODUCER_AT = Struct(">qh"), 43
_INT = Struct(">i")


def is_transactional(records: memoryview | bytes | None) -> bool:
    """Whether it is a whole batch that belongs to a transaction."""
    return (
        records is not None
        and len(records) >= BATCH_BYTES_MIN
        and records[16] == 2
        and records[ATTRIBUTES_AT] & TRANSACTIONAL_BIT != 0
        # A batch that is cut short is none: refused as such.
        and BATCH_BYTES_MIN <= _INT.unpack_from(records, 8)[0] + LOG_OVERHEAD <= len(records)
    )


def codec_of(records: memoryview | bytes) -> int:
    """The compression that a batch names; 0 if it is none."""
    if len(records) < BATCH_BYTES_MIN or records[16] != 2:
        return 0
    return records[ATTRIBUTES_AT] & CODEC_BITS
