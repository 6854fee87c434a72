"""OffsetCommits that are recognised: answered, and kept, as those that are parsed."""

from __future__ import annotations

import random

import pytest

from kbroker.errors import ErrorCode as E
from kbroker.handlers.commit_known import KnownCommit, KnownCommits
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import OffsetFetchRequestTopic
from tests.handlers.node import Node
from tests.handlers.test_group_apis import coordinated, join_frame


def node_with_groups(folder):
    node = coordinated(Node(folder))
    node.topic("__consumer_offsets", partitions=4, cleanup_policy="compact")
    node.t = node.topic("t", partitions=3)
    return node


@pytest.fixture
def node(tmp_path):
    return node_with_groups(tmp_path / "data")


def topics(node, version, offsets, **more):
    """Commit fields for partitions of topic t by their offsets."""
    partitions = [
        OffsetCommitRequestPartition(partition_index=i, committed_offset=offset, **more)
        for i, offset in offsets
    ]
    named = {"topic_id": node.t} if version >= 10 else {"name": "t"}
    return [OffsetCommitRequestTopic(partitions=partitions, **named)]


def commit(client, version, offsets, **fields):
    """One commit; the codes by partition."""
    more = {name: fields.pop(name) for name in ("committed_leader_epoch",) if name in fields}
    asked = topics(client.node, version, offsets, **more)
    answer = client.ask("OffsetCommit", version, group_id="g", topics=asked, **fields)
    return [(p.partition_index, p.error_code) for topic in answer.topics for p in topic.partitions]


def committed(client):
    """What the group has committed, by partition, with the leader epochs."""
    asked = [OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1, 2])]
    answer = client.ask("OffsetFetch", 7, group_id="g", topics=asked)
    return [
        (p.partition_index, p.committed_offset, p.committed_leader_epoch)
        for topic in answer.topics
        for p in topic.partitions
    ]


def play(folder, version, seed):
    """The answers to one commit after another, and what is committed in the end."""
    node, chance = node_with_groups(folder), random.Random(seed)
    client, count, told = node.connect(), 1, []
    for _ in range(60):
        if chance.random() < 0.1:
            count = chance.randrange(1, 4)
        offsets = [(i, chance.randrange(1 << 40)) for i in range(count)]
        generation = 5 if chance.random() < 0.1 else -1
        told.append(
            commit(
                client,
                version,
                offsets,
                committed_leader_epoch=chance.randrange(-1, 9),
                generation_id_or_member_epoch=generation,
            )
        )
    return told, committed(client)


@pytest.mark.parametrize("version", range(6, 11))
@pytest.mark.parametrize("seed", range(3))
def test_what_is_recognised_is_answered_as_what_is_parsed(tmp_path, monkeypatch, version, seed):
    recognised = []
    recognise = KnownCommit.recognise

    def count(self, *arguments):
        recognised.append(recognise(self, *arguments))
        return recognised[-1]

    monkeypatch.setattr(KnownCommit, "recognise", count)
    told = play(tmp_path / "a", version, seed)
    assert len([hit for hit in recognised if hit is not None]) > 10
    monkeypatch.setattr(KnownCommits, "remember", lambda *_: False)
    before = len(recognised)
    assert told == play(tmp_path / "b", version, seed)
    assert len(recognised) == before


def known_commit(node, version=8):
    """A client whose commits of partition 0 are recognised."""
    client = node.connect()
    for offset in (1, 2, 3):
        assert commit(client, version, [(0, offset)]) == [(0, E.NONE)]
    assert client.core.commit_cache.by_size
    return client


def test_the_group_is_asked_each_time(node):
    client = known_commit(node)
    # A member joins: a commit without one is refused from now on, in the shape of the API.
    other = node.connect()
    other.send(join_frame(other, version=3))
    assert commit(client, 8, [(0, 4)]) == [(0, E.UNKNOWN_MEMBER_ID)]
    assert committed(node.connect())[0] == (0, 3, -1)


def test_a_topic_that_is_gone_or_another_one_is_refused(node):
    client = known_commit(node, version=10)
    node.delete(node.t)
    assert commit(client, 10, [(0, 4)]) == [(0, E.UNKNOWN_TOPIC_ID)]


def test_a_coordinator_that_moved_is_told(node):
    client = known_commit(node)
    node.services.groups.shards.clear()
    assert commit(client, 8, [(0, 4)]) == [(0, E.NOT_COORDINATOR)]


@pytest.mark.parametrize("version", [6, 8])
def test_a_byte_that_differs_means_what_it_means_to_a_stranger(node, version):
    fields = {"group_id": "g", "topics": topics(node, version, [(0, 7)])}
    whole = node.connect().frame("OffsetCommit", version, **fields)
    for at in range(4, len(whole)):
        frame = bytearray(whole)
        frame[at] ^= 0x41
        outcomes = []
        for times in (3, 0):
            client = node.connect()
            for _ in range(times):
                client.send(whole)
            client.core.take_output()
            client.send(bytes(frame))
            outcomes.append((client.core.take_output(), client.closed, client.core.parked is None))
            client.core.abandon()
        assert outcomes[0] == outcomes[1], at
