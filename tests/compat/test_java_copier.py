"""Kafka's own system test of transactions: two of its TransactionalMessageCopiers with random aborts, while
broker after broker is killed. What went in comes out, each record once, in its order.

python -m pytest tests/compat/test_java_copier.py with KBROKER_TEST_COPIES (records of each copier) and
KBROKER_TEST_BOUNCES (of each broker) does more of it.
"""

from __future__ import annotations

import os
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kbroker.testing import Cluster
from tests.compat.javatools import JavaTools, Running

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(600)]

RECORDS = int(os.environ.get("KBROKER_TEST_COPIES", "6000"))
BOUNCES = int(os.environ.get("KBROKER_TEST_BOUNCES", "1"))
TRANSACTION = 50
PARTITIONS = 2
PATIENCE_S = 240.0
SETTINGS = {"transaction.state.log.num.partitions": 3, "offsets.topic.num.partitions": 3}


@pytest.fixture(scope="module")
def three():
    """Nodes that may be killed."""
    with Cluster(3, config=SETTINGS, links=False) as cluster:
        yield cluster


def test_copies_while_every_broker_is_killed(three: Cluster, java: JavaTools, name: str) -> None:
    for topic in (name, f"{name}-copy"):
        three.create_topic(topic, PARTITIONS)
    sent = _fill(three, name)
    copiers = [_copier(java, three, name, partition) for partition in range(PARTITIONS)]
    _until(lambda: _go_on(copiers, [0] * PARTITIONS), "a first copy")
    killed = 0
    for _ in range(BOUNCES):
        for node_id in three.nodes:
            before = [_copied(each) for each in copiers]
            killed += any(each.code is None for each in copiers)
            three.kill(node_id)
            time.sleep(0.5)
            three.restart(node_id)
            three.wait_for(three.all_in_sync)
            _until(lambda before=before: _go_on(copiers, before), "copies after a kill")
    _until(lambda: all(each.code is not None for each in copiers), "the end")
    for each in copiers:
        each.wait().ok()
    assert killed >= BOUNCES, "they were done too soon"
    copied = _read(three, f"{name}-copy")
    for partition in range(PARTITIONS):
        of_partition = [value for value in copied if value.startswith(b"%d:" % partition)]
        assert of_partition == sent[partition]
    assert len(copied) == PARTITIONS * RECORDS


def _fill(three: Cluster, topic: str) -> list[list[bytes]]:
    producer = Producer({"bootstrap.servers": three.bootstrap, "enable.idempotence": True})
    sent = [[b"%d:%d" % (part, number) for number in range(RECORDS)] for part in range(PARTITIONS)]
    for partition, values in enumerate(sent):
        for value in values:
            producer.produce(topic, value, b"%d" % partition, partition=partition)
        assert producer.flush(60) == 0
    return sent


def _copier(java: JavaTools, three: Cluster, topic: str, partition: int) -> Running:
    return java.spawn(
        "transactional-message-copier",
        *("--broker-list", three.bootstrap, "--input-topic", topic, "--input-partition", partition),
        *("--output-topic", f"{topic}-copy", "--consumer-group", f"{topic}-{partition}"),
        *("--transactional-id", f"{topic}-{partition}", "--transaction-size", TRANSACTION),
        *("--transaction-timeout", 10_000, "--enable-random-aborts", "--use-group-metadata"),
    )


def _copied(copier: Running) -> int:
    return sum(event.get("progress") is not None or "consumed" in event for event in copier.events())


def _go_on(copiers: list[Running], before: list[int]) -> bool:
    return all(each.code is not None or _copied(each) > was for each, was in zip(copiers, before))


def _until(test, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not test():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def _read(three: Cluster, topic: str) -> list[bytes]:
    """All that is committed, in the order of each partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": three.bootstrap,
            "group.id": f"{topic}-looks",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    found: list[bytes] = []
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
        while True:
            got = consumer.consume(500, 3)
            if not got:
                return found
            found += [message.value() for message in got]
    finally:
        consumer.close()
