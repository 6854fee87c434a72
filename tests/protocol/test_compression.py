import os
import tracemalloc
import zlib
from contextlib import suppress
from mmap import mmap

import cramjam
import pytest
from hypothesis import given, settings, strategies as st

from kbroker.protocol.compression import Codec, CompressionError, DecompressedTooLarge, compress, decompress
from kbroker.protocol.lz4_frame import xxh32
from kbroker.protocol.unpack_room import SMALL_MAX
from kbroker.protocol.zstd_frame import content_bounds

PACKED = [codec for codec in Codec if codec]
SAMPLES = {
    "empty": b"",
    "short": b"abc",
    "repetitive": b"kafka " * 50_000,
    "random": os.urandom(150_000),
    "long": b"kafka " * 1_000_000,
    "long random": os.urandom(1_500_000),
    "mixed": os.urandom(70_000) * 5,
}


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("sample", SAMPLES)
def test_round_trip_at_exactly_the_bound(codec, sample):
    data = SAMPLES[sample]
    packed = compress(codec, data)
    assert decompress(codec, packed, len(data)) == data
    if data:
        with pytest.raises(DecompressedTooLarge):
            decompress(codec, packed, len(data) - 1)


@pytest.mark.parametrize("codec", PACKED)
def test_nothing_large_is_filled_while_other_threads_have_to_wait(codec):
    data = SAMPLES["long"]
    assert isinstance(decompress(codec, compress(codec, data[:SMALL_MAX]), len(data)), bytes)
    assert isinstance(decompress(codec, compress(codec, data), len(data)).obj, mmap)


def test_a_zstd_frame_that_says_it_is_too_much_is_not_unpacked(monkeypatch):
    packed = compress(Codec.ZSTD, SAMPLES["long"])
    monkeypatch.setattr(cramjam.zstd, "decompress_into", None)
    with pytest.raises(DecompressedTooLarge, match="at least 6000000 bytes"):
        decompress(Codec.ZSTD, packed, 5_999_999)


def test_long_gzip_members_one_behind_the_other_and_what_follows_them():
    first, second = compress(Codec.GZIP, SAMPLES["long"]), compress(Codec.GZIP, SAMPLES["long random"])
    whole = SAMPLES["long"] + SAMPLES["long random"]
    assert decompress(Codec.GZIP, first + second + b"and more", len(whole)) == whole
    with pytest.raises(DecompressedTooLarge):
        decompress(Codec.GZIP, first + second, len(whole) - 1)
    with pytest.raises(CompressionError, match="cut short"):
        decompress(Codec.GZIP, first + second[:-9], len(whole))


@pytest.mark.parametrize("codec", PACKED)
def test_levels(codec):
    data = SAMPLES["repetitive"]
    for level in (1, 3, 9):
        assert decompress(codec, compress(codec, data, level), len(data)) == data


def bombs() -> dict[str, tuple[Codec, bytes]]:
    """256 MB of nothing, in little."""
    zeros = bytes(1 << 20)
    gzip = zlib.compressobj(9, zlib.DEFLATED, 31)
    zstd_frame = bytes(cramjam.zstd.compress(bytes(1 << 24)))
    lz4_block = bytes(cramjam.lz4.compress_block(bytes(1 << 16), store_size=False))
    block = len(lz4_block).to_bytes(4, "little") + lz4_block
    snappy_block = bytes(cramjam.snappy.compress_raw(bytes(1 << 16)))
    xerial = compress(Codec.SNAPPY, b"")
    return {
        "gzip": (Codec.GZIP, b"".join(gzip.compress(zeros) for _ in range(256)) + gzip.flush()),
        "zstd": (Codec.ZSTD, zstd_frame * 16),
        "lz4": (Codec.LZ4, compress(Codec.LZ4, b"")[:-4] + block * 4096 + bytes(4)),
        "snappy": (Codec.SNAPPY, xerial + (len(snappy_block).to_bytes(4, "big") + snappy_block) * 4096),
        "raw snappy that claims 4 GB": (Codec.SNAPPY, b"\xff\xff\xff\xff\x0f" + snappy_block[3:]),
    }


@pytest.mark.parametrize("name", bombs())
def test_133_a_bomb_is_refused_with_memory_flat(name):
    codec, bomb = bombs()[name]
    decompress(codec, compress(codec, b"warm"), 100)
    tracemalloc.start()
    try:
        with pytest.raises(DecompressedTooLarge):
            decompress(codec, bomb, 1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_many_gzip_members_are_refused_before_they_cost_time():
    member = compress(Codec.GZIP, b"x")
    assert decompress(Codec.GZIP, member * 3, 10) == b"xxx"
    with pytest.raises(CompressionError, match="members"):
        decompress(Codec.GZIP, member * 10_000, 1 << 20)


def test_librdkafkas_raw_snappy_is_read():
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(b"raw" * 99)), 1000) == b"raw" * 99


def test_lz4_header_checksum_of_magic_0():
    """KIP-57: there it was computed over the frame magic too."""
    broken = compress(Codec.LZ4, b"old" * 100, broken_lz4_header=True)
    assert broken != compress(Codec.LZ4, b"old" * 100)
    assert decompress(Codec.LZ4, broken, 1000, lenient_lz4_header=True) == b"old" * 100
    with pytest.raises(CompressionError, match="checksum"):
        decompress(Codec.LZ4, broken, 1000)


def test_xxh32_known_answers():
    assert xxh32(b"") == 0x02CC5D05
    assert xxh32(b"a") == 0x550D7456
    assert xxh32(b"abc") == 0x32D153FF


def test_lz4_frames_of_others_are_read_and_linked_blocks_refused():
    lz4_frame = pytest.importorskip("lz4.frame")
    data = SAMPLES["mixed"]
    for options in (
        {"block_linked": False, "content_checksum": True, "block_checksum": True},
        {"block_linked": False, "block_size": lz4_frame.BLOCKSIZE_MAX4MB, "store_size": True},
    ):
        assert decompress(Codec.LZ4, lz4_frame.compress(data, **options), len(data)) == data
    assert lz4_frame.decompress(compress(Codec.LZ4, data)) == data
    with pytest.raises(CompressionError, match="depend"):
        decompress(Codec.LZ4, lz4_frame.compress(data, block_linked=True), len(data))


@pytest.mark.parametrize("size", [0, 1, 200, 70_000, 1_000_000])
def test_zstd_bounds_hold(size):
    data = os.urandom(size // 2) + bytes(size - size // 2)
    for frame in (bytes(cramjam.zstd.compress(data)), b"\x50\x2a\x4d\x18\x02\x00\x00\x00??"):
        least, most = content_bounds(memoryview(frame))
        assert least <= (size if frame[0] == 0x28 else 0) <= most
        assert most <= size + (128 << 10)


@pytest.mark.parametrize("codec", PACKED)
def test_cut_or_unknown_is_an_error(codec):
    packed = compress(codec, SAMPLES["random"])
    for size in (1, 5, 17, len(packed) // 2, len(packed) - 1):
        with pytest.raises(CompressionError):
            decompress(codec, packed[:size], 1 << 20)


def test_there_is_no_codec_5():
    with pytest.raises(CompressionError):
        decompress(5, b"", 10)
    with pytest.raises(ValueError, match="5"):
        compress(5, b"")


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(PACKED), st.binary(max_size=300), st.binary(max_size=40))
def test_any_bytes_give_bytes_or_a_compression_error(codec, noise, payload):
    packed = compress(codec, payload)
    for data in (
        noise,
        packed[: len(packed) // 2] + noise,
        packed + noise,
        packed[:7] + noise[:1] + packed[8:],
    ):
        with suppress(CompressionError):
            assert len(decompress(codec, data, 1000)) <= 1000
