"""Seconds to open log directories: clean with many partitions, and after a kill with much to read.

Run: python -m tools.bench.bench_recovery [folder]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time

from kbroker.protocol.record_batch import Record, build_batch
from kbroker.server.os_disk import OsDisk
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.types import TopicPartition

NOW_MS = 1_700_000_000_000


def _manager(root: str) -> LogManager:
    manager = LogManager(OsDisk(), [root])
    manager.lock()
    return manager


def _timed(name: str, root: str) -> LogManager:
    manager = _manager(root)
    start = time.perf_counter()
    manager.load(NOW_MS)
    print(f"{name:52s} {(time.perf_counter() - start) * 1000:9.1f} ms")
    return manager


def many_partitions(root: str, count: int) -> None:
    """One record in each of `count` partitions, then a clean and a crashed start."""
    manager = _manager(root)
    manager.load(NOW_MS)
    batch = build_batch(
        [Record(-1, NOW_MS, b"k", b"v" * 100)], producer_id=1, producer_epoch=0, base_sequence=0
    )
    start = time.perf_counter()
    for number in range(count):
        manager.get_or_create(
            TopicPartition(f"topic-{number}", 0), number.to_bytes(16, "big"), LogConfig(), NOW_MS
        )
    print(f"create {count} partitions {(time.perf_counter() - start) * 1000:40.1f} ms")
    start = time.perf_counter()
    for log in manager.logs.values():
        log.append_as_leader(memoryview(batch), 0, NOW_MS)
        log.flush_staged()
    print(f"one record in each {(time.perf_counter() - start) * 1000:43.1f} ms")
    manager.tick_recovery_points()
    manager.unlock()
    manager = _timed(f"start with {count} partitions after a kill", root)
    start = time.perf_counter()
    manager.close(1)
    print(f"clean stop {(time.perf_counter() - start) * 1000:51.1f} ms")
    _timed(f"start with {count} partitions after a clean stop", root).unlock()


def one_big_log(root: str, batch_bytes: int, total_bytes: int) -> None:
    """A log that was never synced, read again after a kill."""
    manager = _manager(root)
    manager.load(NOW_MS)
    tp = TopicPartition(f"big-{batch_bytes}", 0)
    log = manager.get_or_create(tp, bytes(16), LogConfig(), NOW_MS)
    batch = memoryview(build_batch([Record(-1, NOW_MS, b"k", b"v" * max(batch_bytes - 70, 1))]))
    while log.staged_end_offset * len(batch) < total_bytes:
        log.append_as_leader(batch, 0, NOW_MS)
        if log.staged_end_offset % 64 == 0:
            log.flush_staged()
    log.flush_staged()
    manager.unlock()
    _timed(f"recover {total_bytes >> 20} MB of {batch_bytes} B batches", root).unlock()


def main() -> None:
    """Run all."""
    base = sys.argv[1] if len(sys.argv) > 1 else None
    for work in (
        lambda root: many_partitions(root, 100),
        lambda root: many_partitions(root, 1000),
        lambda root: one_big_log(root, 16_384, 1 << 30),
        lambda root: one_big_log(root, 170, 64 << 20),
    ):
        root = tempfile.mkdtemp(prefix="bench-recovery-", dir=base)
        try:
            work(root)
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
