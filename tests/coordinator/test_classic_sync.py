"""SyncGroup, Heartbeat, LeaveGroup and time-outs of classic groups."""

import pytest

from kbroker.errors import ErrorCode as E
from tests.coordinator.group_world import PARKED, World


def sync_code(w, *args, **kwargs):
    answer = w.answer(w.sync(*args, **kwargs))
    return answer.error_code


def test_followers_wait_for_the_leader_and_get_what_it_gives():
    w = World()
    a, b = w.stable_pair()
    assert w.state() == "Stable"
    assert w.answer(w.sync(b, 2)).assignment == b"B"
    described = {m.member_id: m.assignment for m in w.group().members.values()}
    assert described == {a: b"A", b: b"B"}


def test_members_that_the_leader_forgets_get_nothing_and_strangers_are_ignored():
    w = World()
    a = w.joined().member_id
    answer = w.answer(w.sync(a, 1, [("stranger", b"x")]))
    assert (answer.error_code, answer.assignment) == (0, b"")
    assert list(w.group().members) == [a]


@pytest.mark.parametrize(
    ("kwargs", "code"),
    [
        ({"generation": 2}, E.ILLEGAL_GENERATION),
        ({"member": "nobody"}, E.UNKNOWN_MEMBER_ID),
        ({"protocol_type": "connect"}, E.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "other"}, E.INCONSISTENT_GROUP_PROTOCOL),
        ({"instance": "i"}, E.UNKNOWN_MEMBER_ID),
        ({"group": "other"}, E.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_sync_that_does_not_fit(kwargs, code):
    w = World()
    a = w.joined().member_id
    assert sync_code(w, **{"member": a, "generation": 1, **kwargs}) == code


def test_syncs_that_wait_hear_of_the_next_rebalance():
    w = World()
    a, b = w.stable_pair()
    w.join(member=b, protocols=[("range", b"new")])
    w.join(member=a)
    waiting = w.sync(b, 3)
    assert w.answer(waiting) is PARKED
    assert w.leave(a) == [0]
    assert w.answer(waiting).error_code == E.REBALANCE_IN_PROGRESS
    assert w.state() == "PreparingRebalance"


def test_a_leaving_members_own_waiting_sync_is_answered():
    w = World()
    _, b = w.stable_pair()
    w.join(member=b, protocols=[("range", b"new")])
    w.join(member=w.group().leader)
    waiting = w.sync(b, 3)
    w.leave(b)
    assert w.answer(waiting).error_code == E.UNKNOWN_MEMBER_ID


def test_syncing_twice_answers_the_first_request_too():
    w = World()
    a, b = w.stable_pair()
    w.join(member=b, protocols=[("range", b"new")])
    w.join(member=a)
    old, new = w.sync(b, 3), w.sync(b, 3)
    assert w.answer(old).error_code == E.REBALANCE_IN_PROGRESS
    w.sync(a, 3, [(b, b"mine")])
    assert w.answer(new).assignment == b"mine"


def test_who_does_not_sync_within_the_rebalance_timeout_is_out():
    w = World()
    a = w.joined(rebalance=1_000).member_id
    w.sync(a, 1, [(a, b"")])
    waiting = w.join(version=3, rebalance=1_000)
    w.join(member=a, rebalance=1_000)
    w.sync(a, 2, [(a, b"x")])
    late = w.answer(waiting).member_id
    w.pass_ms(1_000)
    assert w.heartbeat(late, 2) == E.UNKNOWN_MEMBER_ID
    assert w.heartbeat(a, 2) == E.REBALANCE_IN_PROGRESS


def test_an_assignment_that_cannot_be_written_starts_a_rebalance():
    w = World()
    a, b = w.stable_pair()
    w.join(member=b, protocols=[("range", b"new")])
    w.join(member=a)
    waiting = w.sync(b, 3)
    w.refuse = E.KAFKA_STORAGE_ERROR
    assert sync_code(w, a, 3, [(a, b"x")]) == E.NOT_COORDINATOR
    assert w.answer(waiting).error_code == E.NOT_COORDINATOR
    assert w.state() == "PreparingRebalance"
    assert w.replayed().groups["g"].generation == 2


# -- Heartbeat -------------------------------------------------------------------------------------------


def test_heartbeats_keep_the_session():
    w = World()
    a = w.joined(version=3, session=700).member_id
    w.sync(a, 1, [(a, b"")])
    for _ in range(10):
        w.pass_ms(699)
        assert w.heartbeat(a, 1) == E.NONE
    w.pass_ms(700)
    assert w.heartbeat(a, 1) == E.UNKNOWN_MEMBER_ID
    assert w.state() == "Empty"
    assert w.group().generation == 2


def test_a_heartbeat_between_join_and_sync_is_fine_one_of_another_generation_is_not():
    w = World()
    a = w.joined().member_id
    assert w.heartbeat(a, 1) == E.NONE
    assert w.heartbeat(a, 0) == w.heartbeat(a, 2) == E.ILLEGAL_GENERATION
    assert w.heartbeat("nobody", 1) == w.heartbeat(a, 1, group="other") == E.UNKNOWN_MEMBER_ID


def test_a_member_that_waits_cannot_lose_its_session():
    w = World()
    a = w.joined(version=3, session=100_000, rebalance=50_000).member_id
    w.sync(a, 1, [(a, b"")])
    b = w.join(version=3, session=1_000, rebalance=50_000)
    w.join(member=a, session=100_000, rebalance=50_000)
    b_id = w.answer(b).member_id
    waiting = w.sync(b_id, 2)
    w.pass_ms(40_000)
    assert w.answer(waiting) is PARKED
    w.sync(a, 2, [(b_id, b"mine")])
    assert w.answer(waiting).assignment == b"mine"
    w.pass_ms(999)
    assert w.heartbeat(b_id, 2) == E.NONE


def test_a_commit_keeps_the_session():
    w = World()
    a = w.joined(version=3, session=700).member_id
    w.sync(a, 1, [(a, b"")])
    w.pass_ms(600)
    assert w.commit(("t", 0, 5), member=a, generation=1) == [0]
    w.pass_ms(600)
    assert w.heartbeat(a, 1) == E.NONE


# -- LeaveGroup ------------------------------------------------------------------------------------------


def test_a_batch_of_leavers_each_gets_its_own_code():
    w = World()
    a = w.joined(version=3).member_id
    w.sync(a, 1, [(a, b"")])
    assert w.leave("ghost", a, a, "") == [25, 0, 25, 25]
    assert w.state() == "Empty"
    assert w.leave("ghost") == [25]
    assert w.leave("ghost", group="never") == [25]
    assert w.leave() == []


def test_a_pending_member_that_leaves_makes_the_others_rebalance():
    w = World()
    a, b = w.stable_pair()
    pending = w.answer(w.join()).member_id
    assert w.leave(pending) == [0]
    assert w.leave(pending) == [E.UNKNOWN_MEMBER_ID]
    assert w.state() == "PreparingRebalance"
    assert w.heartbeat(a, 2) == w.heartbeat(b, 2) == E.REBALANCE_IN_PROGRESS


def test_a_waiting_join_is_answered_when_its_member_is_taken_out():
    w = World()
    a, _ = w.stable_pair()
    waiting = w.join(version=3)
    member = next(m for m in w.group().members.values() if m.join_ticket == waiting)
    assert w.leave(member.member_id) == [0]
    answer = w.answer(waiting)
    assert (answer.error_code, answer.member_id) == (E.UNKNOWN_MEMBER_ID, "")
    assert w.heartbeat(a, 2) == E.REBALANCE_IN_PROGRESS


def test_when_the_leader_leaves_another_leads():
    w = World()
    a, b = w.stable_pair()
    assert w.leave(a) == [0]
    answer = w.answer(w.join(member=b))
    assert (answer.generation_id, answer.leader, len(answer.members)) == (3, b, 1)


def test_an_empty_group_that_cannot_be_recorded_is_empty_all_the_same():
    w = World()
    a = w.joined(version=3).member_id
    w.sync(a, 1, [(a, b"")])
    w.refuse = E.KAFKA_STORAGE_ERROR
    assert w.leave(a) == [0]
    assert (w.state(), w.group().generation) == ("Empty", 2)
    assert w.joined(version=3).generation_id == 3


def test_members_that_leave_before_the_first_generation_leave_an_empty_group():
    w = World()
    ticket = w.join(version=3)
    assert w.leave(next(iter(w.group().members))) == [0]
    assert w.answer(ticket).error_code == E.UNKNOWN_MEMBER_ID
    w.pass_ms(0)
    assert (w.state(), w.group().generation) == ("Empty", 1)
