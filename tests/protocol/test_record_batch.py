import struct

import pytest

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import (
    LOG_APPEND_TIME,
    BatchHeader,
    CorruptBatch,
    InvalidRecord,
    Record,
    build_batch,
    build_lone_batch,
    check_crc,
    decode_records,
    ensure_valid,
    increment_sequence,
    iter_batches,
    parse_batch_header,
    recompress,
    scan_records,
    set_max_timestamp,
)
from kbroker.protocol.record_validation import validate_client_header
from kbroker.protocol.sealed_batch import is_sealed
from tests.protocol import golden_batches as golden

TIMESTAMP_TYPES = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}

RECORDS = [
    Record(0, 1000, b"a", b"x" * 300, ()),
    Record(1, 990, None, b"y", [("h", b"1"), ("n", None)]),
    Record(2, 1010, b"c", None, ()),
]


def header_as_kafka_tells(header: BatchHeader) -> dict:
    told = {
        "magic": header.magic,
        "size": header.size,
        "length": header.batch_length,
        "crc": header.crc,
        "attributes": header.attributes,
        "compression": Codec(header.codec).name.lower(),
        "timestamp_type": TIMESTAMP_TYPES[header.timestamp_type],
        "max_timestamp": header.max_timestamp,
        "last_offset": header.last_offset,
        "next_offset": header.next_offset,
    }
    if header.magic == 2:
        told |= {
            "base_offset": header.base_offset,
            "last_offset_delta": header.last_offset_delta,
            "partition_leader_epoch": header.leader_epoch,
            "base_timestamp": header.base_timestamp,
            "producer_id": header.producer_id,
            "producer_epoch": header.producer_epoch,
            "base_sequence": header.base_sequence,
            "last_sequence": header.last_sequence,
            "record_count": header.record_count,
            "transactional": header.is_transactional,
            "control": header.is_control,
            "delete_horizon_ms": header.delete_horizon_ms,
        }
    else:
        told["entry_offset"] = header.base_offset
    return told


@pytest.mark.parametrize("name", golden.names(valid=True))
def test_decodes_as_kafka_does(name):
    buf = memoryview(golden.buffer(name))
    headers = list(iter_batches(buf))
    batches = golden.lines()[name]["batches"]
    assert len(headers) == len(batches)
    for header, batch in zip(headers, batches):
        told = header_as_kafka_tells(header)
        assert told == {field: batch[field] for field in told}
        assert check_crc(buf, header)
        records = [record._replace(headers=list(record.headers)) for record in decode_records(buf, header)]
        assert records == golden.expected_records(batch)
        assert parse_batch_header(buf, header.position) == header


@pytest.mark.parametrize("name", [name for name in golden.names(valid=True) if not name.startswith("v0-v1")])
def test_encodes_the_same_bytes(name):
    """Compressed bytes depend on the library: there the unpacked payload is compared."""
    buf = golden.buffer(name)
    for header in iter_batches(buf):
        if header.magic < 2:
            continue
        original = buf[header.position : header.end]
        # LogAppendTime hides the deltas: read them as if the bit were not there.
        as_created = header._replace(attributes=header.attributes & ~0x08)
        again = build_batch(
            decode_records(buf, as_created),
            base_offset=header.base_offset,
            codec=header.codec,
            leader_epoch=header.leader_epoch,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
            transactional=header.is_transactional,
            control=header.is_control,
            timestamp_type=header.timestamp_type,
            max_timestamp=header.max_timestamp,
            last_offset_delta=header.last_offset_delta,
            delete_horizon_ms=header.delete_horizon_ms,
        )
        if header.codec == Codec.NONE:
            assert again == original
        else:
            plain = recompress(original, header._replace(position=0), Codec.NONE)
            assert recompress(again, parse_batch_header(again), Codec.NONE) == plain


# Kafka lets an exception of its own escape (UNKNOWN_SERVER_ERROR) where we say what is wrong; and messages of
# magic 0 and 1 it judges only when a broker appends them, we whenever they are read.
PLAINER = {
    "length-field-2147483647": ErrorCode.CORRUPT_MESSAGE,
    "length-field-14": ErrorCode.CORRUPT_MESSAGE,
    "length-field-48": ErrorCode.CORRUPT_MESSAGE,
    "record-count-0-of-3": ErrorCode.INVALID_RECORD,  # Kafka reads no records, and refuses it at append
}
ONLY_AT_APPEND = ("-length-beyond", "-length-minus-two", "-inner-magic-differs")


def kafkas_error(name: str) -> ErrorCode | None:
    line = golden.lines()[name]
    verdict = line["verdicts"][line["from"]]
    steps = [verdict["batches"], *verdict["ensure_valid"], *verdict["iterate"]]
    if name.startswith("v") and name.endswith(ONLY_AT_APPEND):
        steps.append(verdict["append"])
    errors = [step["error"] for step in steps if isinstance(step, dict) and "error" in step]
    return ErrorCode[errors[0]] if errors else None


def our_error(buf: bytes) -> ErrorCode | None:
    try:
        headers = list(iter_batches(buf))
        for header in headers:
            ensure_valid(buf, header)
        for header in headers:
            decode_records(buf, header)
    except ApiError as error:
        return error.code
    return None


@pytest.mark.parametrize("name", golden.names(valid=False))
def test_refuses_what_kafka_refuses(name):
    expected = PLAINER.get(name, kafkas_error(name))
    if expected == ErrorCode.UNKNOWN_SERVER_ERROR:
        expected = ErrorCode.INVALID_RECORD
    assert our_error(golden.buffer(name)) == expected


@pytest.mark.parametrize("name", golden.names(valid=False))
def test_judges_client_headers_as_kafka_does(name):
    line = golden.lines()[name]
    verdict = line["verdicts"][line["from"]]
    message = verdict["append"].get("message") or ""
    if verdict["ensure_valid"] != ["ok"] or line["hex"][32:34] != "02" or verdict["produce_request"] != "ok":
        return  # refused before, or after
    header = parse_batch_header(golden.buffer(name))
    if is_sealed(header):
        # One of the bits that Kafka has no use for marks encrypted batches here (docs/differences.md).
        message = "Clients are not allowed to write encrypted batches in topic partition t-0"
    if "in topic partition" in message:
        with pytest.raises(InvalidRecord) as caught:
            validate_client_header(header, "t-0")
        assert caught.value.text == message
    else:
        validate_client_header(header, "t-0")


def test_scan_finds_what_a_leader_must_know():
    records = [*RECORDS, Record(3, -1, b"d", b"")]
    for codec in Codec:
        buf = build_batch(records, codec=codec)
        scan = scan_records(buf, parse_batch_header(buf), min_timestamp=995, max_timestamp=1005)
        assert scan.consecutive
        assert (scan.max_timestamp, scan.max_timestamp_delta) == (1010, 2)
        assert scan.null_keys == [1]
        assert scan.bad_timestamps == [(1, 990), (2, 1010)]


@pytest.mark.parametrize(
    "name", ["offset-deltas-0-0-2", "offset-deltas-0-2-1-zstd", "offset-deltas-0-1-3-gzip"]
)
def test_scan_sees_odd_offset_deltas(name):
    buf = golden.buffer(name)
    assert not scan_records(buf, parse_batch_header(buf)).consecutive


@pytest.mark.parametrize("name", golden.names(valid=False))
def test_scan_and_decode_agree(name):
    buf = golden.buffer(name)
    if buf[16:17] != b"\x02":
        return
    try:
        headers = list(iter_batches(buf))
    except CorruptBatch:
        return
    for header in headers:
        outcomes = []
        for walk in (decode_records, scan_records):
            try:
                walk(buf, header)
                outcomes.append("ok")
            except InvalidRecord as error:
                outcomes.append(error.text)
        assert outcomes[0] == outcomes[1]


def test_the_crc_does_not_cover_offset_and_epoch():
    buf = bytearray(b"????" + build_batch(RECORDS))
    struct.pack_into(">q", buf, 4, 1 << 40)
    struct.pack_into(">i", buf, 4 + 12, 7)
    header = parse_batch_header(buf, 4)
    assert (header.base_offset, header.leader_epoch, header.last_offset) == (1 << 40, 7, (1 << 40) + 2)
    assert check_crc(buf, header)
    assert [record.offset for record in decode_records(buf, header)] == [(1 << 40) + i for i in range(3)]


def test_stamping_append_time():
    buf = bytearray(b"??" + build_batch(RECORDS, codec=Codec.LZ4))
    assert set_max_timestamp(buf, parse_batch_header(buf, 2), LOG_APPEND_TIME, 5555)
    header = parse_batch_header(buf, 2)
    assert check_crc(buf, header)
    assert {record.timestamp for record in decode_records(buf, header)} == {5555}
    assert not set_max_timestamp(buf, header, LOG_APPEND_TIME, 5555)


@pytest.mark.parametrize("codec", list(Codec))
def test_recompress_keeps_everything_else(codec):
    original = b"?" + build_batch(
        RECORDS, codec=Codec.GZIP, producer_id=9, producer_epoch=1, base_sequence=5, transactional=True
    )
    before = parse_batch_header(original, 1)
    again = recompress(original, before, codec, level=None)
    after = parse_batch_header(again)
    assert after.codec == codec
    assert check_crc(again, after)
    assert decode_records(again, after) == decode_records(original, before)
    unchanged = {"batch_length": 0, "crc": 0, "attributes": after.attributes & ~7, "position": 0}
    assert after._replace(**unchanged) == before._replace(**unchanged)


@pytest.mark.parametrize("codec", list(Codec))
def test_unpacking_is_bounded(codec):
    buf = build_batch([Record(0, 0, None, bytes(100_000))], codec=codec)
    header = parse_batch_header(buf)
    with pytest.raises(ApiError) as caught:
        decode_records(buf, header, max_bytes=99_999)
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert len(decode_records(buf, header, max_bytes=100_100)) == 1


def test_offsets_are_counted_unless_given():
    buf = build_batch([Record(), Record(), Record(17), Record()], base_offset=10)
    assert [record.offset for record in decode_records(buf, parse_batch_header(buf))] == [10, 11, 17, 18]


def test_sequences_wrap_to_zero():
    assert increment_sequence(0x7FFF_FFFF, 1) == 0
    assert increment_sequence(0x7FFF_FFFE, 3) == 1


@pytest.mark.parametrize("size", range(61))
def test_a_cut_header_is_corrupt(size):
    with pytest.raises(CorruptBatch):
        parse_batch_header(build_batch(RECORDS)[:size])


def test_header_keys_that_are_no_utf8_survive():
    buf = golden.buffer("header-key-not-utf8")
    header = parse_batch_header(buf)
    again = build_batch(
        decode_records(buf, header), base_offset=header.base_offset, leader_epoch=header.leader_epoch
    )
    assert decode_records(again, parse_batch_header(again)) == decode_records(buf, header)


@pytest.mark.parametrize("value", [None, b"", b"v", b"v" * 300])
@pytest.mark.parametrize("key", [b"", b"k" * 63, b"k" * 64])
def test_a_lone_record_makes_the_batch_that_any_would(key, value):
    record = Record(-1, 1_700_000_000_000, key, value, ())
    assert bytes(build_lone_batch(record.timestamp, key, value)) == build_batch([record])
