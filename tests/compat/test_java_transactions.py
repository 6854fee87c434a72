"""Transactions of Java clients, and Kafka's tool for them: kafka-transactions, its output as with Kafka."""

from __future__ import annotations

import re
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kbroker.client import Cluster
from kbroker.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kbroker.protocol.generated.produce_response import ProduceResponse
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.types import TopicPartition as Place
from tests.compat.javatools import JavaTools, Result

pytestmark = pytest.mark.jvm

HOUR_MS = 3_600_000


@pytest.fixture
def tool(java: JavaTools, bootstrap: str):
    """Runs a tool against the broker, to its end."""

    def run(name: str, *args: object) -> Result:
        return java.run(name, "--bootstrap-server", bootstrap, *args)

    return run


@pytest.fixture
def topic(tool, name: str) -> str:
    tool("kafka-topics", "--create", "--topic", name, "--partitions", 2, "--replication-factor", 1).ok()
    return name


def rows(printed: str) -> list[dict[str, str]]:
    """The tool's table."""
    head, *body = [[cell.strip() for cell in line.split("\t")] for line in printed.splitlines() if line]
    return [dict(zip(head, cells)) for cells in body]


def test_java_transactions(java: JavaTools, bootstrap: str, name: str) -> None:
    assert java.run("transactions", bootstrap, name).ok() == "ok"


def test_copying_with_random_aborts(java: JavaTools, bootstrap: str, topic: str) -> None:
    """Kafka's TransactionalMessageCopier, twice in one transactional id, as its system tests run it."""
    values = [f"{number}".encode() for number in range(1_000)]
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(30) == 0
    where = ["--broker-list", bootstrap, "--input-topic", topic, "--input-partition", 0]
    where += ["--output-topic", f"{topic}-copy", "--consumer-group", topic, "--transactional-id", topic]
    java.run("kafka-topics", "--bootstrap-server", bootstrap, "--create", "--topic", f"{topic}-copy").ok()
    for count in (400, 600):
        copier = java.run(
            "transactional-message-copier",
            *where,
            *("--max-messages", count, "--transaction-size", 50, "--enable-random-aborts"),
            *("--group-mode", "--use-group-metadata"),
        )
        assert f'"consumed":{count}' in copier.ok() or "remaining" in copier.ok()
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"{topic}-looks"})
    try:
        consumer.assign([TopicPartition(f"{topic}-copy", 0, 0)])
        found: list[bytes] = []
        while len(found) < len(values):
            got = consumer.consume(500, 5)
            assert got, f"{len(found)} copied"
            found += [message.value() for message in got]
        assert consumer.consume(1, 1) == []
    finally:
        consumer.close()
    assert found == values


def test_a_performance_test_in_transactions(java: JavaTools, bootstrap: str, topic: str) -> None:
    """kafka-producer-perf-test commits every 100 ms."""
    arguments = ["--topic", topic, "--num-records", 2000, "--record-size", 100, "--throughput", 2000]
    done = java.run(
        "kafka-producer-perf-test",
        *arguments,
        "--bootstrap-server",
        bootstrap,
        "--transactional-id",
        topic,
        "--transaction-duration-ms",
        100,
    )
    assert "2000 records sent" in done.ok()


def test_what_the_tool_tells(tool, bootstrap: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"a", partition=1)
    assert producer.flush(30) == 0
    (mine,) = [
        row for row in rows(tool("kafka-transactions", "list").ok()) if row["TransactionalId"] == topic
    ]
    assert mine["TransactionState"] == "Ongoing"
    by_pattern = tool("kafka-transactions", "list", "--transactional-id-pattern", f"{topic[:-1]}.").ok()
    assert [row["TransactionalId"] for row in rows(by_pattern)] == [topic]
    assert rows(tool("kafka-transactions", "list", "--duration-filter", HOUR_MS).ok()) == [
        row for row in rows(tool("kafka-transactions", "list").ok()) if row["TransactionState"] == "Empty"
    ]
    described = rows(tool("kafka-transactions", "describe", "--transactional-id", topic).ok())
    assert (
        described[0].items()
        >= {
            "TransactionalId": topic,
            "ProducerId": mine["ProducerId"],
            "ProducerEpoch": "0",
            "TransactionState": "Ongoing",
            "TransactionTimeoutMs": "60000",
            "TopicPartitions": f"{topic}-1",
        }.items()
    )
    assert 0 <= int(described[0]["TransactionDurationMs"]) < 60_000
    place = ["--topic", topic, "--partition", 1]
    (open_,) = rows(tool("kafka-transactions", "describe-producers", *place).ok())
    assert (open_["LastSequence"], open_["CurrentTransactionStartOffset"]) == ("0", "0")
    producer.abort_transaction(30)
    (over,) = rows(tool("kafka-transactions", "describe-producers", *place).ok())
    assert (over["LastSequence"], over["CurrentTransactionStartOffset"]) == ("0", "None")
    assert over["LatestCoordinatorEpoch"] == "0"
    assert tool("kafka-transactions", "find-hanging", "--topic", topic).ok().split("\n")[1:] in ([], [""])


def test_a_forced_end(tool, bootstrap: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"a")
    assert producer.flush(30) == 0
    tool("kafka-transactions", "forceTerminateTransaction", "--transactionalId", topic).ok()
    (row,) = rows(tool("kafka-transactions", "describe", "--transactional-id", topic).ok())
    # Its epoch went up twice: for the abort, and for the tool, which takes the id over.
    assert (row["TransactionState"], row["ProducerEpoch"]) == ("Empty", "2")


def test_a_hanging_transaction_is_found_and_aborted(tool, bootstrap: str, topic: str) -> None:
    """Its coordinator does not know of it, as before KIP-890; readers wait, until somebody aborts it."""
    _verify_transactions(tool, False)
    try:
        _hang(bootstrap, topic)
    finally:
        _verify_transactions(tool, True)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        plain = Producer({"bootstrap.servers": bootstrap})
        plain.produce(topic, b"after", partition=0)
        assert plain.flush(30) == 0
        assert consumer.poll(1) is None
        found = rows(tool("kafka-transactions", "find-hanging", "--topic", topic).ok())
        assert [
            row.items() >= {"Topic": topic, "Partition": "0", "ProducerId": "4242"}.items() for row in found
        ] == [True]
        assert found[0]["StartOffset"] == "0"
        assert int(found[0]["DurationMs" if "DurationMs" in found[0] else "Duration(min)"]) >= 60
        tool("kafka-transactions", "abort", "--topic", topic, "--partition", 0, "--start-offset", 0).ok()
        message = consumer.poll(20)
        assert message is not None
        assert message.value() == b"after"
    finally:
        consumer.close()
    (left,) = rows(tool("kafka-transactions", "describe-producers", "--topic", topic, "--partition", 0).ok())
    assert left["CurrentTransactionStartOffset"] == "None"


def _verify_transactions(tool, verify: bool) -> None:
    setting = f"transaction.partition.verification.enable={str(verify).lower()}"
    arguments = ["--entity-type", "brokers", "--entity-default", "--alter", "--add-config", setting]
    assert re.search("Completed updating", tool("kafka-configs", *arguments).ok())
    time.sleep(0.5)


def _hang(bootstrap: str, topic: str) -> None:
    """Write as a producer whose transaction nobody began, two hours ago."""
    ago = int(time.time() * 1000) - 2 * HOUR_MS
    records = build_batch(
        [Record(timestamp=ago, value=b"open")],
        producer_id=4242,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
    )
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    request = ProduceRequest(transactional_id="nobody", acks=-1, timeout_ms=5000, topic_data=[data])
    with Cluster(bootstrap) as cluster:
        (leader,) = cluster.leaders([Place(topic, 0)])
        answer = cluster.node(leader).ask(request, ProduceResponse, version=9)
    assert answer.responses[0].partition_responses[0].error_code == 0
