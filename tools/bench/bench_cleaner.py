"""Compaction: MB/s of one core, and what a broker's producers notice while it runs.

Run: python -m tools.bench.bench_cleaner [folder]
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.server.os_disk import OsDisk
from kbroker.storage.cleaner import Cleaner
from kbroker.storage.cleaner_plan import CleanerLimits, CleanerState, make_job
from kbroker.storage.log import Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tools.bench import wire

NOW_MS = 1_700_000_000_000
_CONFIG = LogConfig(
    cleanup_policy=frozenset({"compact"}), segment_bytes=64 << 20, min_cleanable_dirty_ratio=0.0
)


def _filled(root: str, value_bytes: int, per_batch: int, keys: int, total_bytes: int, codec: int) -> Log:
    shutil.rmtree(root, ignore_errors=True)
    logs = LogManager(OsDisk(), [root])
    logs.lock()
    logs.load(NOW_MS)
    logs.unlock()
    log = logs.get_or_create(TopicPartition("t", 0), bytes(16), _CONFIG, NOW_MS)
    chance, value, count = random.Random(1), os.urandom(value_bytes), 0
    while log.size < total_bytes:
        for _ in range(16):
            made = [Record(-1, NOW_MS, b"key-%08d" % chance.randrange(keys), value) for _ in range(per_batch)]
            log.append_as_leader(memoryview(bytearray(build_batch(made, codec=codec))), 0, NOW_MS)
            count += per_batch
        log.flush_staged()
    log.roll(None, NOW_MS)
    log.high_watermark = log.log_end_offset
    log.fsync()
    return log


def speed(root: str, name: str, value_bytes: int, per_batch: int, keys: int, mb: int, codec: int = 0) -> None:
    """All dirty, then half of it dirty."""
    log = _filled(root, value_bytes, per_batch, keys, mb << 20, codec)
    state = CleanerState()
    for share in ("all", "half"):
        if share == "half":
            state.set_checkpoint(log, log.segments[len(log.segments) // 2].base_offset)
        candidate = state.choose([log], NOW_MS)
        assert candidate is not None
        cleaner = Cleaner(OsDisk(), make_job(candidate, CleanerLimits(), NOW_MS)[0])
        cpu, begun = time.process_time(), time.perf_counter()
        for _ in cleaner.run():
            pass
        cpu, seconds = time.process_time() - cpu, time.perf_counter() - begun
        print(
            f"{name + ', ' + share + ' dirty':50s} {log.size / cpu / 1e6:7.0f} MB/s of CPU time "
            f"{log.size / seconds / 1e6:7.0f} MB/s  {log.log_end_offset / cpu / 1000:6.0f}k records/s"
        )


def latency(mb: int) -> None:
    """Produce to one topic, one at a time, while another is compacted and while not."""
    with Broker(subprocess=True, config={"log.cleaner.backoff.ms": 1000}) as broker:
        settings = {
            "cleanup.policy": "compact",
            "segment.bytes": 64 << 20,
            "min.cleanable.dirty.ratio": 1.0,
        }
        broker.create_topic("compacted", config=settings)
        broker.create_topic("plain")
        host, _, port = broker.bootstrap.rpartition(":")
        address = host, int(port)
        with wire.connect(address) as sock:
            _fill(sock, mb << 20)
            quiet = _produce_until(sock, lambda seconds: seconds > 5)
            with Cluster(broker.bootstrap) as cluster:
                change = {"min.cleanable.dirty.ratio": "0.1"}
                alter_configs(cluster, ResourceType.TOPIC, "compacted", set_=change)
            checkpoint = f"{broker.data}/cleaner-offset-checkpoint"
            begun = time.perf_counter()
            busy = _produce_until(sock, lambda seconds: os.path.exists(checkpoint) or seconds > 60)
            seconds = time.perf_counter() - begun
        for name, times in (
            ("while nothing is compacted", quiet),
            (f"while {mb} MB are ({seconds:.1f} s)", busy),
        ):
            times.sort()
            print(
                f"produce {name:42s} p50 {times[len(times) // 2] * 1e6:7.0f} µs   "
                f"p99 {times[len(times) * 99 // 100] * 1e6:7.0f} µs   "
                f"p99.9 {times[len(times) * 999 // 1000] * 1e6:7.0f} µs   {len(times)} requests"
            )


def _fill(sock: socket.socket, total_bytes: int) -> None:
    chance, value, sent = random.Random(1), os.urandom(1000), 0
    while sent < total_bytes:
        now_ms = time.time_ns() // 1_000_000
        made = [Record(-1, now_ms, b"key-%08d" % chance.randrange(100_000), value) for _ in range(64)]
        batch = build_batch(made)
        data = wire.TopicProduceData(
            name="compacted", partition_data=[wire.PartitionProduceData(index=0, records=batch)]
        )
        wire.ask(sock, wire.frame(wire.ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[data])))
        sent += len(batch)


def _produce_until(sock: socket.socket, over: Callable[[float], bool]) -> list[float]:
    frame = wire.produce_frame("plain", 1000, acks=1)
    times: list[float] = []
    begun = time.perf_counter()
    while not over(time.perf_counter() - begun):
        start = time.perf_counter()
        wire.ask(sock, frame)
        times.append(time.perf_counter() - start)
        time.sleep(0.0005)
    return times


def main() -> None:
    """Run all."""
    root = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="kbroker-bench-")
    try:
        speed(root, "1 KB records, 16 a batch, all keys differ", 1000, 16, 10**12, 256)
        speed(root, "1 KB records, 16 a batch, 100k keys", 1000, 16, 100_000, 256)
        speed(root, "1 KB records, 16 a batch, 1k keys", 1000, 16, 1000, 256)
        speed(root, "1 KB records, one a batch, 100k keys", 1000, 1, 100_000, 256)
        speed(root, "100 B records, 100 a batch, 100k keys", 100, 100, 100_000, 128)
        speed(root, "1 KB records, 16 a batch, 100k keys, lz4", 1000, 16, 100_000, 128, codec=3)
        latency(400)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
