"""The codecs of record batches: ids, framing, and decompression that cannot be made to eat the memory.

Every decompression takes the largest result it may produce, in bytes, and refuses before that memory is
taken: gzip and zstd write into a bounded buffer, snappy and lz4 are unframed here block by block and each
block's size is known beforehand. Other threads run meanwhile: the libraries work without the interpreter's
lock, and nothing large is copied or cleared under it (`unpack_room`). They are imported at first use; a node
that never unpacks a batch never loads them.
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from struct import Struct, error as StructError

from kbroker.protocol.unpack_room import SMALL_MAX, Unpacked, filled, room


class Codec(IntEnum):
    """Bits 0–2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


CODEC_NAMES = {codec.name.lower(): codec for codec in Codec}


class CompressionError(Exception):
    """Compressed bytes are damaged, or of an unknown codec."""


class DecompressedTooLarge(CompressionError):
    """The result would be larger than the caller allows."""


#: Levels that Kafka accepts in `compression.<codec>.level`, and its default; snappy has none.
LEVELS: dict[Codec, tuple[int, int, int]] = {
    Codec.GZIP: (1, 9, -1),
    Codec.LZ4: (1, 17, 9),
    Codec.ZSTD: (-131072, 22, 3),
}

_GZIP_MEMBERS_MAX = 64
#: The most that deflate makes of a byte.
_GZIP_RATIO_MAX = 1032
#: A long stream is read and written so much at a time.
_GZIP_READ, _GZIP_PIECE = 16 * 1024, 64 * 1024
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK = 32 * 1024
_LENGTH = Struct(">I")


def decompress(
    codec: int, data: bytes | memoryview, max_bytes: int, *, lenient_lz4_header: bool = False
) -> Unpacked:
    """Unpack a batch's payload; what is small is `bytes`.

    Args:
        codec: a `Codec` number, as found in the attributes.
        max_bytes: largest result allowed.
        lenient_lz4_header: do not verify the lz4 header checksum, which magic 0 has wrong (KIP-57).

    Raises:
        DecompressedTooLarge: the result has more than `max_bytes` bytes.
        CompressionError: damaged, cut short, or no codec that exists.
    """
    view = memoryview(data)
    if codec == Codec.NONE:
        if len(view) > max_bytes:
            raise DecompressedTooLarge(f"more than {max_bytes} bytes")
        return bytes(view)
    if codec == Codec.GZIP:
        return _gunzip(view, max_bytes)
    if codec == Codec.SNAPPY:
        return _unsnappy(view, max_bytes)
    if codec == Codec.LZ4:
        from kbroker.protocol.lz4_frame import lz4_decompress

        return lz4_decompress(view, max_bytes, check_header=not lenient_lz4_header)
    if codec == Codec.ZSTD:
        from kbroker.protocol.zstd_frame import zstd_decompress

        return zstd_decompress(view, max_bytes)
    raise CompressionError(f"Unknown compression type id: {codec}")


def compress(
    codec: int,
    data: bytes | bytearray | memoryview,
    level: int | None = None,
    *,
    broken_lz4_header: bool = False,
) -> bytes:
    """Pack a payload in the framing that Kafka's clients expect.

    Args:
        level: None for Kafka's default.
        broken_lz4_header: write the lz4 header checksum of magic 0 (KIP-57).

    Raises:
        ValueError: there is no such codec.
    """
    if codec == Codec.NONE:
        return bytes(data)
    if codec == Codec.GZIP:
        packer = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
        return packer.compress(data) + packer.flush()
    if codec == Codec.SNAPPY:
        return _snappy(memoryview(data))
    if codec == Codec.LZ4:
        from kbroker.protocol.lz4_frame import lz4_compress

        return lz4_compress(memoryview(data), level, broken_header=broken_lz4_header)
    if codec == Codec.ZSTD:
        import cramjam

        return bytes(cramjam.zstd.compress(data, level=LEVELS[Codec.ZSTD][2] if level is None else level))
    raise ValueError(f"unknown compression type id {codec}")


def _gunzip(data: memoryview, max_bytes: int) -> Unpacked:
    """One or more members; like Java's reader, ignore what follows the last and is no member."""
    unpacker = zlib.decompressobj(31)
    part = _inflated(unpacker, data, min(max_bytes, SMALL_MAX) + 1)
    if len(part) > max_bytes:
        raise DecompressedTooLarge(f"more than {max_bytes} bytes")
    if unpacker.eof and not _is_gzip(unpacker.unused_data):
        return part
    if not unpacker.eof and not unpacker.unconsumed_tail:
        raise CompressionError("gzip: the stream is cut short")
    return _gunzip_long(data, max_bytes)


def _gunzip_long(data: memoryview, max_bytes: int) -> Unpacked:
    """Piece by piece, as nobody knows beforehand how much it will be."""
    out = room(min(max_bytes, _GZIP_RATIO_MAX * len(data)))
    pos = end = 0
    for _ in range(_GZIP_MEMBERS_MAX):
        unpacker = zlib.decompressobj(31)
        while not unpacker.eof:
            rest: memoryview | bytes = unpacker.unconsumed_tail
            if not rest:
                if pos == len(data):
                    raise CompressionError("gzip: the stream is cut short")
                rest = data[pos : pos + _GZIP_READ]
                pos += len(rest)
            piece = _inflated(unpacker, rest, _GZIP_PIECE)
            if end + len(piece) > max_bytes:
                raise DecompressedTooLarge(f"more than {max_bytes} bytes")
            out[end : end + len(piece)] = piece
            end += len(piece)
        pos -= len(unpacker.unused_data)
        if not _is_gzip(data[pos:]):
            return filled(out, end)
    raise CompressionError(f"gzip: more than {_GZIP_MEMBERS_MAX} members")


def _inflated(unpacker: zlib._Decompress, data: memoryview | bytes, most: int) -> bytes:
    try:
        return unpacker.decompress(data, most)
    except zlib.error as error:
        raise CompressionError(f"gzip: {error}") from None


def _is_gzip(data: memoryview | bytes) -> bool:
    return data[:2] == b"\x1f\x8b"


def _snappy(data: memoryview) -> bytes:
    import cramjam

    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_BLOCK):
        block = cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK])
        out += _LENGTH.pack(len(block))
        out += memoryview(block)
    return bytes(out)


def _unsnappy(data: memoryview, max_bytes: int) -> Unpacked:
    """Xerial's framing (Java), or one raw block without any (librdkafka)."""
    import cramjam

    blocks = _xerial_blocks(data) if data[:8] == _XERIAL_MAGIC else [data]
    try:
        sizes = [cramjam.snappy.decompress_raw_len(block) for block in blocks]
        if sum(sizes) > max_bytes:
            raise DecompressedTooLarge(f"{sum(sizes)} bytes, more than {max_bytes}")
        out = room(sum(sizes))
        start = 0
        for block, size in zip(blocks, sizes, strict=True):
            if cramjam.snappy.decompress_raw_into(block, out[start : start + size]) != size:
                raise CompressionError("snappy: a block is shorter than it says")
            start += size
    except cramjam.DecompressionError as error:
        raise CompressionError(f"snappy: {error}") from None
    return filled(out, start)


def _xerial_blocks(data: memoryview) -> list[memoryview]:
    blocks: list[memoryview] = []
    pos = 16
    try:
        while pos < len(data):
            if data[pos : pos + 8] == _XERIAL_MAGIC:  # streams one behind the other, each with its header
                pos += 16
                continue
            (size,) = _LENGTH.unpack_from(data, pos)
            pos += 4 + size
            if pos > len(data):
                raise CompressionError("snappy: the stream is cut short")
            blocks.append(data[pos - size : pos])
    except StructError:
        raise CompressionError("snappy: the stream is cut short") from None
    return blocks
