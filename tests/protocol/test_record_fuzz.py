"""Whatever bytes come: headers, records and old messages give a value or an `ApiError`, nothing else."""

from contextlib import suppress

from hypothesis import given, settings, strategies as st

from kbroker.errors import ApiError
from kbroker.protocol.compression import Codec
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import (
    Record,
    build_batch,
    check_crc,
    decode_records,
    iter_batches,
    parse_batch_header,
    record_times,
    scan_records,
)

INT64 = st.integers(-(1 << 62), (1 << 62))
RECORDS = st.lists(
    st.builds(
        Record,
        offset=st.just(-1),
        timestamp=INT64,
        key=st.none() | st.binary(max_size=200),
        value=st.none() | st.binary(max_size=200),
        headers=st.lists(st.tuples(st.text(max_size=90), st.none() | st.binary(max_size=90)), max_size=3),
    ),
    max_size=5,
)
CODECS = st.sampled_from(list(Codec))
EDITS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6)


@settings(max_examples=60, deadline=None)
@given(RECORDS, CODECS, st.integers(0, 1 << 62))
def test_what_is_built_is_read_back(records, codec, base_offset):
    buf = build_batch(records, codec=codec, base_offset=base_offset)
    header = parse_batch_header(buf)
    assert check_crc(buf, header)
    back = decode_records(buf, header)
    assert [record._replace(offset=-1, headers=list(record.headers)) for record in back] == records
    assert [record.offset for record in back] == list(range(base_offset, base_offset + len(records)))
    assert not records or header.last_offset == back[-1].offset
    scan = scan_records(buf, header)
    assert scan.null_keys == [index for index, record in enumerate(records) if record.key is None]


@settings(max_examples=60, deadline=None)
@given(RECORDS, CODECS, EDITS, st.integers(0, 400))
def test_damaged_batches(records, codec, edits, cut):
    buf = bytearray(build_batch(records, codec=codec))
    for position, byte in edits:
        buf[position % len(buf)] = byte
    read_everything(buf[: len(buf) - cut % len(buf)])


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.sampled_from([0, 1]), st.sampled_from([0, 1, 2, 3]), EDITS)
def test_damaged_messages(records, magic, codec, edits):
    records = [record._replace(offset=index) for index, record in enumerate(records)]
    buf = bytearray(build_message_set(magic, records, codec) or b"?")
    for position, byte in edits:
        buf[position % len(buf)] = byte
    read_everything(buf)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data):
    read_everything(data)


def read_everything(buf):
    with suppress(ApiError):
        parse_batch_header(buf)
    with suppress(ApiError):
        for header in iter_batches(memoryview(buf)):
            check_crc(buf, header)
            with suppress(ApiError):
                records = decode_records(buf, header, max_bytes=100_000)
                times = [(record.timestamp, record.offset) for record in records]
                assert list(record_times(buf, header, max_bytes=100_000)) == times
            with suppress(ApiError):
                list(record_times(buf, header, max_bytes=100_000))
            if header.magic == 2:
                with suppress(ApiError):
                    scan_records(buf, header, max_bytes=100_000)
