"""What a cluster is loaded with to see its rates and its CPU a message, on memory that is warm."""

from __future__ import annotations

import mmap
import os
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING

from confluent_kafka import Producer

if TYPE_CHECKING:
    from tools.bench.bench_cluster import BenchCluster
    from tools.bench.outages import Line

#: (acks, bytes of a record)
LOADS = tuple((acks, size) for acks in ("all", "1") for size in (100, 1000))
_WAIT_SECONDS = 60.0
_MB = 1 << 20
#: Of what is free.
_TOUCHED = 0.85


def rate(
    cluster: BenchCluster, acks: str, size: int, seconds: float, warm: bool, before: float
) -> list[Line]:
    """Messages a second through librdkafka, and CPU of the three brokers for each.

    Args:
        before: for how many seconds small messages go before what is measured (a JVM needs some).
    """
    topic = f"rate-{acks}-{size}"
    cluster.create(topic)
    _produce(cluster.bootstrap, topic, 100, acks, before)
    _produce(cluster.bootstrap, topic, size, acks, seconds / 2)
    if warm:
        _warm_memory()
    used = cluster.cpu_seconds()
    count, took = _produce(cluster.bootstrap, topic, size, acks, seconds)
    cpu = (cluster.cpu_seconds() - used) / count * 1e6
    return [
        (f"produce {size} B, acks={acks}", count / took, "msg/s"),
        (f"CPU of it, {size} B, acks={acks}", cpu, "us/msg"),
    ]


def _warm_memory() -> None:
    """Touch most of the memory that is free and give it back: what is written next goes there.

    A virtual machine's free memory is its host's, and what is freed goes back to it bit by bit (free page
    reporting): the first write to a page costs ten times the second, and hides what the brokers cost. So
    loads have to be short, too.
    """
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    toucher = get_context("spawn").Process(target=_touch, args=(int(free * _TOUCHED),))
    toucher.start()
    toucher.join()
    if toucher.exitcode:
        raise RuntimeError("the memory could not be warmed")


def _touch(size: int) -> None:
    with mmap.mmap(-1, size) as memory:
        for _ in range(size // _MB):
            memory.write(bytes(_MB))


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
