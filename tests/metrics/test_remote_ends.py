"""Ends of partitions that other brokers lead."""

from __future__ import annotations

from types import SimpleNamespace

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerError, PeerFailure
from kbroker.broker.remote_ends import RemoteEnds
from kbroker.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)


class World:
    def __init__(self):
        self.now, self.sent, self.due = 0, [], []
        endpoint = SimpleNamespace(host="h", port=9, security_protocol=0)
        broker = SimpleNamespace(endpoint=lambda listener: endpoint if listener == "B" else None)
        leaders = {("t", 0): 2, ("t", 1): 3, ("t", 2): -1}
        topics = SimpleNamespace(
            partition=lambda t, p: SimpleNamespace(leader=leaders[t, p]) if (t, p) in leaders else None
        )
        self.services = SimpleNamespace(
            clock=SimpleNamespace(monotonic_ms=lambda: self.now),
            timer=SimpleNamespace(call_later=lambda delay, work: self.due.append(work)),
            metadata=SimpleNamespace(image=SimpleNamespace(brokers={2: broker, 3: broker}, topics=topics)),
            peers=self,
        )
        self.ends = RemoteEnds(self.services, "B")

    def send(self, address, request, *, timeout_ms, channel):
        answer = Deferred()
        self.sent.append((address.node_id, request, answer))
        return answer

    def turn(self):
        due, self.due = self.due, []
        for work in due:
            work()


def offsets(name, ends):
    parts = [ListOffsetsPartitionResponse(partition_index=index, offset=end) for index, end in ends.items()]
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name=name, partitions=parts)])


def test_who_looks_has_it_asked_for_and_sees_it_the_next_time():
    world = World()
    assert [world.ends.end_of("t", index) for index in range(3)] == [-1, -1, -1]
    world.turn()
    assert [leader for leader, _, _ in world.sent] == [2, 3]
    world.sent[0][2].resolve(offsets("t", {0: 70}))
    assert world.ends.end_of("t", 0) == 70
    assert world.due == []  # it is fresh
    world.now = 5_000
    assert world.ends.end_of("t", 0) == 70
    world.turn()
    assert [leader for leader, _, _ in world.sent] == [2, 3, 2]
    world.sent[1][2].fail(PeerError(PeerFailure.TIMED_OUT))
    world.now = 70_000
    assert world.ends.end_of("t", 0) == -1


def test_one_question_at_a_time_to_a_broker():
    world = World()
    world.ends.end_of("t", 0)
    world.turn()
    world.ends.end_of("t", 0)
    world.turn()
    assert len(world.sent) == 1
    world.sent[0][2].fail(PeerError(PeerFailure.CLOSED))
    world.ends.end_of("t", 0)
    world.turn()
    assert len(world.sent) == 2
