"""Fetch as followers ask, and consumers that are sent to one or served by one."""

from __future__ import annotations

import itertools

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.replication import Replication
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.fetch_read import PartitionReader
from kbroker.protocol.generated.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from kbroker.protocol.generated.delete_records_request import DeleteRecordsPartition, DeleteRecordsTopic
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic, ReplicaState
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kbroker.replication.cleaned import read_offset, write_offset
from kbroker.replication.throttle import ReplicationQuota
from tests.handlers.node import Node, batch
from tests.handlers.test_fetch import fetch, partitions, produce, values, want


class NoPeers:
    def send(self, address, request, **how):
        return Deferred()


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path / "data")
    node.proposals, node.answers = [], []

    def to_controller(request, timeout_ms):
        node.proposals.append(request)
        node.answers.append(Deferred())
        return node.answers[-1]

    node.replication = Replication(
        node.replicas,
        node.cache,
        NoPeers(),
        to_controller,
        node.timer,
        listener="PLAINTEXT",
        broker_epoch=lambda: 1,
        lag_time_max_ms=1000,
    )
    for broker in (1, 2, 3):
        register(node, broker, epoch=broker)
    return node


def register(node, broker, epoch, fenced=False, rack=None):
    node.publish(
        RegisterBrokerRecord(
            broker_id=broker,
            broker_epoch=epoch,
            fenced=fenced,
            rack=rack or f"r{broker}",
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="h", port=9092)],
        )
    )


def ask(client, topic, offset, replica=2, epoch=2, **fields):
    """A follower's Fetch of one partition."""
    state = ReplicaState(replica_id=replica, replica_epoch=epoch)
    return client.ask(
        "Fetch", 15, max_wait_ms=0, topics=[by_id(client, topic, offset, **fields)], replica_state=state
    )


def by_id(client, topic, offset, **fields):
    topic_id = client.node.cache.image.topics.get(topic).id
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, **fields)
    return FetchTopic(topic_id=topic_id, partitions=[wanted])


def one(response):
    return response.responses[0].partitions[0]


def test_a_fetch_under_an_older_registration_moves_nothing(node):
    node.topic("t", replicas=(1, 2), isr=(1, 2))
    client = node.connect()
    produce(client, "t", b"a")
    register(node, 2, epoch=50)
    assert one(ask(client, "t", 1, epoch=2)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert node.replicas.get("t", 0).high_watermark == 0
    assert not one(ask(client, "t", 1, epoch=50)).error_code
    assert node.replicas.get("t", 0).high_watermark == 1


def test_who_has_caught_up_is_proposed_with_its_registration(node):
    node.topic("t", replicas=(1, 2, 3), isr=(1, 2))
    client = node.connect()
    produce(client, "t", b"a")
    ask(client, "t", 0, replica=3, epoch=3)
    node.advance(1)
    (request,) = node.proposals
    proposed = request.topics[0].partitions[0]
    members = {each.broker_id: each.broker_epoch for each in proposed.new_isr_with_epochs}
    assert members == {1: 1, 2: -1, 3: 3}
    assert (proposed.leader_epoch, proposed.partition_epoch) == (0, 0)


def test_who_is_fenced_is_not_proposed_before_it_is_back(node):
    register(node, 3, epoch=9, fenced=True)
    node.topic("t", replicas=(1, 2, 3), isr=(1, 2))
    client = node.connect()
    ask(client, "t", 0, replica=3, epoch=9)
    register(node, 3, epoch=9)
    node.advance(1)
    assert node.proposals == []
    ask(client, "t", 0, replica=3, epoch=9)
    node.advance(1)
    assert len(node.proposals) == 1


def test_scenario_4_a_diverging_log_is_told_at_once_also_where_it_has_to_wait(node):
    topic_id = node.topic("t", replicas=(1, 2))
    client = node.connect()
    produce(client, "t", b"a", b"b")
    node.move_leader(topic_id, 0, 2)
    node.move_leader(topic_id, 0, 1)
    produce(client, "t", b"c")
    found = one(ask(client, "t", 3, last_fetched_epoch=1, current_leader_epoch=2))
    assert (found.diverging_epoch.epoch, found.diverging_epoch.end_offset) == (0, 2)
    assert not found.records
    assert not one(ask(client, "t", 3, last_fetched_epoch=2, current_leader_epoch=2)).error_code
    waiting = node.connect()
    state = ReplicaState(replica_id=2, replica_epoch=2)
    wanted = by_id(client, "t", 3, last_fetched_epoch=2, current_leader_epoch=2)
    waiting.send(
        waiting.frame("Fetch", 15, max_wait_ms=9000, min_bytes=1, topics=[wanted], replica_state=state)
    )
    assert waiting.answers() == []
    node.move_leader(topic_id, 0, 1)  # another epoch: what waits has to ask anew
    assert one(waiting.answers()[0]).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_a_follower_that_waited_was_where_it_is_when_it_asked(node):
    node.topic("t", replicas=(1, 2))
    client, follower = node.connect(), node.connect()
    state = ReplicaState(replica_id=2, replica_epoch=2)
    follower.send(
        follower.frame(
            "Fetch", 15, max_wait_ms=9000, min_bytes=1, topics=[by_id(client, "t", 0)], replica_state=state
        )
    )
    begin = node.clock.now
    node.advance(400)
    produce(client, "t", b"a")
    assert one(follower.answers()[0]).records
    progress = node.replicas.get("t", 0).leader_state.followers[2]
    assert progress.last_caught_up_ms == begin


def test_a_consumer_is_served_by_a_follower_up_to_its_watermark(node):
    topic_id = node.topic("t", replicas=(2, 1), leader=2)
    partition = node.replicas.get("t", 0)
    partition.copy(batch(b"a") + batch(b"b", base_offset=1), 1, 0, 0)
    client = node.connect()
    found = one(client.ask("Fetch", 13, topics=[by_id(client, "t", 0)]))
    assert (found.error_code, found.high_watermark) == (0, 1)
    assert values(found) == [b"a"]
    # Scenario 18: between its watermark and its end there is nothing yet, no reason to begin anew.
    found = one(client.ask("Fetch", 13, topics=[by_id(client, "t", 2)]))
    assert (found.error_code, bytes(found.records or b"")) == (0, b"")
    old = partitions(fetch(client, want("t"), version=10))["t", 0]
    assert old.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    waiting = node.connect()
    waiting.send(waiting.frame("Fetch", 13, max_wait_ms=9000, min_bytes=1, topics=[by_id(client, "t", 1)]))
    assert waiting.answers() == []
    partition.copy(None, 2, 0, 0)
    assert values(one(waiting.answers()[0])) == [b"b"]
    assert topic_id


def test_a_consumer_is_sent_to_its_rack_if_somebody_there_has_it(node):
    node.services.chooses_read_replica = True
    node.topic("t", replicas=(1, 2, 3), isr=(1, 2))
    client, follower = node.connect(), node.connect()
    produce(client, "t", b"a")
    ask(follower, "t", 1, replica=2, epoch=2, log_start_offset=0)
    ask(follower, "t", 1, replica=3, epoch=3, log_start_offset=0)

    def preferred(rack, offset=0):
        found = one(client.ask("Fetch", 13, topics=[by_id(client, "t", offset)], rack_id=rack))
        return found.preferred_read_replica, bool(found.records)

    assert preferred("r2") == (2, False)
    assert preferred("r1") == (-1, True)
    assert preferred("r3") == (-1, True)  # not in sync
    assert preferred("") == (-1, True)
    produce(client, "t", b"b")
    assert preferred("r2", 2) == (-1, False)  # it does not have that one yet
    register(node, 2, epoch=2, fenced=True)
    assert preferred("r2") == (-1, True)


def test_followers_hear_of_the_watermark_at_once_where_consumers_read_from_them(node):
    node.services.chooses_read_replica = True
    node.topic("t", replicas=(1, 2))
    client = node.connect()
    produce(client, "t", b"a")
    state = ReplicaState(replica_id=2, replica_epoch=2)
    follower = node.connect()
    frame = follower.frame(
        "Fetch", 15, max_wait_ms=9000, min_bytes=1, topics=[by_id(client, "t", 1)], replica_state=state
    )
    follower.send(frame)
    assert one(follower.answers()[0]).high_watermark in (0, 1)


def test_scenario_84_deleted_records_are_gone_when_all_that_live_have_followed(node):
    node.topic("t", replicas=(1, 2, 3))
    client, follower = node.connect(), node.connect()
    produce(client, "t", b"a", b"b")
    for replica in (2, 3):
        ask(follower, "t", 2, replica=replica, epoch=replica, log_start_offset=0)
    wanted = [DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=1)])]
    client.send(client.frame("DeleteRecords", 2, topics=wanted, timeout_ms=5000))
    assert client.answers() == []
    ask(follower, "t", 2, replica=2, epoch=2, log_start_offset=1)
    assert client.answers() == []
    register(node, 3, epoch=3, fenced=True)
    (answer,) = client.answers()
    found = answer.topics[0].partitions[0]
    assert (found.error_code, found.low_watermark) == (0, 1)
    register(node, 3, epoch=3)
    client.send(client.frame("DeleteRecords", 2, topics=wanted, timeout_ms=50))
    node.advance(60)
    assert client.answers()[0].topics[0].partitions[0].error_code == ErrorCode.REQUEST_TIMED_OUT


def test_in_a_session_a_follower_that_has_all_costs_no_look(node, monkeypatch):
    node.topic("t", replicas=(1, 2))
    client, follower = node.connect(), node.connect()
    produce(client, "t", b"a")
    state = ReplicaState(replica_id=2, replica_epoch=2)

    def in_session(session, epoch, *topics):
        return follower.ask(
            "Fetch",
            15,
            max_wait_ms=0,
            session_id=session,
            session_epoch=epoch,
            topics=list(topics),
            replica_state=state,
        )

    full = in_session(0, 0, by_id(client, "t", 1, current_leader_epoch=0, last_fetched_epoch=0))
    session = full.session_id
    assert in_session(session, 1).responses == []
    assert in_session(session, 2).responses == []
    node.clock.now += 500
    looked = []
    look = PartitionReader.is_quiet
    monkeypatch.setattr(PartitionReader, "is_quiet", lambda *it: looked.append(it) or look(*it))
    assert in_session(session, 3).responses == []
    assert looked == []
    progress = node.replicas.get("t", 0).leader_state.followers[2]
    assert progress.last_caught_up_ms < node.clock.now
    last = node.clock.now
    node.clock.now += 300
    produce(client, "t", b"b")
    assert progress.last_caught_up_ms == last
    assert one(in_session(session, 4)).records
    topic_id = node.cache.image.topics.get("t").id
    node.publish(PartitionChangeRecord(partition_id=0, topic_id=topic_id, isr=[1]))
    in_session(session, 5, by_id(client, "t", 2, current_leader_epoch=0, last_fetched_epoch=0))
    node.advance(1)
    assert len(node.proposals) == 1  # out of the set it is looked at


def test_in_a_session_quiet_partitions_hear_of_a_new_registration(node):
    """In ZooKeeper the same process may register anew; what it was before is not to be proposed."""
    node.topic("t", replicas=(1, 2, 3), isr=(1, 2))
    client, follower = node.connect(), node.connect()
    produce(client, "t", b"a")

    def in_session(session, epoch, broker_epoch, *topics):
        state = ReplicaState(replica_id=2, replica_epoch=broker_epoch)
        fields = {"session_id": session, "session_epoch": epoch, "topics": list(topics)}
        return follower.ask("Fetch", 15, max_wait_ms=0, replica_state=state, **fields)

    full = in_session(0, 0, 2, by_id(client, "t", 1, current_leader_epoch=0, last_fetched_epoch=0))
    assert in_session(full.session_id, 1, 2).responses == []
    register(node, 2, epoch=50)
    assert in_session(full.session_id, 2, 50).responses == []
    ask(client, "t", 1, replica=3, epoch=3)
    node.advance(1)
    (request,) = node.proposals
    proposed = request.topics[0].partitions[0].new_isr_with_epochs
    assert {each.broker_id: each.broker_epoch for each in proposed} == {1: 1, 2: 50, 3: 3}


def in_quiet_session(node):
    """Follower 3 is out of the set, has all, and asks in a session; each of its Fetches by a call."""
    node.topic("t", replicas=(1, 2, 3), isr=(1, 2))
    client, follower = node.connect(), node.connect()
    produce(client, "t", b"a")
    epochs = itertools.count(1)
    state = ReplicaState(replica_id=3, replica_epoch=3)
    topics = [by_id(client, "t", 1, current_leader_epoch=0, last_fetched_epoch=0)]
    full = follower.ask("Fetch", 15, max_wait_ms=0, session_epoch=0, replica_state=state, topics=topics)
    assert full.session_id

    def again():
        fields = {"session_id": full.session_id, "session_epoch": next(epochs), "topics": []}
        assert follower.ask("Fetch", 15, max_wait_ms=0, replica_state=state, **fields).responses == []
        node.advance(1)

    again()
    again()
    assert len(node.proposals) == 1
    return again


def test_who_is_proposed_in_vain_as_the_partition_changed_is_proposed_again(node):
    again = in_quiet_session(node)
    topic_id = node.cache.image.topics.get("t").id
    # Where a replica lies is told: another partition epoch, and nothing else.
    directories = [bytes(15) + bytes([each]) for each in (101, 102, 103)]
    node.publish(PartitionChangeRecord(partition_id=0, topic_id=topic_id, directories=directories))
    node.answers.pop().fail(ApiError(ErrorCode.REQUEST_TIMED_OUT))
    again()
    node.advance(100)
    assert [each.topics[0].partitions[0].partition_epoch for each in node.proposals] == [0, 1]


def test_who_was_refused_is_proposed_again(node):
    again = in_quiet_session(node)
    partition = node.proposals[0].topics[0]
    refusal = PartitionData(partition_index=0, error_code=ErrorCode.INELIGIBLE_REPLICA)
    topic = TopicData(topic_id=partition.topic_id, partitions=[refusal])
    node.answers.pop().resolve(AlterPartitionResponse(topics=[topic]))
    again()
    node.advance(100)
    assert len(node.proposals) == 2


def test_a_followers_parked_fetch_wakes_on_any_of_its_partitions(node):
    node.topic("t", partitions=3, replicas=(1, 2))
    client, follower = node.connect(), node.connect()
    topic_id = node.cache.image.topics.get("t").id
    epochs = itertools.count(1)

    def frame(*wanted, wait=9000, session=None):
        return follower.frame(
            "Fetch",
            15,
            max_wait_ms=wait,
            min_bytes=1,
            replica_state=ReplicaState(replica_id=2, replica_epoch=2),
            session_id=session or 0,
            session_epoch=next(epochs) if session else 0,
            topics=[FetchTopic(topic_id=topic_id, partitions=list(wanted))] if wanted else [],
        )

    def at(index, offset, **fields):
        return FetchPartition(
            partition=index,
            fetch_offset=offset,
            partition_max_bytes=1 << 20,
            current_leader_epoch=0,
            **fields,
        )

    follower.send(frame(*(at(i, 0) for i in range(3)), wait=0))
    session = follower.answers()[0].session_id
    for _ in range(3):
        follower.send(frame(wait=0, session=session))
        follower.answers()
    moved = []
    for index in (2, 0):
        follower.send(frame(*moved, session=session))
        assert follower.answers() == []
        assert len(node.replicas.fetches) == 1
        produce(client, "t", b"a", index=index)
        (answer,) = follower.answers()
        (found,) = [p for t in answer.responses for p in t.partitions if p.records]
        assert found.partition_index == index
        moved = [at(index, 1, last_fetched_epoch=0)]
        follower.send(frame(*moved, wait=0, session=session))  # tells of the watermark
        follower.answers()
    assert len(node.replicas.fetches) == 0
    follower.send(frame(session=session))
    assert follower.answers() == []
    follower.core.abandon()
    assert len(node.replicas.fetches) == 0


def test_scenario_123_a_throttled_follower_that_is_behind_waits_and_others_do_not(node):
    rate = [100]
    node.replicas.leader_quota = ReplicationQuota(lambda: rate[0])
    for topic in ("slow", "free"):
        node.topic(topic, replicas=(1, 2, 3), isr=(1, 2))
    node.replicas.get("slow", 0).leader_throttled = True
    client, follower = node.connect(), node.connect()
    for topic in ("slow", "free"):
        produce(client, topic, b"x" * 5000)
    found = one(ask(follower, "slow", 0, replica=3, epoch=3))
    assert found.records
    assert not one(ask(follower, "slow", 0, replica=3, epoch=3)).records
    assert one(ask(follower, "free", 0, replica=3, epoch=3)).records
    assert one(ask(follower, "slow", 0, replica=2, epoch=2)).records  # it is in sync
    waiting = node.connect()
    state = ReplicaState(replica_id=3, replica_epoch=3)
    frame = waiting.frame(
        "Fetch", 15, max_wait_ms=500, min_bytes=1, topics=[by_id(client, "slow", 0)], replica_state=state
    )
    waiting.send(frame)
    produce(client, "slow", b"y")
    assert waiting.answers() == []  # it does not come back at once, again and again
    rate[0] = 1 << 62
    node.advance(600)
    assert one(waiting.answers()[0]).records


def test_scenario_79_tombstones_wait_until_every_replica_has_compacted(node):
    node.topic("t", replicas=(1, 2, 3), cleanup_policy="compact")
    node.topic("alone", cleanup_policy="compact")
    client = follower = node.connect()
    partition = node.replicas.get("t", 0)
    node.replicas.cleaned_offset = lambda log: 2

    def report(replica, cleaned):
        topic = by_id(client, "t", 0)
        topic.partitions[0].unknown_tags = [write_offset(cleaned)]
        state = ReplicaState(replica_id=replica, replica_epoch=replica)
        return read_offset(one(follower.ask("Fetch", 15, topics=[topic], replica_state=state)).unknown_tags)

    assert node.replicas.removable_to(partition.log) == 0
    assert report(2, 2) == 0
    assert report(3, 1) == 1
    assert node.replicas.removable_to(partition.log) == 1
    assert report(3, 0) == 1  # it never falls
    assert report(3, 2) == 2
    assert node.replicas.removable_to(node.replicas.get("alone", 0).log) > 1 << 60
    topic_id = partition.topic_id
    node.move_leader(topic_id, 0, 2)
    assert node.replicas.removable_to(partition.log) == 2  # what was heard last
