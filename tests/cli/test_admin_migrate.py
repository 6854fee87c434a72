"""`kbroker-admin migrate`: what it makes of what brokers and controllers tell."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.cli.admin_migrate import merged, next_step, summary
from kbroker.testing import Cluster

ADDRESSES = {1: "h:1", 2: "h:2", 3: "h:3"}


def broker(node, mode="zookeeper", migrates=True, refusal=""):
    return {"node": node, "mode": mode, "migrates": migrates, "refusal": refusal}


def quorum(phase, old=(), new=(), offset=100, **more):
    return {
        "phase": phase,
        "source": "broker 1",
        "leader": 3001,
        "in_zookeeper_mode": list(old),
        "in_kraft_mode": list(new),
        "topics": 7,
        "offset": offset,
        **more,
    }


def driver(**more):
    return {"phase": "DUAL_WRITE", "meaning": "writing", "waits_for": "", "missing_brokers": [], **more}


def told(*each):
    return merged(ADDRESSES, {}, each)


def test_before_anything_was_begun():
    found = told(*({"broker": broker(n, migrates=False), "quorum": None} for n in ADDRESSES))
    assert found["phase"] == "ZOOKEEPER"
    assert [each["mode"] for each in found["brokers"]] == ["zookeeper"] * 3
    assert "start a quorum of controllers" in next_step(found)


def test_brokers_that_do_not_take_part_yet_are_named():
    found = told(
        {"broker": broker(1), "quorum": quorum("PRE_MIGRATION", [1])},
        {"broker": broker(2, migrates=False), "quorum": None},
        {"broker": broker(3, migrates=False), "quorum": None},
    )
    assert next_step(found).startswith("restart broker 2, 3 with zookeeper.metadata.migration.enable=true")
    assert ("brokers", "1 of 3 are registered with the quorum") in summary(found)


def test_a_broker_that_is_missed_and_one_that_is_refused():
    state = driver(phase="WAIT_FOR_BROKERS", missing_brokers=[3], waits_for="broker 3")
    found = merged(
        {1: "h:1", 2: "h:2"},
        {},
        [
            {"broker": broker(1), "quorum": quorum("PRE_MIGRATION", [1, 2], driver=state)},
            {"broker": broker(2, refusal="no"), "quorum": quorum("PRE_MIGRATION", [1, 2], offset=200)},
        ],
    )
    assert next_step(found).startswith("restart broker 3 with zookeeper.metadata.migration.enable=true")
    assert [(each["id"], each["registered"]) for each in found["brokers"]] == [
        (1, True),
        (2, True),
        (3, False),
    ]
    assert ("brokers", "2 of 3 are registered with the quorum") in summary(found)
    assert ("it waits for", "broker 3") in summary(found)
    assert found["brokers"][1]["refusal"] == "no"


def test_while_both_are_written():
    state = driver(offset=100, written_offset=88, copied_records=36)
    found = told(
        {"broker": broker(1, "kraft", False), "quorum": quorum("MIGRATION", [2], [1, 3], driver=state)},
        {"broker": broker(2), "quorum": quorum("MIGRATION", [2], [1, 3])},
    )
    assert [each["mode"] for each in found["brokers"]] == ["kraft", "zookeeper", "kraft"]
    assert next_step(found).startswith("restart broker 2, one by one, with process.roles=broker")
    assert ("dual writes", "up to offset 88, 12 records behind") in summary(found)
    assert ("brokers", "1 in ZooKeeper's mode, 2 in KRaft's") in summary(found)
    assert ("copied", "36 records") in summary(found)


def test_who_is_down_comes_first():
    state = driver(offset=100, written_offset=100, reaches_zookeeper=True)
    found = told(
        {
            "broker": broker(1, "kraft", False),
            "quorum": quorum("MIGRATION", [2, 3], [1], fenced=[3], driver=state),
        },
        {"broker": broker(2), "quorum": quorum("MIGRATION", [2, 3], [1])},
    )
    assert next_step(found).startswith("start broker 3, which the quorum does not hear")
    assert [each["down"] for each in found["brokers"]] == [False, False, True]
    assert found["brokers"][2]["refusal"] == "the quorum does not hear it"
    assert ("down", "broker 3") in summary(found)


def test_a_broker_that_has_replicas_and_is_down_is_named():
    state = driver(phase="WAIT_FOR_BROKERS", missing_brokers=[], absent_brokers=[3], waits_for="broker 3")
    found = merged(
        {1: "h:1"}, {}, [{"broker": broker(1), "quorum": quorum("PRE_MIGRATION", [1], driver=state)}]
    )
    assert next_step(found).startswith("start broker 3, which has replicas and is down, with zookeeper.")
    assert ("down", "broker 3") in summary(found)


@pytest.mark.parametrize("phase", ["PRE_MIGRATION", "MIGRATION"])
def test_zookeeper_comes_before_everything(phase):
    state = driver(phase="UNINITIALIZED", reaches_zookeeper=False)
    found = told({"broker": broker(1), "quorum": quorum(phase, [1, 2], [3], fenced=[2], driver=state)})
    assert next_step(found).startswith("bring ZooKeeper back")
    assert ("ZooKeeper", "is not reached by the quorum's leader") in summary(found)


def test_without_zookeeper_the_end_is_reached_all_the_same():
    state = driver(phase="UNINITIALIZED", reaches_zookeeper=False)
    found = told({"broker": broker(1, "kraft"), "quorum": quorum("MIGRATION", [], [1, 2, 3], driver=state)})
    assert next_step(found).startswith("restart the controllers one by one without")


def test_the_last_step_and_the_end():
    found = told({"broker": broker(1, "kraft", False), "quorum": quorum("MIGRATION", [], [1, 2, 3])})
    assert next_step(found).startswith("restart the controllers one by one without")
    assert ("dual writes", "not told") in summary(found)
    found = told({"broker": broker(1, "kraft", False), "quorum": quorum("POST_MIGRATION", [], [1, 2, 3])})
    assert next_step(found) == "nothing"


def test_a_broker_that_was_left_behind_at_the_end_is_named():
    found = told({"broker": broker(1, "kraft", False), "quorum": quorum("POST_MIGRATION", [3], [1, 2])})
    assert next_step(found).startswith("restart broker 3, one by one, with process.roles=broker")


def test_a_controller_without_the_migration_comes_before_the_brokers():
    state = driver(
        phase="WAIT_FOR_CONTROLLER_QUORUM",
        waits_for="controller 3003 has not registered",
        missing_brokers=[3],
    )
    found = told({"broker": broker(1), "quorum": quorum("PRE_MIGRATION", [1], driver=state)})
    assert next_step(found).startswith("have all controllers")
    assert next_step(found).endswith("controller 3003 has not registered")


def test_a_migrating_quorum_without_records_did_not_begin_in_kraft():
    found = told({"broker": None, "quorum": quorum("NONE", [], driver=driver(phase="INACTIVE"))})
    assert (found["phase"], next_step(found)[:5]) == ("PRE_MIGRATION", "wait:")


def test_a_controller_alone_knows_brokers_by_their_registration():
    found = merged(
        {}, {}, [{"broker": None, "quorum": quorum("MIGRATION", [1], [2], addresses={"1": "h:1"})}]
    )
    assert [(each["id"], each["mode"], each["address"]) for each in found["brokers"]] == [
        (1, "zookeeper", "h:1"),
        (2, "kraft", None),
    ]


def test_a_broker_that_is_not_reached_is_in_the_table():
    found = merged(ADDRESSES, {3: "refuses"}, [{"broker": broker(1), "quorum": None}])
    assert [(each["id"], each["mode"], each["refusal"]) for each in found["brokers"]] == [
        (1, "zookeeper", ""),
        (2, None, ""),
        (3, None, "refuses"),
    ]


@pytest.fixture(scope="module")
def cluster():
    with Cluster(1, links=False) as cluster:
        yield cluster


def test_a_cluster_that_began_in_kraft_has_nothing_to_migrate(cluster, capsys):
    assert main(["-b", cluster.bootstrap, "migrate"]) == 0
    said = capsys.readouterr().out
    assert "NONE: the cluster began in KRaft" in said
    assert "next: nothing" in said
    assert main(["-b", cluster.bootstrap, "migrate", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["phase"], found["next"]) == ("NONE", "nothing")
    assert [each["mode"] for each in found["brokers"]] == ["kraft"]


def test_a_controller_is_asked_for_this_only(cluster, capsys):
    port = cluster.nodes[1].plan.controller_port
    assert main(["-b", f"127.0.0.1:{port}", "migrate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["source"] == 1
