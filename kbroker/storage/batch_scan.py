"""Reading a segment's batches from end to end, for recovery and rebuilding: whole batches, in large reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import BATCH_OVERHEAD, LOG_OVERHEAD, BatchHeader, parse_batch_header

_CHUNK_BYTES = 1 << 20
_MAGIC_END = 17
_HEADER = Struct(">qiibIhiqqqhii")


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
                fields = _HEADER.unpack_from(chunk, at)
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
