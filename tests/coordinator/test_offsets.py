"""Commits, reads, deletions and expiry of offsets."""

import pytest

from kbroker.coordinator.group.limits import GroupLimits
from kbroker.coordinator.group.offset_requests import Commit, Committing
from kbroker.errors import ErrorCode as E
from kbroker.types import ZERO_UUID
from tests.coordinator.group_world import NO_DELAY, World

ID_A, ID_B = b"a" * 16, b"b" * 16
MINUTE = 60_000


def subscription(*topics):
    out = b"\x00\x01" + len(topics).to_bytes(4, "big")
    for topic in topics:
        out += len(topic).to_bytes(2, "big") + topic.encode()
    return out + b"\xff\xff\xff\xff\x00\x00\x00\x00"


def consumer_of(w, *topics):
    """A stable consumer group of one member."""
    member = w.joined(version=3, protocols=[("range", subscription(*topics))]).member_id
    w.sync(member, w.group().generation, [(member, b"")])
    return member


# -- commit ----------------------------------------------------------------------------------------------


def test_without_a_generation_a_group_comes_into_being():
    w = World()
    assert w.commit(("t", 0, 10, "two"), ("t", 1, -1, None)) == [0, 0]
    assert (w.offset("t", 0), w.offset("t", 1)) == (10, -1)
    assert w.shard.list_groups() == [("g", "", "Empty", "classic")]
    assert w.commit(("t", 0, 11), member="someone") == [0]


@pytest.mark.parametrize(("version", "code"), [(8, E.ILLEGAL_GENERATION), (9, E.GROUP_ID_NOT_FOUND)])
def test_with_a_generation_the_group_must_exist(version, code):
    w = World()
    assert w.commit(("t", 0, 1), generation=3, member="someone", version=version) == [code]
    assert w.log == []


def test_of_the_same_partition_twice_the_last_counts():
    w = World()
    assert w.commit(("t", 0, 40), ("t", 0, 41)) == [0, 0]
    assert w.offset("t", 0) == 41


def test_metadata_is_measured_in_utf16_units_and_refused_for_its_partition_alone():
    w = World(GroupLimits(offset_metadata_bytes_max=4))
    codes = w.commit(
        ("t", 0, 1, "12345"), ("t", 1, 1, "1234"), ("t", 2, 1, "\U0001f600" * 3), ("t", 3, 1, "ñññé")
    )
    assert codes == [E.OFFSET_METADATA_TOO_LARGE, 0, E.OFFSET_METADATA_TOO_LARGE, 0]
    assert w.offset("t", 0) is None


def test_who_may_commit_into_a_live_group():
    w = World()
    a = w.joined(version=3).member_id
    assert w.commit(("t", 0, 1), member=a, generation=1) == [E.REBALANCE_IN_PROGRESS]
    w.sync(a, 1, [(a, b"")])
    assert w.commit(("t", 0, 50), member=a, generation=1) == [0]
    assert w.commit(("t", 0, 51), member=a, generation=2) == [E.ILLEGAL_GENERATION]
    assert w.commit(("t", 0, 51), member=a, generation=-1) == [E.ILLEGAL_GENERATION]
    assert w.commit(("t", 0, 51), member="stranger", generation=1) == [E.UNKNOWN_MEMBER_ID]
    assert w.commit(("t", 0, 51)) == [E.UNKNOWN_MEMBER_ID]
    assert w.commit(("t", 0, 51), member=a, generation=1, instance="i") == [E.UNKNOWN_MEMBER_ID]
    waiting = w.join(version=3)
    assert w.commit(("t", 0, 52), member=a, generation=1) == [0]  # the last chance before the rebalance
    w.leave(a)
    assert w.commit(("t", 0, 53), member=a, generation=1) == [E.UNKNOWN_MEMBER_ID]
    assert w.answer(waiting).error_code == 0
    assert w.offset("t", 0) == 52


def test_a_member_of_before_cannot_commit_once_the_group_is_empty():
    w = World()
    a = w.joined(version=3).member_id
    w.leave(a)
    assert w.commit(("t", 0, 1), member=a, generation=1) == [E.UNKNOWN_MEMBER_ID]
    assert w.commit(("t", 0, 1)) == [0]


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (E.MESSAGE_TOO_LARGE, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
    ],
)
def test_what_the_log_refuses_is_not_committed(refusal, code):
    w = World(GroupLimits(offset_metadata_bytes_max=4))
    w.refuse = refusal
    assert w.commit(("t", 0, 1), ("t", 1, 1, "12345")) == [code, E.OFFSET_METADATA_TOO_LARGE]
    assert w.offset("t", 0) is None
    assert w.shard.groups == {}


# -- fetch -----------------------------------------------------------------------------------------------


def fetched(w, topics, stable=False, group="g"):
    return [
        (topic, [(p, c.offset if c else None, int(code)) for p, c, code in partitions])
        for topic, partitions in w.shard.fetch_offsets(group, None, -1, topics, stable)
    ]


def test_fetch_some_all_and_of_nothing():
    w = World()
    w.commit(("a", 0, 100), ("b", 0, 300))
    assert fetched(w, [("a", ZERO_UUID, [1, 0, 0]), ("b", ZERO_UUID, [])]) == [
        ("a", [(1, None, 0), (0, 100, 0), (0, 100, 0)]),
        ("b", []),
    ]
    assert fetched(w, None) == [("a", [(0, 100, 0)]), ("b", [(0, 300, 0)])]
    assert fetched(w, None, group="never") == []
    assert fetched(w, [("a", ZERO_UUID, [0])], group="never") == [("a", [(0, None, 0)])]


def test_an_offset_of_an_earlier_topic_of_that_name_does_not_count():
    w = World()
    commit = Commit("t", ID_A, 0, 5, -1, "")
    w.perform(w.shard.commit("x", Committing("g", "", None, -1, 10, [commit]), w.now))
    assert fetched(w, [("t", ID_A, [0])]) == [("t", [(0, 5, 0)])]
    assert fetched(w, [("t", ID_B, [0])]) == [("t", [(0, None, 0)])]
    assert fetched(w, [("t", ZERO_UUID, [0])]) == [("t", [(0, 5, 0)])]


def transactional(w, topic, partition, offset, producer_id):
    other = World()
    other.commit((topic, partition, offset))
    key, value = other.log[0]
    w.log.append((key, value))
    w.shard.apply(w.shard.decode(key, value), len(w.log) - 1, producer_id)


def test_offsets_of_open_transactions_are_unstable_until_the_marker():
    w = World()
    w.commit(("a", 0, 100), ("b", 0, 300))
    transactional(w, "a", 0, 111, 7)
    asked = [("a", ZERO_UUID, [0, 1])]
    assert fetched(w, asked, stable=True) == [("a", [(0, None, 88), (1, None, 0)])]
    assert fetched(w, asked) == [("a", [(0, 100, 0), (1, None, 0)])]
    assert fetched(w, None, stable=True) == [("a", [(0, None, 88)]), ("b", [(0, 300, 0)])]
    w.shard.apply_marker(7, True, len(w.log))
    assert fetched(w, asked, stable=True) == [("a", [(0, 111, 0), (1, None, 0)])]


def test_an_aborted_transaction_changes_nothing_and_an_overtaken_one_neither():
    w = World()
    transactional(w, "a", 0, 1, 7)
    w.shard.apply_marker(7, False, len(w.log))
    assert w.offset("a", 0) is None
    transactional(w, "a", 0, 2, 7)
    w.commit(("a", 0, 3))
    w.shard.apply_marker(7, True, len(w.log))
    assert w.offset("a", 0) == 3


def test_a_tombstone_takes_what_a_transaction_would_have_made_true():
    w = World()
    transactional(w, "a", 0, 1, 7)
    w.perform(w.shard.delete_group("x", "g"))
    assert w.answers["x"] == 0
    w.shard.apply_marker(7, True, len(w.log))
    assert w.offset("a", 0) is None
    assert not w.shard.offsets.has_any("g")


# -- delete ----------------------------------------------------------------------------------------------


def deleted(w, *partitions, group="g"):
    ticket = w.ticket()
    w.perform(w.shard.delete_offsets(ticket, group, list(partitions)))
    code, codes = w.answers[ticket]
    return int(code), [int(each) for each in codes]


def test_offsets_of_subscribed_topics_stay():
    w = World()
    a = consumer_of(w, "a")
    w.commit(("a", 0, 1), ("b", 0, 3), member=a, generation=1)
    assert deleted(w, ("a", 0), ("b", 0), ("b", 9)) == (0, [86, 0, 0])
    assert (w.offset("a", 0), w.offset("b", 0)) == (1, None)
    w.leave(a)
    assert deleted(w, ("a", 0), ("a", 0)) == (0, [0, 0])
    assert w.offset("a", 0) is None
    assert deleted(w) == (0, [])


def test_offset_delete_of_groups_that_cannot():
    w = World()
    assert deleted(w, ("a", 0)) == (E.GROUP_ID_NOT_FOUND, [])
    k = w.joined(version=3, protocol_type="connect").member_id
    assert deleted(w, ("a", 0)) == (E.NON_EMPTY_GROUP, [])
    w.leave(k)
    assert deleted(w, ("a", 0)) == (0, [0])


def test_an_unreadable_subscription_counts_as_everything():
    w = World()
    w.joined(version=3, protocols=[("range", b"\x00\x01\x00\x00\x00\x05")])
    assert deleted(w, ("a", 0)) == (0, [86])


def test_delete_group():
    w = World()
    a = consumer_of(w, "a")
    w.commit(("a", 0, 1), member=a, generation=1)
    for code in (E.NON_EMPTY_GROUP, E.NONE, E.GROUP_ID_NOT_FOUND):
        ticket = w.ticket()
        w.perform(w.shard.delete_group(ticket, "g"))
        assert w.answers[ticket] == code
        if code:
            w.leave(a)
    assert w.shard.groups == w.replayed().groups == {}
    assert w.offset("a", 0) is None
    assert w.log[-1][1] is None


# -- expiry ----------------------------------------------------------------------------------------------

RETENTION = GroupLimits(initial_rebalance_delay_ms=0, offsets_retention_ms=10 * MINUTE)


def test_offsets_of_a_simple_group_age_from_their_commit():
    w = World(RETENTION)
    w.commit(("t", 0, 1))
    w.pass_ms(5 * MINUTE)
    w.commit(("t", 1, 1))
    w.pass_ms(5 * MINUTE)
    w.expire()
    assert (w.offset("t", 0), w.offset("t", 1)) == (None, 1)
    assert "g" in w.shard.groups
    w.pass_ms(5 * MINUTE)
    w.expire()
    assert w.shard.groups == w.replayed().groups == {}


def test_offsets_of_an_empty_group_age_from_when_it_became_empty():
    w = World(RETENTION)
    a = consumer_of(w, "t")
    w.commit(("t", 0, 1), member=a, generation=1)
    for _ in range(90):
        w.pass_ms(MINUTE // 3)
        assert w.heartbeat(a, 1) == 0
    w.expire()
    assert w.offset("t", 0) == 1  # subscribed: does not age at all
    w.leave(a)
    w.pass_ms(10 * MINUTE - 1)
    w.expire()
    assert w.offset("t", 0) == 1
    w.pass_ms(1)
    w.expire()
    assert w.offset("t", 0) is None
    assert w.shard.groups == {}


def test_topics_that_a_live_consumer_left_age_from_their_commit():
    w = World(RETENTION)
    a = consumer_of(w, "t")
    w.commit(("t", 0, 1), ("old", 0, 1), member=a, generation=1)
    for _ in range(30):
        w.pass_ms(MINUTE // 3)
        w.heartbeat(a, 1)
    w.expire()
    assert (w.offset("t", 0), w.offset("old", 0)) == (1, None)
    assert w.state() == "Stable"


def test_an_explicit_retention_time_is_obeyed():
    w = World(RETENTION)
    w.commit(("t", 0, 1), retention=20 * MINUTE)
    w.commit(("t", 1, 1), retention=0)
    w.expire()
    assert (w.offset("t", 0), w.offset("t", 1)) == (1, None)
    w.pass_ms(19 * MINUTE)
    w.expire()
    assert w.offset("t", 0) == w.replayed().offsets.get("g", "t", 0).offset == 1
    w.pass_ms(MINUTE)
    w.expire()
    assert w.offset("t", 0) is None


def test_a_retention_time_beyond_all_time_wraps_as_in_java():
    w = World(RETENTION)
    w.commit(("t", 0, 1), retention=2**63 - 1)
    assert w.replayed().offsets.get("g", "t", 0).expire_timestamp_ms < 0
    w.expire()
    assert w.offset("t", 0) is None


def test_a_group_that_somebody_is_about_to_join_stays():
    w = World(RETENTION)
    w.join(session=60_000)
    w.expire()
    assert "g" in w.shard.groups
    w.pass_ms(60_000)
    w.expire()
    assert w.shard.groups == {}


def test_an_open_transaction_keeps_the_group():
    w = World(RETENTION)
    transactional(w, "t", 0, 1, 7)
    w.pass_ms(60 * MINUTE)
    w.expire()
    assert "g" in w.shard.groups


def test_offsets_of_a_deleted_topic_go():
    w = World(NO_DELAY)
    w.commit(("t", 0, 1), ("t", 1, 1), ("u", 0, 1))
    w.commit(("t", 0, 1), group="h")
    for outcome in w.shard.topics_deleted(["t", "never"]):
        w.perform(outcome)
    assert fetched(w, None) == [("u", [(0, 1, 0)])]
    assert fetched(w, None, group="h") == []
