"""Dead letters of share groups (KIP-1191), on any broker: all of this holds with Apache Kafka 4.4."""

from __future__ import annotations

import time

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs, describe_configs
from kbroker.client.errors import ClientError
from kbroker.client.records import fetch, produce
from kbroker.client.shares import share_positions
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import Record
from kbroker.types import TopicPartition
from tests.compat.share_member import Held, ShareMember

ACCEPT, RELEASE, REJECT = 1, 2, 3
ENABLED = {"errors.deadletterqueue.group.enable": "true"}
REJECTED = "Offset rejected by client."
EXCEEDED = "Offset delivery count exceeded the threshold."
PARTITIONS, RECORDS = 3, 4
PATIENCE_S = 60.0


@pytest.fixture
def cluster(bootstrap):
    with Cluster(bootstrap, timeout_s=30) as cluster:
        yield cluster


@pytest.fixture
def source(cluster, name):
    """A topic with a few records in each partition."""
    create_topic(cluster, name, partitions=PARTITIONS, replication_factor=1)
    for index in range(PARTITIONS):
        records = [
            Record(timestamp=1_000, key=b"k%d" % at, value=b"%d-%d" % (index, at), headers=(("h", b"x"),))
            for at in range(RECORDS)
        ]
        produce(cluster, TopicPartition(name, index), records)
    return name


def make_group(cluster, name, topic, **more):
    settings = {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": "2"}
    settings["errors.deadletterqueue.topic.name"] = topic
    settings |= {key.replace("_", "."): value for key, value in more.items()}
    alter_configs(cluster, ResourceType.GROUP, name, set_=settings)


def letters(cluster, topic, partitions, count, *, exactly=True):
    """(partition, key, value, headers without their prefix) of each, sorted by where the record was."""
    offsets = {TopicPartition(topic, index): 0 for index in range(partitions)}
    found = []
    until = time.monotonic() + PATIENCE_S
    while len(found) < count:
        assert time.monotonic() < until, found
        try:
            answers = fetch(cluster, offsets, max_wait_ms=200)
        except (ApiError, ClientError):
            time.sleep(0.2)  # it is not there yet
            continue
        for place, (records, next_offset, _) in answers.items():
            offsets[place] = next_offset
            for record in records:
                headers = [
                    (each.removeprefix("__dlq.errors."), (value or b"").decode())
                    for each, value in record.headers
                ]
                found.append((place.partition, record.key, record.value, headers))
    assert len(found) == count or not exactly
    return sorted(found, key=lambda letter: letter[3])


def headers(topic, partition, offset, group, count, message):
    return [
        ("topic", topic),
        ("partition", str(partition)),
        ("offset", str(offset)),
        ("group", group),
        ("delivery.count", str(count)),
        ("message", message),
    ]


def all_done_with(cluster, group):
    """Nothing of the group's topic is left."""
    until = time.monotonic() + PATIENCE_S
    while sum(each.lag for each in share_positions(cluster, group)):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_what_is_rejected(cluster, source):
    dead = f"dlq.{source}"
    create_topic(cluster, dead, partitions=2, replication_factor=1, configs=ENABLED)
    make_group(cluster, source, dead)
    member = ShareMember(cluster, source, source, PARTITIONS)
    held = member.take(PARTITIONS * RECORDS)
    assert held == [Held(index, 0, RECORDS - 1, 1) for index in range(PARTITIONS)]
    assert member.acknowledge(held, [REJECT, ACCEPT, REJECT, REJECT]) == {0}
    assert letters(cluster, dead, 2, 3 * PARTITIONS) == [
        (index % 2, None, None, headers(source, index, offset, source, 1, REJECTED))
        for index in range(PARTITIONS)
        for offset in (0, 2, 3)
    ]
    all_done_with(cluster, source)


def test_what_was_delivered_too_often(cluster, source):
    """With copies of the records, but for their headers."""
    dead = f"dlq.{source}"
    create_topic(cluster, dead, partitions=1, replication_factor=1, configs=ENABLED)
    make_group(cluster, source, dead, errors_deadletterqueue_copy_record_enable="true")
    member = ShareMember(cluster, source, source, PARTITIONS)
    member.acknowledge(member.take(PARTITIONS * RECORDS), [RELEASE])
    left = PARTITIONS * RECORDS
    until = time.monotonic() + PATIENCE_S
    while left:
        assert time.monotonic() < until
        held = member.fetch()
        left -= sum(each.last - each.first + 1 for each in held)
        if held:
            assert member.acknowledge(sorted(held), [RELEASE]) == {0}
    assert letters(cluster, dead, 1, PARTITIONS * RECORDS) == [
        (0, b"k%d" % at, b"%d-%d" % (index, at), headers(source, index, at, source, 2, EXCEEDED))
        for index in range(PARTITIONS)
        for at in range(RECORDS)
    ]
    all_done_with(cluster, source)


@pytest.mark.parametrize("dead", ["dlq.", "other."])
def test_a_topic_that_takes_none(cluster, source, dead):
    """It is not enabled, or is not called as such topics are: records are given up all the same."""
    dead += source
    create_topic(cluster, dead, partitions=1, replication_factor=1, configs={} if dead[0] == "d" else ENABLED)
    make_group(cluster, source, dead)
    member = ShareMember(cluster, source, source, PARTITIONS)
    assert member.acknowledge(member.take(PARTITIONS * RECORDS), [REJECT]) == {0}
    all_done_with(cluster, source)
    place = TopicPartition(dead, 0)
    assert fetch(cluster, {place: 0}, max_wait_ms=100)[place].high_watermark == 0


def test_a_topic_that_is_created_when_the_first_letter_comes(cluster, source):
    creation = "errors.deadletterqueue.auto.create.topics.enable"
    alter_configs(cluster, ResourceType.BROKER, "", set_={creation: "true"})
    dead = f"dlq.{source}"
    make_group(cluster, source, dead)
    member = ShareMember(cluster, source, source, PARTITIONS)
    member.acknowledge(member.take(PARTITIONS * RECORDS), [REJECT])
    assert len(letters(cluster, dead, 1, PARTITIONS * RECORDS)) == PARTITIONS * RECORDS
    alter_configs(cluster, ResourceType.BROKER, "", delete=[creation])
    own = {
        each.name: each.value
        for each in describe_configs(cluster, ResourceType.TOPIC, dead)
        if each.source == "topic"
    }
    assert own == ENABLED | {"message.timestamp.type": "CreateTime"}


def test_names_of_topics(cluster, name):
    setting = "errors.deadletterqueue.topic.name"
    for topic in ("", "no topic at all!", "nothing", "x" * 300):
        alter_configs(cluster, ResourceType.GROUP, name, set_={setting: topic})
        [entry] = [
            each for each in describe_configs(cluster, ResourceType.GROUP, name) if each.name == setting
        ]
        assert (entry.value, entry.source) == (topic, "group")
    with pytest.raises(ApiError, match="DLQ topic name must not start with '__'") as caught:
        alter_configs(cluster, ResourceType.GROUP, name, set_={setting: "__own"})
    assert caught.value.code == ErrorCode.INVALID_CONFIG
