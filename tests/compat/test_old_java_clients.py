"""Java clients of every generation, each with its own class loader in one JVM (java_old/OldClients.java).

They share a topic: first a client of today writes records with headers in every codec that old consumers
know, then each old one writes and reads, and at the end today's consumer reads it all.
"""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.compat.conftest import BrokerUnderTest
from tests.needs import cache_folder, need_java
from tools.kafka_jars import client_jars

pytestmark = pytest.mark.jvm

_SOURCES = Path(__file__).parent / "java_old"
_CODECS = ["none", "gzip", "snappy", "lz4"]
#: What each can do: 0.8 has no consumer for groups without ZooKeeper, and admins came with 0.11.
_PROGRAMS = {
    "0.8.2.2": ["OldProducer", "SimpleConsumer08"],
    "0.9.0.1": ["OldProducer", "OldConsumer"],
    "0.10.2.2": ["OldProducer", "OldConsumer"],
    "0.11.0.3": ["OldProducer", "OldConsumer", "OldAdmin", "OldTransactions"],
    "1.1.1": ["OldProducer", "OldConsumer", "OldAdmin", "OldTransactions"],
    "2.3.1": ["OldProducer", "OldConsumer", "OldAdmin", "OldTransactions"],
    "2.8.2": ["OldProducer", "OldConsumer", "OldAdmin", "OldTransactions"],
    "3.9.1": ["OldProducer", "OldConsumer", "OldAdmin", "OldTransactions"],
}


@pytest.fixture(scope="module")
def shared_topic(broker: BrokerUnderTest) -> str:
    """Forty records of today."""
    topic = f"old-java-{uuid.uuid4().hex[:8]}"
    for at, codec in enumerate(_CODECS):
        producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "compression.type": codec, "linger.ms": 5}
        )
        for index in range(10 * at, 10 * at + 10):
            producer.produce(topic, b"new %d" % index, partition=0, headers={"h": b"x"})
        assert producer.flush(30) == 0
    return topic


@pytest.fixture(scope="module")
def told(
    broker: BrokerUnderTest, shared_topic: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What the JVM says of each version."""
    need_java()
    wanted = []
    for version, programs in _PROGRAMS.items():
        sources = ",".join(str(_SOURCES / f"{program}.java") for program in programs)
        wanted.append(f"{version}={client_jars(cache_folder(), version)}={sources}")
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += [str(_SOURCES / "OldClients.java"), str(tmp_path_factory.mktemp("classes"))]
    done = subprocess.run(
        [*command, broker.bootstrap, shared_topic, *wanted],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    answers = {}
    for line in done.stdout.splitlines():
        version, _, text = line.partition(" ")
        answers[version] = text
    assert answers, done.stderr
    return answers


@pytest.mark.parametrize("version", _PROGRAMS)
def test_an_old_client_does_its_work(told: dict[str, str], version: str) -> None:
    assert told[version] == "ok"


@pytest.mark.parametrize(
    "version", [version for version, all_ in _PROGRAMS.items() if "OldTransactions" in all_]
)
def test_its_transactions_are_read_as_a_whole_or_not_at_all(
    broker: BrokerUnderTest, shared_topic: str, told: dict[str, str], version: str
) -> None:
    name = f"{shared_topic}-txn-{version}"
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name})
    try:
        consumer.assign([TopicPartition(name, 0, 0)])
        values = [message.value().decode() for message in consumer.consume(7, timeout=30)]
        (committed,) = consumer.committed([TopicPartition(name, 0)], timeout=30)
    finally:
        consumer.close()
    assert values == ["0.0", "0.1", "0.2", "2.0", "2.1", "2.2", "end"]
    assert committed.offset == 2


def test_todays_consumer_reads_what_all_of_them_wrote(
    broker: BrokerUnderTest, shared_topic: str, told: dict[str, str]
) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": shared_topic})
    try:
        consumer.assign([TopicPartition(shared_topic, 0, 0)])
        values = [message.value().decode() for message in consumer.consume(72, timeout=30)]
    finally:
        consumer.close()
    assert values[:40] == [f"new {index}" for index in range(40)]
    assert values[40:] == [f"{version} {codec}" for version in _PROGRAMS for codec in _CODECS]
