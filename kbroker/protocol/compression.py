"""The codecs of record batches: ids, framing, and decompression that cannot be made to eat the memory.

Every decompression takes the largest result it may produce, in bytes, and refuses before that memory is
taken: gzip and zstd write into a bounded buffer, snappy and lz4 are unframed here block by block and each
block's size is known beforehand. The libraries are imported at first use; a broker that never unpacks a batch
never loads them.
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from struct import Struct, error as StructError


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
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK = 32 * 1024
_LENGTH = Struct(">I")


def decompress(
    codec: int, data: bytes | memoryview, max_bytes: int, *, lenient_lz4_header: bool = False
) -> bytes:
    """Unpack a batch's payload.

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


def _gunzip(data: memoryview, max_bytes: int) -> bytes:
    """One or more members; like Java's reader, ignore what follows the last and is no member."""
    parts: list[bytes] = []
    total = 0
    rest: memoryview | bytes = data
    for _ in range(
        _GZIP_MEMBERS_MAX
    ):  # each member copies the bytes behind it: a limit, or the time is quadratic
        unpacker = zlib.decompressobj(31)
        try:
            part = unpacker.decompress(rest, max_bytes - total + 1)
        except zlib.error as error:
            raise CompressionError(f"gzip: {error}") from None
        total += len(part)
        if total > max_bytes:
            raise DecompressedTooLarge(f"more than {max_bytes} bytes")
        if not unpacker.eof:
            raise CompressionError("gzip: the stream is cut short")
        parts.append(part)
        rest = unpacker.unused_data
        if rest[:2] != b"\x1f\x8b":
            return parts[0] if len(parts) == 1 else b"".join(parts)
    raise CompressionError(f"gzip: more than {_GZIP_MEMBERS_MAX} members")


def _snappy(data: memoryview) -> bytes:
    import cramjam

    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_BLOCK):
        block = cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK])
        out += _LENGTH.pack(len(block))
        out += memoryview(block)
    return bytes(out)


def _unsnappy(data: memoryview, max_bytes: int) -> bytes:
    """Xerial's framing (Java), or one raw block without any (librdkafka)."""
    import cramjam

    blocks = _xerial_blocks(data) if data[:8] == _XERIAL_MAGIC else [data]
    try:
        sizes = [cramjam.snappy.decompress_raw_len(block) for block in blocks]
        if sum(sizes) > max_bytes:
            raise DecompressedTooLarge(f"{sum(sizes)} bytes, more than {max_bytes}")
        out = bytearray(sum(sizes))
        view = memoryview(out)
        start = 0
        for block, size in zip(blocks, sizes, strict=True):
            if cramjam.snappy.decompress_raw_into(block, view[start : start + size]) != size:
                raise CompressionError("snappy: a block is shorter than it says")
            start += size
    except cramjam.DecompressionError as error:
        raise CompressionError(f"snappy: {error}") from None
    return bytes(out)


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
