"""Reading a segment for the cleaner: chunks of whole batches, every one checked."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kbroker.errors import ApiError
from kbroker.protocol.batch_header import HEADER
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    BatchHeader,
    check_crc,
    parse_batch_header,
)
from kbroker.storage.cleaner_records import CleanError
from kbroker.storage.disk import DiskFile

#: No batch that a broker takes is larger (socket.request.max.bytes is 100 MiB unless raised).
_BATCH_BYTES_MAX = 256 << 20
_HEAD_BYTES = LOG_OVERHEAD + 5
_LENGTH = Struct(">i")


def read_batches(
    file: DiskFile, size: int, chunk_bytes: int
) -> Iterator[tuple[bytes, int, list[BatchHeader]]]:
    """(bytes, how many of them are whole batches, their headers) of the first `size` bytes of a segment.

    Raises:
        CleanError: a batch is cut or damaged.
        OSError: reading failed.
    """
    chunk_bytes = max(chunk_bytes, 4096)
    position, wanted = 0, chunk_bytes
    while position < size:
        data = file.read(position, min(wanted, size - position))
        view = memoryview(data)
        headers: list[BatchHeader] = []
        at, length = 0, 0
        while len(data) - at >= _HEAD_BYTES:
            (length,) = _LENGTH.unpack_from(data, at + 8)
            length += LOG_OVERHEAD
            if not _HEAD_BYTES < length <= min(_BATCH_BYTES_MAX, size - position - at):
                raise CleanError(f"no batch at position {position + at} of {file.path}")
            if length > len(data) - at:
                break
            if data[at + 16] == 2 and length >= BATCH_OVERHEAD:
                header: BatchHeader = tuple.__new__(BatchHeader, (*HEADER.unpack_from(data, at), at))
                if crc32c(view[at + 21 : at + length]) != header[4]:
                    raise _wrong_crc(file, position + at)
            else:
                header = _checked(file, position, data, at)
            headers.append(header)
            at += length
        if at:
            yield data, at, headers
            position, wanted = position + at, chunk_bytes
        elif length <= len(data):
            raise CleanError(f"the batch at position {position} of {file.path} is cut short")
        else:
            wanted = length


def _checked(file: DiskFile, position: int, data: bytes, at: int) -> BatchHeader:
    try:
        header = parse_batch_header(data, at)
    except ApiError as error:
        raise CleanError(f"at position {position + at} of {file.path}: {error.text}") from None
    if not check_crc(data, header):
        raise _wrong_crc(file, position + at)
    return header


def _wrong_crc(file: DiskFile, position: int) -> CleanError:
    return CleanError(f"the CRC of the batch at position {position} of {file.path} is wrong")
