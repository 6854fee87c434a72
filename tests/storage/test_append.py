"""Appending as leader: what is refused with which code, what is changed, what is kept as it is."""

from __future__ import annotations

import pytest

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import (
    InvalidRecord,
    Record,
    build_batch,
    check_crc,
    decode_records,
    parse_batch_header,
)
from kbroker.storage.append_checks import AppendError, RecordErrors
from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.segment import TimestampOffset
from kbroker.storage.time_search import TimeLook
from tests.storage.world import NOW_MS, append, batch, idempotent, marker, new_log, offsets


def refused(log, records, now_ms=NOW_MS) -> AppendError:
    with pytest.raises(AppendError) as caught:
        log.append_as_leader(memoryview(records), 0, now_ms)
    assert not log.has_staged
    assert log.staged_end_offset == log.log_end_offset
    return caught.value


def stored(log, offset):
    data = log.read(offset, 1 << 20, log.log_end_offset).parts[0].read()
    header = parse_batch_header(data)
    assert check_crc(data, header)
    return data, header


@pytest.mark.parametrize("writable", [True, False])
def test_offset_and_epoch_are_patched_and_the_rest_kept(writable: bool) -> None:
    log = new_log()
    append(log, batch(b"first"))
    sent = bytes(batch(b"a", b"b"))
    append(log, memoryview(bytearray(sent) if writable else sent), epoch=3)
    data, header = stored(log, 1)
    assert (header.base_offset, header.leader_epoch, header.last_offset) == (1, 3, 2)
    assert data[16:] == sent[16:]
    assert log.epochs.entries() == [(0, 0), (3, 1)]


def test_nothing_is_visible_before_the_flush() -> None:
    log = new_log()
    log.append_as_leader(batch(b"a"), 0, NOW_MS)
    log.append_as_leader(batch(b"b", b"c"), 0, NOW_MS)
    assert (log.log_end_offset, log.staged_end_offset, log.has_staged) == (0, 3, True)
    log.flush_staged()
    assert (log.log_end_offset, log.has_staged) == (3, False)
    assert offsets(log) == [0, 1]


def test_all_that_is_staged_goes_out_in_one_write() -> None:
    log = new_log()
    append(log, batch())
    writes = []
    log.directory.disk.on_step = lambda operation, path: writes.append(operation)
    for _ in range(50):
        log.append_as_leader(batch(), 0, NOW_MS)
    log.flush_staged()
    assert writes.count("write") == 1


def cut(records: memoryview, count: int) -> bytes:
    return bytes(records[:-count])


def with_length(records: memoryview, length: int) -> bytes:
    return bytes(records[:8]) + length.to_bytes(4, "big") + bytes(records[12:])


def with_byte(records: memoryview, position: int, value: int) -> bytes:
    return bytes(records[:position]) + bytes([value]) + bytes(records[position + 1 :])


@pytest.mark.parametrize(
    ("records", "code", "log_start"),
    [
        (b"", ErrorCode.INVALID_RECORD, -1),
        (b"\x00\x01\x02\x03", ErrorCode.INVALID_RECORD, -1),
        (bytes(batch()) * 2, ErrorCode.INVALID_RECORD, -1),
        (cut(batch(b"a", b"b"), 5), ErrorCode.INVALID_RECORD, -1),
        (with_length(batch(b"a"), 40), ErrorCode.CORRUPT_MESSAGE, -1),
        (with_length(batch(b"a"), 100_000), ErrorCode.INVALID_RECORD, -1),
        (with_length(batch(b"a"), -1 & 0xFFFFFFFF), ErrorCode.CORRUPT_MESSAGE, -1),
        (with_byte(batch(b"a"), 16, 3), ErrorCode.CORRUPT_MESSAGE, -1),
        (with_byte(batch(b"a"), 16, 1), ErrorCode.INVALID_RECORD, -1),
        (with_byte(batch(b"a"), 65, 0xFF), ErrorCode.CORRUPT_MESSAGE, -1),
        (with_byte(batch(b"a"), 7, 5), ErrorCode.INVALID_RECORD, 0),
        (marker(5, 0, abort=True), ErrorCode.INVALID_RECORD, 0),
        (batch(b"a", producer_id=5, producer_epoch=0), ErrorCode.INVALID_RECORD, 0),
        (build_batch([]), ErrorCode.INVALID_RECORD, 0),
        (build_batch([Record(-1, 1, b"k", b"v")], last_offset_delta=3), ErrorCode.INVALID_RECORD, 0),
    ],
)
def test_damaged_batches_get_kafkas_codes(records: bytes, code: ErrorCode, log_start: int) -> None:
    """Codes and log starts as recorded from Kafka 4.4."""
    error = refused(new_log(), records)
    assert (error.code, error.log_start_offset) == (code, log_start)


def test_an_incomplete_tail_behind_the_batch_is_ignored() -> None:
    log = new_log()
    append(log, memoryview(bytes(batch(b"a")) + b"\x00\x00\x00"))
    assert (log.log_end_offset, log.size) == (1, len(batch(b"a")))


@pytest.mark.parametrize("codec", [1, 3, 4, 5, 6, 7])
def test_a_payload_that_is_not_what_the_codec_says(codec: int) -> None:
    from crc32c import crc32c

    records = batch(b"a")
    records[22] = codec
    records[17:21] = crc32c(records[21:]).to_bytes(4, "big")
    assert refused(new_log(), records).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_every_codec_is_kept_as_it_is(codec: int) -> None:
    log = new_log()
    sent = bytes(batch(b"a" * 100, b"b", codec=codec))
    append(log, memoryview(sent))
    assert stored(log, 0)[0][16:] == sent[16:]


def test_sizes() -> None:
    log = new_log(max_message_bytes=200, segment_bytes=100)
    assert (refused(log, batch(b"x" * 300)).code, refused(log, batch(b"x" * 300)).log_start_offset) == (
        ErrorCode.MESSAGE_TOO_LARGE,
        -1,
    )
    assert refused(log, batch(b"x" * 100)).code is ErrorCode.RECORD_LIST_TOO_LARGE
    append(log, batch(b"x"))


# -- what a topic may demand ---------------------------------------------------------------------------------


def test_a_compacted_topic_wants_keys() -> None:
    log = new_log(cleanup_policy=frozenset({"compact"}))
    records = build_batch([Record(-1, NOW_MS, b"k", b"1"), Record(-1, NOW_MS, None, b"2")])
    error = refused(log, records)
    assert isinstance(error, RecordErrors)
    assert (error.code, error.log_start_offset) == (ErrorCode.INVALID_RECORD, 0)
    why = "Compacted topic cannot accept message without key in topic partition topic-0"
    assert error.record_errors == ((1, why),)
    assert error.text == (
        "One or more records have been rejected due to 1 record errors in total, and only showing the first "
        f"three errors at most: [RecordError(batchIndex=1, message='{why}')]"
    )
    error = refused(log, batch(*[b"v"] * 5, key=None))
    assert "due to 5 record errors" in error.text
    assert error.text.count("RecordError(") == 3
    append(log, batch(b"1", b"2", key=b"k"))


def test_a_record_without_a_key_is_not_looked_at_any_further() -> None:
    log = new_log(cleanup_policy=frozenset({"compact"}), message_timestamp_before_max_ms=1000)
    old = NOW_MS - 5000
    records = build_batch(
        [Record(-1, old, None, b"1"), Record(-1, old, b"k", b"2"), Record(-1, old, None, b"")]
    )
    error = refused(log, records)
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert [found.message.split()[0] for found in error.record_errors] == [
        "Compacted",
        "Timestamp",
        "Compacted",
    ]
    records = build_batch([Record(-1, old, None, b"1"), Record(-1, NOW_MS, b"k", b"2")])
    assert refused(log, records).code is ErrorCode.INVALID_RECORD


def test_records_of_a_stamped_batch_get_its_time_when_they_are_packed_anew() -> None:
    log = new_log(compression_type="lz4")
    records = [Record(-1, 5, b"k", b"1"), Record(-1, NOW_MS, b"k", b"2")]
    append(log, memoryview(build_batch(records, codec=1, timestamp_type=1, max_timestamp=7)))
    data, header = stored(log, 0)
    assert (header.codec, header.timestamp_type, header.max_timestamp) == (3, 0, 7)
    assert [record.timestamp for record in decode_records(data, header)] == [7, 7]


def test_log_append_time_stamps_the_batch() -> None:
    log = new_log(message_timestamp_type="LogAppendTime")
    result = log.append_as_leader(batch(b"a", b"b", timestamp=5), 0, NOW_MS)
    log.flush_staged()
    assert result.append_time_ms == NOW_MS
    data, header = stored(log, 0)
    assert (header.timestamp_type, header.max_timestamp) == (1, NOW_MS)
    assert [r.timestamp for r in decode_records(data, header)] == [NOW_MS, NOW_MS]
    error = refused(log, batch(b"a", timestamp=5, timestamp_type=1))
    assert (error.code, error.log_start_offset) == (ErrorCode.INVALID_TIMESTAMP, 0)
    why = (
        "Invalid timestamp type in message DefaultRecord(offset=0, timestamp=5, key=1 bytes, value=1 bytes). "
        "Producer should not set timestamp type to LogAppendTime."
    )
    assert error.record_errors == ((0, why),)


def test_timestamps_too_new() -> None:
    log = new_log()
    late = NOW_MS + 3_600_001
    error = refused(log, build_batch([Record(-1, NOW_MS, b"k", b"1"), Record(-1, late, b"k", b"2")]))
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    (found,) = error.record_errors
    assert found.batch_index == 1
    assert found.message == (
        f"Timestamp {late} of message with offset 1 is out of range. "
        f"The timestamp should be within [{NOW_MS - 2**63 + 1}, {late - 1}]"
    )
    assert refused(log, batch(b"1", timestamp=late, codec=2)).code is ErrorCode.INVALID_TIMESTAMP
    append(log, batch(b"1", timestamp=late - 1))
    append(new_log(message_timestamp_after_max_ms=2**63 - 1), batch(b"1", timestamp=late * 2))


def test_timestamps_too_old() -> None:
    log = new_log(message_timestamp_before_max_ms=3_600_000)
    error = refused(log, batch(b"1", b"2", timestamp=1_600_000_000_000))
    assert (error.code, [e.batch_index for e in error.record_errors]) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])
    append(log, batch(b"1", timestamp=-1))
    append(log, batch(b"1", timestamp=NOW_MS))


def test_a_create_time_topic_takes_the_append_bit_away() -> None:
    log = new_log()
    append(log, batch(b"f", timestamp=NOW_MS - 5, timestamp_type=1))
    _, header = stored(log, 0)
    assert (header.timestamp_type, header.max_timestamp) == (0, NOW_MS - 5)


def test_the_topic_may_want_another_codec() -> None:
    log = new_log(compression_type="gzip")
    append(log, batch(b"y" * 200, b"y" * 200))
    append(log, batch(b"y" * 200, codec=3))
    sent = bytes(batch(b"y" * 200, codec=1))
    append(log, memoryview(sent))
    for offset, values in ((0, 2), (2, 1), (3, 1)):
        data, header = stored(log, offset)
        assert header.codec == 1
        assert [r.value for r in decode_records(data, header)] == [b"y" * 200] * values
    assert stored(log, 3)[0][16:] == sent[16:]
    plain = new_log(compression_type="uncompressed")
    append(plain, batch(b"z" * 50, codec=4))
    assert stored(plain, 0)[1].codec == 0


# -- producers -----------------------------------------------------------------------------------------------


def test_a_retry_gets_the_first_answer() -> None:
    log = new_log()
    for sequence in range(6):
        append(log, idempotent(sequence))
    result = log.append_as_leader(idempotent(3), 0, NOW_MS)
    assert (result.duplicate, result.base_offset, result.last_offset, result.append_time_ms) == (
        True,
        3,
        3,
        NOW_MS,
    )
    assert not log.has_staged
    error = refused(log, idempotent(0))
    assert (error.code, error.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)


def test_sequences_in_order_while_staged() -> None:
    log = new_log()
    log.append_as_leader(idempotent(0, 3), 0, NOW_MS)
    log.append_as_leader(idempotent(3, 2), 0, NOW_MS)
    assert log.append_as_leader(idempotent(3, 2), 0, NOW_MS).base_offset == 3
    with pytest.raises(ApiError, match="Out of order"):
        log.append_as_leader(idempotent(6), 0, NOW_MS)
    log.flush_staged()
    assert log.log_end_offset == 5


def test_epochs_of_a_producer() -> None:
    log = new_log()
    append(log, idempotent(100))
    assert refused(log, idempotent(5, epoch=1)).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(log, idempotent(0, epoch=1))
    assert refused(log, idempotent(101)).code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_the_sequence_wraps() -> None:
    log = new_log()
    append(log, idempotent(2**31 - 2))
    append(log, idempotent(2**31 - 1, 3))
    append(log, idempotent(2))
    assert log.append_as_leader(idempotent(2**31 - 1, 3), 0, NOW_MS).base_offset == 1
    assert refused(log, idempotent(4)).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_transactions_hold_the_stable_offset_back() -> None:
    log = new_log()
    append(log, batch(b"before"))
    append(log, idempotent(0, producer_id=1, transactional=True))
    append(log, idempotent(0, producer_id=2, transactional=True))
    assert log.last_stable_offset == 1
    assert refused(log, idempotent(1, producer_id=1)).code is ErrorCode.INVALID_TXN_STATE
    log.append_as_leader(marker(1, 0, abort=True), 0, NOW_MS, AppendOrigin.COORDINATOR)
    log.flush_staged()
    assert log.last_stable_offset == 1  # the marker is not replicated yet
    log.high_watermark = log.log_end_offset
    assert log.last_stable_offset == 2
    append(log, marker(2, 0, abort=False), origin=AppendOrigin.COORDINATOR)
    assert log.last_stable_offset == log.log_end_offset == 5
    assert [tuple(txn) for txn in log.aborted_txns(0, 5)] == [(1, 1, 3, 2)]
    assert log.aborted_txns(4, 5) == []


def test_old_markers_are_fenced() -> None:
    log = new_log()
    append(log, idempotent(0, transactional=True, epoch=3))
    append(log, marker(7, 3, abort=False, coordinator_epoch=5), origin=AppendOrigin.COORDINATOR)
    for records, code in (
        (marker(7, 3, abort=False, coordinator_epoch=4), ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        (marker(7, 2, abort=False, coordinator_epoch=5), ErrorCode.INVALID_PRODUCER_EPOCH),
    ):
        with pytest.raises(AppendError) as caught:
            log.append_as_leader(records, 0, NOW_MS, AppendOrigin.COORDINATOR)
        assert caught.value.code is code


# -- as follower ---------------------------------------------------------------------------------------------


def test_a_follower_keeps_offsets_and_epochs() -> None:
    leader, follower = new_log(), new_log()
    append(leader, idempotent(0, 2), epoch=1)
    append(leader, idempotent(2), epoch=4)
    data = leader.read(0, 1 << 20, 3).parts[0].read()
    follower.append_as_follower(memoryview(data), NOW_MS)
    follower.flush_staged()
    assert follower.read(0, 1 << 20, 3).parts[0].read() == data
    assert follower.epochs.entries() == [(1, 0), (4, 2)]
    assert follower.producers.entries[7].last_sequence == 2
    with pytest.raises(AppendError) as caught:
        follower.append_as_follower(memoryview(data), NOW_MS)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_segment_ends_when_the_records_are_too_new_for_it() -> None:
    log = new_log(segment_ms=10_000)
    for timestamp in (1_000, 5_000, 12_000, 13_000, 3_000, 30_000):
        append(log, batch(timestamp=timestamp))
    assert [segment.base_offset for segment in log.segments] == [0, 2, 5]


def test_staged_batches_end_a_segment_too() -> None:
    log = new_log(segment_ms=10_000)
    for timestamp in (1_000, 12_000):
        log.append_as_leader(batch(timestamp=timestamp), 0, NOW_MS)
    log.flush_staged()
    assert [segment.base_offset for segment in log.segments] == [0, 1]


def test_a_segment_without_record_times_ends_by_its_age() -> None:
    log = new_log(segment_ms=10_000)
    for now_ms in (NOW_MS, NOW_MS + 10_000, NOW_MS + 10_001):
        append(log, batch(timestamp=-1), now_ms=now_ms)
    assert [segment.base_offset for segment in log.segments] == [0, 2]


def test_the_largest_record_of_a_compressed_batch() -> None:
    """As Kafka 4.4: only compressed records are measured, before anything else is looked at."""
    log = new_log(max_decompressed_message_bytes=512)
    # Besides its value a record has 8 bytes: attributes, two deltas, the key, the value's length, headers.
    largest = b"x" * 504
    for codec in Codec:
        append(log, batch(largest, b"v", codec=codec))
    append(log, batch(largest * 8))
    end = log.log_end_offset
    for codec in set(Codec) - {Codec.NONE}:
        error = refused(log, batch(b"v", largest + b"x", codec=codec))
        assert (error.code, error.told, error.record_errors) == (ErrorCode.INVALID_RECORD, False, ())
    for config in (
        {"compression_type": "uncompressed"},
        {"compression_type": "zstd"},
        {"cleanup_policy": frozenset({"compact"})},
        {"message_timestamp_type": "LogAppendTime"},
    ):
        log.config = LogConfig(max_decompressed_message_bytes=512, **config)
        far = batch(b"v", largest + b"xx", key=None, timestamp=NOW_MS * 2, codec=Codec.GZIP)
        assert refused(log, far).code is ErrorCode.INVALID_RECORD
        append(log, batch(largest + b"x"))
    log.config = LogConfig(max_decompressed_message_bytes=513)
    append(log, batch(largest + b"x", codec=Codec.GZIP))
    assert log.log_end_offset == end + 5


def test_a_record_above_a_lowered_limit_is_not_read_for_its_time() -> None:
    log = new_log()
    append(log, batch(b"x" * 600, codec=Codec.GZIP))
    append(log, batch(b"x" * 600, timestamp=NOW_MS + 5))
    log.config = LogConfig(max_decompressed_message_bytes=512)
    with pytest.raises(InvalidRecord):
        log.offset_for_timestamp(NOW_MS)
    found = log.offset_for_timestamp(NOW_MS + 1)
    assert found == TimestampOffset(NOW_MS + 5, 1, 0)
    assert log.max_timestamp_offset() == found


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD, Codec.SNAPPY])
def test_a_small_batch_that_unpacks_to_much_is_a_long_look(codec: Codec) -> None:
    log = new_log(cleanup_policy=frozenset({"compact"}))
    small, bomb = (batch(bytes(size), key=b"k", codec=codec) for size in (1000, 140_000))
    assert len(bomb) < 8 * 1024
    assert log.long_look(small, NOW_MS) is None
    assert log.looked_into_here(memoryview(small), NOW_MS) == small
    look = log.long_look(bomb, NOW_MS)
    assert look is not None
    look.run()
    assert look() == bomb
    with pytest.raises(AppendError):
        log.looked_into_here(memoryview(bomb), NOW_MS)
    assert not TimeLook(bytes(small), parse_batch_header(small), NOW_MS, 0, 1, 1 << 30).is_long
    assert TimeLook(bytes(bomb), parse_batch_header(bomb), NOW_MS, 0, 1, 1 << 30).is_long


def test_who_looks_into_batches_for_long_knows_the_limit() -> None:
    log = new_log(max_decompressed_message_bytes=512)
    many = [b"x" * 10] * 3000
    assert log.long_look(batch(*many), NOW_MS) is None
    look = log.long_look(batch(*many, b"x" * 600, codec=Codec.GZIP), NOW_MS)
    assert look is not None
    look.run()
    with pytest.raises(AppendError):
        look()
