"""Where share groups are, and moving them, on any broker: all of this holds with Apache Kafka 4.4."""

from __future__ import annotations

import time

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.groups import list_groups
from kbroker.client.records import produce
from kbroker.client.shares import SharePosition, move_share_group, share_positions
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import Record
from kbroker.types import TopicPartition
from tests.compat.share_member import Held, ShareMember

ACCEPT = 1
PATIENCE_S = 20


@pytest.fixture
def cluster(bootstrap):
    with Cluster(bootstrap, timeout_s=30) as cluster:
        yield cluster


@pytest.fixture
def source(cluster, name):
    """A topic with five records in the first of two partitions; share state is kept already."""
    create_topic(cluster, name, partitions=2, replication_factor=1)
    produce(cluster, TopicPartition(name, 0), [Record(timestamp=1_000, value=b"v") for _ in range(5)])
    alter_configs(cluster, ResourceType.GROUP, name, set_={"share.auto.offset.reset": "earliest"})
    member = ShareMember(cluster, name, name, 2)
    assert member.take(5) == [Held(0, 0, 4, 1)]
    assert member.acknowledge([Held(0, 1, 1, 1)], [ACCEPT]) == {0}
    return name


def of_first(cluster, group):
    [found] = [each for each in share_positions(cluster, group) if each.partition == 0]
    return found


def test_what_is_done_with_behind_the_start_is_not_counted(cluster, source):
    assert of_first(cluster, source) == SharePosition(source, 0, 0, 4)


@pytest.mark.parametrize(("start", "lag"), [(2, 3), (1000, -995), (-1, -1)])
def test_the_lag_is_what_it_comes_to(cluster, source, start, lag):
    """Below zero, where a tool has moved the start behind the end."""
    group = f"{source}-moved"
    move_share_group(cluster, group, {TopicPartition(source, 0): start})
    assert of_first(cluster, group) == SharePosition(source, 0, start, lag)


def test_a_partition_that_does_not_exist_makes_the_group_all_the_same(cluster, source):
    group = f"{source}-moved"
    with pytest.raises(ApiError) as caught:
        move_share_group(cluster, group, {TopicPartition(source, 7): 0})
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert share_positions(cluster, group) == []
    assert group in [each.id for each in list_groups(cluster)]


def test_a_topic_that_does_not_exist_makes_none(cluster, source):
    group = f"{source}-moved"
    with pytest.raises(ApiError) as caught:
        move_share_group(cluster, group, {TopicPartition(f"{source}-none", 0): 0})
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert group not in [each.id for each in list_groups(cluster)]


def test_few_bytes_come_when_they_have_been_waited_for(cluster, source):
    """There are five records, some hundred bytes; the session's first answer may come without any."""
    member = ShareMember(cluster, f"{source}-waits", source, 2)
    alter_configs(
        cluster, ResourceType.GROUP, f"{source}-waits", set_={"share.auto.offset.reset": "earliest"}
    )
    began = time.monotonic()
    while not (found := member.fetch(min_bytes=5_000)):
        assert time.monotonic() - began < PATIENCE_S
    assert found == [Held(0, 0, 4, 1)]
    assert time.monotonic() - began > 0.45
    produce(cluster, TopicPartition(source, 1), [Record(timestamp=1_000, value=bytes(6_000))])
    began = time.monotonic()
    assert member.fetch(min_bytes=5_000) == [Held(1, 0, 0, 1)]
    assert time.monotonic() - began < 0.45
