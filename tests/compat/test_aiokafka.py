"""aiokafka: the asyncio client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
WAIT_SECONDS = 30


@pytest.fixture
async def admin(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await client.start()
    yield client
    await client.close()


@pytest.fixture
async def topic(admin: AIOKafkaAdminClient, name: str) -> str:
    """A topic of two partitions."""
    await admin.create_topics([NewTopic(name, 2, 1)])
    return name


async def produce(
    bootstrap: str, topic: str, partition: int, values: list[bytes], **settings: object
) -> list:
    """Send all values; their metadata, in order."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, **settings) as producer:
        waiting = [
            await producer.send(topic, v, key=b"k", partition=partition, headers=[("h", v[:10])])
            for v in values
        ]
        return [await w for w in waiting]


def consumer_for(bootstrap: str, *topics: str, group: str | None = None) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        *topics,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=200,
    )


async def take(consumer: AIOKafkaConsumer, count: int) -> list:
    async with asyncio.timeout(WAIT_SECONDS):
        return [await consumer.getone() for _ in range(count)]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
async def test_produces_and_consumes(bootstrap: str, topic: str, codec: str | None, idempotent: bool) -> None:
    values = [b"%d " % i + b"x" * 100 for i in range(200)]
    sent = await produce(
        bootstrap, topic, 1, values, compression_type=codec, enable_idempotence=idempotent, linger_ms=5
    )
    assert [m.offset for m in sent] == list(range(200))
    async with consumer_for(bootstrap) as consumer:
        consumer.assign([TopicPartition(topic, 1)])
        records = await take(consumer, 200)
    assert [r.value for r in records] == values
    assert [r.offset for r in records] == list(range(200))
    assert records[5].key == b"k"
    assert records[5].headers == (("h", values[5][:10]),)


async def test_seeks_by_time(bootstrap: str, topic: str) -> None:
    base = int(time.time() * 1000) - 60_000
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for i in range(5):
            await producer.send_and_wait(topic, b"t%d" % i, partition=0, timestamp_ms=base + 1000 * i)
    partition = TopicPartition(topic, 0)
    async with consumer_for(bootstrap) as consumer:
        consumer.assign([partition])
        found = (await consumer.offsets_for_times({partition: base + 2500}))[partition]
        assert (found.offset, found.timestamp) == (3, base + 3000)
        assert (await consumer.end_offsets([partition]))[partition] == 5
        assert (await consumer.beginning_offsets([partition]))[partition] == 0
        consumer.seek(partition, found.offset)
        assert [r.value for r in await take(consumer, 2)] == [b"t3", b"t4"]


async def test_group_rebalances_commits_and_resumes(bootstrap: str, topic: str, name: str) -> None:
    for partition in (0, 1):
        await produce(bootstrap, topic, partition, [b"p%d-%d" % (partition, i) for i in range(5)])
    first = consumer_for(bootstrap, topic, group=name)
    await first.start()
    assert len({r.value for r in await take(first, 10)}) == 10
    await first.commit()
    second = consumer_for(bootstrap, topic, group=name)
    await second.start()
    await until(lambda: len(first.assignment()) == len(second.assignment()) == 1)
    for partition in (0, 1):
        await produce(bootstrap, topic, partition, [b"new-%d" % partition])
    got = await take(first, 1) + await take(second, 1)
    assert sorted(r.value for r in got) == [b"new-0", b"new-1"]
    await first.commit()
    await second.stop()  # without a commit
    [again] = await take(first, 1)
    assert again.value == got[1].value
    await first.commit()
    assert [await first.committed(TopicPartition(topic, p)) for p in (0, 1)] == [6, 6]
    await first.stop()
    async with consumer_for(bootstrap, topic, group=name) as third:
        await produce(bootstrap, topic, 0, [b"last"])
        assert [r.value for r in await take(third, 1)] == [b"last"]


async def test_topics_in_admin(bootstrap: str, admin: AIOKafkaAdminClient, topic: str) -> None:
    response = await admin.create_topics([NewTopic(topic, 2, 1)])
    assert response.topic_errors[0][1] == TopicAlreadyExistsError.errno
    assert topic in await admin.list_topics()
    [described] = await admin.describe_topics([topic])
    assert len(described["partitions"]) == 2
    await admin.create_partitions({topic: NewPartitions(3)})
    [described] = await admin.describe_topics([topic])
    assert len(described["partitions"]) == 3
    await produce(bootstrap, topic, 0, [b"a", b"b", b"c"])
    partition = TopicPartition(topic, 0)
    removed = await admin.delete_records({partition: RecordsToDelete(before_offset=2)})
    assert removed[partition] == 2
    await admin.delete_topics([topic])
    response = await admin.delete_topics([topic])
    assert response.topic_error_codes[0][1] == UnknownTopicOrPartitionError.errno


async def test_configs_in_admin(admin: AIOKafkaAdminClient, topic: str) -> None:
    async def value() -> str:
        [response] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        [(_, _, _, _, entries)] = response.resources
        return {entry[0]: entry[1] for entry in entries}["max.message.bytes"]

    assert await value() == "1048588"
    change = ConfigResource(ConfigResourceType.TOPIC, topic, configs={"max.message.bytes": "5000"})
    await admin.alter_configs([change])
    assert await value() == "5000"


async def test_groups_in_admin(bootstrap: str, admin: AIOKafkaAdminClient, topic: str, name: str) -> None:
    await produce(bootstrap, topic, 0, [b"a"])
    async with consumer_for(bootstrap, topic, group=name) as member:
        await take(member, 1)
        await member.commit()
        [response] = await admin.describe_consumer_groups([name])
        [group] = response.groups
        assert (group[1], group[2]) == (name, "Stable")
    assert name in [entry[0] for entry in await admin.list_consumer_groups()]
    offsets = await admin.list_consumer_group_offsets(name)
    assert offsets[TopicPartition(topic, 0)].offset == 1
