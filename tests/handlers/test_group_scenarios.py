"""Correctness scenarios 67 to 76 on groups and offsets, each by its number, over real logs.

(66: tests/server/test_many_members.py; full groups of 76: tests/coordinator/test_classic_join.py.)
"""

from __future__ import annotations

from kbroker.errors import ErrorCode as E
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.handlers import test_group_apis
from tests.handlers.node import Node
from tests.handlers.test_group_apis import commit, coordinated, fetch_all, join, join_frame, stable

node = test_group_apis.node
client = test_group_apis.client


def test_67_a_client_that_vanishes_with_its_new_id_does_not_hold_the_group(node, client):
    first = join(node, client, version=9)
    assert first.error_code == E.MEMBER_ID_REQUIRED
    lost = join(node, client, version=9)  # never heard of again
    assert lost.member_id != first.member_id
    client.send(join_frame(client, version=9, member=first.member_id))
    node.advance(30_001)
    (answer,) = client.answers()
    assert (answer.error_code, answer.leader) == (0, first.member_id)
    assert [each.member_id for each in answer.members] == [first.member_id]


def test_68_a_static_member_that_restarts_keeps_its_place_and_fences_the_one_before(node, client):
    member = join(node, client, version=9, group_instance_id="one").member_id
    client.ask("SyncGroup", 5, group_id="g", member_id=member, generation_id=1, protocol_type="consumer",
               protocol_name="range", group_instance_id="one")  # fmt: skip
    again = join(node, client, version=9, group_instance_id="one")
    assert (again.error_code, again.generation_id) == (0, 1)
    assert again.member_id != member
    ask = {"group_id": "g", "generation_id": 1, "group_instance_id": "one"}
    assert client.ask("Heartbeat", 4, member_id=member, **ask).error_code == E.FENCED_INSTANCE_ID
    assert client.ask("Heartbeat", 4, member_id=again.member_id, **ask).error_code == 0


def test_69_a_stale_commit_is_refused_and_changes_nothing(node, client):
    member = stable(node, client)
    ours = {"member_id": member, "generation_id_or_member_epoch": 1}
    assert commit(client, 8, [("t", 0, 5)], **ours) == [0]
    for stale, code in (
        ({**ours, "generation_id_or_member_epoch": 0}, E.ILLEGAL_GENERATION),
        ({**ours, "generation_id_or_member_epoch": 2}, E.ILLEGAL_GENERATION),
        ({**ours, "member_id": "nobody"}, E.UNKNOWN_MEMBER_ID),
        ({}, E.UNKNOWN_MEMBER_ID),
    ):
        assert commit(client, 8, [("t", 0, 9)], **stale) == [code]
    assert fetch_all(client) == {("t", 0): 5}


def _move(node, to: int) -> None:
    topic = node.cache.image.topics.get("__consumer_offsets")
    for index in range(len(topic.partitions)):
        node.move_leader(topic.id, index, to)


def test_70_a_coordinator_lost_in_a_rebalance_answers_all_and_the_group_forms_again(node, client):
    member = stable(node, client)
    assert commit(client, 8, [("t", 0, 5)], member_id=member, generation_id_or_member_epoch=1) == [0]
    joining, syncing = node.connect(), node.connect()
    joining.send(join_frame(joining))
    client.send(join_frame(client, member=member))
    node.advance(1)
    (first,), (second,) = client.answers(), joining.answers()
    follower = second if first.leader == first.member_id else first
    syncing.send(syncing.frame("SyncGroup", 3, group_id="g", member_id=follower.member_id, generation_id=2))
    late = node.connect()
    late.send(join_frame(late, group="other"))
    assert not syncing.answers()
    _move(node, 2)
    assert [answer.error_code for answer in syncing.answers()] == [E.NOT_COORDINATOR]
    assert [answer.error_code for answer in late.answers()] == [E.NOT_COORDINATOR]
    _move(node, 1)
    node.advance(1)
    node.advance(30_001)  # the sessions of those that the log knows
    assert fetch_all(client) == {("t", 0): 5}
    assert join(node, client).generation_id > 1


def test_71_committed_offsets_outlive_fifty_changes_of_leadership(node, client):
    for offset in range(50):
        assert commit(client, 8, [("t", 0, offset), ("t", 1, 2 * offset)]) == [0, 0]
        _move(node, 2)
        assert commit(client, 8, [("t", 0, 10_000)]) == [E.NOT_COORDINATOR]
        _move(node, 1)
        assert fetch_all(client) == {("t", 0): offset, ("t", 1): 2 * offset}


def test_72_a_loaded_group_does_not_lose_old_offsets_for_having_been_loaded(node, client):
    member = stable(node, client)
    assert commit(client, 8, [("t", 0, 5)], member_id=member, generation_id_or_member_epoch=1) == [0]
    day_ms = 24 * 3_600_000
    _move(node, 2)
    node.advance(8 * day_ms)  # more than offsets.retention.minutes
    _move(node, 1)
    assert fetch_all(client) == {("t", 0): 5}
    # Its member does not come back: empty from now on, and from now on the offsets age.
    node.advance(31_000)
    node.advance(6 * day_ms)
    assert fetch_all(client) == {("t", 0): 5}
    node.advance(day_ms)
    node.advance(600_001)
    assert fetch_all(client) == {}


def test_74_a_topic_made_anew_begins_without_offsets(node, client):
    assert commit(client, 8, [("t", 0, 7)]) == [0]
    node.delete(node.t)
    node.topic("t", partitions=2)
    assert fetch_all(client) == {}
    assert commit(client, 8, [("t", 1, 1)]) == [0]
    _move(node, 2)
    _move(node, 1)
    assert fetch_all(client) == {("t", 1): 1}


def test_75_a_commit_without_enough_replicas_is_refused_and_not_seen(tmp_path):
    node = coordinated(Node(tmp_path / "data"))
    node.topic("__consumer_offsets", replicas=(1, 2), isr=(1,), min_insync_replicas="2")
    node.topic("t")
    client = node.connect()
    assert commit(client, 8, [("t", 0, 9)]) == [E.COORDINATOR_NOT_AVAILABLE]
    assert fetch_all(client) == {}


def test_76_metadata_beyond_its_limit_is_refused_alone(node, client):
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=3, committed_metadata="m" * size)
        for index, size in enumerate((4096, 4097))
    ]
    topic = OffsetCommitRequestTopic(name="t", partitions=partitions)
    answer = client.ask("OffsetCommit", 8, group_id="g", topics=[topic])
    codes = [each.error_code for each in answer.topics[0].partitions]
    assert codes == [0, E.OFFSET_METADATA_TOO_LARGE]
    assert fetch_all(client) == {("t", 0): 3}
