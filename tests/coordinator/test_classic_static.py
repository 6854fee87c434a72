"""Static members (KIP-345), and the leader's way to keep its assignment (KIP-814)."""

from kbroker.errors import ErrorCode as E
from tests.coordinator.group_world import PARKED, World


def static_pair(w):
    a = w.joined(instance="node-a").member_id
    w.sync(a, 1, [(a, b"")], instance="node-a")
    waiting = w.join(instance="node-b")
    w.join(member=a, instance="node-a")
    b = w.answer(waiting).member_id
    w.sync(a, 2, [(a, b"one"), (b, b"two")])
    w.sync(b, 2)
    assert w.state() == "Stable"
    return a, b


def test_it_joins_without_the_extra_round_under_an_id_of_its_instance():
    w = World()
    answer = w.joined(instance="node-a")
    assert (answer.error_code, answer.generation_id) == (0, 1)
    assert answer.member_id.startswith("node-a-")
    assert answer.members[0].group_instance_id == "node-a"


def test_a_restart_keeps_generation_and_assignment_and_fences_the_old_id():
    w = World()
    a, b = static_pair(w)
    records = len(w.log)
    answer = w.answer(w.join(instance="node-a"))
    assert (answer.error_code, answer.generation_id, answer.skip_assignment) == (0, 2, True)
    assert answer.leader == answer.member_id != a
    assert len(answer.members) == 2
    assert len(w.log) == records + 1
    new = answer.member_id
    assert w.answer(w.sync(new, 2, instance="node-a")).assignment == b"one"
    assert w.heartbeat(a, 2, instance="node-a") == E.FENCED_INSTANCE_ID
    assert w.heartbeat(a, 2) == E.UNKNOWN_MEMBER_ID
    assert w.heartbeat(new, 2, instance="node-zz") == E.UNKNOWN_MEMBER_ID
    assert w.heartbeat(new, 2, instance="node-a") == w.heartbeat(new, 2) == E.NONE
    assert w.heartbeat(b, 2, instance="node-b") == E.NONE
    assert w.answer(w.sync(a, 2, instance="node-a")).error_code == E.FENCED_INSTANCE_ID
    assert w.answer(w.join(member=a, instance="node-a")).error_code == E.FENCED_INSTANCE_ID
    assert w.commit(("t", 0, 1), member=a, generation=2, instance="node-a") == [E.FENCED_INSTANCE_ID]
    assert w.leave((a, "node-a")) == [E.FENCED_INSTANCE_ID]
    assert set(w.replayed().groups["g"].members) == {new, b}


def test_new_metadata_of_the_same_protocol_is_no_rebalance_either():
    w = World()
    a, _ = static_pair(w)
    answer = w.answer(w.join(instance="node-a", version=6, protocols=[("range", b"new")]))
    assert (answer.generation_id, answer.leader, answer.members) == (2, a, [])
    assert not answer.skip_assignment
    assert w.group().members[answer.member_id].protocols == {"range": b"new"}
    assert w.replayed().groups["g"].members[answer.member_id].protocols == {"range": b"new"}


def test_a_follower_that_restarts_gets_no_members_and_skips_nothing():
    w = World()
    a, _ = static_pair(w)
    answer = w.answer(w.join(instance="node-b"))
    assert (answer.leader, answer.members, answer.skip_assignment) == (a, [], False)
    assert w.answer(w.sync(answer.member_id, 2)).assignment == b"two"


def test_a_restart_that_changes_the_protocol_chosen_rebalances():
    w = World()
    a = w.joined(instance="node-a").member_id
    w.sync(a, 1, [(a, b"")])
    answer = w.answer(w.join(instance="node-a", protocols=[("sticky", b""), ("range", b"")]))
    assert (answer.generation_id, answer.protocol_name) == (2, "sticky")


def test_a_restart_between_join_and_sync_rebalances():
    w = World()
    a, b = static_pair(w)
    w.join(member=b, instance="node-b", protocols=[("range", b"new")])
    w.join(member=a, instance="node-a")
    waiting = w.sync(b, 3)
    again = w.join(instance="node-b")
    assert w.answer(waiting).error_code == E.FENCED_INSTANCE_ID
    assert w.answer(again) is PARKED
    assert w.heartbeat(a, 3) == E.REBALANCE_IN_PROGRESS


def test_a_restart_while_members_gather_fences_the_waiting_join():
    w = World()
    a, b = static_pair(w)
    first = w.join(member=b, instance="node-b", protocols=[("range", b"new")])
    second = w.join(instance="node-b")
    answer = w.answer(first)
    assert (answer.error_code, answer.member_id) == (E.FENCED_INSTANCE_ID, b)
    w.join(member=a, instance="node-a")
    assert w.answer(second).generation_id == 3


def test_a_failed_write_leaves_the_old_id_in_place():
    w = World()
    a, _ = static_pair(w)
    w.refuse = E.NOT_LEADER_OR_FOLLOWER
    answer = w.answer(w.join(instance="node-a"))
    assert (answer.error_code, answer.member_id) == (E.NOT_COORDINATOR, "")
    assert w.heartbeat(a, 2, instance="node-a") == E.NONE


def test_an_unknown_id_with_an_unknown_instance_is_unknown():
    w = World()
    static_pair(w)
    assert w.answer(w.join(member="unknown", instance="node-c")).error_code == E.UNKNOWN_MEMBER_ID


def test_a_tool_takes_members_out_by_instance_alone():
    w = World()
    a, _ = static_pair(w)
    assert w.leave(("", "node-b"), ("", "node-c")) == [0, E.UNKNOWN_MEMBER_ID]
    assert w.heartbeat(a, 2, instance="node-a") == E.REBALANCE_IN_PROGRESS
    assert w.leave(("", "node-a")) == [0]
    assert w.state() == "Empty"


def test_it_outlives_a_missed_rebalance_until_its_session_ends():
    w = World()
    s = w.joined(instance="s", rebalance=900, session=30_000).member_id
    w.sync(s, 1, [(s, b"")])
    waiting = w.join(version=3, rebalance=900, session=60_000)
    w.pass_ms(900)
    answer = w.answer(waiting)
    assert (answer.generation_id, answer.leader) == (2, answer.member_id)
    assert {m.group_instance_id for m in answer.members} == {"s", None}


def test_with_nothing_but_absent_static_members_the_group_waits_for_their_sessions():
    w = World()
    a, b = static_pair(w)
    w.leave(("", "node-b"))
    w.pass_ms(20_000)
    assert w.state() == "PreparingRebalance"
    w.pass_ms(10_000)
    assert w.state() == "Empty"
    assert a not in w.group().members
    assert b not in w.group().members
