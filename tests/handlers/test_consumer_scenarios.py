"""Correctness scenarios 68 to 74 on consumer groups (KIP-848), each by its number, over real logs."""

from __future__ import annotations

import pytest

from kbroker.errors import ErrorCode as E
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.offset_delete_request import (
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from tests.handlers import test_group_apis
from tests.handlers.test_group_apis import commit, fetch_all
from tests.handlers.test_group_scenarios import _move

client = test_group_apis.client


plain_node = test_group_apis.node


@pytest.fixture
def node(plain_node):
    plain_node.publish(FeatureLevelRecord(name="group.version", feature_level=1))
    return plain_node


def beat(client, member, epoch, topics=None, owned=None, version=1, **fields):
    """A heartbeat's answer; who joins asks for everything."""
    if epoch == 0:
        fields = {"rebalance_timeout_ms": 60_000, **fields}
        owned = owned or {}
    partitions = None
    if owned is not None:
        partitions = [TopicPartitions(topic_id=t, partitions=p) for t, p in owned.items()]
    return client.ask(
        "ConsumerGroupHeartbeat",
        version,
        group_id=fields.pop("group", "g"),
        member_id=member,
        member_epoch=epoch,
        subscribed_topic_names=topics,
        topic_partitions=partitions,
        **{"instance_id": None, "rack_id": None, "server_assignor": None, "subscribed_topic_regex": None,
           **fields},
    )  # fmt: skip


def test_without_the_feature_nobody_gets_in(node, client):
    node.publish(FeatureLevelRecord(name="group.version", feature_level=0))
    assert beat(client, "a", 0, ["t"]).error_code == E.UNSUPPORTED_VERSION
    described = client.ask("ConsumerGroupDescribe", 1, group_ids=["g"]).groups[0]
    assert described.error_code == E.UNSUPPORTED_VERSION


def test_68_a_static_member_that_comes_back_keeps_its_place(node, client):
    assert beat(client, "a", 0, ["t"], instance_id="i").member_epoch == 2
    assert beat(client, "a", -2, instance_id="i").error_code == 0
    answer = beat(client, "b", 0, ["t"], instance_id="i")
    assert (answer.member_epoch, len(answer.assignment.topic_partitions)) == (2, 1)
    assert beat(client, "a", 2, instance_id="i").error_code == E.FENCED_INSTANCE_ID


def test_69_a_stale_commit_is_refused_and_changes_nothing(node, client):
    assert beat(client, "a", 0, ["t"]).member_epoch == 2
    ours = {"member_id": "a", "generation_id_or_member_epoch": 2}
    assert commit(client, 9, [("t", 0, 5)], **ours) == [0]
    for stale, code in (
        ({**ours, "generation_id_or_member_epoch": 1}, E.STALE_MEMBER_EPOCH),
        ({**ours, "generation_id_or_member_epoch": 3}, E.STALE_MEMBER_EPOCH),
        ({**ours, "member_id": "nobody"}, E.UNKNOWN_MEMBER_ID),
        ({}, E.UNKNOWN_MEMBER_ID),
    ):
        assert commit(client, 9, [("t", 0, 9)], **stale) == [code]
    assert fetch_all(client) == {("t", 0): 5}
    groups = [OffsetFetchRequestGroup(group_id="g", topics=None, member_id="a", member_epoch=1)]
    (answer,) = client.ask("OffsetFetch", 9, groups=groups).groups
    assert answer.error_code == E.STALE_MEMBER_EPOCH


def test_70_a_coordinator_that_moves_in_a_rebalance_goes_on_where_it_was(node, client):
    answer = beat(client, "a", 0, ["t"])
    owned = {each.topic_id: each.partitions for each in answer.assignment.topic_partitions}
    node.advance(1_001)
    assert beat(client, "b", 0, ["t"]).member_epoch == 3
    assert len(beat(client, "a", 2, owned=owned).assignment.topic_partitions[0].partitions) == 1
    _move(node, 2)
    assert beat(client, "a", 2).error_code == E.NOT_COORDINATOR
    _move(node, 1)
    node.advance(1)
    (topic_id,) = owned
    kept = beat(client, "a", 2, owned={topic_id: [0]})
    assert (kept.error_code, kept.member_epoch) == (0, 3)
    assert beat(client, "b", 3).assignment.topic_partitions[0].partitions == [1]
    described = client.ask("ConsumerGroupDescribe", 1, group_ids=["g"]).groups[0]
    assert (described.group_state, described.group_epoch) == ("Stable", 3)


def test_70_whoever_does_not_come_to_the_new_coordinator_is_out_after_its_session(node, client):
    assert beat(client, "a", 0, ["t"]).member_epoch == 2
    _move(node, 2)
    _move(node, 1)
    node.advance(1)
    node.advance(44_000)
    assert beat(client, "a", 2).error_code == 0
    node.advance(45_001)
    assert beat(client, "a", 2).error_code == E.UNKNOWN_MEMBER_ID


def test_71_committed_offsets_outlive_fifty_changes_of_leadership(node, client):
    assert beat(client, "a", 0, ["t"]).member_epoch == 2
    ours = {"member_id": "a", "generation_id_or_member_epoch": 2}
    for offset in range(50):
        assert commit(client, 9, [("t", 0, offset)], **ours) == [0]
        _move(node, 2)
        assert commit(client, 9, [("t", 0, 10_000)], **ours) == [E.NOT_COORDINATOR]
        _move(node, 1)
        assert beat(client, "a", 2).error_code == 0
        assert fetch_all(client) == {("t", 0): offset}


def test_74_a_topic_made_anew_is_assigned_anew_and_has_no_offsets(node, client):
    answer = beat(client, "a", 0, ["t"])
    (old,) = [each.topic_id for each in answer.assignment.topic_partitions]
    ours = {"member_id": "a", "generation_id_or_member_epoch": 2}
    assert commit(client, 9, [("t", 0, 5)], **ours) == [0]
    node.delete(node.t)
    node.topic("t", partitions=2)
    node.advance(1_001)
    first = beat(client, "a", 2, owned={})
    epoch = first.member_epoch
    assert epoch == 3
    (new,) = [each.topic_id for each in first.assignment.topic_partitions]
    assert new != old
    assert fetch_all(client) == {}


def test_offsets_of_subscribed_topics_cannot_be_deleted(node, client):
    assert beat(client, "a", 0, ["t"]).member_epoch == 2
    topic = OffsetDeleteRequestTopic(name="t", partitions=[OffsetDeleteRequestPartition(partition_index=0)])
    answer = client.ask("OffsetDelete", 0, group_id="g", topics=[topic])
    assert answer.topics[0].partitions[0].error_code == E.GROUP_SUBSCRIBED_TO_TOPIC


def test_a_groups_own_settings_hold_at_once(node, client):
    assert beat(client, "a", 0, ["t"]).heartbeat_interval_ms == 5_000
    for name, value in (("heartbeat.interval.ms", "7000"), ("session.timeout.ms", "60000")):
        node.publish(ConfigRecord(resource_type=32, resource_name="g", name=f"consumer.{name}", value=value))
    assert beat(client, "a", 2).heartbeat_interval_ms == 7_000
    node.advance(59_999)
    assert beat(client, "a", 2).error_code == 0
    node.advance(60_001)
    assert beat(client, "a", 2).error_code == E.UNKNOWN_MEMBER_ID
