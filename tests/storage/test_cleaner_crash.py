"""A cleaning that is stopped at any operation: recovery drops or completes it, and no record is missed."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.cleaner_plan import CleanerState
from kbroker.storage.log import AppendOrigin, Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.storage.cleaning import COMPACT, committed, force, records, table
from tests.storage.world import NOW_MS, TOPIC_ID, TP, manager, marker

CONFIG = {
    "segment_bytes": 900,
    "index_interval_bytes": 100,
    "cleanup_policy": COMPACT,
    "delete_retention_ms": 5,
    "file_delete_delay_ms": 0,
}


class PowerCut(BaseException):
    """Nothing may catch it."""


def filled(seed: int) -> tuple[MemoryDisk, Log, CleanerState]:
    """A durable log with keys, tombstones and transactions, cleaned once or not at all."""
    rng = random.Random(seed)
    disk = MemoryDisk()
    logs = manager(disk, **CONFIG)
    log = logs.get_or_create(TP, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)
    state = CleanerState()
    sequence = 0
    for step in range(40):
        made = [
            Record(-1, NOW_MS, b"%d" % rng.randrange(8), None if rng.random() < 0.2 else b"%d.%d" % (step, i))
            for i in range(rng.randint(1, 4))
        ]
        header: dict[str, object] = {}
        if rng.random() < 0.4:
            header = {
                "producer_id": 5,
                "producer_epoch": 0,
                "base_sequence": sequence,
                "transactional": True,
            }
            sequence += len(made)
        built = build_batch(made, codec=rng.choice([0, 0, 1]), **header)
        log.append_as_leader(memoryview(bytearray(built)), 0, NOW_MS)
        if header and rng.random() < 0.7:
            end = marker(5, 0, abort=rng.random() < 0.5)
            log.append_as_leader(end, 0, NOW_MS, AppendOrigin.COORDINATOR)
        log.flush_staged()
        log.high_watermark = log.log_end_offset
        if step == 20 and seed % 2:
            force(log, state, NOW_MS)
            log.directory.tick(NOW_MS + 1)
    log.fsync()
    if seed % 3:
        # Else recovery reads all, and must not take what compaction removed for lost.
        logs.tick_recovery_points()
    disk.sync_dir(log.path)
    return disk, log, state


def opened(disk: MemoryDisk) -> Log:
    """As a broker starts: nobody knows yet that the topic is compacted, no checkpoint tells that it was."""
    log = manager(disk).get(TP)
    log.config = LogConfig(**CONFIG)
    log.high_watermark = log.log_end_offset
    return log


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_at_any_operation_of_a_cleaning(seed: int) -> None:
    disk, log, state = filled(seed)
    start = disk.steps
    expected, before, end = table(committed(log)), records(log), log.log_end_offset
    force(log, state, NOW_MS + 10)
    log.directory.tick(NOW_MS + 20)
    total = disk.steps - start
    assert table(committed(log)) == expected
    after = records(log)
    assert len(after) < len(before)
    rng = random.Random(seed)
    for cut_at in sorted(rng.sample(range(1, total + 1), min(40, total))):
        disk, log, state = filled(seed)
        limit = disk.steps + cut_at

        def cut(operation: str, path: str, disk: MemoryDisk = disk, limit: int = limit) -> None:
            if disk.steps == limit:
                raise PowerCut

        disk.on_step = cut
        with suppress(PowerCut):
            force(log, state, NOW_MS + 10)
            log.directory.tick(NOW_MS + 20)
        for tail in Tail:
            check(disk, tail, rng, (expected, before, after, end), f"seed {seed}, {cut_at}, {tail}")


def check(
    disk: MemoryDisk, tail: Tail, rng: random.Random, model: tuple[dict, dict, dict, int], where: str
) -> None:
    expected, before, after, end = model
    recovered = opened(disk.crash(tail, rng.randrange))
    assert recovered.log_end_offset == end, where
    assert table(committed(recovered)) == expected, where
    there = records(recovered)
    assert all(before[offset] == record for offset, record in there.items()), where
    assert set(after) <= set(there), where
    marked = (".cleaned", ".swap", ".deleted")
    names = [entry.name for entry in recovered.directory.disk.list_dir(recovered.path)]
    assert not [name for name in names if name.endswith(marked)], where
    # The next round comes to the same result, whatever the first one left.
    force(recovered, CleanerState(), NOW_MS + 10)
    assert table(committed(recovered)) == expected, where


@pytest.mark.parametrize("seed", [1, 2])
def test_recovery_itself_is_cut(seed: int) -> None:
    disk, log, state = filled(seed)
    start = disk.steps
    expected, end = table(committed(log)), log.log_end_offset
    force(log, state, NOW_MS + 10)
    total = disk.steps - start
    rng = random.Random(seed)
    for cut_at in range(total // 3, total, 7):
        disk, log, state = filled(seed)
        stop_at(disk, cut_at)
        with suppress(PowerCut):
            force(log, state, NOW_MS + 10)
        for again in range(1, 30, 3):
            second = disk.crash(Tail.KEPT)
            stop_at(second, again)
            with suppress(PowerCut):
                opened(second)
            recovered = opened(second.crash(rng.choice(list(Tail)), rng.randrange))
            assert recovered.log_end_offset == end, (cut_at, again)
            assert table(committed(recovered)) == expected, (cut_at, again)


def stop_at(disk: MemoryDisk, steps: int) -> None:
    """Cut the power after so many more operations."""
    limit = disk.steps + steps

    def cut(operation: str, path: str) -> None:
        if disk.steps >= limit:
            raise PowerCut

    disk.on_step = cut
