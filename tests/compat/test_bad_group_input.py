"""Requests about groups and transactions that are wrong: Kafka's error, and nothing changes anywhere.

With KBROKER_TEST_BOOTSTRAP the same is asked of Apache Kafka (no member may be lost meanwhile: SETTINGS).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.offsets import LATEST, list_offsets
from kbroker.client.topics import create_topic
from kbroker.coordinator.share.acknowledgement import ACCEPT, RELEASE
from kbroker.errors import ErrorCode as E
from kbroker.protocol.api_keys import message_class
from kbroker.protocol.generated.add_partitions_to_txn_request import AddPartitionsToTxnTopic
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.generated.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
)
from kbroker.protocol.generated.share_fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.streams_group_heartbeat_request import Subtopology, Topology
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.compat.share_member import ShareMember

SETTINGS = {
    f"group.{kind}.{name}session.timeout.ms": 600_000
    for kind in ("consumer", "share", "streams")
    for name in ("max.", "")
}
MEMBER = "AAAAAAAAAAAAAAAAAAAAAA"


class Asker:
    """Sends what a test says, and tells how much lies in which partition."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self.cluster, self.topic = cluster, topic

    def __call__(self, name: str, version: int, **fields: Any) -> Any:
        request = message_class(f"{name}Request")(**fields)
        return self.cluster._ask_at(self.cluster.any(), request, message_class(f"{name}Response"), version)

    def ends(self) -> dict[TopicPartition, int]:
        """The ends of our topic and of all that coordinators write, the consumers' reading apart."""
        metadata = self.cluster.metadata()
        names = [self.topic, "__consumer_offsets", "__transaction_state", "__share_group_state"]
        places = [
            TopicPartition(topic.name, part.partition_index)
            for topic in metadata.topics
            if topic.name in names
            for part in topic.partitions
        ]
        return {tp: found.offset for tp, found in list_offsets(self.cluster, places, LATEST).items()}

    def refused(self, code: E, name: str, version: int, read: Any = None, **fields: Any) -> None:
        """The answer has that code (`read` takes it from the answer), and nothing was written."""
        before = self.ends()
        answer = self(name, version, **fields)
        assert E(read(answer) if read else answer.error_code) is code
        assert self.ends() == before


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """Of a broker on which no member is lost meanwhile."""
    given = os.environ.get("KBROKER_TEST_BOOTSTRAP")
    if given:
        yield given
        return
    with Broker(subprocess=True, config=SETTINGS) as broker:
        yield broker.bootstrap


@pytest.fixture
def ask(bootstrap: str, name: str) -> Iterator[Asker]:
    with Cluster(bootstrap) as cluster:
        create_topic(cluster, name, partitions=1, replication_factor=1)
        yield Asker(cluster, name)


def _of_partition(answer: Any) -> int:
    return answer.responses[0].partition_responses[0].error_code


def _of_added(answer: Any) -> int:
    return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code


def _of_commit(answer: Any) -> int:
    return answer.topics[0].partitions[0].error_code


class Transaction:
    """An open one over the topic; of transaction version 2, so that each end brings a new epoch."""

    def __init__(self, ask: Asker, name: str) -> None:
        self._ask, self.name = ask, name
        while True:
            self._ask.cluster.coordinator(name, 1)
            answer = ask("InitProducerId", 4, transactional_id=name, transaction_timeout_ms=60_000)
            if answer.error_code not in (E.COORDINATOR_NOT_AVAILABLE, E.NOT_COORDINATOR):
                break
        assert not answer.error_code
        self.id, self.epoch = answer.producer_id, answer.producer_epoch
        while code := _of_partition(ask("Produce", 12, **self.produced(self.epoch))):
            assert code == E.NOT_LEADER_OR_FOLLOWER

    def add(self, producer_id: int, epoch: int) -> dict[str, Any]:
        return {
            "v3_and_below_transactional_id": self.name,
            "v3_and_below_producer_id": producer_id,
            "v3_and_below_producer_epoch": epoch,
            "v3_and_below_topics": [AddPartitionsToTxnTopic(name=self._ask.topic, partitions=[0])],
        }

    def end(self, producer_id: int, epoch: int, commit: bool = True) -> dict[str, Any]:
        return {
            "transactional_id": self.name,
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "committed": commit,
        }

    def produced(self, epoch: int) -> dict[str, Any]:
        records = build_batch(
            [Record(value=b"x")],
            producer_id=self.id,
            producer_epoch=epoch,
            base_sequence=0,
            transactional=True,
        )
        data = [PartitionProduceData(index=0, records=records)]
        return {
            "transactional_id": self.name,
            "acks": -1,
            "timeout_ms": 5000,
            "topic_data": [TopicProduceData(name=self._ask.topic, partition_data=data)],
        }


def test_epochs_of_producers_from_the_future(ask: Asker, name: str) -> None:
    txn = Transaction(ask, name)
    ahead = txn.id, txn.epoch + 1
    ask.refused(E.PRODUCER_FENCED, "AddPartitionsToTxn", 3, _of_added, **txn.add(*ahead))
    ask.refused(E.PRODUCER_FENCED, "EndTxn", 5, **txn.end(*ahead))
    ask.refused(
        E.PRODUCER_FENCED,
        "InitProducerId",
        4,
        transactional_id=name,
        transaction_timeout_ms=60_000,
        producer_id=txn.id + 1_000_000,
        producer_epoch=txn.epoch + 1,
    )
    ask.refused(E.INVALID_PRODUCER_EPOCH, "Produce", 12, _of_partition, **txn.produced(txn.epoch + 1))
    assert not ask("EndTxn", 5, **txn.end(txn.id, txn.epoch)).error_code


def test_a_transactional_id_that_is_anothers(ask: Asker, name: str) -> None:
    txn = Transaction(ask, name)
    other = txn.id + 1_000_000, txn.epoch
    ask.refused(E.INVALID_PRODUCER_ID_MAPPING, "AddPartitionsToTxn", 3, _of_added, **txn.add(*other))
    ask.refused(E.INVALID_PRODUCER_ID_MAPPING, "EndTxn", 5, **txn.end(*other))
    ask.refused(
        E.INVALID_PRODUCER_ID_MAPPING,
        "AddOffsetsToTxn",
        3,
        transactional_id=name,
        producer_id=other[0],
        producer_epoch=other[1],
        group_id=name,
    )
    assert not ask("EndTxn", 5, **txn.end(txn.id, txn.epoch)).error_code


def test_partitions_that_are_added_after_the_end(ask: Asker, name: str) -> None:
    txn = Transaction(ask, name)
    answer = ask("EndTxn", 5, **txn.end(txn.id, txn.epoch))
    assert answer.producer_epoch == txn.epoch + 1
    _settle(ask, name)
    ask.refused(E.PRODUCER_FENCED, "AddPartitionsToTxn", 3, _of_added, **txn.add(txn.id, txn.epoch))
    ask.refused(E.INVALID_PRODUCER_EPOCH, "Produce", 12, _of_partition, **txn.produced(txn.epoch))
    ask.refused(E.INVALID_TXN_STATE, "EndTxn", 5, **txn.end(txn.id, txn.epoch, commit=False))


def _settle(ask: Asker, name: str) -> None:
    """Wait until the markers are written."""
    while True:
        [state] = ask("DescribeTransactions", 0, transactional_ids=[name]).transaction_states
        if state.transaction_state in ("CompleteCommit", "CompleteAbort"):
            return


def test_epochs_of_members_from_the_future(ask: Asker, name: str) -> None:
    ask.cluster.coordinator(name)
    joined = ask("ConsumerGroupHeartbeat", 1, **_member(name, 0), subscribed_topic_names=[ask.topic])
    assert not joined.error_code
    epoch = joined.member_epoch
    ask.refused(E.FENCED_MEMBER_EPOCH, "ConsumerGroupHeartbeat", 1, **_member(name, epoch + 1))
    ask.refused(E.UNKNOWN_MEMBER_ID, "ConsumerGroupHeartbeat", 1, **_member(name, epoch, "nobody"))
    commit = _commit(ask, name, epoch + 1)
    ask.refused(E.STALE_MEMBER_EPOCH, "OffsetCommit", 9, _of_commit, **commit)
    ask.refused(E.UNKNOWN_MEMBER_ID, "OffsetCommit", 9, _of_commit, **(commit | {"member_id": "nobody"}))
    only = Subtopology(subtopology_id="0", source_topics=[ask.topic])
    streams = {"topology": Topology(epoch=0, subtopologies=[only]), "process_id": "p", "client_tags": []}
    none: dict[str, Any] = {key: [] for key in ("active_tasks", "standby_tasks", "warmup_tasks")}
    member = {"group_id": f"{name}-streams", "member_id": MEMBER}
    joined = ask(
        "StreamsGroupHeartbeat", 1, **member, member_epoch=0, rebalance_timeout_ms=60_000, **streams, **none
    )
    assert not joined.error_code
    ask.refused(
        E.FENCED_MEMBER_EPOCH, "StreamsGroupHeartbeat", 1, **member, member_epoch=joined.member_epoch + 1
    )


def _member(group: str, epoch: int, member: str = MEMBER) -> dict[str, Any]:
    joins = {"rebalance_timeout_ms": 60_000, "topic_partitions": []} if epoch == 0 else {}
    return {"group_id": group, "member_id": member, "member_epoch": epoch, **joins}


def _commit(ask: Asker, group: str, epoch: int) -> dict[str, Any]:
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")
    return {
        "group_id": group,
        "member_id": MEMBER,
        "generation_id_or_member_epoch": epoch,
        "topics": [OffsetCommitRequestTopic(name=ask.topic, partitions=[part])],
    }


def test_commits_for_a_generation_that_is_dead(ask: Asker, name: str) -> None:
    """Nobody is in the group any more."""
    ask.cluster.coordinator(name)
    assert _of_commit(ask("OffsetCommit", 8, **(_commit(ask, name, -1) | {"member_id": ""}))) == 0
    ask.refused(E.UNKNOWN_MEMBER_ID, "OffsetCommit", 8, _of_commit, **_commit(ask, name, 3))


@pytest.mark.parametrize("regex", ["(?=a)b", "(", "a{1001}", r"(a)\1"])
def test_patterns_that_blow_up(ask: Asker, name: str, regex: str) -> None:
    ask.cluster.coordinator(name)
    ask.refused(
        E.INVALID_REGULAR_EXPRESSION,
        "ConsumerGroupHeartbeat",
        1,
        **_member(name, 0),
        subscribed_topic_regex=regex,
    )


def test_sessions_of_share_groups_that_are_replayed(ask: Asker, name: str) -> None:
    member = _share_member(ask, name)
    held = member.take(1)
    assert [(each.first, each.last) for each in held] == [(0, 0)]
    assert member.fetch() == []
    place = SimpleNamespace(topic_id=member._topic_id, member_id=member._member_id)
    session = {"group_id": name, "member_id": place.member_id, "max_wait_ms": 0, "min_bytes": 0}
    session |= {"max_records": 10, "batch_size": 10}
    fetched = FetchTopic(topic_id=place.topic_id, partitions=[FetchPartition(partition_index=0)])
    for version in (1, 2):
        for epoch in (member._session_epoch - 1, member._session_epoch + 1):
            ask.refused(
                E.INVALID_SHARE_SESSION_EPOCH, "ShareFetch", version, **session, share_session_epoch=epoch
            )
    ask.refused(
        E.SHARE_SESSION_NOT_FOUND,
        "ShareFetch",
        1,
        **(session | {"member_id": MEMBER}),
        share_session_epoch=1,
        topics=[fetched],
    )

    def acknowledged(first: int, last: int, kinds: list[int], code: E) -> None:
        batch = AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=kinds)
        part = AcknowledgePartition(partition_index=0, acknowledgement_batches=[batch])
        ask.refused(
            code,
            "ShareAcknowledge",
            1,
            lambda answer: answer.responses[0].partitions[0].error_code,
            group_id=name,
            member_id=place.member_id,
            share_session_epoch=member._session_epoch,
            topics=[AcknowledgeTopic(topic_id=place.topic_id, partitions=[part])],
        )
        member._session_epoch += 1

    for first, last, kinds in ((5, 9, [1]), (0, 9, [1]), (3, 0, [1]), (0, 0, [1, 1]), (0, 0, [9])):
        acknowledged(first, last, kinds, E.INVALID_REQUEST)
    assert member.acknowledge(held, [RELEASE]) == {0}
    acknowledged(0, 0, [ACCEPT], E.INVALID_RECORD_STATE)


def _share_member(ask: Asker, name: str) -> ShareMember:
    wish = {"share.auto.offset.reset": "earliest"}
    alter_configs(ask.cluster, ResourceType.GROUP, name, set_=wish)
    records = build_batch([Record(value=b"x")])
    data = TopicProduceData(name=ask.topic, partition_data=[PartitionProduceData(index=0, records=records)])
    while code := _of_partition(ask("Produce", 9, acks=-1, timeout_ms=5000, topic_data=[data])):
        assert code == E.NOT_LEADER_OR_FOLLOWER
    return ShareMember(ask.cluster, name, ask.topic, 1)
