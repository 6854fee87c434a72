"""An Apache Kafka cluster becomes one of kbrokers, node by node, and nobody who uses it notices.

KBROKER_MIXED=all (`make mixed`): and back again.
"""

from __future__ import annotations

import os

import pytest

from kbroker.client.describe import describe_quorum
from kbroker.client.quorum import add_voter, remove_voter
from kbroker.client.reassignments import unregister_broker
from kbroker.types import uuid_from_string
from tests.compat.mixed.load import Group, Load, Transactions
from tests.compat.mixed.mixed_cluster import KAFKA, KBROKER, MixedCluster, assert_same_logs
from tests.needs import need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(600)]

ALL = os.environ.get("KBROKER_MIXED") == "all"
TOPICS = ["load", "exact", "__consumer_offsets", "__transaction_state"]
SETTINGS = {
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}


class Roller:
    """Moves everything from one node of a cluster to another: the recipe of docs/cluster.md."""

    def __init__(self, cluster: MixedCluster) -> None:
        self.cluster = cluster

    def join(self, node_id: int) -> None:
        """Start it: it is a broker at once, and follows the quorum; then let it vote."""
        self.cluster.restart(node_id)
        port = self.cluster.nodes[node_id].controller_port

        def added(client) -> bool:
            for replica in describe_quorum(client).replicas:
                if replica.id == node_id and replica.role != "observer":
                    return True
                if replica.id == node_id:
                    directory = uuid_from_string(replica.directory_id)
                    add_voter(client, node_id, directory, [("CONTROLLER", "127.0.0.1", port)])
            return False

        self.cluster.wait(added, f"node {node_id} votes")

    def move_all(self, node_id: int) -> None:
        """All replicas to that broker, the coordinators' partitions, too."""
        self.cluster.move({topic: lambda _: [node_id] for topic in TOPICS})

    def leave(self, node_id: int) -> None:
        """Let it vote no more, stop it, forget it."""

        def removed(client) -> bool:
            for replica in describe_quorum(client).replicas:
                if replica.id == node_id and replica.role != "observer":
                    remove_voter(client, node_id, uuid_from_string(replica.directory_id))
                    return False
            return True

        self.cluster.wait(removed, f"node {node_id} votes no more")
        self.cluster.nodes[node_id].end()
        with self.cluster.client() as client:
            unregister_broker(client, node_id)
        self.cluster.wait_for_brokers()


def test_from_kafka_to_kbroker_and_back_without_a_stop(tmp_path) -> None:
    need_java()
    releases = [KAFKA, KBROKER, KAFKA] if ALL else [KAFKA, KBROKER]
    with MixedCluster(tmp_path, releases, settings=SETTINGS, made_by_kafka=True, dynamic=True) as cluster:
        roller, at = Roller(cluster), cluster.bootstrap
        for topic in ("load", "exact"):
            cluster.create(topic, [[1]] * 3)
        with Load(at, "load", 3) as load, Group(at, "load") as group, Transactions(at, "exact", 3) as exact:
            parts = (load, group, exact)
            for part in parts:
                part.wait_for_more()
            for node_id in list(cluster.nodes)[1:]:
                before = node_id - 1
                roller.join(node_id)
                roller.move_all(node_id)
                for part in parts:
                    part.wait_for_more()
                roller.leave(before)
                for part in parts:
                    part.wait_for_more()
            acknowledged = dict(load.acknowledged)
            group.wait_for(acknowledged)
        load.check(at)
        exact.check(at)
        first, *others = cluster.nodes.values()
        # The first node's log of metadata ends where it left.
        assert assert_same_logs([first, others[0]], "__cluster_metadata", upto=1) > 20
