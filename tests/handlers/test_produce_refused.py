"""Pipelined batches of an idempotent producer, the first of which is refused."""

from __future__ import annotations

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from tests.handlers.node import batch
from tests.handlers.test_produce import only, to

NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


class Sender:
    """Sends batches of one producer by their number, one record each."""

    def __init__(self, node, producer_id=7):
        self._client, self._id = node.connect(), producer_id

    def __call__(self, number, epoch=0, index=0):
        records = batch(b"%d" % number, producer_id=self._id, producer_epoch=epoch, base_sequence=number)
        return only(self._client.ask("Produce", 9, **to("t", records, index))).error_code


@pytest.fixture
def lead(node):
    """Lets node 1 or 2 lead t-0."""
    topic_id = node.topic("t", replicas=(1, 2), isr=(1, 2), leader=2)
    return lambda leader: node.publish(
        PartitionChangeRecord(topic_id=topic_id, partition_id=0, leader=leader, isr=[1, 2])
    )


def values(node):
    return node.replicas.get("t", 0).log.log_end_offset


@pytest.mark.parametrize("known", [False, True])
def test_what_is_under_way_behind_a_refused_batch_is_refused_too(node, lead, known):
    """Taken, it would stand before it; refused for its sequence, librdkafka would begin a new epoch."""
    send = Sender(node)
    first = 0
    if known:
        lead(1)
        assert send(0) == send(1) == 0
        first = 2
        lead(2)
    assert send(first) == NOT_LEADER
    lead(1)
    assert send(first + 1) == NOT_LEADER
    assert send(first + 2) == NOT_LEADER
    assert [send(first + i) for i in range(4)] == [0, 0, 0, 0]
    assert values(node) == first + 4


def test_whoever_gives_the_first_one_up_hears_of_the_gap(node, lead):
    send = Sender(node)
    lead(1)
    assert send(0) == 0
    lead(2)
    assert send(1) == NOT_LEADER
    lead(1)
    assert send(2) == NOT_LEADER
    assert send(2) == OUT_OF_ORDER
    assert send(1) == send(2) == 0


def test_other_producers_partitions_and_epochs_are_not_concerned(node, lead):
    send, other = Sender(node), Sender(node, 8)
    assert send(0) == NOT_LEADER
    lead(1)
    assert other(0) == other(1) == 0
    assert send(0, epoch=1) == send(1, epoch=1) == 0


def test_too_few_replicas_in_sync_begin_a_row_as_well(node):
    topic_id = node.topic("t", replicas=(1, 2), isr=(1,), min_insync_replicas="2")
    client = node.connect()

    def send(number):
        records = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=number)
        frame = client.frame("Produce", 9, **to("t", records, acks=-1))
        client.send(frame)
        return [only(answer).error_code for answer in client.answers()]

    assert send(0) == [ErrorCode.NOT_ENOUGH_REPLICAS]
    node.publish(PartitionChangeRecord(topic_id=topic_id, partition_id=0, isr=[1, 2]))
    assert send(1) == [ErrorCode.NOT_ENOUGH_REPLICAS]
    assert send(0) == []  # taken, it waits for the follower
    assert values(node) == 1


def test_a_connection_remembers_a_bounded_number_of_rows(node):
    node.topic("t", partitions=100, replicas=(1, 2), leader=2)
    send = Sender(node)
    assert {send(0, index=index) for index in range(100)} == {NOT_LEADER}
