"""Cases by their number: what has gone wrong elsewhere, and what storage must make of it.

Those of other rooms: 41 on real failovers, 46 (tests/broker/test_kraft_node.py, tests/sim) and 79 need
replicas or a controller; 95 and 98 need a disk (tests/chaos).
"""

from __future__ import annotations

import errno
import random

import pytest

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import Record, build_batch, check_crc, iter_batches
from kbroker.storage.cleaner_plan import CleanerState
from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.storage.cleaning import COMPACT, batches, force, records
from tests.storage.world import (
    NOW_MS,
    TOPIC_ID,
    TP,
    append,
    batch,
    idempotent,
    manager,
    marker,
    new_log,
    offsets,
)

PATH = f"/data/{TP}"
DAY_MS = 86_400_000


def code_of(log, records_, **how) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        append(log, records_, **how)
    return caught.value.code


def opened(disk, **config):
    """The log after a start; all of it committed."""
    log = manager(disk, **config).get(TP)
    log.high_watermark = log.log_end_offset
    return log


def filled(count=10, **config):
    """(disk, log manager, log) with idempotent batches of one record."""
    disk = MemoryDisk()
    logs = manager(disk, **config)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(**config), NOW_MS)
    for sequence in range(count):
        append(log, idempotent(sequence))
    return disk, logs, log


# -- idempotent producers ------------------------------------------------------------------------------------


def test_35_any_of_the_last_five_batches_sent_again() -> None:
    _, _, log = filled(8)
    for sequence in range(3, 8):
        result = log.append_as_leader(idempotent(sequence), 0, NOW_MS)
        assert (result.duplicate, result.base_offset) == (True, sequence)
    log.flush_staged()
    assert log.log_end_offset == 8


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("how", ["stop", "truncation"])
def test_35_any_of_the_last_five_after_the_state_came_from_a_snapshot(how, rolled) -> None:
    """A snapshot holds the last one only: the others are looked up."""
    disk, logs, log = filled(10)
    if rolled:
        log.roll()
    if how == "stop":
        for sequence in range(10, 12):
            append(log, idempotent(sequence))
        logs.close()
        log = opened(disk)
    else:
        log.write_snapshot(log.log_end_offset)
        append(log, idempotent(10))
        append(log, idempotent(11))
        append(log, idempotent(12))
        log.truncate_to(12)
    assert len(log.producers.entries[7].batches) < 5
    for sequence in range(7, 12):
        result = log.append_as_leader(idempotent(sequence), 0, NOW_MS)
        assert (result.duplicate, result.base_offset) == (True, sequence), sequence
    assert code_of(log, idempotent(6)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert code_of(log, idempotent(13)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(log, idempotent(12))
    assert log.log_end_offset == 13


def test_35_what_does_not_lead_up_to_the_last_one_is_not_remembered() -> None:
    disk, logs, log = filled(2)
    append(log, idempotent(0, epoch=1))
    logs.close()
    log = opened(disk)
    assert log.append_as_leader(idempotent(0, epoch=1), 0, NOW_MS).duplicate
    assert code_of(log, idempotent(1, epoch=0)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert code_of(log, idempotent(2, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_36_an_older_batch_and_a_gap() -> None:
    _, _, log = filled(8)
    assert code_of(log, idempotent(2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert code_of(log, idempotent(9)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.staged_end_offset == 8


@pytest.mark.parametrize("seed", range(12))
def test_37_a_repetition_within_the_window_is_never_out_of_order(seed) -> None:
    """Leader and follower change places, are restarted and roll; five batches may be on their way."""
    rng = random.Random(seed)
    disks = [MemoryDisk(), MemoryDisk()]
    managers = [manager(disk) for disk in disks]
    logs = [each.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS) for each in managers]
    sent: list[tuple[int, int, int]] = []  # first sequence, records, offset
    leads = sequence = 0

    def send(at: int) -> None:
        first, count, offset = sent[at]
        result = logs[leads].append_as_leader(idempotent(first, count), epoch, NOW_MS)
        assert (result.duplicate, result.base_offset) == (offset < logs[leads].log_end_offset, offset)
        logs[leads].flush_staged()

    def copy(batches_: int) -> None:
        leader, follower = logs[leads], logs[1 - leads]
        for _ in range(batches_):
            for part in leader.read(follower.log_end_offset, 1, leader.log_end_offset).parts:
                follower.append_as_follower(memoryview(bytearray(part.read())), NOW_MS)
                follower.flush_staged()

    for epoch in range(60):
        for _ in range(rng.randrange(12)):
            what, on_its_way = rng.random(), logs[1 - leads].log_end_offset
            if what < 0.5 and sum(offset >= on_its_way for *_, offset in sent) < 5:
                sent.append((sequence, rng.randint(1, 3), logs[leads].log_end_offset))
                sequence += sent[-1][1]
                send(-1)
            elif what < 0.7 and sent:
                send(-rng.randint(1, min(5, len(sent))))
            else:
                copy(rng.randint(1, 3))
        if rng.random() < 0.5:
            which = rng.randrange(2)
            if rng.random() < 0.5:
                managers[which].close()
            else:
                disks[which] = disks[which].crash(Tail.KEPT)
            managers[which] = manager(disks[which])
            logs[which] = managers[which].get(TP)
        if rng.random() < 0.3:
            logs[leads].roll()
        if rng.random() < 0.6:
            leads = 1 - leads
            logs[1 - leads].truncate_to(logs[leads].log_end_offset)
            epoch += 1
            for at in range(max(0, len(sent) - 5), len(sent)):
                send(at)


def test_39_a_producer_that_nobody_remembers_may_begin_anywhere() -> None:
    log = new_log()
    assert append(log, idempotent(77)) == 0
    log.producers.remove_expired(NOW_MS + 2 * DAY_MS, DAY_MS)
    assert append(log, idempotent(500)) == 1
    log.delete_records_to(2)
    assert append(log, idempotent(501)) == 2


def test_40_a_new_epoch_begins_at_0_and_the_old_one_is_over() -> None:
    _, _, log = filled(3)
    assert code_of(log, idempotent(3, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, idempotent(0, epoch=1)) == 3
    assert code_of(log, idempotent(3)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_41_a_follower_folds_what_it_copies_and_knows_the_sequences_as_leader() -> None:
    _, _, leader = filled(6)
    follower = new_log()
    for sequence in (0, 1, 4, 5):  # it validates nothing: compaction on the leader may have left a gap
        part = leader.read(sequence, 1, sequence + 1)
        follower.append_as_follower(memoryview(bytearray(part.parts[0].read())), NOW_MS)
    follower.flush_staged()
    assert follower.append_as_leader(idempotent(5), 1, NOW_MS).duplicate
    assert append(follower, idempotent(6), epoch=1) == 6


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("hurt", ["missing", "empty", "cut", "flipped", "beyond the end"])
def test_42_a_bad_producer_snapshot(hurt, clean) -> None:
    disk, logs, _ = filled(10, segment_bytes=300)
    if clean:
        logs.close()
    names = [entry for entry in disk.list_dir(PATH) if entry.name.endswith(".snapshot")]
    last = f"{PATH}/{names[-1].name}"
    if hurt == "missing":
        disk.remove(last)
    elif hurt == "empty":
        disk.open(last).truncate(0)
    elif hurt == "cut":
        disk.open(last).truncate(names[-1].size // 2)
    elif hurt == "flipped":
        disk.open(last).write(20, b"\xff")
    else:
        disk.write_file(f"{PATH}/{99:020d}.snapshot", disk.read_file(last))
    log = opened(disk if clean else disk.crash(Tail.KEPT), segment_bytes=300)
    assert log.producers.entries[7].last_sequence == 9
    assert append(log, idempotent(10)) == 10
    assert f"{99:020d}.snapshot" not in [entry.name for entry in log.directory.disk.list_dir(PATH)]


@pytest.mark.parametrize("clean", [True, False])
def test_43_silent_producers_expire_alike_at_run_time_and_after_a_start(clean) -> None:
    disk, logs, log = filled(1)
    append(log, idempotent(0, producer_id=8, transactional=True))
    later = NOW_MS + DAY_MS + 1
    log.producers.remove_expired(later, log.config.producer_id_expiration_ms)
    assert list(log.producers.entries) == [8], "never with an open transaction"
    if clean:
        logs.close()
    again = manager(disk if clean else disk.crash(Tail.KEPT))
    again.tick_producers(later)
    assert list(again.get(TP).producers.entries) == [8]


def test_44_an_error_of_the_broker_is_one_that_producers_retry() -> None:
    disk, _, log = filled(1)

    def fail(operation, path):
        if operation == "write":
            raise OSError(errno.EIO, "Input/output error")

    disk.on_step = fail
    assert code_of(log, idempotent(1)) is ErrorCode.KAFKA_STORAGE_ERROR
    assert code_of(log, idempotent(1)) is ErrorCode.KAFKA_STORAGE_ERROR


# -- compaction, retention, look-ups -------------------------------------------------------------------------


def table_log(*pairs, roll_each=True, **config):
    log = new_log(cleanup_policy=COMPACT, **config)
    for key, value in pairs:
        append(log, batch(value, key=key))
        if roll_each:
            log.roll(None, NOW_MS)
    return log


def test_77_compaction_with_holes() -> None:
    log = table_log((b"a", b"1"), (b"b", b"1"), (b"a", b"2"), (b"a", b"3"))
    force(log, CleanerState(), NOW_MS)
    assert {offset: found.value for offset, found in records(log).items()} == {1: b"1", 3: b"3"}
    part = log.read(2, 1 << 20, 4)
    assert part.next_offset >= 3, "a fetch in a hole gets the next batch"
    assert log.log_end_offset == 4
    assert batches(log)[-1][0].next_offset == 4


def test_78_a_tombstone_stays_for_its_time_after_the_first_cleaning() -> None:
    log, state = new_log(cleanup_policy=COMPACT, delete_retention_ms=100), CleanerState()
    append(log, batch(b"1", key=b"a"))
    append(log, memoryview(bytearray(build_batch([Record(-1, NOW_MS, b"a", None)]))))
    log.roll(None, NOW_MS)
    for now_ms, there in ((NOW_MS, True), (NOW_MS + 99, True), (NOW_MS + 101, False)):
        append(log, batch(b"x", key=b"%d" % now_ms))
        log.roll(None, now_ms)
        force(log, state, now_ms)
        assert (1 in records(log)) is there, now_ms - NOW_MS


def test_80_the_cleaner_stops_at_the_stable_offset_and_at_the_active_segment() -> None:
    log, state = table_log((b"a", b"1"), (b"a", b"2")), CleanerState()
    log.high_watermark = 1
    assert force(log, state, NOW_MS) is None or set(records(log)) == {0, 1}
    log.high_watermark = 2
    append(log, idempotent(0, transactional=True))
    log.roll(None, NOW_MS)
    force(log, state, NOW_MS)
    assert 2 in records(log), "nothing of an open transaction"
    append(log, marker(7, 0, abort=True), origin=AppendOrigin.COORDINATOR)
    log.roll(None, NOW_MS)
    force(log, state, NOW_MS)
    assert 2 not in records(log), "what was aborted goes at once"
    assert any(header.is_control for header, _ in batches(log)), "before its marker"
    append(log, batch(b"9", key=b"z"))
    append(log, batch(b"10", key=b"z"))
    force(log, state, NOW_MS)
    assert {4, 5} <= set(records(log)), "not in the active segment"


def test_81_a_crash_during_a_swap_loses_no_key() -> None:
    """At each step; test_cleaner_crash.py and test_crash_matrix.py do it to histories drawn at random."""
    config = {"cleanup_policy": COMPACT, "file_delete_delay_ms": 0}

    def before():
        disk = MemoryDisk()
        log = manager(disk, **config).get_or_create(TP, TOPIC_ID, LogConfig(**config), NOW_MS)
        for number in range(6):
            append(log, batch(b"%d" % number, key=b"%d" % (number % 2)))
            log.roll(None, NOW_MS)
        log.fsync()
        return disk, log

    disk, log = before()
    start = disk.steps
    force(log, CleanerState(), NOW_MS)
    for cut_at in range(disk.steps - start):
        disk, log = before()

        def cut(operation, path, disk=disk, limit=disk.steps + cut_at):
            if disk.steps >= limit:
                raise KeyboardInterrupt

        disk.on_step = cut
        with pytest.raises(KeyboardInterrupt):
            force(log, CleanerState(), NOW_MS)
        for tail in Tail:
            found = records(opened(disk.crash(tail, random.Random(cut_at).randrange)))
            assert (found[4].value, found[5].value) == (b"4", b"5"), (cut_at, tail)


def test_83_look_ups_by_time() -> None:
    log = new_log(segment_bytes=250)
    for stamp in (10, 20, 20, 15, 30, 5):
        append(log, batch(timestamp=NOW_MS + stamp))
    asked = {0: 0, 10: 0, 11: 1, 20: 1, 21: 4, 30: 4}
    found = {stamp: log.offset_for_timestamp(NOW_MS + stamp).offset for stamp in asked}
    assert found == asked
    assert log.offset_for_timestamp(NOW_MS + 31) is None
    assert log.max_timestamp_offset().offset == 4
    log.delete_records_to(2)
    assert log.offset_for_timestamp(0).offset == 2
    log.truncate_to(4)
    assert log.offset_for_timestamp(NOW_MS + 21) is None
    assert log.max_timestamp_offset().offset == 2


def test_84_deleted_records_stay_deleted() -> None:
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    append(log, batch(b"a", b"b", b"c"))
    append(log, idempotent(0, transactional=True))
    log.high_watermark = 4
    with pytest.raises(ApiError) as caught:
        log.delete_records_to(5)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.delete_records_to(1) == 1, "inside a batch"
    with pytest.raises(ApiError) as caught:
        log.read(0, 1 << 20, 4)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    logs.checkpoint_log_starts()
    after = opened(disk.crash(Tail.KEPT))
    assert after.log_start_offset == 1
    assert after.delete_records_to(-1) == 4, "also under a transaction"
    assert after.last_stable_offset == 4


def test_85_retention_and_the_high_watermark() -> None:
    log = new_log(segment_bytes=150, retention_bytes=1, retention_ms=1)
    for number in range(4):
        append(log, batch(b"%d" % number))
    log.high_watermark = 2
    log.delete_old_segments(NOW_MS + DAY_MS)
    assert log.log_start_offset <= 2
    log.high_watermark = 4
    log.delete_old_segments(NOW_MS + DAY_MS)
    assert (log.log_start_offset, log.log_end_offset, offsets(log)) == (4, 4, [])
    assert append(log, batch()) == 4


# -- crashes and disks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [1, 12, 60, 61, 68])
def test_87_a_torn_last_batch_is_cut(keep) -> None:
    disk, _, log = filled(5)
    size = log.segments.active.size
    log.segments.active.file().truncate(size - size // 5 + keep)
    after = opened(disk.crash(Tail.KEPT))
    assert (after.log_end_offset, offsets(after)) == (4, [0, 1, 2, 3])
    assert after.segments.active.file().size() == size - size // 5


@pytest.mark.parametrize("zeros", [1, 4096, 1 << 20])
def test_88_zeros_are_the_end_of_the_log(zeros) -> None:
    disk, _, log = filled(5)
    size = log.segments.active.size
    log.segments.active.file().truncate(size + zeros)
    after = opened(disk.crash(Tail.KEPT))
    assert (after.log_end_offset, after.segments.active.file().size()) == (5, size)
    empty = MemoryDisk()
    manager(empty).get_or_create(TP, TOPIC_ID, LogConfig(), NOW_MS)
    empty.open(f"{PATH}/{0:020d}.log", create=True)
    assert opened(empty.crash(Tail.KEPT)).log_end_offset == 0


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("suffix", ["index", "timeindex"])
@pytest.mark.parametrize("hurt", ["missing", "longer than the data", "bogus"])
def test_89_indexes_that_are_not_true(hurt, suffix, clean) -> None:
    disk, logs, _ = filled(40, segment_bytes=1500, index_interval_bytes=100)
    if clean:
        logs.close()
    else:
        disk = disk.crash(Tail.KEPT)
    names = [entry.name for entry in disk.list_dir(PATH) if entry.name.endswith(f".{suffix}")]
    for name in names:
        if hurt == "missing":
            disk.remove(f"{PATH}/{name}")
        else:
            size = disk.open(f"{PATH}/{name}").size()
            noise = bytes(range(1, 97)) * 10 if hurt == "bogus" else bytes(12 * 8 * 50)
            disk.open(f"{PATH}/{name}").write(0 if hurt == "bogus" else size, noise)
    if hurt == "bogus":
        disk.write_file(f"{PATH}/{77:020d}.{suffix}", b"of no segment")
    after = opened(disk, segment_bytes=1500, index_interval_bytes=100)
    assert offsets(after) == list(range(40))
    assert all(offsets(after, start)[0] == start for start in range(40))
    assert after.offset_for_timestamp(NOW_MS).offset == 0
    assert not disk.exists(f"{PATH}/{77:020d}.{suffix}")


@pytest.mark.parametrize("content", [b"", b"garbage", b"0\n1\n", bytes(40)])
@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
        "cleaner-offset-checkpoint",
        f"{TP}/leader-epoch-checkpoint",
    ],
)
def test_90_a_bad_checkpoint_counts_as_absent(name, content) -> None:
    disk, logs, log = filled(5)
    log.assign_epoch(3, 5)
    append(log, idempotent(5), epoch=3)
    log.fsync()
    logs.tick_recovery_points()
    crashed = disk.crash(Tail.KEPT)
    crashed.open(f"/data/{name}", create=True).truncate(0)
    crashed.open(f"/data/{name}").write(0, content)
    after = opened(crashed)
    assert offsets(after) == list(range(6))
    assert after.epochs.entries() == [(0, 0), (3, 5)]


def test_91_epochs_behind_the_end_or_missing() -> None:
    disk, _, log = filled(3)
    append(log, idempotent(3), epoch=4)
    log.fsync()
    name = f"{PATH}/leader-epoch-checkpoint"
    text = disk.read_file(name)
    disk.write_file(name, b"0\n3\n0 0\n4 3\n9 50\n")
    assert opened(disk.crash(Tail.KEPT)).epochs.entries() == [(0, 0), (4, 3)]
    disk.remove(name)
    assert opened(disk.crash(Tail.KEPT)).epochs.entries() == [(0, 0), (4, 3)]
    assert text == b"0\n2\n0 0\n4 3\n"


def test_92_the_marker_of_a_clean_stop_is_written_last_and_removed_first() -> None:
    disk, logs, _ = filled(3)
    written = []
    disk.on_step = lambda operation, path: written.append((operation, path))
    logs.close(41)
    changes = [step for step in written if step[0] in ("write", "rename", "sync", "truncate")]
    assert changes[-1][1].startswith("/data/.kafka_cleanshutdown")
    written.clear()
    again = manager(disk)
    assert again.previous_broker_epoch == 41
    changes = [path for operation, path in written if operation in ("write", "rename", "remove", "truncate")]
    assert changes == ["/data/.kafka_cleanshutdown", "/data/kbroker-no-producers-checkpoint"]
    assert manager(disk.crash(Tail.LOST)).previous_broker_epoch == -1


def test_94_a_failed_fsync_is_never_tried_again() -> None:
    disk, logs, log = filled(3)
    failures = 1

    def fail(operation, path):
        nonlocal failures
        if operation == "sync" and failures:
            failures -= 1
            raise OSError(errno.EIO, "Input/output error")

    disk.on_step = fail
    with pytest.raises(ApiError):
        log.fsync()
    assert log.directory.offline
    with pytest.raises(ApiError):
        log.fsync()
    assert (log.recovery_point, code_of(log, idempotent(3))) == (0, ErrorCode.KAFKA_STORAGE_ERROR)
    logs.close(7)
    assert not disk.exists("/data/.kafka_cleanshutdown")


@pytest.mark.parametrize("where", ["head", "middle", "tail"])
def test_96_a_flipped_bit_in_an_old_segment_is_never_shown_as_good(where) -> None:
    disk, logs, log = filled(30, segment_bytes=1200)
    logs.close()
    first = log.segments.first
    size = disk.open(first.path).size()
    position = {"head": 8, "middle": size // 2, "tail": size - 3}[where]
    byte = disk.open(first.path).read(position, 1)[0]
    disk.open(first.path).write(position, bytes([byte ^ 0x40]))
    after = opened(disk, segment_bytes=1200)
    read = [good_at(after, offset) for offset in range(30)]
    assert set(read) <= {True, False, ErrorCode.CORRUPT_MESSAGE}
    second = after.segments.bases[1]
    assert not all(found is True for found in read[:second])
    assert all(found is True for found in read[second:])


def good_at(log, offset) -> bool | ErrorCode:
    """Whether a consumer would take the batch that it gets for `offset`; or what it is told."""
    try:
        data = log.read(offset, 1, 30).parts[0].read()
        return all(check_crc(data, header) for header in iter_batches(data))
    except ApiError as error:
        return error.code


@pytest.mark.parametrize("clean", [True, False])
def test_97_a_tail_that_was_cut_below_the_recovery_point_is_told(clean, caplog) -> None:
    disk, logs, log = filled(10)
    size = log.segments.active.size
    if clean:
        logs.close(41)
    else:
        log.fsync()
        logs.tick_recovery_points()
        disk = disk.crash(Tail.LOST)
    disk.open(f"{PATH}/{0:020d}.log").truncate(size // 10 * 7)
    after = manager(disk)
    assert after.get(TP).log_end_offset == 7
    assert after.previous_broker_epoch == -1, "elections must not count on this replica"
    assert "ends at 7, but had 10 on disk" in caplog.text
