"""When a log rolls, what an index holds, how damaged indexes are found."""

from __future__ import annotations

from struct import iter_unpack

import pytest

from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk
from tests.storage.world import NOW_MS, TP, append, batch, idempotent, manager, marker, new_log, offsets


def test_roll_by_size() -> None:
    size = len(batch(b"v"))
    log = new_log(segment_bytes=size * 3)
    for _ in range(7):
        append(log, batch(b"v"))
    assert log.segments.bases == [0, 3, 6]


def test_roll_by_the_records_own_time() -> None:
    """As recorded from Kafka: more than segment.ms younger than the segment's first batch."""
    log = new_log(segment_ms=10_000)
    for second in (1, 5, 12, 13, 3, 30):
        append(log, batch(b"v", timestamp=second * 1000))
    assert log.segments.bases == [0, 2, 5]
    assert [offsets(log, at, end=log.log_end_offset) for at in (0, 2)] == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5]]
    assert log.read(0, 1 << 20, 6).next_offset == 2  # a read ends with the segment


def test_roll_by_the_clock_without_timestamps() -> None:
    log = new_log(segment_ms=10_000)
    append(log, batch(b"v", timestamp=-1))
    append(log, batch(b"v", timestamp=-1), now_ms=NOW_MS + 10_000)
    assert log.segments.bases == [0]
    append(log, batch(b"v", timestamp=-1), now_ms=NOW_MS + 10_001)
    assert log.segments.bases == [0, 2]


def test_roll_when_an_index_is_full() -> None:
    log = new_log(segment_index_bytes=24, index_interval_bytes=0)
    for number in range(4):
        append(log, batch(b"v", timestamp=NOW_MS + number))
    assert log.segments.bases == [0, 2]


def test_a_shorter_segment_ms_takes_effect_at_once() -> None:
    log = new_log()
    append(log, batch(b"v", timestamp=NOW_MS))
    log.config = LogConfig(segment_ms=1000)
    append(log, batch(b"v", timestamp=NOW_MS + 1001))
    assert log.segments.bases == [0, 1]


def test_jitter_makes_segments_shorter_but_not_too_short() -> None:
    log = new_log(segment_ms=10_000, segment_jitter_ms=5_000)
    append(log, batch(b"v", timestamp=NOW_MS))
    append(log, batch(b"v", timestamp=NOW_MS + 5_000))
    assert log.segments.bases == [0]
    append(log, batch(b"v", timestamp=NOW_MS + 10_001))
    assert log.segments.bases == [0, 2]


def test_what_a_roll_leaves_on_disk() -> None:
    log = new_log(index_interval_bytes=100)
    for number in range(5):
        append(log, batch(b"v" * 40, timestamp=NOW_MS + number))
    log.roll(None, NOW_MS)
    disk, name = log.directory.disk, f"{log.path}/00000000000000000000"
    size = len(batch(b"v" * 40))
    index = list(iter_unpack(">ii", disk.read_file(name + ".index")))
    assert size > 100
    assert index == [(1, size), (2, 2 * size), (3, 3 * size), (4, 4 * size)]
    assert list(iter_unpack(">qi", disk.read_file(name + ".timeindex")))[-1] == (NOW_MS + 4, 4)
    assert disk.exists(f"{log.path}/00000000000000000005.snapshot")
    assert disk.exists(f"{log.path}/00000000000000000005.log")


@pytest.mark.parametrize("damage", ["zero", "cut", "remove", "lie"])
@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_a_damaged_index_is_rebuilt_on_first_use(damage: str, suffix: str) -> None:
    logs = manager(index_interval_bytes=100)
    log = logs.get_or_create(TP, bytes(16), LogConfig(index_interval_bytes=100), NOW_MS)
    for number in range(50):
        append(log, batch(b"v" * 40, timestamp=NOW_MS + number))
    log.roll(None, NOW_MS)
    append(log, batch(b"last", timestamp=NOW_MS + 50))
    disk = logs._disk
    logs.close()
    path = f"/data/{TP}/00000000000000000000{suffix}"
    file = disk.open(path)
    if damage == "zero":
        file.write(0, bytes(file.size()))
    elif damage == "cut":
        file.truncate(3)
    elif damage == "remove":
        disk.remove(path)
    else:
        file.write(file.size() - 4, b"\x7f\xff\xff\xf0")
    log = manager(disk).get(TP)
    log.high_watermark = log.log_end_offset
    assert offsets(log, 17) == list(range(17, 51))
    assert log.offset_for_timestamp(NOW_MS + 30)[:2] == (NOW_MS + 30, 30)


def test_a_damaged_transaction_index_is_rebuilt_on_first_use() -> None:
    logs = manager()
    log = logs.get_or_create(TP, bytes(16), LogConfig(), NOW_MS)
    append(log, idempotent(0, transactional=True))
    append(log, marker(7, 0, abort=True), origin=AppendOrigin.COORDINATOR)
    wanted = log.aborted_txns(0, 2)
    assert len(wanted) == 1
    disk = logs._disk
    logs.close()
    disk.open(f"/data/{TP}/00000000000000000000.txnindex").write(0, bytes(34))
    log = manager(disk).get(TP)
    assert log.aborted_txns(0, 2) == wanted


def test_a_log_that_was_created_without_a_time_is_as_old_as_the_last_tick() -> None:
    logs = manager()
    config = LogConfig(segment_ms=10_000)
    log = logs.get_or_create(TP, bytes(16), config)
    append(log, batch(b"v", timestamp=-1), now_ms=NOW_MS)
    append(log, batch(b"v", timestamp=-1), now_ms=NOW_MS + 10_000)
    assert log.segments.bases == [0]


def test_preallocate_reserves_room_for_a_segment_and_gives_the_rest_back() -> None:
    disk = MemoryDisk()
    log = new_log(disk, preallocate=True, segment_bytes=2 * len(batch(b"v")))
    steps = []
    disk.on_step = lambda operation, path: steps.append((operation, path[-5:]))

    def taken() -> list[tuple[str, str]]:
        found = [step for step in steps if step[0] in ("reserve", "truncate")]
        steps.clear()
        return found

    append(log, batch(b"v"))
    assert taken() == [("reserve", "0.log")]
    append(log, batch(b"v"))
    assert taken() == []
    append(log, batch(b"v"))
    assert taken() == [("truncate", "0.log"), ("reserve", "2.log")]
    log.close()
    assert ("truncate", "2.log") in taken()
    log.config = LogConfig(segment_bytes=len(batch(b"v")))
    append(log, batch(b"v"))
    assert taken() == []
