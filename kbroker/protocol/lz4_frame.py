"""LZ4 frames as Kafka has them: independent blocks, checksums read but (except the header's) not verified.

The frame is taken apart here and only blocks go to the library: so each block's size is bounded, and the
header checksum of magic 0 (computed over the frame magic too, KIP-57) can be read and written.
"""

from __future__ import annotations

from struct import Struct, error as StructError

from kbroker.protocol.compression import CompressionError, DecompressedTooLarge
from kbroker.protocol.unpack_room import Unpacked, filled, room

_LE32 = Struct("<I")
_MAGIC = _LE32.pack(0x184D2204)
_DESCRIPTOR = b"\x60\x40"  # version 1, independent blocks, no checksums, no content size; blocks of 64 KiB
_BLOCK = 64 * 1024
_BLOCK_SIZES = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_STORED = 0x8000_0000


def lz4_compress(data: memoryview, level: int | None = None, *, broken_header: bool = False) -> bytes:
    """One frame in blocks of 64 KiB, as Kafka's producer writes it."""
    import cramjam

    checked = _MAGIC + _DESCRIPTOR if broken_header else _DESCRIPTOR
    out = bytearray(_MAGIC + _DESCRIPTOR)
    out.append(xxh32(checked) >> 8 & 0xFF)
    # Kafka's default level, 9, means the fast compressor; only another level means the thorough one.
    fast = level in (None, 9)
    for start in range(0, len(data), _BLOCK):
        plain = data[start : start + _BLOCK]
        packed = memoryview(
            cramjam.lz4.compress_block(
                plain, None, "default" if fast else "high_compression", None, level, False
            )
        )
        if len(packed) < len(plain):
            out += _LE32.pack(len(packed))
            out += packed
        else:
            out += _LE32.pack(len(plain) | _STORED)
            out += plain
    out += bytes(4)
    return bytes(out)


def lz4_decompress(data: memoryview, max_bytes: int, *, check_header: bool = True) -> Unpacked:
    """Unpack the first frame; what follows it is ignored, as Kafka does.

    Raises:
        DecompressedTooLarge, CompressionError: as `compression.decompress`.
    """
    import cramjam

    blocks, block_max = _blocks(data, check_header)
    most = sum(len(block) if stored else block_max for block, stored in blocks)
    out = room(min(most, max_bytes))
    end = 0
    for block, stored in blocks:
        if stored:
            if end + len(block) > max_bytes:
                raise DecompressedTooLarge(f"more than {max_bytes} bytes")
            out[end : end + len(block)] = block
            end += len(block)
            continue
        space = min(block_max, len(out) - end)
        try:
            end += cramjam.lz4.decompress_block_into(block, out[end : end + space], output_len=space)
        except cramjam.DecompressionError as error:
            if space < block_max:  # the library does not say whether damage or the limit stopped it
                raise DecompressedTooLarge(f"more than {max_bytes} bytes, or damaged") from None
            raise CompressionError(f"lz4: {error}") from None
    return filled(out, end)


def _blocks(data: memoryview, check_header: bool) -> tuple[list[tuple[memoryview, bool]], int]:
    """The blocks of the frame, each with whether it is stored as it is, and the most that one unpacks to."""
    blocks: list[tuple[memoryview, bool]] = []
    try:
        pos, block_max, block_checksum = _read_header(data, check_header)
        while True:
            (size,) = _LE32.unpack_from(data, pos)
            pos += 4
            if size == 0:
                return blocks, block_max
            stored = size & _STORED
            size &= ~_STORED
            if size > block_max:
                raise CompressionError(f"lz4: a block of {size} bytes, more than the frame's {block_max}")
            block = data[pos : pos + size]
            if len(block) != size:
                raise CompressionError("lz4: the stream is cut short")
            pos += size + block_checksum
            blocks.append((block, stored != 0))
    except (StructError, IndexError):
        raise CompressionError("lz4: the stream is cut short") from None


def _read_header(data: memoryview, check_header: bool) -> tuple[int, int, int]:
    """Position of the first block, largest block, bytes of checksum behind each block."""
    if data[:4] != _MAGIC:
        raise CompressionError("lz4: no lz4 frame (invalid magic bytes)")
    flags, block = data[4], data[5]
    if flags >> 6 != 1:
        raise CompressionError(f"lz4: unknown frame version {flags >> 6}")
    if not flags & 0x20:
        raise CompressionError("lz4: blocks that depend on each other are not supported, by Kafka neither")
    if flags & 0x03 or block & 0x8F or block >> 4 not in _BLOCK_SIZES:
        raise CompressionError("lz4: reserved bits are set, or there is no such block size")
    end = 14 if flags & 0x08 else 6
    if check_header and data[end] != xxh32(bytes(data[4:end])) >> 8 & 0xFF:
        raise CompressionError("lz4: the frame header's checksum does not match")
    return end + 1, _BLOCK_SIZES[block >> 4], 4 if flags & 0x10 else 0


_PRIME2, _PRIME3, _PRIME4, _PRIME5 = 2246822519, 3266489917, 668265263, 374761393
_MASK = 0xFFFF_FFFF


def xxh32(data: bytes) -> int:
    """xxHash of fewer than 16 bytes, seed 0: enough for a frame header (at most 14 with the magic)."""
    assert len(data) < 16
    value = _PRIME5 + len(data)
    whole = len(data) & ~3
    for pos in range(0, whole, 4):
        value = value + _LE32.unpack_from(data, pos)[0] * _PRIME3 & _MASK
        value = (value << 17 | value >> 15) * _PRIME4 & _MASK
    for byte in data[whole:]:
        value = value + byte * _PRIME5 & _MASK
        value = (value << 11 | value >> 21) * 2654435761 & _MASK
    value = (value ^ value >> 15) * _PRIME2 & _MASK
    value = (value ^ value >> 13) * _PRIME3 & _MASK
    return value ^ value >> 16
