"""What compaction keeps and drops, rule by rule, and which log it takes."""

from __future__ import annotations

from struct import pack

import pytest

from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.cleaner_map import SLOT_BYTES, OffsetMap, Verdicts
from kbroker.storage.cleaner_plan import CleanerState
from kbroker.storage.cleaner_records import CleanError
from kbroker.storage.file_names import CLEANED
from kbroker.storage.log import AppendOrigin, Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk
from tests.storage.cleaning import COMPACT, batches, clean, committed, force, records, table
from tests.storage.kafka_dirs import FOR_EVER, NOW_MS as KAFKA_NOW_MS, kafka_disk, load
from tests.storage.world import NOW_MS, append, idempotent, marker, new_log

RETENTION_MS = 1000
DAY_MS = 24 * 3600 * 1000


def compacted(**config: object) -> Log:
    return new_log(
        cleanup_policy=COMPACT, delete_retention_ms=RETENTION_MS, min_cleanable_dirty_ratio=0.0, **config
    )


def put(
    log: Log, *pairs: tuple[bytes | None, bytes | None], timestamp: int = NOW_MS, **header: object
) -> int:
    made = [Record(-1, timestamp + i, key, value) for i, (key, value) in enumerate(pairs)]
    return append(log, memoryview(bytearray(build_batch(made, **header))))


def end_txn(log: Log, producer_id: int, *, abort: bool) -> int:
    return append(log, marker(producer_id, 0, abort=abort), origin=AppendOrigin.COORDINATOR)


def txn(producer_id: int, sequence: int) -> dict[str, object]:
    return {
        "producer_id": producer_id,
        "producer_epoch": 0,
        "base_sequence": sequence,
        "transactional": True,
    }


def roll(log: Log) -> None:
    log.roll(None, NOW_MS)
    log.fsync()  # as housekeeping does when a segment is closed


# -- records -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", range(5))
def test_superseded_records_go_and_the_rest_keeps_offset_time_and_codec(codec: int) -> None:
    log = compacted()
    put(log, (b"a", b"1"), (b"b", b"2"), (b"c", b"3"), codec=codec)
    put(log, (b"b", b"4"), codec=codec)
    roll(log)
    force(log, CleanerState(), NOW_MS)
    [first, second] = batches(log)
    assert first[1] == [Record(0, NOW_MS, b"a", b"1"), Record(2, NOW_MS + 2, b"c", b"3")]
    assert second[1] == [Record(3, NOW_MS, b"b", b"4")]
    header = first[0]
    assert (header.base_offset, header.last_offset, header.codec) == (0, 2, codec)
    assert (header.base_timestamp, header.max_timestamp) == (NOW_MS, NOW_MS + 2)


def test_a_batch_that_loses_its_youngest_record_is_as_old_as_the_rest() -> None:
    log = compacted()
    put(log, (b"a", b"1"), (b"b", b"2"))
    put(log, (b"b", b"3"), timestamp=NOW_MS - 5)
    roll(log)
    force(log, CleanerState(), NOW_MS)
    assert [header.max_timestamp for header, _ in batches(log)] == [NOW_MS, NOW_MS - 5]
    assert log.max_timestamp_offset().offset == 0


def test_records_without_a_key_go() -> None:
    log = new_log(delete_retention_ms=RETENTION_MS)
    put(log, (None, b"1"), (b"a", b"2"), (None, None))
    log.config = LogConfig(cleanup_policy=COMPACT)
    roll(log)
    force(log, CleanerState(), NOW_MS)
    assert [record.offset for record in records(log).values()] == [1]


def test_untouched_segments_are_not_written_again() -> None:
    log = compacted()
    put(log, (b"a", b"1"))
    roll(log)
    put(log, (b"b", b"1"))
    roll(log)
    first, second, _ = log.segments
    state = CleanerState()
    log.config = LogConfig(cleanup_policy=COMPACT, segment_bytes=first.size)
    assert force(log, state, NOW_MS).bytes_written == 0
    assert list(log.segments)[:2] == [first, second]
    put(log, (b"b", b"2"))
    roll(log)
    force(log, state, NOW_MS)
    assert log.segments[0] is first
    assert log.segments[1] is not second


def test_neighbours_are_joined() -> None:
    log = compacted()
    for i in range(6):
        put(log, (b"%d" % i, b"x" * 100))
        roll(log)
    size = log.segments.first.size
    log.config = LogConfig(cleanup_policy=COMPACT, segment_bytes=3 * size)
    force(log, CleanerState(), NOW_MS)
    assert log.segments.bases == [0, 3, 6]
    assert list(records(log)) == list(range(6))
    assert list(log.snapshots) == [3, 6]


def test_wide_gaps_within_a_batch() -> None:
    """A batch of another broker, compacted down to the first and the last of 2^17 records."""
    log = compacted()
    log.high_watermark = 0
    made = [Record(0, NOW_MS, b"a", b"1"), Record((1 << 17) - 1, NOW_MS, b"b", b"2")]
    log.append_as_follower(memoryview(build_batch(made)), NOW_MS)
    log.flush_staged()
    log.high_watermark = log.log_end_offset
    put(log, (b"a", b"3"))
    roll(log)
    force(log, CleanerState(), NOW_MS)
    assert [(r.offset, r.value) for r in records(log).values()] == [((1 << 17) - 1, b"2"), (1 << 17, b"3")]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [0, 1, 2, 3])
def test_old_messages(magic: int, codec: int) -> None:
    log = compacted()
    disk: MemoryDisk = log.directory.disk
    disk.now_ms = NOW_MS
    time = NOW_MS if magic else -1
    contents = [(b"a", b"1"), (b"b", b"2"), (b"c", None), (b"a", b"4"), (None, b"5")]
    old = build_message_set(
        magic, [Record(i, time, key, value) for i, (key, value) in enumerate(contents)], codec
    )
    file = log.segments.active.file()
    file.write(0, old)
    log.segments.active.size = len(old)
    log.log_end_offset = log.staged_end_offset = log.high_watermark = 5
    log.restart_tail()
    put(log, (b"b", b"6"))
    roll(log)
    state = CleanerState()
    force(log, state, NOW_MS)
    assert [(r.offset, r.key, r.value, r.timestamp) for r in records(log).values()] == [
        (2, b"c", None, time),
        (3, b"a", b"4", time),
        (5, b"b", b"6", NOW_MS),
    ]
    # A tombstone without a horizon goes by the age of what was cleaned before.
    disk.set_modified_ms(log.segments[0].path, NOW_MS)
    put(log, (b"d", b"7"), timestamp=NOW_MS + 1)
    roll(log)
    disk.set_modified_ms(log.segments[1].path, NOW_MS + 2 * RETENTION_MS)
    put(log, (b"e", b"8"))
    roll(log)
    state.set_checkpoint(log, 7)
    force(log, state, NOW_MS + 3 * RETENTION_MS)
    assert [r.offset for r in records(log).values()] == [3, 5, 6, 7]


# -- tombstones ----------------------------------------------------------------------------------------------


def test_a_tombstone_lives_for_its_time_after_the_first_cleaning() -> None:
    log, state = compacted(), CleanerState()
    put(log, (b"a", b"1"), (b"b", b"1"))
    put(log, (b"a", None), (b"b", b"2"))
    roll(log)
    clean(log, state, NOW_MS)
    [(header, content)] = batches(log)
    assert header.delete_horizon_ms == NOW_MS + RETENTION_MS
    assert content == [Record(2, NOW_MS, b"a", None), Record(3, NOW_MS + 1, b"b", b"2")]
    assert header.max_timestamp == NOW_MS + 1
    # Nothing new was written: only the horizon is a reason to clean again.
    assert clean(log, state, NOW_MS + RETENTION_MS - 1) is None
    assert clean(log, state, NOW_MS + RETENTION_MS, removable_to=2).bytes_written == 0
    state.set_horizon(log, NOW_MS)
    clean(log, state, NOW_MS + RETENTION_MS)
    assert [record.offset for record in records(log).values()] == [3]
    assert clean(log, state, NOW_MS + DAY_MS) is None


def test_tombstones_without_a_lifetime_go_with_the_next_round() -> None:
    log, state = compacted(), CleanerState()
    log.config = LogConfig(cleanup_policy=COMPACT, delete_retention_ms=0)
    put(log, (b"a", None), (b"b", b"1"))
    roll(log)
    clean(log, state, NOW_MS)
    assert list(records(log)) == [0, 1]
    clean(log, state, NOW_MS + 1)
    assert list(records(log)) == [1]
    assert clean(log, state, NOW_MS + 1) is None


def test_a_horizon_that_is_set_does_not_move() -> None:
    log, state = compacted(), CleanerState()
    put(log, (b"a", None))
    roll(log)
    force(log, state, NOW_MS)
    put(log, (b"b", b"1"))
    roll(log)
    force(log, state, NOW_MS + 10)
    assert [header.delete_horizon_ms for header, _ in batches(log)] == [NOW_MS + RETENTION_MS, None]


# -- transactions, producers ---------------------------------------------------------------------------------


def test_aborted_data_goes_at_once_and_its_marker_later() -> None:
    log, state = compacted(), CleanerState()
    put(log, (b"a", b"good"))
    put(log, (b"a", b"bad"), **txn(5, 0))
    end_txn(log, 5, abort=True)
    put(log, (b"b", b"1"), **txn(5, 1))
    end_txn(log, 5, abort=False)
    roll(log)
    force(log, state, NOW_MS)
    assert table(committed(log)) == {b"a": b"good", b"b": b"1"}
    assert [(h.base_offset, h.is_control, h.record_count) for h, _ in batches(log)] == [
        (0, False, 1),
        (2, True, 1),
        (3, False, 1),
        (4, True, 1),
    ]
    assert [entry.last_offset for entry in log.aborted_txns(0, 5)] == [2]
    put(log, (b"b", b"2"))
    roll(log)
    force(log, state, NOW_MS + 1)
    # No data of the first was met: its marker's time begins. Of the second the last batch stays, empty.
    horizons = {header.base_offset: header.delete_horizon_ms for header, _ in batches(log)}
    assert horizons == {0: None, 2: NOW_MS + 1 + RETENTION_MS, 3: None, 4: None, 5: None}
    assert [header.record_count for header, _ in batches(log)] == [1, 1, 0, 1, 1]
    assert log.aborted_txns(0, 5) == []
    force(log, state, NOW_MS + 1 + RETENTION_MS)
    assert [header.base_offset for header, _ in batches(log)] == [0, 3, 4, 5]


def test_nothing_of_an_open_transaction_is_touched() -> None:
    log = compacted()
    put(log, (b"a", b"1"))
    roll(log)
    put(log, (b"a", b"2"), **txn(5, 0))
    roll(log)
    put(log, (b"a", b"3"))
    roll(log)
    assert log.last_stable_offset == 1
    state = CleanerState()
    force(log, state, NOW_MS)
    assert list(records(log)) == [0, 1, 2]
    assert state.checkpoint(log) == 1


def test_the_last_batch_of_a_producer_stays_as_an_empty_one() -> None:
    log = compacted()
    append(log, idempotent(0, 2))
    append(log, idempotent(2, 3))
    put(log, (b"k", b"new"))
    put(log, (b"x", b"1"))
    roll(log)
    force(log, CleanerState(), NOW_MS)
    [(empty, content), *_] = batches(log)
    assert content == []
    assert (empty.base_offset, empty.last_offset, empty.last_sequence) == (2, 4, 4)
    assert empty.size == 61
    log.producers.entries.clear()
    from kbroker.storage.recovery import rebuild_producers

    again = rebuild_producers(log.directory, log.path, log.segments, {}, log.log_end_offset, FOR_EVER)
    assert again.entries[7].last_sequence == 4


def test_a_log_ends_where_it_ended() -> None:
    log = compacted()
    put(log, (b"a", b"1"))
    put(log, (b"b", None), **txn(5, 0))
    end_txn(log, 5, abort=True)
    roll(log)
    put(log, (b"a", b"2"), (b"a", b"3"))
    roll(log)
    log.producers.entries.clear()
    state = CleanerState()
    force(log, state, NOW_MS)
    force(log, state, NOW_MS + 5 * RETENTION_MS)
    assert batches(log)[-1][0].next_offset == 5
    assert log.log_end_offset == 5


# -- bounds, damage ------------------------------------------------------------------------------------------


def test_little_memory_takes_several_rounds() -> None:
    log, state = compacted(), CleanerState()
    for i in range(40):
        put(log, (b"%d" % (i % 20), b"%d" % i))
    roll(log)
    rounds = 0
    while clean(log, state, NOW_MS, map_bytes=8 * SLOT_BYTES) is not None:
        rounds += 1
    assert rounds > 3
    assert state.checkpoint(log) == 40
    assert table(committed(log)) == {b"%d" % (i % 20): b"%d" % i for i in range(20, 40)}


def test_the_map_is_a_map() -> None:
    keys = OffsetMap(100 * SLOT_BYTES, 0.9)
    for number in range(keys.capacity):
        assert keys.put(b"%d" % number, number) == -1
    assert keys.is_full
    assert keys.entries == keys.capacity
    for number in range(keys.capacity):
        assert keys.put(b"%d" % number, number + 1000) == number
        assert keys.get(b"%d" % number) == number + 1000
    assert keys.get(b"none") == -1


def test_verdicts_across_pages() -> None:
    verdicts = Verdicts(1 << 20)
    verdicts.mark(1023, 1)
    verdicts.mark(1024, 2)
    assert verdicts.of_batch(1020, 1026) == bytes([0, 0, 0, 1, 2, 0, 0])
    assert verdicts.of_batch(1025, 5000) is None
    assert [verdicts.of(offset) for offset in (0, 1023, 1024, 99999)] == [0, 1, 2, 0]


@pytest.mark.parametrize("position", [-1, 30, 8])
def test_damage_stops_the_cleaning_and_changes_nothing(position: int) -> None:
    log = compacted()
    put(log, (b"a", b"1"))
    put(log, (b"a", b"2"))
    roll(log)
    file = log.segments.first.file()
    at = position % log.segments.first.size
    file.write(at, bytes([file.read(at, 1)[0] ^ 0x55]))
    before = log.directory.disk.read_file(log.segments.first.path)
    with pytest.raises(CleanError):
        force(log, CleanerState(), NOW_MS)
    assert log.directory.disk.read_file(log.segments.first.path) == before


@pytest.mark.parametrize(
    "payload",
    [
        b"\x20\x00\x00\x00\x02a\x02b\x00",  # longer than the batch
        b"\x10\x00\x00\x00\x7ea\x02b\x00",  # a key beyond the record
        b"\x10\x00\x00\x02\x02a\x02b\x00",  # an offset behind the batch's last
        b"\x10\x00\x00\x00\x02a\x02b\x00\x00",  # a byte too many
    ],
)
def test_records_that_break_the_format(payload: bytes) -> None:
    from crc32c import crc32c

    log = new_log()
    checked = pack(">hiqqqhii", 0, 0, NOW_MS, NOW_MS, -1, -1, -1, 1) + payload
    made = pack(">qiibI", 0, 49 + len(payload), 0, 2, crc32c(checked)) + checked
    append(log, memoryview(bytearray(made)))
    log.config = LogConfig(cleanup_policy=COMPACT)
    roll(log)
    with pytest.raises(CleanError):
        force(log, CleanerState(), NOW_MS)


def test_a_swap_is_refused_when_segments_changed_meanwhile() -> None:
    from kbroker.storage.cleaner import Cleaner
    from kbroker.storage.cleaner_plan import CleanerLimits, make_job
    from kbroker.storage.cleaner_swap import swap_in

    log = compacted()
    for i in range(3):
        put(log, (b"a", b"%d" % i))
        roll(log)
    job, segments = make_job(CleanerState()._consider(log, NOW_MS), CleanerLimits(1 << 16), NOW_MS)
    [group] = Cleaner(log.directory.disk, job).run()
    log.delete_records_to(1)
    log.delete_old_segments(NOW_MS)
    assert not swap_in(log, segments, group.sizes, NOW_MS)
    assert list(records(log)) == [1, 2]
    assert [e.name for e in log.directory.disk.list_dir(log.path) if e.name.endswith(CLEANED)]
    force(log, CleanerState(), NOW_MS)
    assert not [e.name for e in log.directory.disk.list_dir(log.path) if e.name.endswith(CLEANED)]


# -- which log -----------------------------------------------------------------------------------------------


def test_lags() -> None:
    log, state = compacted(min_compaction_lag_ms=100), CleanerState()
    for i in range(3):
        put(log, (b"a", b"%d" % i), timestamp=NOW_MS + 50 * i)
        roll(log)
    assert state.choose([log], NOW_MS + 100).upper_bound == 1
    assert state.choose([log], NOW_MS + 99) is None
    assert state.choose([log], NOW_MS + 300).upper_bound == 3
    log.config = LogConfig(cleanup_policy=COMPACT, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=500)
    assert state.choose([log], NOW_MS + 500) is None
    assert state.choose([log], NOW_MS + 501).due


def test_a_segment_is_closed_in_time_for_the_largest_lag() -> None:
    log = compacted(max_compaction_lag_ms=500)
    put(log, (b"a", b"1"))
    put(log, (b"a", b"2"), timestamp=NOW_MS + 500)
    assert log.segments.bases == [0]
    put(log, (b"a", b"3"), timestamp=NOW_MS + 501)
    assert log.segments.bases == [0, 2]


def test_only_compacted_and_dirty_logs_are_chosen() -> None:
    log, state = compacted(), CleanerState()
    put(log, (b"a", b"1"))
    assert state.choose([log], NOW_MS) is None, "the active segment"
    roll(log)
    log.config = LogConfig()
    assert state.choose([log], NOW_MS) is None, "another policy"
    log.config = LogConfig(cleanup_policy=COMPACT)
    found = state.choose([log], NOW_MS)
    assert (found.first_dirty, found.upper_bound, found.dirty_ratio) == (0, 1, 1.0)
    state.uncleanable[log.topic_partition] = "damaged"
    assert state.choose([log], NOW_MS) is None
    state.uncleanable.clear()
    state.set_checkpoint(log, 99)
    assert state.choose([log], NOW_MS).first_dirty == 0, "a checkpoint behind the log's end"
    state.set_checkpoint(log, 1)
    assert state.choose([log], NOW_MS) is None
    state.truncated(log, 0)
    assert state.checkpoint(log) == 0
    log.topic_id = bytes(16)
    assert state.checkpoint(log) is None, "another topic of the same name"


# -- written by Kafka ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kafka-4.4.0-single", "kafka-4.4.0-crashed"])
def test_logs_of_kafka(name: str) -> None:
    """All topics, as if they were compacted: five codecs, open and aborted transactions, DeleteRecords."""
    logs = load(kafka_disk(name), cleanup_policy=COMPACT, segment_bytes=16384, file_delete_delay_ms=0)
    shrunk = 0
    for log in logs.logs.values():
        log.high_watermark = log.log_end_offset
        log.roll(None, KAFKA_NOW_MS)
        keyed = [record for record in committed(log) if record.key is not None]
        size, state = log.size, CleanerState()
        for _ in range(2):
            force(log, state, KAFKA_NOW_MS)
            after = [record for record in committed(log) if record.key is not None]
            assert table(after) == table(keyed), log
        shrunk += log.size < size
    assert shrunk >= 5


def test_what_is_not_durable_supersedes_nothing() -> None:
    """A power cut may take the newer value; then the older one must still be there."""
    log, state = compacted(), CleanerState()
    put(log, (b"a", b"durable"))
    roll(log)
    put(log, (b"a", b"newer"))
    log.roll(None, NOW_MS)
    found = state.choose([log], NOW_MS)
    assert found.upper_bound == 1
    log.fsync()
    assert state.choose([log], NOW_MS).upper_bound == 2
