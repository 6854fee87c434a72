"""Consumer groups (KIP-848): what members are told, step by step, and what of it lies in the log."""

from __future__ import annotations

import pytest

from kbroker.coordinator.group.records import decode_record
from kbroker.errors import ApiError, ErrorCode as E
from tests.coordinator.consumer_world import ConsumerWorld, assignment, held, subscription


@pytest.fixture
def w():
    world = ConsumerWorld()
    world.t = world.topic("t", 4)
    return world


def kinds(w, since=0):
    """Key types of the log's records, negative for tombstones."""
    return [
        decode_record(key, value).key.API_KEY * (1 if value is not None else -1)
        for key, value in w.log[since:]
    ]


def test_the_first_member_gets_all_at_once_in_one_batch(w):
    assert w.enter("a", "t") == (2, {w.t: {0, 1, 2, 3}})
    assert kinds(w) == [5, 3, 7, 6, 8]
    assert w.consumer().state_name == "Stable"
    w.same_after_replay()


def test_a_heartbeat_without_news_writes_nothing_and_keeps_the_member_alive(w):
    w.enter("a", "t")
    size = len(w.log)
    for _ in range(3):
        w.pass_ms(44_000)
        answer = w.beat("a", 2)
        assert (answer.error_code, answer.member_epoch, answer.assignment) == (0, 2, None)
    assert len(w.log) == size
    w.pass_ms(45_000)
    assert w.beat("a", 2).error_code == E.UNKNOWN_MEMBER_ID
    assert w.consumer().state_name == "Empty"


def test_who_falls_silent_while_the_log_takes_nothing_is_out_as_soon_as_it_does(w):
    """Found by chaos: it was a member for ever, and kept its partitions."""
    w.enter("a", "t")
    w.refuse = E.NOT_ENOUGH_REPLICAS
    w.pass_ms(45_000)
    assert w.refuse is None
    assert set(w.consumer().members) == {"a"}
    w.pass_ms(500)
    assert w.consumer().state_name == "Empty"
    assert w.enter("b", "t")[1] == {w.t: {0, 1, 2, 3}}


def test_partitions_are_given_up_before_they_are_given(w):
    w.enter("a", "t")
    assert w.enter("b", "t") == (3, {})
    given_up = w.beat("a", 2, owned={w.t: {0, 1, 2, 3}})
    assert (given_up.member_epoch, held(given_up)) == (2, {w.t: {0, 1}})
    assert held(w.beat("b", 3)) is None
    assert w.beat("a", 2).member_epoch == 2  # it did not say that it has given up
    assert w.beat("a", 2, owned={w.t: {0, 1}}).member_epoch == 3
    assert held(w.beat("b", 3)) == {w.t: {2, 3}}
    assert w.consumer().state_name == "Stable"


def test_who_does_not_give_up_in_time_is_out(w):
    w.enter("a", "t", rebalance=1_000)
    w.enter("b", "t")
    w.beat("a", 2, owned={w.t: {0, 1, 2, 3}})
    w.pass_ms(999)
    assert w.beat("a", 2).error_code == 0
    w.pass_ms(1)
    assert w.beat("a", 2).error_code == E.UNKNOWN_MEMBER_ID
    answer = w.beat("b", 3)
    assert (answer.member_epoch, held(answer)) == (4, {w.t: {0, 1, 2, 3}})


def test_69_epochs_that_are_not_the_members(w):
    w.enter("a", "t")
    w.enter("b", "t")
    w.beat("a", 2, owned={w.t: {0, 1, 2, 3}})
    w.beat("a", 2, owned={w.t: {0, 1}})
    assert w.beat("a", 4).error_code == E.FENCED_MEMBER_EPOCH
    assert w.beat("a", 2).error_code == E.FENCED_MEMBER_EPOCH  # the answer got lost? It owns who knows what.
    assert w.beat("a", 2, owned={w.t: {0, 1}}).member_epoch == 3
    before = len(w.log)
    assert w.commit(("t", 0, 7), member="a", generation=4, version=9) == [E.STALE_MEMBER_EPOCH]
    assert w.commit(("t", 0, 7), member="z", generation=3, version=9) == [E.UNKNOWN_MEMBER_ID]
    assert w.commit(("t", 0, 7), member="a", generation=3, version=8) == [E.UNSUPPORTED_VERSION]
    assert w.commit(("t", 0, 7)) == [E.UNKNOWN_MEMBER_ID]
    assert len(w.log) == before
    assert w.commit(("t", 0, 7), member="a", generation=3, version=9) == [E.NONE]


@pytest.mark.parametrize(
    ("member", "epoch", "code"),
    [
        ("", -1, E.NONE),
        ("a", 2, E.NONE),
        ("a", 1, E.ILLEGAL_GENERATION),
        ("a", 3, E.ILLEGAL_GENERATION),
        ("a", -1, E.ILLEGAL_GENERATION),
        ("b", 2, E.UNKNOWN_MEMBER_ID),
        ("", 2, E.UNKNOWN_MEMBER_ID),
    ],
)
def test_commits_in_a_transaction(w, member, epoch, code):
    w.enter("a", "t")
    try:
        check = w.consumer().check_commit(member, None, epoch, 3, True)
        found = E.NONE if check is None else check("t", w.t, 0)
    except ApiError as error:
        found = error.code
    assert found == code


def test_the_target_is_not_made_anew_before_its_interval_is_over():
    w = ConsumerWorld(interval_ms=1_000)
    t = w.topic("t", 4)
    w.enter("a", "t")
    assert w.enter("b", "t") == (2, {})
    assert w.consumer().state_name == "Assigning"
    w.pass_ms(999)
    assert held(w.beat("a", 2)) is None
    w.pass_ms(1)
    assert held(w.beat("a", 2)) == {t: {0, 1}}


def test_what_is_not_subscribed_to_any_more_goes_before_the_next_target():
    w = ConsumerWorld(interval_ms=1_000)
    t, u = w.topic("t", 4), w.topic("u", 2)
    w.enter("a", "t", "u")
    answer = w.beat("a", 2, ["u"])
    assert (answer.member_epoch, held(answer)) == (2, {u: {0, 1}})
    w.beat("a", 2, owned={u: {0, 1}})
    assert t not in w.consumer().members["a"].assigned
    assert held(w.beat("a", 2)) is None  # the old target would give it back


def test_new_partitions_and_deleted_topics_are_seen(w):
    w.enter("a", "t")
    w.topic("t", 5)
    answer = w.beat("a", 2)
    assert (answer.member_epoch, held(answer)) == (3, {w.t: {0, 1, 2, 3, 4}})
    w.topic("other", 1)
    assert w.beat("a", 3).member_epoch == 3
    w.delete_topic("t")
    answer = w.beat("a", 3, owned={})
    assert (answer.member_epoch, held(answer)) == (4, {})


def test_68_a_static_member_comes_back_to_what_it_had(w):
    w.enter("a", "t", instance="i")
    assert w.beat("b", 0, ["t"], {}, instance="i").error_code == E.UNRELEASED_INSTANCE_ID
    assert w.beat("a", -2, instance="i").member_epoch == -2
    size = len(w.log)
    assert w.enter("b", "t", instance="i") == (2, {w.t: {0, 1, 2, 3}})
    assert kinds(w, size) == [-8, -7, -5, 5, 7, 8, 8]
    assert w.beat("a", 2, instance="i").error_code == E.FENCED_INSTANCE_ID
    w.beat("b", -2, instance="i")
    w.pass_ms(45_000)
    assert w.consumer().members == {}


def test_76_a_full_group_takes_nobody_else():
    w = ConsumerWorld(max_size=1)
    w.topic("t")
    w.enter("a", "t")
    answer = w.beat("b", 0, ["t"], {})
    assert answer.error_code == E.GROUP_MAX_SIZE_REACHED
    assert answer.error_message == "The consumer group has reached its maximum capacity of 1 members."
    assert w.beat("a", 2).error_code == 0


def test_a_pattern_is_resolved_beside_the_request_and_follows_new_topics(w):
    answer = w.beat("a", 0, None, {}, regex="t|u.*")
    assert (answer.member_epoch, held(answer)) == (1, {})
    assert kinds(w) == [5, 8, 16, 3]
    answer = w.beat("a", 1)
    assert (answer.member_epoch, held(answer)) == (2, {w.t: {0, 1, 2, 3}})
    u = w.topic("u1", 1)
    assert w.beat("a", 2).member_epoch == 2  # patterns are matched once in 10 s at most
    w.pass_ms(10_001)
    w.beat("a", 2)
    assert held(w.beat("a", 2)) == {w.t: {0, 1, 2, 3}, u: {0}}
    w.same_after_replay()
    assert w.beat("a", 3, regex="").member_epoch == 3
    assert w.consumer().regexes == {}


def test_a_pattern_finds_only_what_the_member_may_see(w):
    u = w.topic("u1", 1)
    w.beat("a", 0, None, {}, regex="t|u.*", visible=lambda names: {name for name in names if name != "t"})
    assert held(w.beat("a", 1)) == {u: {0}}
    v = w.topic("u2", 1)
    w.pass_ms(10_001)
    w.beat("a", 2)  # may see all by now
    assert held(w.beat("a", 2)) == {w.t: {0, 1, 2, 3}, u: {0}, v: {0}}
    w.same_after_replay()


@pytest.mark.parametrize(
    ("regex", "reason"),
    [
        ("a(", "missing closing )"),
        ("[a", "missing closing ]"),
        ("*a", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("(?=a)b", "invalid or unsupported Perl syntax"),
        ("[z-a]", "invalid character class range"),
        ("a{2000}", "invalid repeat count"),
        ("\\y", "invalid escape sequence"),
        ("\\", "trailing backslash at end of expression"),
    ],
)
def test_a_pattern_that_is_none_changes_nothing(w, regex, reason):
    answer = w.beat("a", 0, None, {}, regex=regex)
    assert answer.error_code == E.INVALID_REGULAR_EXPRESSION
    text = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {reason}."
    assert answer.error_message == text
    assert w.log == []
    assert w.shard.groups == {}


def test_a_write_that_is_refused_leaves_no_trace(w):
    w.refuse = E.NOT_ENOUGH_REPLICAS
    assert w.beat("a", 0, ["t"], {}).error_code == E.COORDINATOR_NOT_AVAILABLE
    assert (w.log, w.shard.groups, w.shard.deadline()) == ([], {}, None)
    assert w.enter("a", "t")[0] == 2


def test_an_empty_group_is_deleted_with_its_offsets(w):
    w.enter("a", "t")
    w.commit(("t", 0, 1), member="a", generation=2, version=9)
    ticket = w.ticket()
    w.perform(w.shard.delete_group(ticket, "g"))
    assert w.answer(ticket) == E.NON_EMPTY_GROUP
    w.beat("a", -1)
    size = len(w.log)
    w.perform(w.shard.delete_group(w.ticket(), "g"))
    assert kinds(w, size) == [-1, -6, -4, -3]
    assert w.shard.groups == {}


def test_72_an_empty_group_goes_when_its_offsets_have_aged(w):
    w.enter("a", "t")
    w.commit(("t", 0, 1), member="a", generation=2, version=9)
    w.beat("a", -1)
    w.pass_ms(7 * 86_400_000 - 1)
    w.expire()
    assert "g" in w.shard.groups
    w.pass_ms(1)
    w.expire()
    assert w.shard.groups == {}


def test_offsets_of_subscribed_topics_do_not_age(w):
    w.settings = w.settings._replace(session_timeout_ms=10 * 86_400_000)
    w.enter("a", "t")
    w.commit(("t", 0, 1), ("gone", 0, 1), member="a", generation=2, version=9)
    w.pass_ms(8 * 86_400_000)
    w.expire()
    assert (w.offset("t", 0), w.offset("gone", 0)) == (1, None)


def test_a_classic_group_is_converted_and_converted_back(w):
    old = w.joined(protocols=[("range", subscription("t"))])
    w.sync(old.member_id, 1, [(old.member_id, bytes.fromhex("0000") + w_assignment(4))])
    assert w.enter("new", "t") == (2, {})
    assert w.consumer().members[old.member_id].classic is not None
    assert w.heartbeat(old.member_id, 1) == E.REBALANCE_IN_PROGRESS
    w.join(member=old.member_id, protocols=[("range", subscription("t", owned={"t": {0, 1, 2, 3}}))])
    answer = w.answer(w.sync(old.member_id, 1, protocol_type="consumer", protocol_name="range"))
    assert assignment(answer.assignment) == {"t": {0, 1}}
    w.join(member=old.member_id, protocols=[("range", subscription("t", owned={"t": {0, 1}}))])
    assert held(w.beat("new", 2)) == {w.t: {2, 3}}
    assert w.heartbeat(old.member_id, 2) == E.NONE
    w.same_after_replay()
    w.beat("new", -1)
    assert w.shard.groups["g"].TYPE == "classic"
    assert w.state() == "PreparingRebalance"
    assert w.heartbeat(old.member_id, 2) == E.REBALANCE_IN_PROGRESS
    w.same_after_replay()


def w_assignment(count):
    """The body of version 0: topic t, partitions 0 to count - 1, no user data."""
    parts = b"".join(i.to_bytes(4, "big") for i in range(count))
    head = (1).to_bytes(4, "big") + (1).to_bytes(2, "big") + b"t"
    return head + count.to_bytes(4, "big") + parts + b"\xff" * 4


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"may_upgrade": False}, "because online upgrade is disabled."),
        ({"max_size": 0}, "because the group size exceeds the consumer group maximum size."),
    ],
)
def test_a_group_that_may_not_be_converted_stays(rules, reason):
    w = ConsumerWorld(**rules)
    w.topic("t")
    old = w.joined(protocols=[("range", subscription("t"))])
    answer = w.beat("new", 0, ["t"], {})
    assert answer.error_code == E.GROUP_ID_NOT_FOUND
    assert answer.error_message == f"Cannot upgrade classic group g to consumer group {reason}"
    assert old.member_id in w.group().members


def test_without_the_right_to_go_back_the_group_stays_a_consumer_group(w):
    w = ConsumerWorld(may_downgrade=False)
    w.topic("t")
    w.joined(protocols=[("range", subscription("t"))])
    w.enter("new", "t")
    w.beat("new", -1)
    assert w.shard.groups["g"].TYPE == "consumer"


def test_malformed_embedded_bytes_are_named(w):
    w.joined(protocols=[("range", b"x")])
    answer = w.beat("new", 0, ["t"], {})
    assert answer.error_message.endswith("because the embedded consumer protocol is malformed.")
