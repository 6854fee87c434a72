"""When another node may have been elected: what a leader knows of it by its followers' fetches."""

from __future__ import annotations

import pytest

from tests.sim.quorum import Quorum


def test_nobody_else_can_lead_while_a_majority_was_answered_of_late():
    quorum = Quorum(5).start()
    leader = quorum.leader
    quorum.run(2000)
    assert leader.node.unrivalled(leader.now_ms())
    others = [id for id in quorum.nodes if id != leader.id]
    quorum.cut({leader.id, others[0]})
    rival = quorum.until(lambda: quorum.leader is not None and quorum.leader is not leader, 10_000)
    assert rival > 1000
    assert not leader.node.unrivalled(leader.now_ms())


@pytest.mark.parametrize("seed", range(1, 30))
def test_a_leader_never_believes_that_it_has_no_rival_when_there_is_one(seed):
    quorum = Quorum(5, seed=seed).start()
    quorum.run(300 * seed % 1700)
    leader = quorum.leader
    quorum.cut({leader.id, next(id for id in quorum.nodes if id != leader.id)})
    while not (elected := [node for node in quorum.nodes.values() if node.node.epoch > leader.node.epoch]):
        quorum.run(1)
    assert not leader.node.unrivalled(leader.now_ms()), elected


def test_a_lone_leader_has_no_rival_and_who_does_not_lead_may_have():
    lone = Quorum(1).start()
    assert lone.leader.node.unrivalled(lone.leader.now_ms())
    quorum = Quorum(3).start()
    assert not quorum.follower.node.unrivalled(quorum.follower.now_ms())
