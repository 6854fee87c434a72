"""What a cluster is loaded with to see its rates and its CPU a message, on memory that is warm."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import TYPE_CHECKING

from confluent_kafka import Producer

if TYPE_CHECKING:
    from tools.bench.bench_cluster import BenchCluster
    from tools.bench.outages import Line

#: (acks, bytes of a record)
LOADS = tuple((acks, size) for acks in ("all", "1") for size in (100, 1000))
_WAIT_SECONDS = 60.0
_MB = 1 << 20


def rate(
    cluster: BenchCluster, acks: str, size: int, seconds: float, warm: bool, before: float
) -> list[Line]:
    """Messages a second through librdkafka, and CPU of the three brokers for each.

    Args:
        before: for how many seconds the same load goes before what is measured.
    """
    topic = f"rate-{acks}-{size}"
    cluster.create(topic)
    count, _ = _produce(cluster.bootstrap, topic, size, acks, before)
    expected = 1.5 * count * seconds / before * (size + 100) * len(cluster.nodes)
    with _warm_memory(int(expected) if warm else 0, seconds):
        used = cluster.cpu_seconds()
        count, took = _produce(cluster.bootstrap, topic, size, acks, seconds)
        cpu = (cluster.cpu_seconds() - used) / count * 1e6
    return [
        (f"produce {size} B, acks={acks}", count / took, "msg/s"),
        (f"CPU of it, {size} B, acks={acks}", cpu, "us/msg"),
    ]


@contextlib.contextmanager
def _warm_memory(size: int, seconds: float) -> Iterator[None]:
    """So much memory is given free bit by bit, at most half of what is: what is written meanwhile goes there.

    A virtual machine's free memory is its host's, and goes back to it within seconds (free page reporting):
    the first write to a page costs ten times the second, and hides what the brokers cost.
    """
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = min(size, free // 2) // _MB * _MB
    if not size:
        yield
        return
    context = get_context("spawn")
    warm, go = context.Event(), context.Event()
    keeper = context.Process(target=_keep, args=(size, seconds, warm, go))
    keeper.start()
    try:
        while not warm.wait(0.1):
            if not keeper.is_alive():
                raise RuntimeError("the memory could not be warmed")
        go.set()
        yield
    finally:
        keeper.kill()
        keeper.join()


def _keep(size: int, seconds: float, warm: Event, go: Event) -> None:
    step = 32 * _MB
    with mmap.mmap(-1, size) as memory:
        for _ in range(size // _MB):
            memory.write(bytes(_MB))
        warm.set()
        go.wait()
        started = time.perf_counter()
        for given in range(0, size, step):
            time.sleep(max(0.0, started + seconds * given / size - time.perf_counter()))
            memory.madvise(mmap.MADV_DONTNEED, given, min(step, size - given))
        time.sleep(seconds)


def _produce(bootstrap: str, topic: str, size: int, acks: str, seconds: float) -> tuple[int, float]:
    settings = {"bootstrap.servers": bootstrap, "acks": acks, "queue.buffering.max.messages": 200_000}
    producer = Producer(settings)
    value = b"x" * size
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        for _ in range(1000):
            while True:
                try:
                    producer.produce(topic, value, partition=0)
                    break
                except BufferError:
                    producer.poll(0.005)
            count += 1
        producer.poll(0)
    if producer.flush(_WAIT_SECONDS):
        raise RuntimeError("not all was acknowledged")
    return count, time.perf_counter() - started
