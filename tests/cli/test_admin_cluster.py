"""`kbroker-admin` on a cluster of three: brokers, quorum, reassign, elect."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.testing import Cluster

SETTINGS = {"default.replication.factor": 1, "min.insync.replicas": 1}


@pytest.fixture(scope="module")
def cluster():
    with Cluster(3, links=False, config=SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def admin(cluster, capsys):
    """`admin("brokers", "list")` -> (exit code, what was printed, what was complained)."""

    def run(*arguments):
        code = main(["-b", cluster.bootstrap, *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def document(result):
    code, out, error = result
    assert (code, error) == (0, "")
    return json.loads(out)


def test_brokers_with_what_they_lead_and_hold(cluster, admin):
    cluster.create_topic("held", 3, replication_factor=3)
    found = document(admin("brokers", "list", "--sizes", "--json"))
    assert [each["id"] for each in found] == [1, 2, 3]
    assert all(each["leads"] >= 1 and each["replicas"] >= 3 for each in found)
    code, out, _ = admin("brokers", "list")
    assert code == 0
    assert "LEADS" in out


def test_a_broker_that_nobody_knows_cannot_be_forgotten(admin):
    code, _, error = admin("brokers", "unregister", "9", "-y")
    assert code == 1
    assert "Broker ID 9 is not currently registered" in error


def test_a_broker_that_is_up_is_not_forgotten(admin):
    code, _, error = admin("brokers", "unregister", "2", "-y")
    assert (code, error) == (1, "kbroker-admin: broker 2 is up and would be back at once: stop it first\n")


def test_what_fails_is_json_where_that_is_asked_for(admin):
    code, out, error = admin("reassign", "generate", "nope", "--json")
    assert (code, out) == (1, "")
    assert json.loads(error) == {
        "error": "topic nope does not exist",
        "code": "UNKNOWN_TOPIC_OR_PARTITION",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no JSON: Expecting property name"),
        ('{"version": 1}', "is no plan without 'partitions': "),
        ('{"partitions": [{"topic": "t"}]}', "is no plan without 'partition': "),
        ("[]", "is no plan: "),
        (
            '{"partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": ["/a"]}]}',
            "names log_dirs: kafka-reassign-partitions moves between those, this does not",
        ),
    ],
)
def test_it_is_said_why_a_file_is_no_plan(admin, tmp_path, text, words):
    file = tmp_path / "bad.json"
    file.write_text(text)
    code, _, error = admin("reassign", "execute", str(file))
    assert code == 2
    assert words in error
    assert "Error(" not in error


def test_the_quorum(cluster, admin):
    found = document(admin("quorum", "describe", "--json"))
    assert found["leader"] == cluster.controller()
    assert sorted(replica["role"] for replica in found["replicas"]) == ["leader", "voter", "voter"]
    code, _, error = admin("quorum", "add", "9", "127.0.0.1:1")
    assert (code, "the quorum does not know node 9" in error) == (1, True)
    code, _, error = admin("quorum", "add", "9", "nowhere", "--directory-id", "AAAAAAAAAAAAAAAAAAAAAQ")
    assert code == 2


def test_partitions_are_moved_by_a_plan_and_back(cluster, admin, tmp_path):
    cluster.create_topic("moved", 3)
    plan = document(admin("reassign", "generate", "moved", "-r", "2"))
    assert all(len(part["replicas"]) == 2 for part in plan["partitions"])
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    code, out, _ = admin("reassign", "execute", str(file), "--wait", "--throttle", "50000000")
    assert code == 0
    before = json.loads(out[: out.index("\n}") + 2])
    assert all(len(part["replicas"]) == 1 for part in before["partitions"])
    assert {each["state"] for each in document(admin("reassign", "verify", str(file), "--json"))} == {"done"}
    assert document(admin("reassign", "list", "--json")) == []
    file.write_text(json.dumps(before))
    code, _, _ = admin("reassign", "verify", str(file))
    assert code == 1
    # For a program: what it prints is the way back, too, and a plan as it is.
    going = document(admin("reassign", "execute", str(file), "--wait", "--json"))
    assert going["partitions"] == plan["partitions"]
    assert going["results"] == [{"name": f"moved-{index}", "error": None} for index in range(3)]
    assert cluster.describe("moved").replica_nodes == before["partitions"][0]["replicas"]


def test_a_plan_that_is_refused_moves_nothing_tells_no_way_back_and_leaves_no_throttle(
    cluster, admin, tmp_path
):
    cluster.create_topic("stays", 1)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"partitions": [{"topic": "stays", "partition": 0, "replicas": [99]}]}))
    code, out, error = admin("reassign", "execute", str(file), "--throttle", "1000")
    assert (code, out) == (1, "")
    assert "99" in error
    code, out, _ = admin("reassign", "execute", str(file), "--json")
    refused = [{"name": "stays-0", "error": "INVALID_REPLICA_ASSIGNMENT"}]
    assert (code, json.loads(out)) == (1, {"version": 1, "partitions": [], "results": refused})
    for resource in (["topic", "stays"], ["broker", "1"]):
        assert "throttled" not in admin("configs", "describe", *resource)[1]


def test_nothing_to_cancel(admin):
    code, out, _ = admin("reassign", "cancel", "--all", "-y")
    assert (code, out) == (0, "nothing is being moved\n")


@pytest.mark.parametrize("text", ["", "{}", '{"partitions": [{"topic": "t"}]}', '{"partitions": []}'])
def test_what_is_no_plan(admin, tmp_path, text):
    file = tmp_path / "plan.json"
    file.write_text(text)
    code, _, error = admin("reassign", "execute", str(file))
    assert code == 2
    assert "plan.json" in error


def test_the_preferred_replicas_lead_again(cluster, admin):
    cluster.create_topic("elected", 1, replication_factor=3)
    first = cluster.leader("elected")
    cluster.restart(first)
    cluster.wait_for(cluster.all_in_sync)
    assert cluster.leader("elected") != first
    code, out, _ = admin("elect", "elected:0")
    assert (code, out) == (0, "elected-0 has a new leader\n")
    cluster.wait_for(lambda: cluster.leader("elected") == first)
    assert admin("elect", "elected")[1] == "every leader is the one it should be\n"
    assert admin("elect")[0] == 2
