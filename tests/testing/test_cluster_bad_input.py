"""Nodes that do not belong, lie or are broken: a refusal that both sides log, and a cluster that goes on."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.connection import Address, Connection
from kbroker.client.describe import describe_quorum
from kbroker.client.reassignments import unregister_broker
from kbroker.client.topics import create_topic, delete_topics
from kbroker.errors import ConfigError, ErrorCode
from kbroker.protocol.generated.begin_quorum_epoch_request import (
    BeginQuorumEpochRequest,
    PartitionData as Begun,
    TopicData as BegunTopic,
)
from kbroker.protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kbroker.protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kbroker.protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kbroker.protocol.generated.fetch_response import FetchResponse
from kbroker.protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kbroker.protocol.generated.vote_response import VoteResponse
from kbroker.testing import Cluster
from kbroker.testing.process import ProcessRunner

METADATA = "__cluster_metadata"
ELSEWHERE = "ZZZZZZZZZZZZZZZZZZZZZg"
QUICK = {
    "broker.heartbeat.interval.ms": 200,
    "broker.session.timeout.ms": 1500,
    "controller.quorum.fetch.timeout.ms": 500,
    "controller.quorum.election.timeout.ms": 300,
    "metadata.log.max.record.bytes.between.snapshots": 2000,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(3, config=QUICK, data=str(tmp_path_factory.mktemp("cluster")), links=False) as cluster:
        yield cluster


@pytest.fixture
def whole(cluster):
    """The cluster, which must be as good as before after each test."""
    yield cluster
    cluster.mend()
    logs = "".join(node.log for node in cluster.nodes.values())
    assert "Traceback" not in logs


def quorum(cluster):
    """Leader and epoch."""
    with Client(cluster.bootstrap, timeout_s=5) as client:
        found = describe_quorum(client)
    assert found is not None
    assert found.leader >= 0
    return found.leader, found.leader_epoch


def ask(cluster, node, request, response, version=None):
    """At the controller listener."""
    connection = Connection(Address("127.0.0.1", cluster.nodes[node].plan.controller_port), timeout_s=5)
    try:
        return connection.ask(request, response, version=version)
    finally:
        connection.close()


def says(cluster, node, text):
    cluster.wait_for(lambda: text in cluster.nodes[node].log)


def own_id(cluster):
    return cluster.nodes[1].settings["kbroker.cluster.id"]


def vote(cluster_id, voter, candidate, epoch, last_epoch=0, last_offset=0):
    wanted = PartitionData(
        replica_epoch=epoch, replica_id=candidate, last_offset_epoch=last_epoch, last_offset=last_offset
    )
    topic = TopicData(topic_name=METADATA, partitions=[wanted])
    return VoteRequest(cluster_id=cluster_id, voter_id=voter, topics=[topic])


def registration(cluster, broker, **fields):
    settings = {
        "broker_id": broker,
        "cluster_id": own_id(cluster),
        "incarnation_id": os.urandom(16),
        "listeners": [Listener(name="PLAINTEXT", host="127.0.0.1", port=1)],
        "features": [Feature(name="metadata.version", min_supported_version=7, max_supported_version=30)],
        "log_dirs": [os.urandom(16)],
        "rack": None,
        **fields,
    }
    return BrokerRegistrationRequest(**settings)


def test_108_a_node_of_another_cluster_gets_no_vote_and_no_record(whole):
    leader, epoch = quorum(whole)
    asked = vote(ELSEWHERE, leader, leader % 3 + 1, epoch + 1)
    assert ask(whole, leader, asked, VoteResponse).error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    fetch = FetchRequest(cluster_id=ELSEWHERE, replica_state=ReplicaState(replica_id=9), topics=[])
    answer = ask(whole, leader, fetch, FetchResponse, 17)
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    says(whole, leader, f"a node of cluster '{ELSEWHERE}' asks here, and is refused")
    assert quorum(whole) == (leader, epoch)


def test_a_voter_that_lies_about_its_epoch(whole):
    leader, epoch = quorum(whole)
    liar = leader % 3 + 1
    for node in whole.nodes:
        lie = vote(own_id(whole), node, liar, 2**31 - 1, 2**31 - 2, 10**9)
        [answer] = ask(whole, node, lie, VoteResponse).topics[0].partitions
        assert answer.error_code == ErrorCode.INVALID_REQUEST
        assert not answer.vote_granted
        says(whole, node, "names epoch 2147483647, which is not believed")
    assert quorum(whole) == (leader, epoch)


def test_two_leaders_of_one_epoch(whole):
    leader, epoch = quorum(whole)
    other = leader % 3 + 1
    told = next(node for node in whole.nodes if node not in (leader, other))
    begun = Begun(leader_id=other, leader_epoch=epoch)
    lie = BeginQuorumEpochRequest(
        cluster_id=own_id(whole),
        voter_id=told,
        topics=[BegunTopic(topic_name=METADATA, partitions=[begun])],
    )
    ask(whole, told, lie, BeginQuorumEpochResponse)
    says(whole, told, f"two leaders of epoch {epoch} are named: {leader} and {other}")
    assert quorum(whole) == (leader, epoch)


def test_a_made_up_epoch_costs_an_election_at_most(whole):
    """Its log is old: it is given no vote, and the others elect one of theirs."""
    leader, epoch = quorum(whole)
    lie = vote(own_id(whole), leader, leader % 3 + 1, epoch + 5)
    [answer] = ask(whole, leader, lie, VoteResponse).topics[0].partitions
    assert not answer.vote_granted
    _, after = whole.wait_for(partial(quorum, whole))
    assert after >= epoch
    whole.create_topic("after-a-made-up-epoch")


def test_registrations_that_are_refused(whole):
    leader, _ = quorum(whole)
    old = [Feature(name="metadata.version", min_supported_version=1, max_supported_version=7)]
    for request, code, text in (
        (registration(whole, 50, cluster_id=ELSEWHERE), ErrorCode.INCONSISTENT_CLUSTER_ID, "cluster ID"),
        (registration(whole, 51, features=old), ErrorCode.UNSUPPORTED_VERSION, "metadata.version"),
        (registration(whole, 2), ErrorCode.DUPLICATE_BROKER_REGISTRATION, "alive"),
    ):
        answer = ask(whole, leader, request, BrokerRegistrationResponse)
        assert answer.error_code == code
        says(whole, leader, f"broker {request.broker_id} may not register: ")
        last = [line for line in whole.nodes[leader].log.splitlines() if "may not register" in line][-1]
        assert text in last
    assert whole.all_in_sync()


def test_5_a_fetch_of_a_future_epoch(whole):
    topic = whole.create_topic("future")
    leader = whole.leader(topic)
    with Client(whole.nodes[leader].bootstrap) as client:
        asked = FetchPartition(partition=0, current_leader_epoch=99, partition_max_bytes=100)
        request = FetchRequest(topics=[FetchTopic(topic=topic, partitions=[asked])])
        answer = client.node(leader).ask(request, FetchResponse, version=12)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def snapshots(node):
    return sorted(Path(node.data, f"{METADATA}-0").glob("*.checkpoint"))


def test_a_snapshot_that_was_cut_short(whole):
    """It is not taken for whole: the node says so, and keeps or fetches what is missing."""
    for number in range(30):
        whole.create_topic(f"many-{number}")
    victim = next(node for node in whole.nodes if node != whole.controller())
    node = whole.nodes[victim]
    whole.wait_for(lambda: len(snapshots(node)) >= 2)
    whole.stop_node(victim)
    newest = snapshots(node)[-1]
    newest.write_bytes(newest.read_bytes()[:-50])
    try:
        node.spawn()
        node.wait_ready()
    except ConfigError as error:
        assert newest.name in str(error)  # noqa: PT017
        assert newest.exists()
        newest.unlink()
        node.spawn()
        node.wait_ready()
    whole.wait_for(whole.all_in_sync)


def test_a_broker_at_an_address_that_nobody_reaches(whole, tmp_path):
    """Others might reach it, so that it may be one; who does not says so, and the cluster goes on."""
    settings = {
        **whole.nodes[1].settings,
        "node.id": "9",
        "process.roles": "broker",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:1",
        "log.dirs": str(tmp_path / "unreachable"),
    }
    runner = ProcessRunner(settings, "dev", keeps_log=True)
    runner.start()
    try:
        with Client(whole.bootstrap) as client:
            create_topic(client, "half-reachable", partitions=4, replication_factor=3)
        whole.wait_for(lambda: any("127.0.0.1:1 " in node.log for node in whole.nodes.values()))
        whole.create_topic("while-it-is-there", replication_factor=1)
    finally:
        runner.stop()
        with Client(whole.bootstrap) as client:
            # Either may have its only replica there.
            delete_topics(client, ["half-reachable", "while-it-is-there"])
            whole.wait_for(lambda: unregister_broker(client, 9) or True)
    assert "Traceback" not in Path(runner.log_path).read_text()
