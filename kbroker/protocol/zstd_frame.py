"""Bounded zstd: the frame and block headers say how large the result can be, before anything is unpacked."""

from __future__ import annotations

from kbroker.protocol.compression import CompressionError, DecompressedTooLarge
from kbroker.protocol.unpack_room import Unpacked, filled, room

_MAGIC = 0xFD2FB528
_SKIPPABLE = 0x184D2A50
_BLOCK_MAX = 128 * 1024
_RAW, _RLE, _COMPRESSED = 0, 1, 2


def zstd_decompress(data: memoryview, max_bytes: int) -> Unpacked:
    """Unpack all frames.

    Raises:
        DecompressedTooLarge, CompressionError: as `compression.decompress`.
    """
    import cramjam

    least, most = content_bounds(data)
    if least > max_bytes:
        raise DecompressedTooLarge(f"at least {least} bytes, more than {max_bytes}")
    if most == 0:
        return b""
    out = room(min(most, max_bytes))
    try:
        size = cramjam.zstd.decompress_into(data, out)
    except cramjam.DecompressionError as error:
        if most > max_bytes and "whole buffer" in str(error):
            raise DecompressedTooLarge(f"more than {max_bytes} bytes") from None
        raise CompressionError(f"zstd: {error}") from None
    return filled(out, size)


def content_bounds(data: memoryview) -> tuple[int, int]:
    """The least and the most bytes that the frames of `data` can unpack to (RFC 8878, section 3.1.1).

    Raises:
        CompressionError: the headers are damaged or cut short, or something follows that is no frame.
    """
    pos, least, most = 0, 0, 0
    while pos < len(data):
        magic = int.from_bytes(data[pos : pos + 4], "little")
        if magic & 0xFFFF_FFF0 == _SKIPPABLE and pos + 8 <= len(data):
            pos += 8 + int.from_bytes(data[pos + 4 : pos + 8], "little")
        elif magic == _MAGIC:
            pos, frame_least, frame_most = _frame_bounds(data, pos + 4)
            least += frame_least
            most += frame_most
        else:
            raise CompressionError("zstd: unknown frame descriptor")
    if pos != len(data):
        raise CompressionError("zstd: the stream is cut short")
    return least, most


def _frame_bounds(data: memoryview, pos: int) -> tuple[int, int, int]:
    """Position behind the frame, least and most bytes of content."""
    try:
        descriptor = data[pos]
        single_segment = descriptor & 0x20
        size_flag = descriptor >> 6
        size_bytes = (1 if single_segment else 0, 2, 4, 8)[size_flag]
        pos += 1 + (0 if single_segment else 1) + (0, 1, 2, 4)[descriptor & 3] + size_bytes
        content = int.from_bytes(data[pos - size_bytes : pos], "little") + (256 if size_flag == 1 else 0)
        least, most, last = 0, 0, 0
        while not last:
            header = data[pos] | data[pos + 1] << 8 | data[pos + 2] << 16
            last, kind, size = header & 1, header >> 1 & 3, header >> 3
            pos += 3 + (1 if kind == _RLE else size)
            if kind == _COMPRESSED:
                most += _BLOCK_MAX
            elif kind in (_RAW, _RLE):
                least += size
                most += size
            else:
                raise CompressionError("zstd: reserved block type")
    except IndexError:
        raise CompressionError("zstd: the stream is cut short") from None
    if size_bytes:
        # A frame that is less is damaged: there is no need to unpack it to say no.
        least, most = max(least, content), min(most, content)
    return pos + (4 if descriptor & 4 else 0), least, most
