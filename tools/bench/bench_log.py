"""Microseconds per batch of the log alone: append, flush, read.

Run: python -m tools.bench.bench_log [seconds [folder]]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable

from kbroker.protocol.record_batch import Record, build_batch
from kbroker.server.os_disk import OsDisk
from kbroker.storage.log import Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.types import TopicPartition

NOW_MS = 1_700_000_000_000


def _batch(size: int, producer_id: int = -1) -> bytearray:
    sequence = 0 if producer_id >= 0 else -1
    record = Record(-1, NOW_MS, None, b"x" * max(size - 70, 1))
    return bytearray(
        build_batch(
            [record], producer_id=producer_id, producer_epoch=min(sequence, 0), base_sequence=sequence
        )
    )


def _append(log: Log, size: int, pipelined: int) -> Callable[[], int]:
    views = [memoryview(_batch(size)) for _ in range(pipelined)]
    zero = bytes(8)

    def run() -> int:
        for view in views:
            view[:8] = zero
            log.append_as_leader(view, 0, NOW_MS)
        log.flush_staged()
        return pipelined

    return run


def _append_read_only(log: Log, size: int, pipelined: int) -> Callable[[], int]:
    view = memoryview(bytes(_batch(size)))

    def run() -> int:
        for _ in range(pipelined):
            log.append_as_leader(view, 0, NOW_MS)
        log.flush_staged()
        return pipelined

    return run


def _read(log: Log, back: int, max_bytes: int) -> Callable[[], int]:
    log.high_watermark = log.log_end_offset

    def run() -> int:
        end = log.log_end_offset
        for _ in range(100):
            log.read(end - back, max_bytes, end)
        return 100

    return run


def _read_through(log: Log, max_bytes: int) -> Callable[[], int]:
    position = log.log_start_offset

    def run() -> int:
        nonlocal position
        for _ in range(100):
            found = log.read(position, max_bytes, log.log_end_offset)
            position = found.next_offset if found.parts else log.log_start_offset
        return 100

    return run


def _seek(log: Log, max_bytes: int) -> Callable[[], int]:
    spot = 1

    def run() -> int:
        nonlocal spot
        for _ in range(100):
            spot = (spot * 7_919 + 13) % log.log_end_offset
            log.read(spot, max_bytes, log.log_end_offset)
        return 100

    return run


def measure(name: str, work: Callable[[], int], seconds: float) -> None:
    """Print the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        done, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds / 5:
            done += work()
        best = min(best, spent / done * 1e6)
    print(f"{name:44s} {best:9.2f} µs")


def main() -> None:
    """Run all."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    root = tempfile.mkdtemp(prefix="bench-log-", dir=sys.argv[2] if len(sys.argv) > 2 else None)
    manager = LogManager(OsDisk(), [root])
    manager.lock()
    manager.load(NOW_MS)
    try:
        for size, pipelined in ((100, 1), (100, 50), (16_384, 1), (16_384, 4), (1 << 20, 1)):
            tp = TopicPartition(f"a{size}-{pipelined}", 0)
            log = manager.get_or_create(
                tp,
                bytes(16),
                LogConfig(segment_bytes=64 << 20, retention_bytes=64 << 20, file_delete_delay_ms=0),
            )
            measure(f"append {size} B, {pipelined} a flush", _append(log, size, pipelined), seconds)
            if size < 1 << 20:
                measure(" … from read-only frames", _append_read_only(log, size, pipelined), seconds)
            measure(" read the last batch", _read(log, 1, 1 << 20), seconds)
            measure(" read the last 100", _read(log, min(100, log.log_end_offset), 1 << 20), seconds)
            measure(" read through, 64 KB", _read_through(log, 65_536), seconds)
            measure(" read anywhere, 64 KB", _seek(log, 65_536), seconds)
            log.high_watermark = log.log_end_offset
            log.config = LogConfig(retention_bytes=0)
            log.delete_old_segments(NOW_MS)
            manager.tick_removals(NOW_MS + 10**6)
    finally:
        manager.unlock()
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
