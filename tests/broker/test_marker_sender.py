"""Markers to other brokers: who is asked, what is asked again, and when it is given up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.marker_sender import MarkerSender
from kbroker.broker.txn_link import TxnLink, in_own_turn
from kbroker.coordinator.transaction.state import State, newborn
from kbroker.coordinator.transaction.transaction_shard import MarkersDue
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.write_txn_markers_request import WriteTxnMarkersRequest
from kbroker.protocol.generated.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)


class Timer:
    def __init__(self):
        self.calls = []

    def call_later(self, delay_ms, callback):
        self.calls.append((delay_ms, callback))
        return SimpleNamespace(cancel=lambda: None)

    def run(self):
        calls, self.calls = self.calls, []
        for _, callback in calls:
            callback()


class World:
    """Three brokers, of which this one is 1; partition p of `t` is led by broker `leaders[p]`."""

    def __init__(self):
        self.leaders = {0: 1, 1: 2, 2: 3}
        self.timer = Timer()
        self.asked = []
        self.done = 0
        self.wanted = True
        link = TxnLink(1, self.timer)
        link.local = {WriteTxnMarkersRequest: lambda request: self._ask(1, request)}
        link.remote = self._ask
        topics = SimpleNamespace(partition=self._partition)
        metadata = SimpleNamespace(image=SimpleNamespace(topics=topics))
        self.turn = None
        self.sender = MarkerSender(link, metadata, SimpleNamespace(call_later=self._call_later))

    def _call_later(self, delay_ms, callback):
        """The end of a turn is at once, unless a test gathers."""
        if delay_ms:
            self.timer.call_later(delay_ms, callback)
        elif self.turn is None:
            callback()
        else:
            self.turn.append(callback)

    def _partition(self, topic, index):
        leader = self.leaders.get(index)
        return None if leader is None else SimpleNamespace(leader=leader)

    def _ask(self, broker_id, request):
        answer = Deferred()
        (marker,) = request.markers
        self.asked.append((broker_id, marker, answer))
        return answer

    def start(self, *partitions):
        txn = newborn("x", 7, 1000, 0)._replace(
            producer_epoch=4,
            state=State.PREPARE_COMMIT,
            partitions={"t": frozenset(partitions)},
            client_version=2,
        )
        self.sender.start(MarkersDue(txn, True, 5), lambda: self.wanted, self._count)

    def _count(self):
        self.done += 1

    def answer(self, broker_id, code=ErrorCode.NONE):
        """Answer what that broker was asked; asked for which partitions."""
        (found,) = [each for each in self.asked if each[0] == broker_id]
        self.asked.remove(found)
        _, marker, answer = found
        (topic,) = marker.topics
        results = [
            WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
            for index in topic.partition_indexes
        ]
        topics = [WritableTxnMarkerTopicResult(name=topic.name, partitions=results)]
        answer.resolve(
            WriteTxnMarkersResponse(markers=[WritableTxnMarkerResult(producer_id=7, topics=topics)])
        )
        return topic.partition_indexes


@pytest.fixture
def world():
    return World()


def test_each_leader_is_asked_once_for_all_of_its_partitions(world):
    world.leaders[3] = 2
    world.start(0, 1, 2, 3)
    assert sorted(broker for broker, _, _ in world.asked) == [1, 2, 3]
    marker = world.asked[0][1]
    assert (marker.producer_id, marker.producer_epoch, marker.transaction_result) == (7, 4, True)
    assert (marker.coordinator_epoch, marker.transaction_version) == (5, 2)
    assert world.answer(2) == [1, 3]
    world.answer(3)
    assert not world.done
    world.answer(1)
    world.timer.run()  # this broker's own answer comes in a turn of its own
    assert world.done == 1


def test_what_cannot_be_now_is_asked_again_where_the_leader_is_then(world):
    world.start(1)
    world.answer(2, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert not world.asked
    world.leaders[1] = 3
    world.timer.run()
    world.answer(3)
    assert world.done == 1


def test_no_answer_is_no_end(world):
    world.start(1)
    _, _, answer = world.asked.pop()
    answer.fail(ApiError(ErrorCode.NETWORK_EXCEPTION))
    world.leaders[1] = -1
    world.timer.run()
    assert not world.asked
    world.leaders[1] = 2
    world.timer.run()
    world.answer(2)
    assert world.done == 1


def test_a_partition_that_is_gone_needs_none(world):
    world.start(1, 9)
    world.answer(2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    del world.leaders[1]
    world.timer.run()
    assert world.done == 1


@pytest.mark.parametrize("code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED])
def test_a_newer_producer_or_coordinator_makes_it_pointless(world, code):
    world.start(1, 2)
    world.answer(2, code)
    world.answer(3, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    world.timer.run()
    assert not world.asked
    assert not world.done


def test_who_is_no_coordinator_any_more_asks_nobody(world):
    world.start(1)
    world.wanted = False
    world.answer(2, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    world.timer.run()
    assert not world.asked
    assert not world.done


def test_what_ends_in_one_turn_is_one_request_for_each_broker(world):
    world.turn, requests, done = [], [], []
    world.sender._link.remote = lambda broker, request: (
        requests.append((broker, request, Deferred())) or (requests[-1][2])
    )
    for producer_id in (7, 8, 7):
        txn = newborn(f"x{producer_id}", producer_id, 1000, 0)._replace(
            producer_epoch=4, state=State.PREPARE_COMMIT, partitions={"t": frozenset({1})}, client_version=2
        )
        due = MarkersDue(txn, True, 5)
        world.sender.start(due, lambda: True, lambda producer_id=producer_id: done.append(producer_id))
    assert not requests
    [end] = world.turn
    end()
    told = [(broker, [marker.producer_id for marker in request.markers]) for broker, request, _ in requests]
    assert told == [(2, [7, 8]), (2, [7])]  # an answer tells them by the producer
    results = [WritableTxnMarkerPartitionResult(partition_index=1)]
    topics = [WritableTxnMarkerTopicResult(name="t", partitions=results)]
    # In another order; one is left out, and asked again.
    requests[0][2].resolve(
        WriteTxnMarkersResponse(markers=[WritableTxnMarkerResult(producer_id=8, topics=topics)])
    )
    assert done == [8]
    assert [delay for delay, _ in world.timer.calls] == [100]
    requests[1][2].fail(ApiError(ErrorCode.NETWORK_EXCEPTION))
    assert len(world.timer.calls) == 2


def test_without_another_broker_there_is_no_way_to_it():
    link = TxnLink(1, Timer())
    with pytest.raises(ApiError) as error:
        link.send(2, WriteTxnMarkersRequest()).result()
    assert error.value.code is ErrorCode.NETWORK_EXCEPTION


def test_a_turn_of_its_own_is_for_what_comes_later():
    timer, done, late = Timer(), Deferred(), Deferred()
    done.resolve(1)
    assert in_own_turn(done, timer) is done
    answer = in_own_turn(late, timer)
    late.fail(ApiError(ErrorCode.NOT_COORDINATOR))
    assert not answer.done
    timer.run()
    with pytest.raises(ApiError):
        answer.result()
