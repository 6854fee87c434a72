"""JoinGroup of classic groups, after conversations recorded from Apache Kafka 4.4."""

import pytest

from kbroker.coordinator.group.limits import GroupLimits
from kbroker.errors import ErrorCode as E
from tests.coordinator.group_world import NO_DELAY, PARKED, World


def refused(answer, code, member_id=""):
    assert answer.error_code == code
    assert (answer.member_id, answer.generation_id, answer.leader, answer.members) == (member_id, -1, "", [])
    assert answer.protocol_name is None
    assert answer.protocol_type is None


def test_a_dynamic_member_gets_an_id_first_then_leads_generation_1():
    w = World()
    first = w.answer(w.join())
    refused(first, E.MEMBER_ID_REQUIRED, "app-uuid1")
    assert w.heartbeat(first.member_id, 0) == E.UNKNOWN_MEMBER_ID
    ticket = w.join(member=first.member_id)
    assert w.answer(ticket) is PARKED
    w.pass_ms(0)
    answer = w.answer(ticket)
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, first.member_id)
    assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")
    assert [(m.member_id, m.metadata) for m in answer.members] == [(first.member_id, b"r")]
    assert not answer.skip_assignment
    assert w.state() == "CompletingRebalance"


def test_before_version_4_it_joins_directly():
    w = World()
    answer = w.joined(version=3)
    assert (answer.error_code, answer.generation_id) == (0, 1)


def test_version_0_takes_the_session_timeout_as_rebalance_timeout():
    w = World()
    w.joined(version=0, session=7_000, rebalance=-1)
    assert w.group().rebalance_timeout_ms == 7_000


def test_a_group_is_recorded_when_it_is_born_even_if_the_join_fails():
    w = World()
    refused(w.answer(w.join(protocol_type="")), E.INCONSISTENT_GROUP_PROTOCOL)
    assert len(w.log) == 1
    assert w.replayed().groups["g"].state_name == "Empty"


def test_an_unknown_group_is_not_born_by_somebody_with_a_member_id():
    w = World()
    refused(w.answer(w.join(member="app-unknown")), E.UNKNOWN_MEMBER_ID, "app-unknown")
    assert w.log == []


def test_an_append_error_at_birth_leaves_no_group():
    w = World()
    w.refuse = E.NOT_ENOUGH_REPLICAS
    refused(w.answer(w.join()), E.COORDINATOR_NOT_AVAILABLE)
    assert w.shard.groups == {}


@pytest.mark.parametrize(
    ("kwargs", "member_id"),
    [
        ({"protocol_type": "connect"}, ""),
        ({"protocols": [("roundrobin", b"x")]}, ""),
        ({"protocols": []}, ""),
        ({"protocol_type": ""}, ""),
    ],
)
def test_protocols_must_have_something_in_common(kwargs, member_id):
    w = World()
    w.joined()
    refused(w.answer(w.join(**kwargs)), E.INCONSISTENT_GROUP_PROTOCOL, member_id)


def test_an_unknown_member_id_is_told_so():
    w = World()
    w.joined()
    refused(w.answer(w.join(member="nobody")), E.UNKNOWN_MEMBER_ID, "nobody")


def test_the_protocol_type_may_change_once_the_group_is_empty():
    w = World()
    a = w.joined(version=3).member_id
    assert w.leave(a) == [0]
    answer = w.joined(version=3, protocol_type="connect", protocols=[("eager", b"")])
    assert (answer.generation_id, answer.protocol_type) == (3, "connect")


def test_the_leader_forces_a_rebalance_with_the_same_metadata_once_stable():
    w = World()
    a = w.joined().member_id
    assert w.answer(w.join(member=a)).generation_id == 1  # still completing: the answer may have got lost
    w.sync(a, 1, [(a, b"x")])
    assert w.answer(w.join(member=a)).generation_id == 2


def test_changed_metadata_between_join_and_sync_starts_over():
    w = World()
    a = w.joined().member_id
    assert w.answer(w.join(member=a, protocols=[("range", b"new")])).generation_id == 2


def test_a_follower_with_unchanged_metadata_gets_the_present_generation():
    w = World()
    a, b = w.stable_pair()
    answer = w.answer(w.join(member=b))
    assert (answer.generation_id, answer.leader, answer.members) == (2, a, [])
    assert w.state() == "Stable"


def test_a_new_member_waits_for_the_others_and_a_heartbeat_tells_them():
    w = World()
    a = w.joined().member_id
    w.sync(a, 1, [(a, b"x")])
    b = w.answer(w.join()).member_id
    assert w.heartbeat(a, 1) == E.NONE
    waiting = w.join(member=b, protocols=[("range", b"b"), ("sticky", b"s")])
    assert w.answer(waiting) is PARKED
    assert w.heartbeat(a, 1) == E.REBALANCE_IN_PROGRESS
    answer = w.joined(member=a)
    assert (answer.generation_id, answer.leader) == (2, a)
    assert sorted(m.metadata for m in answer.members) == [b"b", b"r"]
    assert w.answer(waiting).members == []


def test_the_protocol_is_chosen_by_vote_among_those_all_speak():
    w = World(GroupLimits(initial_rebalance_delay_ms=1_000))
    speak = [
        [("range", b""), ("sticky", b""), ("rr", b"")],
        [("sticky", b""), ("range", b"")],
        [("other", b""), ("sticky", b""), ("range", b"")],
    ]
    tickets = [w.join(version=3, protocols=protocols) for protocols in speak]
    w.pass_ms(2_000)
    assert {w.answer(t).protocol_name for t in tickets} == {"sticky"}


def test_the_initial_delay_is_extended_while_members_come_up_to_the_rebalance_timeout():
    w = World(GroupLimits(initial_rebalance_delay_ms=3_000))
    first = w.join(version=3, rebalance=10_000)
    w.pass_ms(2_900)
    second = w.join(version=3, rebalance=10_000)
    w.pass_ms(200)
    assert w.answer(first) is PARKED
    w.pass_ms(2_800)
    third = w.join(version=3, rebalance=10_000)  # 5.9 s
    w.pass_ms(200)
    assert w.answer(first) is PARKED
    w.join(version=3, rebalance=10_000)  # 6.1 s
    w.pass_ms(3_000)  # 9.1 s
    late = w.join(version=3, rebalance=10_000)
    w.pass_ms(900)
    assert {w.answer(t).generation_id for t in (first, second, third, late)} == {1}
    assert len(w.group().members) == 5


def test_with_nobody_else_the_initial_delay_is_not_extended():
    w = World(GroupLimits(initial_rebalance_delay_ms=3_000))
    ticket = w.join(version=3)
    w.pass_ms(2_999)
    assert w.answer(ticket) is PARKED
    w.pass_ms(1)
    assert w.answer(ticket).generation_id == 1


def test_who_does_not_join_within_the_rebalance_timeout_is_left_behind():
    w = World()
    a = w.joined(version=3, rebalance=1_200).member_id
    w.sync(a, 1, [(a, b"x")])
    waiting = w.join(version=3, rebalance=1_200)
    w.pass_ms(1_199)
    assert w.answer(waiting) is PARKED
    w.pass_ms(1)
    answer = w.answer(waiting)
    assert (answer.generation_id, answer.leader) == (2, answer.member_id)
    assert w.heartbeat(a, 2) == E.UNKNOWN_MEMBER_ID


def test_a_rebalance_timeout_of_minus_1_makes_the_member_vanish_right_after_joining():
    w = World()
    answer = w.joined(version=3, rebalance=-1)
    assert answer.error_code == 0
    w.pass_ms(1)
    assert w.state() == "Empty"


def test_a_pending_member_that_does_not_come_back_is_not_waited_for_for_ever():
    w = World()
    a = w.joined(version=3).member_id
    w.sync(a, 1, [(a, b"x")])
    w.join(session=500)
    waiting = w.join(version=3)
    rejoin = w.join(member=a, version=3)
    assert w.answer(rejoin) is PARKED
    w.pass_ms(500)
    assert w.answer(rejoin).generation_id == w.answer(waiting).generation_id == 2


def test_a_forgotten_pending_id_is_unknown():
    w = World()
    pending = w.answer(w.join(session=500)).member_id
    w.pass_ms(500)
    refused(w.answer(w.join(member=pending)), E.UNKNOWN_MEMBER_ID, pending)


def test_a_full_group_turns_new_members_away_with_an_empty_id():
    w = World(GroupLimits(initial_rebalance_delay_ms=0, max_size=2))
    w.stable_pair()
    refused(w.answer(w.join()), E.GROUP_MAX_SIZE_REACHED)
    refused(w.answer(w.join(version=3)), E.GROUP_MAX_SIZE_REACHED)
    assert w.state() == "Stable"


def test_of_too_many_that_rejoin_the_last_are_turned_away():
    w = World(GroupLimits(initial_rebalance_delay_ms=0, max_size=2))
    a, b = w.stable_pair()
    w.shard._rounds.limits = GroupLimits(initial_rebalance_delay_ms=0, max_size=1)
    first = w.join(member=a)
    refused(w.answer(w.join(member=b)), E.GROUP_MAX_SIZE_REACHED)
    assert w.answer(first).generation_id == 3
    assert list(w.group().members) == [a]


def test_joining_twice_answers_the_first_request_too():
    w = World()
    w.stable_pair()
    old = w.join(version=3)
    member = next(m for m in w.group().members.values() if m.join_ticket == old)
    new = w.join(version=3, member=member.member_id)
    refused(w.answer(old), E.REBALANCE_IN_PROGRESS, member.member_id)
    assert w.answer(new) is PARKED
    assert w.group().awaiting_join == 1


def test_many_joins_at_once_end_in_one_generation():
    w = World(GroupLimits(initial_rebalance_delay_ms=100))
    w.check = lambda: None  # checking everything after each step would be quadratic
    tickets = [w.join(version=3) for _ in range(3_000)]
    w.pass_ms(200)
    assert {w.answer(t).generation_id for t in tickets} == {1}
    assert sum(len(w.answer(t).members) for t in tickets) == 3_000


def test_a_new_members_parked_join_ends_after_five_minutes():
    w = World(NO_DELAY)
    a = w.joined(version=3, rebalance=600_000, session=600_000).member_id
    w.sync(a, 1, [(a, b"")])
    waiting = w.join(version=3, session=10_000)
    w.pass_ms(299_999)
    assert w.answer(waiting) is PARKED
    w.pass_ms(1)
    refused(w.answer(waiting), E.UNKNOWN_MEMBER_ID)
