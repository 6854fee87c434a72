"""Commits of many connections that are written together: the same answers, the same log and order."""

from __future__ import annotations

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.gathered_commits import CommitGatherer
from kbroker.coordinator.group.records import decode_record
from kbroker.errors import ApiError, ErrorCode as E
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import OffsetFetchRequestTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.record_batch import decode_records, iter_batches
from kbroker.storage.disk import StorageError
from kbroker.types import TopicPartition
from tests.handlers.node import Node, batch
from tests.handlers.test_group_apis import coordinated, join_frame


class Turns:
    """The end of the loop's turn, when the test says so."""

    def __init__(self, node):
        self.due = []
        node.services.groups.commits = CommitGatherer(-1, node.timer, self.due.append)

    def end(self):
        due, self.due[:] = list(self.due), []
        for each in due:
            each()


@pytest.fixture
def node(tmp_path):
    node = coordinated(Node(tmp_path / "data"))
    node.offsets = node.topic("__consumer_offsets", partitions=1, cleanup_policy="compact")
    node.t = node.topic("t", partitions=3)
    return node


def commit_frame(client, offset, group="g", metadata="", partitions=(0,), **fields):
    places = [
        OffsetCommitRequestPartition(
            partition_index=p, committed_offset=offset + p, committed_metadata=metadata
        )
        for p in partitions
    ]
    topics = [OffsetCommitRequestTopic(name="t", partitions=places)]
    return client.frame("OffsetCommit", 8, group_id=group, topics=topics, **fields)


def committer(node, group="g", partitions=(0,)):
    """A connection whose commits are recognised from now on."""
    client = node.connect()
    for offset in (1, 2, 3):
        client.send(commit_frame(client, offset, group, partitions=partitions))
    assert len(client.answers()) == 3
    return client


def codes(client):
    return [p.error_code for answer in client.answers() for topic in answer.topics for p in topic.partitions]


def committed(node, group="g"):
    asked = [OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1, 2])]
    answer = node.connect().ask("OffsetFetch", 7, group_id=group, topics=asked)
    return [p.committed_offset for topic in answer.topics for p in topic.partitions]


def log(node):
    """For each batch the offsets that it commits, by group and partition."""
    read = node.replicas.read_internal
    data = read(TopicPartition("__consumer_offsets", 0), 0)
    found = []
    for header in iter_batches(data):
        records = [(r, decode_record(r.key, r.value)) for r in decode_records(data, header)]
        assert [r.offset for r, _ in records] == list(range(header.base_offset, header.next_offset))
        assert {r.timestamp for r, _ in records} == {header.base_timestamp}
        found.append(
            [
                (d.key.group, d.key.partition, d.value and d.value.offset)
                for _, d in records
                if d.key.API_KEY == 1
            ]
        )
    return found


def test_what_comes_in_one_turn_is_one_batch(node):
    clients = [committer(node), committer(node), committer(node, "h", (0, 2))]
    turns, before = Turns(node), len(log(node))
    for number, client in enumerate(clients):
        more = {"group": "h", "partitions": (0, 2)} if number == 2 else {}
        client.send(*[commit_frame(client, 10 * number + i, **more) for i in (1, 2)])
        assert client.answers() == []
    assert len(log(node)) == before
    assert committed(node) == [3, -1, -1]
    turns.end()
    assert [codes(client) for client in clients] == [[0, 0], [0, 0], [0, 0, 0, 0]]
    assert log(node)[before:] == [
        [
            ("g", 0, 1),
            ("g", 0, 2),
            ("g", 0, 11),
            ("g", 0, 12),
            ("h", 0, 21),
            ("h", 2, 23),
            ("h", 0, 22),
            ("h", 2, 24),
        ]
    ]
    assert committed(node) == [12, -1, -1]
    assert committed(node, "h") == [22, -1, 24]


def test_a_large_turn_has_long_offsets(node):
    clients = [committer(node, partitions=(0, 1, 2)) for _ in range(40)]
    turns = Turns(node)
    for client in clients:
        client.send(commit_frame(client, 7, partitions=(0, 1, 2)))
    turns.end()
    assert len(log(node)[-1]) == 120
    assert committed(node) == [7, 8, 9]


def test_what_follows_on_the_connection_sees_it(node):
    client = committer(node)
    turns = Turns(node)
    fetch = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    client.send(commit_frame(client, 9), client.frame("OffsetFetch", 7, group_id="g", topics=fetch))
    assert client.answers() == []
    turns.end()
    first, second = client.answers()
    assert first.topics[0].partitions[0].error_code == 0
    assert second.topics[0].partitions[0].committed_offset == 9


def test_what_is_decided_later_is_written_later(node):
    client = committer(node)
    turns = Turns(node)
    client.send(commit_frame(client, 9))
    # The group is deleted in the same turn: the commit was agreed to before, so it is gone, too.
    other = node.connect()
    assert other.ask("DeleteGroups", 1, groups_names=["g"]).results[0].error_code == 0
    assert codes(client) == [0]
    assert log(node)[-2:] == [[("g", 0, 9)], [("g", 0, None)]]
    turns.end()
    assert committed(node) == [-1, -1, -1]


def test_a_member_that_joins_in_between_is_no_reason_to_refuse(node):
    client = committer(node)
    turns = Turns(node)
    client.send(commit_frame(client, 9))
    other = node.connect()
    other.send(join_frame(other))
    client.send(commit_frame(client, 10))
    turns.end()
    assert codes(client) == [0, E.UNKNOWN_MEMBER_ID]


def test_deleted_topics_and_expiry_come_behind_it(node):
    client = committer(node)
    turns = Turns(node)
    client.send(commit_frame(client, 9))
    node.delete(node.t)
    assert [each[2] for each in log(node)[-2] + log(node)[-1]] == [9, None]
    turns.end()
    assert codes(client) == [0]


def test_a_shard_that_goes_answers_for_its_commits(node):
    client = committer(node)
    turns = Turns(node)
    client.send(commit_frame(client, 9), commit_frame(client, 10))
    node.move_leader(node.offsets, 0, 2)
    turns.end()
    assert codes(client) == [E.NOT_COORDINATOR, E.NOT_COORDINATOR]


def test_a_client_that_hangs_up_leaves_its_commit(node):
    client = committer(node)
    turns = Turns(node)
    client.send(commit_frame(client, 9))
    client.core.abandon()
    turns.end()
    assert committed(node) == [9, -1, -1]


def test_the_answer_waits_for_followers(tmp_path):
    node = coordinated(Node(tmp_path / "data"))
    node.topic("__consumer_offsets", replicas=(1, 2), isr=(1,), cleanup_policy="compact")
    node.t = node.topic("t", partitions=3)
    client = committer(node)
    turns, waits = Turns(node), []

    def later(tp, offset):
        waits.append(Deferred())
        return waits[-1]

    append = node.replicas.append_own
    node.replicas.append_own = lambda *batch: (append(*batch)[0], False)
    node.replicas.when_committed = later
    client.send(commit_frame(client, 9))
    turns.end()
    assert client.answers() == []
    for each in waits:
        each.resolve(None)
    assert codes(client) == [0]
    client.send(commit_frame(client, 10))
    turns.end()
    node.advance(10_000)
    assert codes(client) == [E.COORDINATOR_NOT_AVAILABLE]


@pytest.mark.parametrize("together", [1, 2])
def test_what_is_refused_together_is_tried_one_by_one(node, monkeypatch, together):
    clients = [committer(node) for _ in range(3)]
    turns = Turns(node)
    append = node.replicas.append_own

    def small(tp, batch, delta, timestamp):
        if delta >= together or b"large" in batch:
            raise ApiError(E.MESSAGE_TOO_LARGE)
        return append(tp, batch, delta, timestamp)

    monkeypatch.setattr(node.replicas, "append_own", small)
    for number, client in enumerate(clients):
        client.send(commit_frame(client, number + 10))
    turns.end()
    assert [codes(client) for client in clients] == [[0]] * 3
    assert committed(node) == [12, -1, -1]


def test_a_disk_that_fails_is_told_to_all(node, monkeypatch):
    clients = [committer(node) for _ in range(2)]
    turns = Turns(node)

    def failing(*_, **__):
        raise StorageError("the disk is gone")

    monkeypatch.setattr(node.replicas, "append_own", failing)
    for client in clients:
        client.send(commit_frame(client, 10), commit_frame(client, 11))
    turns.end()
    assert [codes(client) for client in clients] == [[E.NOT_COORDINATOR] * 2] * 2
    assert committed(node) == [3, -1, -1]


def test_they_are_counted_where_times_are_not_noted(node):
    client = committer(node)
    turns, stats = Turns(node), node.services.requests.of("OffsetCommit")
    node.services.requests.timed = False
    before, timed = stats.versions[8], stats.at_once.count
    client.send(commit_frame(client, 9), commit_frame(client, 10))
    turns.end()
    assert codes(client) == [0, 0]
    assert (stats.versions[8], stats.at_once.count) == (before + 2, timed)


def test_the_bytes_of_held_answers_are_counted_once(node):
    client = committer(node)
    turns = Turns(node)
    client.send(commit_frame(client, 9), commit_frame(client, 10))
    turns.end()
    assert sum(map(len, client.core.out)) == client.core.out_bytes > 0


def test_it_lingers_as_long_as_it_is_told(node):
    client = committer(node)
    node.services.groups.commits = CommitGatherer(5, node.timer, None)
    client.send(commit_frame(client, 9))
    node.advance(4)
    assert client.answers() == []
    node.advance(2)
    assert codes(client) == [0]
    node.services.groups.commits = CommitGatherer(0, node.timer, None)
    client.send(commit_frame(client, 10))
    assert codes(client) == [0]


def test_produce_and_commits_of_one_connection_keep_their_order(node):
    def produce_frame(client):
        data = [PartitionProduceData(index=0, records=batch(b"x"))]
        topics = [TopicProduceData(name="t", partition_data=data)]
        return client.frame("Produce", 9, acks=1, timeout_ms=1000, topic_data=topics)

    client = committer(node)
    for _ in range(3):
        client.send(produce_frame(client))
    client.answers()
    turns = Turns(node)
    client.send(
        produce_frame(client), commit_frame(client, 9), produce_frame(client), commit_frame(client, 10)
    )
    answers = client.answers()
    assert [type(each).__name__ for each in answers] == ["ProduceResponse"]
    for _ in range(2):
        turns.end()
        answers += client.answers()
    names = [type(each).__name__ for each in answers]
    assert names == ["ProduceResponse", "OffsetCommitResponse"] * 2
    assert committed(node) == [10, -1, -1]


def test_they_are_counted(node):
    client = committer(node)
    turns, stats = Turns(node), node.services.requests.of("OffsetCommit")
    before = stats.count
    client.send(commit_frame(client, 10), commit_frame(client, 11))
    assert stats.count == before
    turns.end()
    assert stats.count == before + 2
    client.send(commit_frame(client, 12))
    node.move_leader(node.offsets, 0, 2)
    assert stats.count == before + 3
    assert stats.errors == {E.NOT_COORDINATOR: 1}
