"""Batches that are far more when they are unpacked than when they arrive: refused before the work."""

from __future__ import annotations

import contextlib
import gc

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol import record_batch
from kbroker.protocol.compression import Codec, compress
from kbroker.protocol.record_batch import (
    RECORDS_ALWAYS,
    UNPACK_RATIO_MAX,
    Record,
    build_batch,
    unpacked_bytes_max,
)
from kbroker.storage import append_checks
from kbroker.storage.append_checks import AppendError, BatchLook, checked_batch
from kbroker.storage.log_config import LogConfig
from kbroker.types import TopicPartition

CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
#: A record of nothing but the key "k": length 7, attributes, deltas, key, no value, no headers.
TINY = b"\x0e\0\0\0\x02k\0\0"


def check(batch, **config):
    return checked_batch(memoryview(batch), TopicPartition("t", 0), LogConfig(**config), 0, 0)


def packed(codec, payload, count):
    """A batch whose header promises `count` records."""
    batch = bytearray(build_batch([Record(key=b"k")], codec=Codec.NONE))
    del batch[record_batch.BATCH_OVERHEAD :]
    batch += compress(codec, payload)
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    batch[21:23] = int(codec).to_bytes(2, "big")
    batch[57:61] = count.to_bytes(4, "big")
    return bytes(batch)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("config", [{"cleanup_policy": "compact"}, {"compression_type": "gzip"}])
def test_a_bomb_is_refused_before_it_is_unpacked(codec, config, monkeypatch):
    bomb = packed(codec, bytes(80_000_000), 1)
    unpacked = []
    monkeypatch.setattr(append_checks, "recompress", lambda *_: unpacked.append(1))
    with pytest.raises(AppendError) as refused:
        check(bomb, **config, max_message_bytes=20_000_000)
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert not unpacked


@pytest.mark.parametrize("codec", CODECS)
def test_nothing_is_left_of_a_bomb(codec):
    """Frames of errors that are kept hold megabytes each, until the collector has counted enough objects."""
    bomb = packed(codec, bytes(80_000_000), 1)
    config = LogConfig(cleanup_policy="compact", max_message_bytes=20_000_000)
    gc.collect()
    gc.disable()
    try:
        look = BatchLook(memoryview(bomb), TopicPartition("t", 0), config, 0, 0)
        look.run()
        with contextlib.suppress(AppendError):
            look()
        del look
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("codec", CODECS)
def test_more_records_than_bytes_are_refused_unseen(codec, monkeypatch):
    count = RECORDS_ALWAYS + 1
    bomb = packed(codec, TINY * count, count)
    assert len(bomb) < count
    monkeypatch.setattr(append_checks, "scan_records", None)
    with pytest.raises(AppendError, match=f"{count} records in a batch of {len(bomb)} bytes") as refused:
        check(bomb, cleanup_policy="compact")
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE


def test_what_packs_well_but_not_absurdly_passes():
    batch = build_batch([Record(key=b"k", value=bytes(900_000))], codec=Codec.ZSTD)
    assert len(batch) < 1000
    assert bytes(check(batch, cleanup_policy="compact")) == batch
    batch = build_batch([Record(key=b"%d" % i) for i in range(20_000)], codec=Codec.GZIP)
    assert bytes(check(batch, cleanup_policy="compact")) == batch


@pytest.mark.parametrize("codec", CODECS)
def test_records_of_a_large_batch_are_seen_as_those_of_a_small_one(codec):
    headers = [("h", b"x"), ("none", None)]
    records = [Record(key=b"%d" % i, value=bytes(20_000), headers=headers) for i in range(100)]
    batch = build_batch(records, codec=codec)
    assert bytes(check(batch, cleanup_policy="compact")) == batch
    with pytest.raises(AppendError) as refused:
        check(build_batch([*records, Record(value=b"v")], codec=codec), cleanup_policy="compact")
    assert [error.batch_index for error in refused.value.record_errors] == [100]
    nameless = bytes(build_batch(records)[record_batch.BATCH_OVERHEAD :]).replace(
        b"\x08none", b"\x01\0\0\0\0"
    )
    with pytest.raises(AppendError, match="header key size"):
        check(packed(codec, nameless, 100), cleanup_policy="compact")


def test_the_bound_follows_the_packed_size_and_the_topic():
    assert unpacked_bytes_max(100, 1000) == 4 * 1024 * 1024
    assert unpacked_bytes_max(100, 9_000_000) == 9_000_000
    assert unpacked_bytes_max(200_000, 1_048_588) == UNPACK_RATIO_MAX * 200_000
    assert unpacked_bytes_max(1_000_000, 1_048_588) == record_batch.MAX_DECOMPRESSED_BYTES
    # What comes unpacked is what it is.
    assert unpacked_bytes_max(90_000_000, 1_000_000) == 90_000_000


def test_an_answer_does_not_blame_every_record_of_a_huge_batch(monkeypatch):
    monkeypatch.setattr(append_checks, "_BLAMED_MAX", 10)
    batch = build_batch([Record(value=b"v")] * 50)
    with pytest.raises(AppendError) as refused:
        check(batch, cleanup_policy="compact")
    assert [error.batch_index for error in refused.value.record_errors] == list(range(10))
