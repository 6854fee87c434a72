"""Many partitions, starts, stops and recovery: seconds, memory and CPU of a real process.

Run: python -m tools.bench.bench_scale [--kafka] [--partitions 1000 --partitions 10000] [--only start …]

The broker may use all cores, and so does the load. Wall time on a machine that does other things says little;
the CPU beside it says more. ext4 without a journal is slow to make files for half a minute after many were
removed (each free inode is looked at): leave it that time between two runs.
"""

from __future__ import annotations

import argparse
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.record_batch import Record, build_batch
from tools.bench import wire
from tools.bench.brokers import BrokerProcess, Kafka, Kbroker
from tools.bench.load import pipelined

_CACHE = Path.home() / ".cache" / "kbroker-tests"
_TOPICS = 10
_AHEAD = 200
_PATIENCE_S = 120


def main() -> None:
    """Measure and print, one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kafka", action="store_true", help="measure Apache Kafka in the same run")
    parser.add_argument("--partitions", type=int, action="append", help="default: 1000 and 10000")
    parser.add_argument(
        "--only", action="append", choices=["start", "partitions", "recovery"], help="default: all"
    )
    arguments = parser.parse_args()
    wanted = arguments.only or ["start", "partitions", "recovery"]
    cache = Path(os.environ.get("KBROKER_TEST_CACHE") or _CACHE)
    makers: list[Callable[[], BrokerProcess]] = [Kbroker]
    if arguments.kafka:
        makers.append(lambda: Kafka(cache))
    for make in makers:
        if "start" in wanted:
            _with(make, _starts)
        if "partitions" in wanted:
            for count in arguments.partitions or [1000, 10_000]:
                _with(make, partial(_many_partitions, count=count))
        if "recovery" in wanted:
            for what, batch_bytes, total_bytes in (
                ("1 GB of 16 KB batches", 16 * 1024, 1 << 30),
                ("128 MB of 170 B batches", 170, 128 << 20),
            ):
                _with(make, partial(_recovery, what=what, batch_bytes=batch_bytes, total_bytes=total_bytes))


def _with(make: Callable[[], BrokerProcess], measure: Callable[[BrokerProcess], None]) -> None:
    broker = make()
    broker.one_core = False
    try:
        measure(broker)
    finally:
        broker.remove()


# -- what is measured ------------------------------------------------------------------------------------


def _starts(broker: BrokerProcess) -> None:
    broker.prepare()
    _start(broker, "start, empty folder", ["first"])
    time.sleep(2)
    before = broker.idle_cpu_seconds()
    time.sleep(5)
    percent = 100 * (broker.idle_cpu_seconds() - before) / 5
    _say(broker, "idle", f"{broker.resident_mb():.0f} MB, {percent:.2f} % CPU")
    _stop(broker, "stop")
    names = [f"topic-{number}" for number in range(100)]
    _start(broker, "(restart, creating 100 topics)", names)
    _stop(broker, "stop, 100 topics with a record each")
    for _ in range(3):
        _start(broker, "start, 100 topics, clean", names[-1:])
        _stop(broker, "stop, idle, 100 topics")
    _start(broker, "start, 100 topics, clean", names)
    broker.kill()
    _start(broker, "start, 100 topics, after kill -9", names[-1:])


def _many_partitions(broker: BrokerProcess, count: int) -> None:
    names = [f"many-{number}" for number in range(_TOPICS)]
    each = count // _TOPICS
    last = [_produce(names[-1], each - 1)]
    broker.prepare()
    _start(broker, f"(start, for {count} partitions)", [])
    with _connection(broker) as sock, _timed(broker, f"{count} partitions: create, ready to use"):
        _create(sock, names, each)
        for framed in last:
            wire.produce_until_accepted(sock, framed)
    with _connection(broker) as sock, _timed(broker, f"{count} partitions: one record in each"):
        _one_in_each(sock, names, each)
    _say(broker, f"{count} partitions: memory", f"{broker.resident_mb():.0f} MB")
    _stop(broker, f"{count} partitions: stop, a record in each since the start")
    _start(broker, f"{count} partitions: start, clean", names[-1:], last)
    _say(broker, f"{count} partitions: memory after a clean start", f"{broker.resident_mb():.0f} MB")
    time.sleep(2)
    before = broker.idle_cpu_seconds()
    time.sleep(5)
    percent = 100 * (broker.idle_cpu_seconds() - before) / 5
    _say(broker, f"{count} partitions: idle", f"{percent:.2f} % CPU")
    _stop(broker, f"{count} partitions: stop, idle")
    _start(broker, f"{count} partitions: start, clean", names[-1:], last)
    with _connection(broker) as sock, _timed(broker, f"{count} partitions: a second record in each"):
        _one_in_each(sock, names, each)
    broker.kill()
    _start(broker, f"{count} partitions: start after kill -9", names[-1:], last)
    _say(broker, f"{count} partitions: memory after that", f"{broker.resident_mb():.0f} MB")
    _stop(broker, f"{count} partitions: stop after that")


def _recovery(broker: BrokerProcess, what: str, batch_bytes: int, total_bytes: int) -> None:
    """Everything lies in active segments that were never synced."""
    framed = wire.produce_frame("big", batch_bytes - 70)
    broker.prepare()
    _start(broker, f"(start, for {what})", ["big"])
    with _connection(broker) as sock, _timed(broker, f"{what}: produce"):
        size = wire.produce_until_accepted(sock, framed)
        pipelined(
            sock,
            framed,
            size,
            together=max(1, (64 << 10) // len(framed)),
            ahead=max(64, (1 << 20) // len(framed)),
            seconds=_PATIENCE_S,
            most=total_bytes // batch_bytes,
        )
    broker.kill()
    _start(broker, f"{what}: start after kill -9", ["big"])
    _stop(broker, f"{what}: stop after that")
    _start(broker, f"{what}: start, clean", ["big"])


# -- how -------------------------------------------------------------------------------------------------


def _start(broker: BrokerProcess, name: str, topics: list[str], frames: list[bytes] | None = None) -> None:
    """Time from the first process to the last acknowledged Produce: one to each of `topics`."""
    frames = [_produce(topic, 0) for topic in topics] if frames is None else frames
    with _timed(broker, name):
        broker.start()
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                sock = wire.connect(broker.address)
                if topics:
                    wire.create_topics(sock, *topics)
                for framed in frames:
                    wire.produce_until_accepted(sock, framed)
                sock.close()
                return
            except OSError:
                broker.check_alive()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.002)


def _stop(broker: BrokerProcess, name: str) -> None:
    _say(broker, name, f"{broker.stop(_PATIENCE_S):.3f} s")


@contextmanager
def _timed(broker: BrokerProcess, name: str) -> Iterator[None]:
    started = time.perf_counter()
    cpu = broker.all_cpu_seconds()
    yield
    seconds, cpu = time.perf_counter() - started, broker.all_cpu_seconds() - cpu
    _say(broker, name, f"{seconds:.3f} s, CPU {cpu:.2f} s")


def _say(broker: BrokerProcess, name: str, figure: str) -> None:
    print(f"{broker.label:12s} {name:62s} {figure}", flush=True)


@contextmanager
def _connection(broker: BrokerProcess) -> Iterator[socket.socket]:
    sock = wire.connect(broker.address)
    sock.settimeout(_PATIENCE_S)
    try:
        yield sock
    finally:
        sock.close()


def _create(sock: socket.socket, names: list[str], partitions: int) -> None:
    """A request a topic: one request may not make more than 10,000 records."""
    for name in names:
        topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)]
        answer, _ = wire.ask(sock, wire.frame(CreateTopicsRequest(topics=topics, timeout_ms=60_000)))
        if answer.topics[0].error_code:
            raise RuntimeError(f"not created: {answer.topics[0]}")


def _produce(topic: str, partition: int) -> bytes:
    batch = build_batch([Record(-1, int(time.time() * 1000), None, b"x" * 100)])
    data = PartitionProduceData(index=partition, records=batch)
    topic_data = [TopicProduceData(name=topic, partition_data=[data])]
    return wire.frame(ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topic_data))


def _one_in_each(sock: socket.socket, names: list[str], partitions: int) -> None:
    """A request for each partition, many ahead; what is refused (not led yet) is sent again."""
    waiting = [(name, number) for number in range(partitions) for name in names]
    while waiting:
        refused = []
        for start in range(0, len(waiting), _AHEAD):
            some = waiting[start : start + _AHEAD]
            sock.sendall(b"".join(_produce(*one) for one in some))
            refused += [one for one in some if wire.produced(wire.answer(sock, ApiKey.PRODUCE))]
        waiting = refused


if __name__ == "__main__":
    main()
