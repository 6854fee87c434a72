"""Reading a segment's batches from end to end, for recovery and rebuilding: whole batches, in large reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kbroker.errors import ApiError
from kbroker.protocol.batch_header import HEADER
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    BatchHeader,
    check_crc,
    parse_batch_header,
)

_CHUNK_BYTES = 1 << 20
_MAGIC_END = 17
#: How far behind damage the next whole batch is looked for.
_SEARCH_BYTES = 64 << 20
#: What looks like a batch and is none, before the search is given up.
_SEARCH_TRIES = 1000
#: Offsets that far ahead are none of the same segment's.
_FARTHEST = 1 << 31


def scan_batches(
    read: Callable[[int, int], bytes], size: int, position: int
) -> Iterator[tuple[memoryview, BatchHeader]]:
    """(buffer, header in it) of the whole batches from `position` on, until one is cut or cannot be one."""
    wanted = _CHUNK_BYTES
    while position + LOG_OVERHEAD < size:
        chunk = memoryview(read(position, min(wanted, size - position)))
        end, at = len(chunk), 0
        while at + _MAGIC_END <= end:
            # By hand: this loop reads gigabytes of small batches after a crash.
            if chunk[at + _MAGIC_END - 1] == 2 and at + BATCH_OVERHEAD <= end:
                fields = HEADER.unpack_from(chunk, at)
                length = fields[1] + LOG_OVERHEAD
                if length < BATCH_OVERHEAD or position + at + length > size:
                    return
                if at + length > end:
                    break
                header = tuple.__new__(BatchHeader, (*fields, at))
            else:
                length = int.from_bytes(chunk[at + 8 : at + 12], "big", signed=True) + LOG_OVERHEAD
                if length <= LOG_OVERHEAD or position + at + length > size:
                    return
                if at + length > end:
                    break
                try:
                    header = parse_batch_header(chunk, at)
                except ApiError:
                    return
            yield chunk, header
            at += length
        if at == 0:
            # One batch is larger than a chunk, or what is left is smaller than a header.
            if end < _MAGIC_END or wanted >= size - position:
                return
            wanted = length
            continue
        wanted = _CHUNK_BYTES
        position += at


def find_batch(
    read: Callable[[int, int], bytes], size: int, position: int, end_offset: int
) -> tuple[int, BatchHeader] | None:
    """(position, header) of the next whole batch of magic 2 behind damage at `position`; None: none is near.

    Where the damaged batch says that it ends is looked at first: what is inside of it is no batch of the log.

    Args:
        end_offset: the batch's offsets must not be smaller.
    """
    length = int.from_bytes(read(position + 8, 4), "big", signed=True)
    if length > 0:
        found = _whole_batch(read, size, position + LOG_OVERHEAD + length, end_offset)
        if found is not None:
            return position + LOG_OVERHEAD + length, found
    stop = min(size, position + _SEARCH_BYTES)
    tries = _SEARCH_TRIES
    while position + BATCH_OVERHEAD <= stop:
        chunk = read(position, min(_CHUNK_BYTES + BATCH_OVERHEAD, size - position))
        at = chunk.find(b"\x02", _MAGIC_END - 1)
        while at >= 0:
            start = at - (_MAGIC_END - 1)
            if end_offset <= int.from_bytes(chunk[start : start + 8], "big") < end_offset + _FARTHEST:
                found = _whole_batch(read, size, position + start, end_offset)
                if found is not None:
                    return position + start, found
                tries -= 1
                if not tries:
                    return None
            at = chunk.find(b"\x02", at + 1)
        position += max(len(chunk) - BATCH_OVERHEAD, 1)
    return None


def _whole_batch(
    read: Callable[[int, int], bytes], size: int, position: int, end_offset: int
) -> BatchHeader | None:
    """The batch at `position`, if it is one and its offsets go on."""
    head = read(position, BATCH_OVERHEAD)
    if len(head) < BATCH_OVERHEAD or head[_MAGIC_END - 1] != 2:
        return None
    base, length, _, _, _, _, delta, _, _, _, _, _, count = HEADER.unpack(head)
    whole = length + LOG_OVERHEAD
    if base < end_offset or delta < 0 or count < 0 or whole < BATCH_OVERHEAD or position + whole > size:
        return None
    data = read(position, whole)
    try:
        header = parse_batch_header(data)
        return header if check_crc(data, header) else None
    except ApiError:
        return None
