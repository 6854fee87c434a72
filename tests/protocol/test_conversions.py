"""Between magic 2 and its ancestors: the meaning stays, whatever the records are."""

from __future__ import annotations

import contextlib
import struct
import zlib

import pytest
from hypothesis import given, settings, strategies as st

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.down_convert import down_convert
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import (
    LOG_APPEND_TIME,
    Record,
    build_batch,
    check_crc,
    decode_records,
    iter_batches,
    parse_batch_header,
)
from kbroker.protocol.record_codec import InvalidRecord
from kbroker.protocol.up_convert import up_convert
from tests.protocol.legacy_sets import FOUR, NOW, all_sets, row

NO_LIMIT = 1 << 40
SMALL_SETS = {name: data for name, data in all_sets().items() if len(data) < 5000}
ANSWERS = (
    ErrorCode.NONE,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.INVALID_RECORD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.MESSAGE_TOO_LARGE,
)
codecs = st.sampled_from([Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
blobs = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=2)


@st.composite
def rows(draw, with_headers=True):
    """Records with rising offsets from 0, timestamps or none."""
    records = []
    offset = 0
    for _ in range(draw(st.integers(1, 12))):
        timestamp = draw(st.just(-1) | st.integers(0, 2**62))
        more = draw(headers) if with_headers else []
        records.append(Record(offset, timestamp, draw(blobs), draw(blobs), more))
        offset += draw(st.sampled_from([1, 1, 1, 2, 200]))
    return records


def read(data):
    found = []
    for header in iter_batches(data):
        assert check_crc(data, header)
        found += decode_records(data, header)
    return found


def told(records, magic, offsets=True):
    """What is left of records in a magic."""
    return [
        (record.offset if offsets else index, record.timestamp if magic else -1, record.key, record.value)
        for index, record in enumerate(records)
    ]


@given(rows(), codecs, st.integers(0, 2**40), st.sampled_from([0, 1]))
def test_offsets_times_keys_and_values_survive_the_way_down(records, codec, base, magic):
    records = [record._replace(offset=record.offset + base) for record in records]
    data = build_batch(records, base_offset=base, codec=codec)
    found = read(down_convert(data, magic, base, NO_LIMIT))
    assert told(found, magic) == told(records, magic)


@given(rows(with_headers=False), codecs, st.sampled_from([0, 1]))
def test_the_way_up_gives_offsets_anew_and_keeps_the_rest(records, codec, magic):
    data = build_message_set(magic, records, codec)
    batch = up_convert(memoryview(data), NO_LIMIT)
    header = parse_batch_header(batch)
    assert (header.magic, header.codec, header.size, header.producer_id) == (2, codec, len(batch), -1)
    found = read(batch)
    assert told(found, magic) == told(records, magic, offsets=False)
    assert header.max_timestamp == max(record.timestamp for record in found)
    assert header.base_timestamp == found[0].timestamp


@given(rows(with_headers=False), codecs, st.sampled_from([0, 1]))
def test_down_and_up_again_is_the_same_batch(records, codec, magic):
    records = [
        record._replace(offset=index, timestamp=record.timestamp if magic else -1)
        for index, record in enumerate(records)
    ]
    data = build_batch(records, codec=codec)
    again = up_convert(memoryview(down_convert(data, magic, 0, NO_LIMIT)), NO_LIMIT)
    assert read(again) == read(data)
    assert again[12:17] == data[12:17]
    if codec is Codec.NONE:
        assert again == data


@given(rows(), codecs, st.sampled_from([0, 1]), st.integers(0, 400), st.integers(0, 600))
def test_a_limit_and_a_start_cut_whole_messages_off(records, codec, magic, first, limit):
    half = build_batch(records, codec=codec)
    base = records[-1].offset + 1
    second = [record._replace(offset=record.offset + base) for record in records]
    data = half + build_batch(second, base_offset=base, codec=codec)
    whole = down_convert(data, magic, first, NO_LIMIT)
    part = down_convert(data, magic, first, limit)
    assert whole.startswith(part)
    sizes = [header.size for header in iter_batches(part)]
    assert sum(sizes) == len(part)
    wanted = [record.offset for record in [*records, *second] if record.offset >= first]
    assert bool(part) == bool(wanted)
    found = [record.offset for record in read(whole)]
    assert [offset for offset in found if offset >= first] == wanted
    if codec is Codec.NONE:
        assert found == wanted
    if part and len(part) > limit:  # nothing behind the first batch that had something
        assert {record.offset < base for record in read(part)} in ({True}, {False})


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_a_stamped_batch_stamps_its_messages(codec):
    data = build_batch(FOUR, codec=codec, timestamp_type=LOG_APPEND_TIME, max_timestamp=NOW + 99)
    converted = down_convert(data, 1, 0, NO_LIMIT)
    assert {header.timestamp_type for header in iter_batches(converted)} == {LOG_APPEND_TIME}
    assert {record.timestamp for record in read(converted)} == {NOW + 99}
    assert {record.timestamp for record in read(down_convert(data, 0, 0, NO_LIMIT))} == {-1}


def test_a_wrapper_counts_its_offsets_from_0_in_magic_1_only():
    records = [record._replace(offset=record.offset + 50) for record in FOUR]
    data = build_batch(records, base_offset=48, codec=Codec.GZIP)  # two were compacted away
    for magic, first in ((0, 50), (1, 0)):
        (header,) = iter_batches(converted := down_convert(data, magic, 48, NO_LIMIT))
        assert header.base_offset == 53
        inner = zlib.decompress(converted[-header.size :][18 + 8 * magic + 8 :], 31)
        assert int.from_bytes(inner[:8], "big") == first


def test_messages_of_older_folders_go_through_or_further_down():
    old = build_message_set(1, FOUR, Codec.GZIP)
    assert down_convert(old, 1, 0, NO_LIMIT) == old
    assert told(read(down_convert(old, 0, 0, NO_LIMIT)), 0) == told(FOUR, 0)
    oldest = build_message_set(0, FOUR)
    assert down_convert(oldest, 1, 0, NO_LIMIT) == oldest


def test_zstd_has_no_older_form():
    zstd = build_batch(FOUR, codec=Codec.ZSTD)
    with pytest.raises(ApiError) as error:
        down_convert(zstd, 1, 0, NO_LIMIT)
    assert error.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    before = build_batch(FOUR)
    assert down_convert(before + zstd, 1, 0, NO_LIMIT) == down_convert(before, 1, 0, NO_LIMIT)


def test_markers_and_emptied_batches_leave_nothing():
    ended = EndTxnMarker(commit=True, coordinator_epoch=0)
    marker = build_end_txn_batch(ended, producer_id=1, producer_epoch=0, timestamp=NOW)
    emptied = build_batch([], producer_id=1, producer_epoch=0, base_sequence=0, last_offset_delta=3)
    assert down_convert(marker + emptied, 1, 0, NO_LIMIT) == b""


@settings(max_examples=300)
@given(st.sampled_from(sorted(SMALL_SETS)), st.integers(0, 400), st.integers(0, 255), st.booleans())
def test_damage_is_an_api_error_and_nothing_else(name, at, byte, right_crc):
    sets = bytearray(SMALL_SETS[name])
    if not sets:
        return
    sets[at % len(sets)] = byte
    if right_crc and len(sets) > 17:
        struct.pack_into(">I", sets, 12, zlib.crc32(bytes(sets[16:])))
    code, batch = ErrorCode.NONE, None
    try:
        batch = up_convert(memoryview(sets), 1 << 20, max_bytes=1 << 20)
    except ApiError as error:
        code = error.code
    assert code in ANSWERS
    assert batch is None or batch[16] == 2


@given(rows(), st.data())
def test_a_damaged_payload_is_an_invalid_record(records, data):
    batch = bytearray(build_batch(records))
    at = data.draw(st.integers(61, len(batch) - 1))
    batch[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InvalidRecord):
        down_convert(bytes(batch), 1, 0, NO_LIMIT)


def test_a_wrapper_unpacks_to_no_more_than_it_may():
    data = build_message_set(1, [Record(0, NOW, None, bytes(5_000_000))], Codec.GZIP)
    with pytest.raises(ApiError) as error:
        up_convert(memoryview(data), NO_LIMIT, max_bytes=1_000_000)
    assert error.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_many_small_messages_stop_at_the_limit_of_a_batch():
    data = row(1, [Record(0, NOW, None, b"x" * 100)] * 1000)
    with pytest.raises(ApiError) as error:
        up_convert(memoryview(data), 50_000)
    assert error.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_what_unpacks_to_megabytes_is_converted_like_the_rest(codec):
    records = [Record(i, NOW + i, b"%d" % i, bytes([i]) * 30_000) for i in range(50)]
    batch = build_batch(records, codec=codec)
    for magic in (0, 1):
        old = down_convert(batch, magic, 0, NO_LIMIT)
        back = decode_records(old, parse_batch_header(old))
        assert [(each.offset, each.key, each.value) for each in back] == [
            (each.offset, each.key, each.value) for each in records
        ]
        new = up_convert(memoryview(old), NO_LIMIT, max_bytes=NO_LIMIT)
        again = decode_records(new, parse_batch_header(new))
        assert [(each.key, each.value) for each in again] == [(each.key, each.value) for each in records]
