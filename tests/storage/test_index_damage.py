"""Indexes below the recovery point that are missing, zeroed, cut or untrue are found when they are used."""

from __future__ import annotations

import random

import pytest

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.log import AppendOrigin
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.types import TopicPartition
from tests.storage.kafka_dirs import check, kafka_disk, kafka_says, load
from tests.storage.world import NOW_MS, TP, append, batch, idempotent, manager, marker, new_log

SINGLE = "kafka-4.4.0-single"
TOPICS = ("plain-0", "txn-0", "txn-1", "compacted-0", "idempotent-0")


def gone(disk: MemoryDisk, path: str, size: int) -> None:
    disk.remove(path)


def zeroed(disk: MemoryDisk, path: str, size: int) -> None:
    disk.open(path).write(0, bytes(size))


def empty(disk: MemoryDisk, path: str, size: int) -> None:
    disk.open(path).truncate(0)


def cut_anywhere(disk: MemoryDisk, path: str, size: int) -> None:
    disk.open(path).truncate(size * 2 // 3)


def cut_to_entries(disk: MemoryDisk, path: str, size: int) -> None:
    entry = {"index": 8, "timeindex": 12, "txnindex": 34}[path.rpartition(".")[2]]
    disk.open(path).truncate(size // entry // 2 * entry)


def holed(disk: MemoryDisk, path: str, size: int) -> None:
    disk.open(path).write(size // 3, bytes(size // 3))


def noise(disk: MemoryDisk, path: str, size: int) -> None:
    disk.open(path).write(0, random.Random(path).randbytes(size))


def of_another_segment(disk: MemoryDisk, path: str, size: int) -> None:
    directory, _, name = path.rpartition("/")
    suffix = "." + name.rpartition(".")[2]
    for entry in disk.list_dir(directory):
        if entry.name.endswith(suffix) and entry.name != name and entry.size:
            disk.write_file(path, disk.read_file(f"{directory}/{entry.name}"))


@pytest.mark.parametrize("suffix", [".index", ".timeindex", ".txnindex"])
@pytest.mark.parametrize(
    "damage", [gone, zeroed, empty, cut_anywhere, cut_to_entries, holed, noise, of_another_segment]
)
def test_every_answer_is_as_with_good_indexes(damage, suffix) -> None:
    disk = kafka_disk(SINGLE)
    # Of an abort whose records are compacted away nothing can be told; nobody needs it.
    names = [name for name in TOPICS if name != "compacted-0" or suffix != ".txnindex"]
    for name in names:
        for entry in disk.list_dir(f"/data/{name}"):
            if entry.name.endswith(suffix) and entry.size:
                damage(disk, f"/data/{name}/{entry.name}", entry.size)
    logs = load(disk)
    for name in names:
        topic, _, partition = name.rpartition("-")
        check(logs.get(TopicPartition(topic, int(partition))), kafka_says(SINGLE)["client.json"][name])


@pytest.mark.parametrize("start", [0, 40, 90])
def test_62_a_lost_transaction_index_comes_back_as_it_was(start) -> None:
    disk = kafka_disk(SINGLE)
    names = [e.name for e in disk.list_dir("/data/txn-0") if e.name.endswith(".txnindex") and e.size]
    before = {name: disk.read_file(f"/data/txn-0/{name}") for name in names}
    for name in names:
        disk.remove(f"/data/txn-0/{name}")
    log = load(disk).get(TopicPartition("txn", 0))
    log.aborted_txns(start, log.log_end_offset)
    if start == 0:
        assert {name: disk.read_file(f"/data/txn-0/{name}") for name in names} == before
    log.aborted_txns(0, log.log_end_offset)
    assert {name: disk.read_file(f"/data/txn-0/{name}") for name in names} == before


# -- how much is read for it -------------------------------------------------------------------------------


def transactional_log(transactions: int) -> MemoryDisk:
    """Producer 7 aborts every other transaction, in segments of about ten batches; then a clean stop."""
    disk = MemoryDisk()
    logs = manager(disk, segment_bytes=1000)
    log = logs.get_or_create(TP, bytes(16), new_log(segment_bytes=1000).config, NOW_MS)
    for number in range(transactions):
        append(log, idempotent(number, transactional=True))
        append(log, marker(7, 0, abort=number % 2 == 0), origin=AppendOrigin.COORDINATOR)
    logs.close()
    return disk


def test_a_segment_is_walked_once(monkeypatch) -> None:
    log = manager(transactional_log(100), segment_bytes=1000).get(TP)
    expected = [(offset, offset + 1) for offset in range(0, 200, 4)]
    found = []
    for offset in range(0, 200, 2):
        found += [(t.first_offset, t.last_offset) for t in log.aborted_txns(offset, offset + 2)]
    assert found == expected
    monkeypatch.setattr("kbroker.storage.txn_check._batches", None)
    assert [(t.first_offset, t.last_offset) for t in log.aborted_txns(0, 200)] == expected


def test_readers_at_both_ends_do_not_walk_all_between() -> None:
    log = manager(transactional_log(100), segment_bytes=1000).get(TP)
    for step in range(0, 20, 2):
        assert len(log.aborted_txns(step, step + 2)) == (step % 4 == 0)
        assert len(log.aborted_txns(198 - step, 200 - step)) == (step % 4 == 2)
    walked = sum(walk.end - walk.start for walk in log.txn_check._walks)
    assert walked < 100


def test_what_was_written_in_this_life_is_not_walked(monkeypatch) -> None:
    log = new_log()
    monkeypatch.setattr("kbroker.storage.txn_check._batches", None)
    append(log, idempotent(0, transactional=True))
    append(log, marker(7, 0, abort=True), origin=AppendOrigin.COORDINATOR)
    assert len(log.aborted_txns(0, 2)) == 1


@pytest.mark.parametrize("wrong", [2, 3, 5, 1 << 40])
def test_a_stable_offset_that_is_too_large_hides_no_later_abort(wrong) -> None:
    """Readers stop looking at an entry whose stable offset lies behind what they read."""
    disk = MemoryDisk()
    logs = manager(disk)
    log = logs.get_or_create(TP, bytes(16), new_log().config, NOW_MS)
    append(log, idempotent(0, producer_id=8, transactional=True))
    append(log, idempotent(0, transactional=True))
    append(log, idempotent(1, producer_id=8, transactional=True))
    append(log, marker(7, 0, abort=True), origin=AppendOrigin.COORDINATOR)
    append(log, marker(8, 0, abort=True), origin=AppendOrigin.COORDINATOR)
    expected = [log.aborted_txns(0, 3), log.aborted_txns(2, 3)]
    assert [txn.last_stable_offset for txn in expected[0]] == [0, 5]
    logs.close()
    path = f"/data/{TP}/{0:020d}.txnindex"
    good = disk.read_file(path)
    disk.open(path).write(26, wrong.to_bytes(8, "big"))
    log = manager(disk).get(TP)
    assert [log.aborted_txns(0, 3), log.aborted_txns(2, 3)] == expected
    assert disk.read_file(path) == good


@pytest.mark.parametrize("kept", range(6))
def test_a_time_index_that_was_cut_while_the_last_records_are_older(kept) -> None:
    """Else retention by time would take a segment for older than it is."""
    disk = MemoryDisk()
    logs = manager(disk, index_interval_bytes=1)
    log = logs.get_or_create(TP, bytes(16), new_log(index_interval_bytes=1).config, NOW_MS)
    for later in (1, 2, 3, 4, 9, 5, 6, 7, 0, 0):
        append(log, batch(timestamp=NOW_MS + later))
    logs.close()
    path = f"/data/{TP}/{0:020d}.timeindex"
    disk.open(path).truncate(kept * 12)
    log = manager(disk, index_interval_bytes=1).get(TP)
    assert log.segments.active.largest_timestamp() == NOW_MS + 9
    assert log.offset_for_timestamp(NOW_MS + 8).offset == 4


def test_a_transaction_over_many_segments() -> None:
    disk = MemoryDisk()
    logs = manager(disk, segment_bytes=500)
    log = logs.get_or_create(TP, bytes(16), new_log(segment_bytes=500).config, NOW_MS)
    append(log, idempotent(0, transactional=True))
    for _ in range(40):
        append(log, batch(b"x" * 30))
    append(log, marker(7, 0, abort=True), origin=AppendOrigin.COORDINATOR)
    append(log, batch(b"end"))
    logs.close()
    for entry in disk.list_dir(f"/data/{TP}"):
        if entry.name.endswith(".txnindex"):
            disk.remove(f"/data/{TP}/{entry.name}")
    log = manager(disk, segment_bytes=500).get(TP)
    assert [(t.first_offset, t.last_offset) for t in log.aborted_txns(0, 1)] == [(0, 41)]


# -- the segment itself ------------------------------------------------------------------------------------


def test_a_hole_in_a_segment_is_an_error_not_a_jump() -> None:
    disk = MemoryDisk()
    logs = manager(disk, segment_bytes=1000)
    log = logs.get_or_create(TP, bytes(16), new_log(segment_bytes=1000).config, NOW_MS)
    for _ in range(30):
        append(log, batch(b"x" * 40))
    first, second = log.segments.bases[:2]
    size = len(batch(b"x" * 40))
    logs.close()
    disk.open(f"/data/{TP}/{first:020d}.log").write(3 * size, bytes(2 * size))
    log = manager(disk, segment_bytes=1000).get(TP)
    assert log.read(0, 3 * size, 30).next_offset == 3
    with pytest.raises(ApiError, match=f"damaged at byte {3 * size}") as caught:
        log.read(4, 1000, 30)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert log.read(second, 1000, 30).size
