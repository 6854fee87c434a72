"""The same brokers through librdkafka: how long a message takes, how many a second go through."""

from __future__ import annotations

import statistics
import time

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, Producer, TopicPartition

_VALUE = b"x" * 100


def _consumer(bootstrap: str, topic: str, offset: int) -> Consumer:
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "bench",
        "enable.auto.commit": False,
        # With that many in its queue librdkafka stops to fetch for a second: a quick broker would look slow.
        "queued.min.messages": 1_000_000,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, offset)])
    return consumer


def latency_us(bootstrap: str, topic: str, count: int, seconds: float) -> tuple[float, float, int]:
    """Produce one message, wait until it is consumed, again: (p50, p99, messages), microseconds."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    consumer = _consumer(bootstrap, topic, OFFSET_END)
    consumer.poll(1.0)  # finds the end, so that the first message is not missed
    taken: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(taken) < count and time.perf_counter() < deadline:
        started = time.perf_counter()
        producer.produce(topic, _VALUE)
        message = None
        while message is None:
            message = consumer.poll(5.0)
        taken.append(time.perf_counter() - started)
        producer.poll(0)
    producer.flush(10)
    consumer.close()
    settled = taken[len(taken) // 4 :]  # the first quarter warms both sides up
    cuts = statistics.quantiles(settled, n=100)
    return cuts[49] * 1e6, cuts[98] * 1e6, len(taken)


def produce_rate(bootstrap: str, topic: str, count: int) -> float:
    """Messages of 100 bytes a second with librdkafka's own batching, until all are acknowledged."""
    producer = Producer({"bootstrap.servers": bootstrap, "queue.buffering.max.messages": 500_000})
    started = time.perf_counter()
    for _ in range(count):
        while True:
            try:
                producer.produce(topic, _VALUE)
                break
            except BufferError:
                producer.poll(0.01)
    if producer.flush(60):
        raise RuntimeError("not all messages were acknowledged")
    return count / (time.perf_counter() - started)


def consume_rate(bootstrap: str, topic: str, count: int) -> float:
    """Messages a second from the beginning, counted from the first: connecting is not part of it."""
    consumer = _consumer(bootstrap, topic, OFFSET_BEGINNING)
    deadline = time.perf_counter() + 60
    while consumer.poll(0.01) is None:
        if time.perf_counter() > deadline:
            raise RuntimeError("no message came")
    started = time.perf_counter()
    got = 1
    while got < count:
        got += len(consumer.consume(10_000, timeout=0.5))
        if time.perf_counter() > deadline:
            raise RuntimeError(f"only {got} of {count} messages came")
    seconds = time.perf_counter() - started
    consumer.close()
    return count / seconds
