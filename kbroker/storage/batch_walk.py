"""From batch to batch through a file of them, by their headers alone, whatever format they have.

Law of this file: what a header says of the records is believed, and nothing of them is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kbroker.protocol.batch_header import HEADER
from kbroker.protocol.record_batch import BATCH_OVERHEAD, LOG_OVERHEAD
from kbroker.storage.disk import DiskFile
from kbroker.storage.time_index import NO_TIMESTAMP

#: Read at once.
WALK_BYTES = 8192
_LEGACY = Struct(">qi4xbbq")


class WalkedBatch(NamedTuple):
    """Where a batch lies and what it spans."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    max_timestamp: int


def walk(file: DiskFile, position: int, end: int) -> Iterator[WalkedBatch]:
    """The batches from the one at `position` to `end`, up to the first that is not whole."""
    chunk, start = b"", position
    new = tuple.__new__
    while position + LOG_OVERHEAD < end:
        at = position - start
        if at + BATCH_OVERHEAD > len(chunk):
            chunk, start, at = file.read(position, min(WALK_BYTES, end - position)), position, 0
        if len(chunk) - at < BATCH_OVERHEAD or chunk[at + 16] < 2:
            base, size, last, newest = _legacy_span(chunk, at)
        else:
            fields = HEADER.unpack_from(chunk, at)
            base, size = fields[0], fields[1] + LOG_OVERHEAD
            # Compaction keeps the header of a batch without records: its time is nobody's.
            last, newest = base + fields[6], fields[8] if fields[12] else NO_TIMESTAMP
        if size <= LOG_OVERHEAD or position + size > end:
            return
        # Three times as fast as calling the named tuple.
        yield new(WalkedBatch, (position, size, base, last, newest))
        position += size


def _legacy_span(chunk: bytes, at: int) -> tuple[int, int, int, int]:
    """(offset, size, offset, timestamp) of a message of magic 0 or 1; a size of 0 if it is cut."""
    if len(chunk) - at < _LEGACY.size:
        return 0, 0, 0, 0
    offset, length, magic, _, timestamp = _LEGACY.unpack_from(chunk, at)
    return offset, length + LOG_OVERHEAD, offset, timestamp if magic == 1 else NO_TIMESTAMP
