"""kill -9 under load, again and again: what was acknowledged is there once, and in order."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from kbroker.testing import Broker

ROUNDS = 5
ACKNOWLEDGED_A_ROUND = 3000
PARTITIONS = 3
WAIT_SECONDS = 60

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class Load:
    """An idempotent producer in a thread: per partition the numbers 0, 1, 2 … as fast as they are taken."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.topic = topic
        self.sent = Counter[int]()
        self.acknowledged: dict[tuple[int, int], int] = {}  # (partition, offset) -> number
        self.failures: list[KafkaError] = []
        self._stopping = False
        self._changed = threading.Condition()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "batch.num.messages": 50,
                "queue.buffering.max.messages": 2000,
                "message.timeout.ms": 120_000,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
                "retry.backoff.ms": 20,
                "compression.type": "lz4",
                "log_level": 0,
            }
        )
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        partition = 0
        while not self._stopping:
            try:
                number = self.sent[partition]
                self._producer.produce(
                    self.topic, b"%d" % number, partition=partition, on_delivery=self._delivered
                )
            except BufferError:
                self._producer.poll(0.01)
                continue
            self.sent[partition] += 1
            partition = (partition + 1) % PARTITIONS
            self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        with self._changed:
            if error is not None:
                self.failures.append(error)
            else:
                self.acknowledged[message.partition(), message.offset()] = int(message.value())
            self._changed.notify_all()

    def wait_for_more(self, count: int) -> None:
        """Until `count` more messages are acknowledged."""
        with self._changed:
            goal = len(self.acknowledged) + count
            reached = self._changed.wait_for(
                lambda: len(self.acknowledged) >= goal or self.failures, WAIT_SECONDS
            )
        assert not self.failures, self.failures[0]
        assert reached, f"{len(self.acknowledged)} of {goal} messages acknowledged"

    def stop(self) -> None:
        """Send no more, wait for every acknowledgement."""
        self._stopping = True
        self._thread.join()
        assert self._producer.flush(WAIT_SECONDS) == 0
        assert not self.failures, self.failures[0]


def read_all(bootstrap: str, topic: str, partition: int) -> dict[int, int]:
    """offset -> number of one partition, from the beginning to the end that the broker reports."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    start, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=WAIT_SECONDS)
    assert start == 0
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
    read: dict[int, int] = {}
    deadline = time.monotonic() + WAIT_SECONDS
    while len(read) < end:
        assert time.monotonic() < deadline, f"read {len(read)} of {end} records"
        for message in consumer.consume(5000, timeout=0.5):
            assert message.error() is None, message.error()
            assert message.offset() not in read
            read[message.offset()] = int(message.value())
    consumer.close()
    return read


def test_acknowledged_records_survive_once_and_in_order(tmp_path: Path) -> None:
    with Broker(subprocess=True, data=str(tmp_path / "data")) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        small = {"segment.bytes": "1048576"}  # several segments, so that recovery has choices to make
        admin.create_topics([NewTopic("load", PARTITIONS, 1, config=small)])["load"].result(WAIT_SECONDS)
        load = Load(broker.bootstrap, "load")
        for round_ in range(ROUNDS):
            load.wait_for_more(ACKNOWLEDGED_A_ROUND)
            broker.kill()
            broker.start()
            if round_ % 2:  # and again while the retries come in
                broker.kill()
                broker.start()
        load.wait_for_more(1)
        load.stop()
        assert sum(load.sent.values()) == len(load.acknowledged)
        for partition in range(PARTITIONS):
            read = read_all(broker.bootstrap, "load", partition)
            # In the order sent, nothing lost, nothing doubled; and each at the offset that was acknowledged.
            assert list(read.values()) == list(range(load.sent[partition]))
            acknowledged = {o: n for (p, o), n in load.acknowledged.items() if p == partition}
            assert acknowledged == read


def test_committed_offsets_survive(tmp_path: Path) -> None:
    with Broker(subprocess=True, data=str(tmp_path / "data")) as broker:
        settings = {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "group",
            "enable.auto.commit": False,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
            "log_level": 0,
        }
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic("t", 1, 1)])["t"].result(WAIT_SECONDS)
        for round_ in range(ROUNDS):
            consumer = Consumer(settings)
            if round_:
                [found] = consumer.committed([TopicPartition("t", 0)], timeout=WAIT_SECONDS)
                assert (found.offset, found.metadata) == (100 * round_ - 1, f"round {round_ - 1}")
            for offset in range(100 * round_, 100 * (round_ + 1)):
                position = TopicPartition("t", 0, offset, f"round {round_}")
                [done] = consumer.commit(offsets=[position], asynchronous=False)
                assert done.error is None
            broker.kill()
            consumer.close()
            broker.start()


def test_topics_and_configs_survive(tmp_path: Path) -> None:
    """The moment after the answer is the moment of the kill."""
    alive: deque[tuple[str, str]] = deque()
    with Broker(subprocess=True, data=str(tmp_path / "data")) as broker:
        for round_ in range(ROUNDS):
            admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
            names = [f"round{round_}-{i}" for i in range(4)]
            created = admin.create_topics([NewTopic(name, 2, 1) for name in names])
            for name in names:
                created[name].result(WAIT_SECONDS)
            for name in names:
                value = str(1000 + round_)
                change = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
                resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[change])
                admin.incremental_alter_configs([resource])[resource].result(WAIT_SECONDS)
                alive.append((name, value))
            gone, _ = alive.popleft()
            admin.delete_topics([gone])[gone].result(WAIT_SECONDS)
            broker.kill()
            broker.start()
            listed = AdminClient({"bootstrap.servers": broker.bootstrap})
            topics = listed.list_topics(timeout=WAIT_SECONDS).topics
            assert {name for name in topics if not name.startswith("__")} == {name for name, _ in alive}
            for name, value in alive:
                assert len(topics[name].partitions) == 2
                resource = ConfigResource(ResourceType.TOPIC, name)
                configs = listed.describe_configs([resource])[resource].result(WAIT_SECONDS)
                assert configs["retention.ms"].value == value
