"""Streams groups (KIP-1071) of one shard: topics, tasks, standbys, static members, time. What is asserted of
answers was seen of Apache Kafka 4.4.
"""

from __future__ import annotations

import pytest

from kbroker.coordinator.group.streams_assignor import Runner, assign
from kbroker.coordinator.group.streams_member import NO_TARGET, Target
from kbroker.errors import ApiError, ErrorCode as E
from kbroker.protocol.generated import streams_group_heartbeat_request as api
from tests.coordinator.streams_world import StreamsWorld, subtopology, told, told_topic

GROUP_GONE = 60_000


def details(answer):
    return [(each.status_code, each.status_detail) for each in answer.status]


@pytest.fixture
def w() -> StreamsWorld:
    w = StreamsWorld()
    w.topic("in", 4)
    return w


def with_state(w, standbys=1):
    """An application with a changelog, whose topic is there."""
    w.streams = w.streams._replace(num_standby_replicas=standbys)
    w.topology = [subtopology("0", ["in"], logs=[told_topic("log")])]
    w.topic("log", 4)


def test_one_member_gets_all_tasks(w):
    answer = w.beat("a", 0)
    assert (answer.error_code, answer.member_epoch) == (E.NONE, 2)
    assert told(answer) == ({"0": [0, 1, 2, 3]}, {}, {})
    assert told(w.beat("a", 2)) is None
    assert w.group().state_name == "Stable"
    w.same_after_replay()


def test_a_second_process_takes_over_once_tasks_are_given_up(w):
    w.beat("a", 0)
    assert told(w.beat("b", 0)) == ({}, {}, {})
    shrunk = w.beat("a", 2, ({"0": [0, 1, 2, 3]}, {}, {}))
    assert shrunk.member_epoch == 2
    (kept,) = told(shrunk)[0].values()
    assert len(kept) == 2
    assert told(w.beat("b", 3)) is None
    assert w.group().state_name == "Reconciling"
    assert w.beat("a", 2, ({"0": kept}, {}, {})).member_epoch == 3
    taken = told(w.beat("b", 3))[0]["0"]
    assert sorted([*kept, *taken]) == [0, 1, 2, 3]
    w.same_after_replay()


def test_missing_source_topics():
    w = StreamsWorld()
    w.topology = [subtopology("0", ["y", "x"])]
    answer = w.beat("a", 0)
    assert details(answer) == [(1, "Source topics x, y are missing.")]
    assert w.group().state_name == "NotReady"
    w.topic("x")
    w.topic("y")
    assert told(w.beat("a", 2))[0] == {"0": [0, 1, 2, 3]}


def test_internal_topics_are_wanted_and_then_used(w):
    w.topology = [
        subtopology("0", ["in"], sinks=["rep"]),
        subtopology(
            "1", repartitions=[told_topic("rep")], logs=[told_topic("log", **{"cleanup.policy": "compact"})]
        ),
    ]
    answer = w.beat("a", 0)
    assert details(answer) == [(3, "Internal topics are missing: log, rep")]
    assert [(each.name, each.partitions, each.configs) for each in w.missing] == [
        ("log", 4, (("cleanup.policy", "compact"),)),
        ("rep", 4, ()),
    ]
    w.make_missing()
    ready = w.beat("a", 2)
    assert (ready.member_epoch, details(ready)) == (3, [])
    assert told(ready)[0] == {"0": [0, 1, 2, 3], "1": [0, 1, 2, 3]}
    w.same_after_replay()


def test_topics_that_do_not_fit(w):
    w.topic("three", 3)
    w.topology = [subtopology("0", ["in", "three"], together=[([0, 1], [])])]
    text = "Following topics do not have the same number of partitions: [{in=4, three=3}]"
    assert details(w.beat("a", 0)) == [(2, text)]
    w.topology = [
        subtopology("0", ["in"], sinks=["rep"]),
        subtopology("1", ["three"], repartitions=[told_topic("rep", 2)], together=[([0], [0])]),
    ]
    text = (
        "Number of partitions [2] of repartition topic [rep] doesn't match number of partitions [3] of the "
        "source topic."
    )
    assert details(w.beat("a", 0, group="h")) == [(2, text)]
    w.topic("log", 7)
    w.topology = [subtopology("0", ["in"], logs=[told_topic("log")])]
    text = "Existing topic log has different number of partitions: expected 4, found 7"
    assert details(w.beat("a", 0, group="i")) == [(2, text)]


def test_repartition_topics_follow_those_that_are_written_through(w):
    """A chain, a fixed number, and a loop."""
    w.topology = [
        subtopology("0", ["in"], sinks=["one"]),
        subtopology("1", repartitions=[told_topic("one")], sinks=["two", "one"]),
        subtopology("2", repartitions=[told_topic("two"), told_topic("six", 6)], sinks=["six"]),
    ]
    w.beat("a", 0)
    assert {each.name: each.partitions for each in w.missing} == {"one": 4, "two": 4, "six": 6}
    w.topology = [subtopology("0", repartitions=[told_topic("never")])]
    assert w.beat("a", 0, group="h").error_code == E.STREAMS_INVALID_TOPOLOGY


def test_the_topology_stays(w):
    w.beat("a", 0)
    w.topology = [subtopology("0", ["in"], sinks=["more"])]
    answer = w.beat("b", 0)
    assert (answer.error_code, answer.error_message) == (
        E.INVALID_REQUEST,
        "Topology updates are not supported yet.",
    )
    assert set(w.group().members) == {"a"}


def test_standby_copies_live_in_other_processes(w):
    with_state(w)
    w.beat("a", 0)
    assert told(w.beat("b", 0)) == ({}, {"0": [0, 1]}, {})
    # Its own active tasks become standby copies without a pause.
    assert told(w.beat("a", 2, ({"0": [0, 1, 2, 3]}, {}, {}))) == ({"0": [0, 1]}, {"0": [2, 3]}, {})
    assert w.beat("a", 2, ({"0": [0, 1]}, {}, {})).member_epoch == 3
    assert told(w.beat("b", 3)) == ({"0": [2, 3]}, {"0": [0, 1]}, {})
    w.beat("a", -1)
    # And the other way round.
    last = w.beat("b", 3, ({"0": [2, 3]}, {"0": [0, 1]}, {}))
    assert (last.member_epoch, told(last)) == (4, ({"0": [0, 1, 2, 3]}, {}, {}))
    w.same_after_replay()


def test_the_first_assignment_waits_for_more_members():
    w = StreamsWorld(initial_rebalance_delay_ms=3_000)
    w.topic("in", 4)
    first = w.beat("a", 0)
    assert first.member_epoch == 1
    assert details(first) == [(5, "Assignment delayed due to the configured initial rebalance delay.")]
    w.beat("b", 0)
    w.pass_ms(3_000)
    assert w.group().state_name == "Reconciling"
    answers = [w.beat(each, 1) for each in "ab"]
    assert [len(told(answer)[0]["0"]) for answer in answers] == [2, 2]
    w.same_after_replay()


def test_assignments_keep_their_distance():
    w = StreamsWorld(assignment_interval_ms=1_000)
    w.topic("in", 4)
    w.beat("a", 0)
    late = w.beat("b", 0)
    assert (late.member_epoch, details(late)) == (
        2,
        [(5, "Assignment delayed due to the configured assignment interval.")],
    )
    assert w.group().state_name == "Assigning"
    w.pass_ms(1_000)
    assert w.beat("b", 2).member_epoch == 3


def test_a_static_member_comes_back(w):
    w.beat("a", 0, instance_id="i")
    assert w.beat("b", 0, instance_id="i").error_code == E.UNRELEASED_INSTANCE_ID
    assert w.beat("a", -2, instance_id="i").member_epoch == -2
    back = w.beat("b", 0, instance_id="i")
    assert (back.member_epoch, told(back)) == (3, ({"0": [0, 1, 2, 3]}, {}, {}))
    assert w.beat("a", 2, instance_id="i").error_code == E.FENCED_INSTANCE_ID
    w.same_after_replay()
    assert w.beat("b", -1, instance_id="i").member_epoch == -1
    assert w.group().state_name == "Empty"
    w.same_after_replay()


def test_who_is_silent_or_slow_is_out(w):
    w.beat("a", 0, rebalance_timeout_ms=10_000)
    w.beat("b", 0)
    w.beat("a", 2)
    w.pass_ms(9_999)
    assert set(w.group().members) == {"a", "b"}
    w.pass_ms(1)
    assert set(w.group().members) == {"b"}
    assert told(w.beat("b", 3))[0] == {"0": [0, 1, 2, 3]}
    w.pass_ms(45_000)
    assert w.group().state_name == "Empty"
    w.same_after_replay()


def test_who_falls_silent_while_the_log_takes_nothing_is_out_as_soon_as_it_does(w):
    w.beat("a", 0)
    w.refuse = E.NOT_ENOUGH_REPLICAS
    w.pass_ms(GROUP_GONE)
    assert w.refuse is None
    w.pass_ms(500)
    assert w.group().state_name == "Empty"


def test_a_restarted_coordinator_counts_sessions_anew(w):
    w.beat("a", 0)
    w.shard = w.replayed()
    w.shard.loaded(w.now)
    assert w.beat("a", 2).member_epoch == 2
    w.pass_ms(GROUP_GONE)
    assert w.group().state_name == "Empty"


def test_commits_need_the_epoch_of_their_tasks(w):
    w.beat("a", 0)
    w.beat("b", 0)
    w.beat("a", 2, ({"0": [0, 1, 2, 3]}, {}, {}))
    group = w.group()
    kept = group.members["a"].assigned.active["0"]
    assert group.check_commit("a", None, 2, 9, False) is None
    w.beat("a", 2, ({"0": list(kept)}, {}, {}))
    older = group.check_commit("a", None, 2, 9, True)
    lost = next(each for each in range(4) if each not in kept)
    assert older("in", b"", next(iter(kept))) == E.NONE
    assert older("in", b"", lost) == E.STALE_MEMBER_EPOCH
    for member, epoch, version, code in (
        ("a", 9, 9, E.STALE_MEMBER_EPOCH),
        ("a", 3, 8, E.UNSUPPORTED_VERSION),
        ("z", 3, 9, E.UNKNOWN_MEMBER_ID),
    ):
        with pytest.raises(ApiError) as error:
            group.check_commit(member, None, epoch, version, False)
        assert error.value.code == code


def test_shutdown_is_told_to_all_until_the_group_is_empty(w):
    w.beat("a", 0)
    w.beat("b", 0)
    w.beat("a", 2, shutdown_application=True)
    text = (
        "Streams group member a encountered a fatal error and requested a shutdown for the entire "
        "application."
    )
    assert details(w.beat("b", 3)) == [(4, text)]
    w.beat("a", -1)
    w.beat("b", -1)
    assert w.group().shutdown_by is None


def test_missing_tags(w):
    w.streams = w.streams._replace(rack_tags=("zone",))
    assert [code for code, _ in details(w.beat("a", 0))] == [6]
    assert details(w.beat("a", 2, version=0)) == []


def test_endpoints(w):
    from kbroker.protocol.generated.streams_group_heartbeat_request import Endpoint

    first = w.beat("a", 0, user_endpoint=Endpoint(host="h", port=1), endpoint_information_epoch=-1)
    assert first.endpoint_information_epoch == 0
    (told_first,) = first.partitions_by_user_endpoint
    assert told_first.active_partitions[0].partitions == [0, 1, 2, 3]
    assert w.beat("a", 2).partitions_by_user_endpoint is None
    second = w.beat("b", 0, user_endpoint=Endpoint(host="h", port=2))
    assert second.endpoint_information_epoch == 1
    assert [each.user_endpoint.port for each in second.partitions_by_user_endpoint] == [1, 2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"topology": None}, "Topology must be non-null when (re-)joining."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        (
            {"topology": None, "rebalance_timeout_ms": -1},
            "RebalanceTimeoutMs must be provided in first request.",
        ),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"rack_id": " "}, "RackId can't be empty."),
    ],
)
def test_what_no_member_says(w, fields, message):
    answer = w.beat("a", 0, **fields)
    assert (answer.error_code, answer.error_message) == (E.INVALID_REQUEST, message)
    assert w.log == []


def test_a_member_need_not_name_its_process(w):
    assert w.beat("a", 0, process_id=None, client_tags=None).error_code == 0


def test_tasks_come_together_and_before_the_question_where_a_topology_belongs(w):
    answer = w.beat("a", 1, active_tasks=[], topology=None)
    assert answer.error_message == "If one task-type is non-null, all must be non-null."
    bad = api.Topology(epoch=0, subtopologies=[subtopology("0", ["a b"])])
    assert w.beat(" ", 1, topology=bad).error_code == E.STREAMS_INVALID_TOPOLOGY


def test_bad_topologies_change_nothing(w):
    w.topology = [subtopology("0", ["a b"])]
    assert w.beat("a", 0).error_code == E.STREAMS_INVALID_TOPOLOGY
    w.topology = [subtopology("0", ["in"], together=[([5], [])])]
    assert w.beat("a", 0).error_code == E.UNKNOWN_SERVER_ERROR
    w.topology = [subtopology("0", ["in"]), subtopology("0", ["in"])]
    assert w.beat("a", 0).error_code == E.UNKNOWN_SERVER_ERROR
    assert w.log == []
    assert w.shard.groups == {}


def test_epochs_that_are_not_the_members(w):
    w.beat("a", 0)
    assert w.beat("a", 9).error_code == E.FENCED_MEMBER_EPOCH
    assert w.beat("z", 2).error_code == E.UNKNOWN_MEMBER_ID
    assert w.beat("a", 2, group="none").error_code == E.GROUP_ID_NOT_FOUND


def test_a_full_group(w):
    w.max_size = 1
    w.shard = w.new_shard()
    w.beat("a", 0)
    assert w.beat("b", 0).error_code == E.GROUP_MAX_SIZE_REACHED


def test_an_empty_classic_group_becomes_one(w):
    w.commit(("in", 0, 5))
    assert w.beat("a", 0).error_code == E.NONE
    assert w.shard.list_groups() == [("g", "streams", "Stable", "streams")]
    assert w.offset("in", 0) == 5
    w.same_after_replay()


def test_an_occupied_classic_group_does_not(w):
    w.joined()
    assert w.beat("a", 0).error_message == "Group g is not a streams group."


def test_a_deleted_group_is_gone(w):
    w.beat("a", 0)
    ticket = w.ticket()
    w.perform(w.shard.delete_group(ticket, "g"))
    assert w.answer(ticket) == E.NON_EMPTY_GROUP
    w.beat("a", -1)
    ticket = w.ticket()
    w.perform(w.shard.delete_group(ticket, "g"))
    assert w.answer(ticket) == E.NONE
    assert w.shard.groups == {}
    w.same_after_replay()


def test_a_refused_write_changes_nothing(w):
    w.refuse = E.NOT_ENOUGH_REPLICAS
    assert w.beat("a", 0).error_code == E.COORDINATOR_NOT_AVAILABLE
    assert w.shard.groups == {}


def runner(process, active=(), standby=()):
    return Runner(process, Target({"0": frozenset(active)}, {"0": frozenset(standby)}))


def test_tasks_stay_where_they_were():
    found = assign({"a": runner("p", [0, 1, 2]), "b": runner("q", [3])}, {"0": 4}, [], 0)
    assert sorted(map(len, (found["a"].active["0"], found["b"].active["0"]))) == [2, 2]
    assert found["a"].active["0"] < {0, 1, 2}
    assert 3 in found["b"].active["0"]


def test_who_had_a_copy_becomes_active():
    found = assign({"b": runner("q", [1], [0]), "c": Runner("r", NO_TARGET)}, {"0": 2}, ["0"], 1)
    assert found["b"].active == {"0": {1}}
    assert found["c"].active == {"0": {0}}
    found = assign({"b": runner("q", [], [0]), "c": Runner("r", NO_TARGET)}, {"0": 2}, ["0"], 1)
    assert found["b"].active == {"0": {0}}
    assert found["b"].standby == {"0": {1}}


def test_no_copy_beside_the_task_itself():
    found = assign({"a": Runner("p", NO_TARGET), "b": Runner("p", NO_TARGET)}, {"0": 3}, ["0"], 1)
    assert not any(target.standby for target in found.values())


def test_copies_are_spread_over_client_tags():
    """The one process in another zone gets the copies of all the others' tasks, as far as there are any."""
    zones = {"a": "x", "b": "x", "c": "y"}
    runners = {each: Runner(f"p{each}", NO_TARGET, (("zone", zone),)) for each, zone in zones.items()}
    found = assign(runners, {"0": 6}, ["0"], 1, ("zone",))
    for member, target in found.items():
        for copy in target.standby.get("0", ()):
            (holder,) = [each for each, other in found.items() if copy in other.active["0"]]
            assert zones[holder] != zones[member]
