"""KIP-853 on three running nodes: from fixed voters to voters that come, go and move."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import ClientError
from kbroker.errors import ApiError
from kbroker.protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kbroker.protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kbroker.testing import Cluster
from kbroker.testing.ports import free_ports

SETTINGS = {"controller.quorum.fetch.timeout.ms": 500, "controller.quorum.election.timeout.ms": 300}


@pytest.fixture(scope="module")
def cluster():
    with Cluster(3, links=False, config=SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def admin(cluster, capsys):
    """`admin("quorum", "describe")` -> (exit code, what was printed, what was complained)."""

    def run(*arguments):
        code = main(["-b", cluster.bootstrap, *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def quorum(cluster):
    """What any broker says: ids of voters and observers, and the ports of the voters."""
    request = DescribeQuorumRequest(
        topics=[TopicData(topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)])]
    )
    with Client(cluster.bootstrap, timeout_s=5) as client:
        answer = client.ask(request, DescribeQuorumResponse)
    (part,) = answer.topics[0].partitions
    ports = {node.node_id: node.listeners[0].port for node in answer.nodes}
    return {v.replica_id for v in part.current_voters}, {o.replica_id for o in part.observers}, ports


def until(cluster, condition):
    def met():
        try:
            return condition(*quorum(cluster))
        except (ApiError, ClientError, IndexError, ValueError):
            return False

    cluster.wait_for(met)


def test_voters_come_and_go_and_move_once_kraft_version_is_1(cluster, admin):
    code, _, error = admin("quorum", "remove", "3", "--directory-id", "AAAAAAAAAAAAAAAAAAAABQ", "-y")
    assert (code, "kraft.version feature is 0" in error) == (1, True)
    # Voters tell what they support a while after the election.
    cluster.wait_for(lambda: admin("cluster", "features", "kraft.version=1", "--dry-run")[0] == 0)
    assert not levels(admin)["kraft.version"]
    assert admin("cluster", "features", "kraft.version=1")[::2] == (0, "")
    cluster.wait_for(lambda: levels(admin)["kraft.version"] == 1)
    code, _, error = admin("cluster", "features", "kraft.version=0", "--downgrade")
    assert (code, "Can't downgrade the version of this feature." in error) == (1, True)
    code, _, error = admin("quorum", "add", "2", "127.0.0.1:1")
    assert (code, error) == (1, "kbroker-admin: controller 2 votes already\n")
    code, _, error = admin("quorum", "add", "9", "127.0.0.1:1")
    assert (code, "the quorum does not know node 9" in error) == (1, True)
    leader = cluster.controller()
    other, gone = (node_id for node_id in (1, 2, 3) if node_id != leader)

    assert admin("quorum", "remove", str(gone), "-y")[::2] == (0, "")
    until(cluster, lambda voters, observers, _: (gone not in voters) and gone in observers)
    port = cluster.nodes[gone].plan.controller_port
    assert admin("quorum", "add", str(gone), f"127.0.0.1:{port}")[::2] == (0, "")
    until(cluster, lambda voters, *_: voters == {1, 2, 3})

    node = cluster.nodes[other]
    node.stop()
    (moved,) = free_ports(1)
    node.settings["listeners"] = node.settings["listeners"].replace(
        f":{node.plan.controller_port}", f":{moved}"
    )
    node.spawn()
    node.wait_ready()
    until(cluster, lambda voters, _, ports: ports.get(other) == moved)

    assert admin("quorum", "remove", str(other), "-y")[::2] == (0, "")
    node.stop()
    node.settings["controller.quorum.auto.join.enable"] = "true"
    node.spawn()
    node.wait_ready()
    until(cluster, lambda voters, _, ports: voters == {1, 2, 3} and ports[other] == moved)

    cluster.kill(leader)
    until(cluster, lambda voters, *_: voters == {1, 2, 3})
    cluster.create_topic("after", replication_factor=2)


def levels(admin):
    code, out, _ = admin("cluster", "describe", "--json")
    assert code == 0
    return {each["name"]: each["level"] for each in json.loads(out)["features"]}
