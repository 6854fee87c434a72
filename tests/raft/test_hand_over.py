"""A leader that stops: who may take its place, and who may not."""

from __future__ import annotations

from kbroker.raft.messages import ResignRequested
from kbroker.raft.rpc import BeginQuorumEpochRequest
from kbroker.raft.voter_set import ReplicaKey
from tests.sim.quorum import Quorum


def test_a_leader_hands_over_to_a_voter_that_listens():
    quorum = Quorum(3).start()
    leader = quorum.leader
    quorum.settle()
    assert leader.node.may_hand_over(leader.now_ms())
    leader.feed(ResignRequested(leader.leads))
    assert not leader.node.may_hand_over(leader.now_ms())


def test_there_is_nobody_to_hand_over_to_where_no_voter_has_been_heard_of():
    quorum = Quorum(3).start()
    leader = quorum.leader
    quorum.settle()
    assert leader.node.may_hand_over(leader.now_ms())
    assert not leader.node.may_hand_over(leader.now_ms() + 1500)


def test_a_leader_that_is_no_voter_of_a_static_quorum_is_not_believed():
    quorum = Quorum(3).start()
    quorum.checks.warnings_allowed = True
    leader = quorum.leader
    for node in quorum.nodes.values():
        node.ask(BeginQuorumEpochRequest(9, leader.leads + 1, ReplicaKey(node.id)))
    quorum.settle()
    assert quorum.leader is leader
