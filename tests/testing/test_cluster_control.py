"""Elections, reassignments and unregistering on three processes, while nodes stop and die."""

from __future__ import annotations

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.records import produce
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kbroker.protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kbroker.protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kbroker.protocol.generated.elect_leaders_response import ElectLeadersResponse
from kbroker.protocol.generated.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kbroker.protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from kbroker.protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kbroker.protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kbroker.protocol.record_batch import Record
from kbroker.testing import Cluster
from kbroker.types import TopicPartition

QUICK = {
    "broker.heartbeat.interval.ms": 200,
    "broker.session.timeout.ms": 1500,
    "controller.quorum.fetch.timeout.ms": 500,
    "controller.quorum.election.timeout.ms": 300,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(3, config=QUICK, data=str(tmp_path_factory.mktemp("cluster")), links=False) as cluster:
        yield cluster


@pytest.fixture
def whole(cluster):
    """The cluster, mended after each test."""
    yield cluster
    cluster.start()
    cluster.wait_for(cluster.all_in_sync)


def ask(cluster, request, response):
    where = ",".join(node.bootstrap for node in cluster.nodes.values() if node.running)
    with Client(where, timeout_s=5) as client:
        return client.ask(request, response)


def reassign(cluster, topic, replicas):
    partition = ReassignablePartition(partition_index=0, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[partition])], timeout_ms=5000
    )
    (answer,) = ask(cluster, request, AlterPartitionReassignmentsResponse).responses
    return answer.partitions[0].error_code


def ongoing(cluster):
    request = ListPartitionReassignmentsRequest(topics=None, timeout_ms=5000)
    answer = ask(cluster, request, ListPartitionReassignmentsResponse)
    return {topic.name: topic.partitions[0].adding_replicas for topic in answer.topics}


def elect(cluster, topic, kind=0):
    wanted = [TopicPartitions(topic=topic, partitions=[0])]
    request = ElectLeadersRequest(topic_partitions=wanted, election_type=kind, timeout_ms=5000)
    (answer,) = ask(cluster, request, ElectLeadersResponse).replica_election_results
    return answer.partition_result[0].error_code


def send(cluster, topic, value):
    def attempt():
        where = ",".join(node.bootstrap for node in cluster.nodes.values() if node.running)
        with Client(where, timeout_s=3) as client:
            record = Record(offset=-1, timestamp=1, key=None, value=value, headers=[])
            return produce(client, TopicPartition(topic, 0), [record]) + 1

    return cluster.wait_for(attempt)


def replicas(cluster, topic):
    found = cluster.describe(topic)
    return found.replica_nodes, set(found.isr_nodes), found.leader_id


def others(cluster, *taken):
    return [node for node in cluster.nodes if node not in taken]


def test_replicas_move_grow_and_shrink(whole):
    whole.create_topic("moving", replication_factor=2, config={"min.insync.replicas": 1})
    first, second = whole.describe("moving").replica_nodes
    (third,) = others(whole, first, second)
    send(whole, "moving", b"before")
    assert reassign(whole, "moving", [third, second]) == 0
    whole.wait_for(lambda: replicas(whole, "moving")[0] == [third, second])
    assert replicas(whole, "moving")[1:] == ({second, third}, third)
    assert reassign(whole, "moving", [third, second, first]) == 0
    whole.wait_for(lambda: replicas(whole, "moving")[1] == {1, 2, 3})
    assert send(whole, "moving", b"between") == 2
    assert reassign(whole, "moving", [first]) == 0
    whole.wait_for(lambda: replicas(whole, "moving") == ([first], {first}, first))
    assert send(whole, "moving", b"after") == 3
    assert ongoing(whole) == {}


def test_104_the_controller_dies_while_replicas_move(whole):
    whole.create_topic("kept", replication_factor=1, config={"min.insync.replicas": 1})
    (old,) = whole.describe("kept").replica_nodes
    controller = whole.controller()
    (new,) = others(whole, old, controller)[:1]
    whole.kill(new)
    whole.wait_for(lambda: len(whole.metadata().brokers) == 2)
    assert reassign(whole, "kept", [new]) == 0
    assert ongoing(whole) == {"kept": [new]}
    # No two of three nodes: nothing is decided until one is back, and then nothing was forgotten.
    if controller != old:
        whole.kill(controller)
    else:
        whole.restart(controller)
    whole.start()
    whole.wait_for(lambda: replicas(whole, "kept") == ([new], {new}, new))
    assert ongoing(whole) == {}


def test_leaders_come_back_when_they_are_asked(whole):
    whole.create_topic("led", replication_factor=3)
    preferred = whole.describe("led").replica_nodes[0]
    assert elect(whole, "led") == ErrorCode.ELECTION_NOT_NEEDED
    whole.stop_node(preferred)
    assert whole.wait_for(lambda: whole.leader("led") not in (-1, preferred))
    assert elect(whole, "led") == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    assert elect(whole, "led", kind=1) == ErrorCode.ELECTION_NOT_NEEDED
    whole.start()
    whole.wait_for(whole.all_in_sync)
    assert elect(whole, "led") == ErrorCode.NONE
    assert whole.wait_for(lambda: whole.leader("led") == preferred)


def test_an_unregistered_broker_comes_back_as_a_new_one(whole):
    whole.create_topic("left", replication_factor=3)
    gone = others(whole, whole.controller())[0]
    whole.kill(gone)
    answer = ask(whole, UnregisterBrokerRequest(broker_id=gone), UnregisterBrokerResponse)
    assert answer.error_code == 0
    again = ask(whole, UnregisterBrokerRequest(broker_id=gone), UnregisterBrokerResponse)
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert gone in whole.describe("left").replica_nodes
    whole.start()
    whole.wait_for(whole.all_in_sync)
