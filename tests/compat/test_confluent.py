"""confluent-kafka: today's librdkafka, which is also under the clients of .NET, Go and Node."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.doubles import wait_until

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
WAIT_SECONDS = 30


@pytest.fixture
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture
def topic(admin: AdminClient, name: str) -> str:
    """A topic of two partitions."""
    admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=1)])[name].result(WAIT_SECONDS)
    return name


@pytest.fixture
def consumers(bootstrap: str) -> Iterator[Callable[..., Consumer]]:
    """Makes consumers, closes those that are still open."""
    made: list[Consumer] = []

    def make(group: str, **settings: object) -> Consumer:
        defaults = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 200,
        }
        made.append(Consumer(defaults | {k.replace("_", "."): v for k, v in settings.items()}))
        return made[-1]

    yield make
    for consumer in made:
        consumer.close()


def produce(
    bootstrap: str, topic: str, partition: int, values: list[str], **settings: object
) -> list[Message]:
    """Send all values and return the acknowledged messages, in order."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5} | settings)
    acknowledged: list[Message] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        acknowledged.append(message)

    for value in values:
        producer.produce(
            topic, value, key="k", headers={"h": value[:10]}, partition=partition, callback=delivered
        )
    assert producer.flush(WAIT_SECONDS) == 0
    return acknowledged


def take(consumer: Consumer, count: int) -> list[Message]:
    """The next `count` messages."""
    messages: list[Message] = []
    deadline = time.monotonic() + WAIT_SECONDS
    while len(messages) < count:
        assert time.monotonic() < deadline, f"only {len(messages)} of {count} messages came"
        for message in consumer.consume(count - len(messages), timeout=0.5):
            assert message.error() is None, message.error()
            messages.append(message)
    return messages


def texts(messages: list[Message]) -> list[str]:
    return [m.value().decode() for m in messages]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
def test_produces_and_consumes(bootstrap: str, topic: str, consumers, codec: str, idempotent: bool) -> None:
    values = [f"{i} " + "x" * 100 for i in range(300)]
    sent = produce(
        bootstrap, topic, 1, values, **{"compression.type": codec, "enable.idempotence": idempotent}
    )
    assert [m.offset() for m in sent] == list(range(300))
    consumer = consumers("unused")
    consumer.assign([TopicPartition(topic, 1, OFFSET_BEGINNING)])
    got = take(consumer, 300)
    assert texts(got) == values
    assert [m.offset() for m in got] == list(range(300))
    assert got[7].key() == b"k"
    assert got[7].headers() == [("h", values[7][:10].encode())]


def test_large_messages(bootstrap: str, topic: str, consumers) -> None:
    values = ["y" * 900_000, "z" * 900_000]
    produce(bootstrap, topic, 0, values, **{"message.max.bytes": 1_000_000})
    consumer = consumers("unused", **{"fetch.max.bytes": 1_000_000})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    assert texts(take(consumer, 2)) == values


def test_too_large_message_is_refused(bootstrap: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "message.max.bytes": 3_000_000})
    errors: list[int] = []
    producer.produce(topic, "x" * 2_000_000, callback=lambda error, _: errors.append(error.code()))
    producer.flush(WAIT_SECONDS)
    assert errors == [KafkaError.MSG_SIZE_TOO_LARGE]


def test_watermarks_and_seek_by_time(bootstrap: str, topic: str, consumers) -> None:
    base = int(time.time() * 1000) - 60_000
    producer = Producer({"bootstrap.servers": bootstrap})
    for i in range(5):
        producer.produce(topic, f"t{i}", partition=0, timestamp=base + 1000 * i)
    producer.flush(WAIT_SECONDS)
    consumer = consumers("unused")
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=WAIT_SECONDS) == (0, 5)
    [found] = consumer.offsets_for_times([TopicPartition(topic, 0, base + 2500)], timeout=WAIT_SECONDS)
    assert found.offset == 3
    consumer.assign([found])
    got = take(consumer, 2)
    assert texts(got) == ["t3", "t4"]
    assert got[0].timestamp()[1] == base + 3000
    consumer.seek(TopicPartition(topic, 0, 1))
    assert texts(take(consumer, 4)) == ["t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_group_rebalances_commits_and_resumes(
    bootstrap: str, topic: str, name: str, consumers, strategy: str
) -> None:
    for partition in (0, 1):
        produce(bootstrap, topic, partition, [f"p{partition}-{i}" for i in range(5)])
    settings = {"partition.assignment.strategy": strategy}
    first = consumers(name, **settings)
    first.subscribe([topic])
    assert sorted(texts(take(first, 10))) == [f"p{p}-{i}" for p in (0, 1) for i in range(5)]
    committed = first.commit(asynchronous=False)
    assert sorted((p.partition, p.offset) for p in committed) == [(0, 5), (1, 5)]

    second = consumers(name, **settings)
    second.subscribe([topic])

    def shared() -> bool:
        assert first.poll(0.1) is None, "committed messages came again"
        assert second.poll(0.1) is None, "committed messages came again"
        return len(first.assignment()) == len(second.assignment()) == 1

    wait_until(shared, "the partitions shared by two members")
    for partition in (0, 1):
        produce(bootstrap, topic, partition, [f"new-{partition}"])
    assert sorted(texts(take(first, 1) + take(second, 1))) == ["new-0", "new-1"]
    first.commit(asynchronous=False)
    second.close()
    [again] = texts(take(first, 1))  # the other member left without a commit
    assert again in ("new-0", "new-1")
    wait_until(lambda: first.poll(0.1) is None and len(first.assignment()) == 2, "both partitions back")
    first.commit(asynchronous=False)
    first.close()

    third = consumers(name, **settings)
    third.subscribe([topic])
    produce(bootstrap, topic, 1, ["last"])
    assert texts(take(third, 1)) == ["last"]


def test_static_member_keeps_its_place(bootstrap: str, topic: str, name: str, consumers) -> None:
    produce(bootstrap, topic, 0, ["a"])
    for expected in (["a"], ["b"]):
        member = consumers(name, **{"group.instance.id": "one"})
        member.subscribe([topic])
        assert texts(take(member, 1)) == expected
        member.commit(asynchronous=False)
        member.close()
        produce(bootstrap, topic, 0, ["b"])


def test_auto_commit(bootstrap: str, topic: str, name: str, consumers) -> None:
    produce(bootstrap, topic, 0, ["a", "b"])
    member = consumers(name, **{"enable.auto.commit": True})
    member.subscribe([topic])
    take(member, 2)
    member.close()  # commits
    [committed] = consumers(name).committed([TopicPartition(topic, 0)], timeout=WAIT_SECONDS)
    assert committed.offset == 2


def test_topics_in_admin(admin: AdminClient, topic: str) -> None:
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(WAIT_SECONDS)
    assert refused.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([NewTopic("bad name", 1, 1)])["bad name"].result(WAIT_SECONDS)
    assert refused.value.args[0].code() == KafkaError.TOPIC_EXCEPTION
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(WAIT_SECONDS)
    assert sorted(admin.list_topics(topic, timeout=WAIT_SECONDS).topics[topic].partitions) == [0, 1, 2]
    admin.delete_topics([topic])[topic].result(WAIT_SECONDS)
    wait_until(lambda: topic not in admin.list_topics(timeout=WAIT_SECONDS).topics, "the topic gone")
    with pytest.raises(KafkaException) as refused:
        admin.delete_topics([topic])[topic].result(WAIT_SECONDS)
    assert refused.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_recreated_topic_is_empty(bootstrap: str, admin: AdminClient, topic: str, consumers) -> None:
    produce(bootstrap, topic, 0, ["old"])
    admin.delete_topics([topic])[topic].result(WAIT_SECONDS)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(WAIT_SECONDS)
    produce(bootstrap, topic, 0, ["new"])
    consumer = consumers("unused")
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    [message] = take(consumer, 1)
    assert (message.value(), message.offset()) == (b"new", 0)


def test_configs(admin: AdminClient, topic: str) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)

    def described() -> dict[str, ConfigEntry]:
        return admin.describe_configs([resource])[resource].result(WAIT_SECONDS)

    assert described()["retention.ms"].value == "604800000"
    assert described()["retention.ms"].is_default
    change = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
    changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[change])
    admin.incremental_alter_configs([changed])[changed].result(WAIT_SECONDS)
    assert described()["retention.ms"].value == "1000"
    assert not described()["retention.ms"].is_default
    bad = ConfigEntry("retention.ms", "soon", incremental_operation=AlterConfigOpType.SET)
    refused = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[bad])
    with pytest.raises(KafkaException) as error:
        admin.incremental_alter_configs([refused])[refused].result(WAIT_SECONDS)
    assert error.value.args[0].code() == KafkaError.INVALID_CONFIG


def test_groups_in_admin(bootstrap: str, admin: AdminClient, topic: str, name: str, consumers) -> None:
    produce(bootstrap, topic, 0, ["a", "b", "c"])
    member = consumers(name)
    member.subscribe([topic])
    take(member, 3)
    member.commit(asynchronous=False)
    described = admin.describe_consumer_groups([name])[name].result(WAIT_SECONDS)
    assert described.state.name == "STABLE"
    [one] = described.members
    assert {(p.topic, p.partition) for p in one.assignment.topic_partitions} == {(topic, 0), (topic, 1)}
    with pytest.raises(KafkaException) as refused:
        admin.delete_consumer_groups([name])[name].result(WAIT_SECONDS)
    assert refused.value.args[0].code() == KafkaError.NON_EMPTY_GROUP
    member.close()

    listed = admin.list_consumer_groups().result(WAIT_SECONDS).valid
    assert {g.type for g in listed if g.group_id == name} <= {ConsumerGroupType.CLASSIC}
    request = ConsumerGroupTopicPartitions(name)
    [offsets] = [f.result(WAIT_SECONDS) for f in admin.list_consumer_group_offsets([request]).values()]
    assert {(p.topic, p.partition): p.offset for p in offsets.topic_partitions} == {(topic, 0): 3}
    moved = ConsumerGroupTopicPartitions(name, [TopicPartition(topic, 0, 1)])
    [_] = [f.result(WAIT_SECONDS) for f in admin.alter_consumer_group_offsets([moved]).values()]
    again = consumers(name)
    again.subscribe([topic])
    assert texts(take(again, 2)) == ["b", "c"]
    again.close()
    admin.delete_consumer_groups([name])[name].result(WAIT_SECONDS)
    assert name not in [g.group_id for g in admin.list_consumer_groups().result(WAIT_SECONDS).valid]


def test_offsets_and_records_in_admin(bootstrap: str, admin: AdminClient, topic: str, consumers) -> None:
    produce(bootstrap, topic, 0, ["a", "b", "c"])
    partition = TopicPartition(topic, 0)
    for spec, offset in (
        (OffsetSpec.earliest(), 0),
        (OffsetSpec.latest(), 3),
        (OffsetSpec.max_timestamp(), None),
    ):
        found = admin.list_offsets({partition: spec})[partition].result(WAIT_SECONDS)
        assert found.offset in ([offset] if offset is not None else [0, 1, 2])
    removed = admin.delete_records([TopicPartition(topic, 0, 2)])[partition].result(WAIT_SECONDS)
    assert removed.low_watermark == 2
    consumer = consumers("unused")
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    assert texts(take(consumer, 1)) == ["c"]


def test_cluster(admin: AdminClient) -> None:
    cluster = admin.describe_cluster().result(WAIT_SECONDS)
    [node] = cluster.nodes
    assert cluster.controller.id == node.id
    assert len(cluster.cluster_id) == 22


# -- transactions ------------------------------------------------------------------------------------------


def _transactional(bootstrap: str, name: str, **settings: object) -> Producer:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name, "linger.ms": 5} | settings)
    producer.init_transactions(WAIT_SECONDS)
    return producer


def _values(consumer: Consumer, topic: str, count: int) -> list[str]:
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    return [message.value().decode() for message in consumer.consume(count, WAIT_SECONDS)]


@pytest.mark.parametrize("codec", CODECS)
def test_transactions_are_whole_or_nothing(bootstrap: str, topic: str, consumers, codec: str) -> None:
    producer = _transactional(bootstrap, topic, **{"compression.type": codec})
    for number in range(4):
        producer.begin_transaction()
        for index in range(5):
            producer.produce(topic, f"{number}.{index}", partition=0)
        if number % 2:
            producer.flush(WAIT_SECONDS)
            producer.abort_transaction(WAIT_SECONDS)
        else:
            producer.commit_transaction(WAIT_SECONDS)
    committed = [f"{number}.{index}" for number in (0, 2) for index in range(5)]
    assert _values(consumers(topic), topic, 10) == committed
    every = _values(consumers(topic, isolation_level="read_uncommitted"), topic, 20)
    assert every == [f"{number}.{index}" for number in range(4) for index in range(5)]


def test_offsets_in_transactions(bootstrap: str, topic: str, consumers) -> None:
    produce(bootstrap, topic, 0, ["a", "b", "c"])
    consumer = consumers(topic)
    consumer.subscribe([topic])
    read = consumer.consume(3, WAIT_SECONDS)
    producer = _transactional(bootstrap, topic)
    for commit, offset in ((False, 3), (True, 2)):
        producer.begin_transaction()
        for message in read[:offset]:
            producer.produce(topic, message.value() + b"!", partition=1)
        offsets = [TopicPartition(topic, 0, offset)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), WAIT_SECONDS)
        (producer.commit_transaction if commit else producer.abort_transaction)(WAIT_SECONDS)
    (committed,) = consumer.committed([TopicPartition(topic, 0)], WAIT_SECONDS)
    assert committed.offset == 2


def test_a_zombie_is_fenced(bootstrap: str, topic: str) -> None:
    zombie = _transactional(bootstrap, topic)
    zombie.begin_transaction()
    zombie.produce(topic, b"zombie", partition=0)
    zombie.flush(WAIT_SECONDS)
    successor = _transactional(bootstrap, topic)
    with pytest.raises(KafkaException) as refused:
        zombie.commit_transaction(WAIT_SECONDS)
    assert refused.value.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED)
    successor.begin_transaction()
    successor.produce(topic, b"successor", partition=0)
    successor.commit_transaction(WAIT_SECONDS)
