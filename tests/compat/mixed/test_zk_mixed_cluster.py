"""Brokers of kbroker and of Apache Kafka 3.9.2 in one ZooKeeper: whoever is the controller and is killed,
nothing is lost, and all have the same.
"""

from __future__ import annotations

import signal

import pytest

from kbroker.client.cluster import Cluster
from tests.compat.mixed.java_load import JavaLoad
from tests.compat.mixed.load import Group, Load, Transactions
from tests.compat.mixed.mixed_cluster import KAFKA_39, KBROKER, MixedCluster, Node, assert_same_logs
from tests.doubles import wait_until
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(600)]

MADE = ["load", "exact", "java"]
INTERNAL = ["__consumer_offsets", "__transaction_state"]
SETTINGS = {
    "zookeeper.session.timeout.ms": 3000,
    "zookeeper.connection.timeout.ms": 60_000,
    "offsets.topic.replication.factor": 3,
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.num.partitions": 3,
    "transaction.state.log.min.isr": 2,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": False,
}


class InZooKeeper(MixedCluster):
    """Brokers 1, 2, ... of these releases, started one after the other: the first is the controller."""

    def __init__(self, folder, server, releases):
        super().__init__(folder, releases)
        self.settings = {**SETTINGS, "zookeeper.connect": f"{server.address}/mixed"}

    def __enter__(self):
        from kazoo.client import KazooClient

        self._zookeeper = KazooClient(self.settings["zookeeper.connect"])
        try:
            for node in self.nodes.values():
                configure(node, self.settings)
                node.start()
                self.wait_for_brokers()
                if node.id == 1:
                    self._zookeeper.start()
        except BaseException:
            self._end()
            raise
        return self

    def _end(self):
        super()._end()
        self._zookeeper.stop()
        self._zookeeper.close()

    def wait_known(self, topics):
        """Each broker has heard of these. A leader of Kafka's that has not refuses a new producer's first
        batch, takes the second, and then never the first."""
        for node in self.nodes.values():

            def known(_, node=node):
                with Cluster(f"127.0.0.1:{node.port}", timeout_s=5) as client:
                    return all(not topic.error_code for topic in client.metadata(topics).topics)

            self.wait(known, f"{topics} known to {node}")

    def controller(self):
        """Its id."""
        with self.client() as client:
            return client.metadata([]).controller_id

    def kill(self, node_id):
        """The node is back when its session is over: Kafka's ends where its id is taken."""
        super().kill(node_id)
        registered = f"/brokers/ids/{node_id}"
        wait_until(lambda: self._zookeeper.exists(registered) is None, "the end of its session")


def configure(node: Node, settings):
    values = {
        **settings,
        "broker.id": node.id,
        "listeners": f"PLAINTEXT://127.0.0.1:{node.port}",
        "log.dirs": node.data,
    }
    node.properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))


@pytest.mark.parametrize(
    "releases", [(KAFKA_39, KBROKER, KBROKER), (KBROKER, KAFKA_39, KAFKA_39)], ids="-".join
)
def test_nothing_is_lost_whoever_is_killed(tmp_path, releases):
    need_java()
    pytest.importorskip("kazoo")
    with (
        ZooKeeperServer(tmp_path / "zookeeper") as server,
        InZooKeeper(tmp_path, server, releases) as cluster,
    ):
        for topic in MADE:
            cluster.create(topic, [[1, 2, 3], [2, 3, 1], [3, 1, 2]], **{"min.insync.replicas": "2"})
        cluster.wait_known(MADE)
        at = cluster.bootstrap
        with (
            Load(at, "load", 3) as load,
            Group(at, "load") as group,
            Transactions(at, "exact", 3) as exact,
            JavaLoad(tmp_path, at, "java", 3) as java,
        ):
            parts = (load, group, exact, java)
            for part in parts:
                part.wait_for_more()
            assert cluster.controller() == 1
            controllers = set()
            for node_id in (1, 2):
                # Leader of everything, and so the coordinator of the group and of the transactions.
                cluster.lead(node_id, [*MADE, *INTERNAL])
                for part in parts:
                    part.wait_for_more()
                cluster.kill(node_id)
                for part in parts:
                    part.wait_for_more()
                controllers.add(cluster.controller())
                cluster.restart(node_id)
                cluster.wait_in_sync(*MADE, *INTERNAL)
            assert len(controllers - {1}) >= 1
            for part in parts:
                part.wait_for_more()
            load_ended = dict(load.acknowledged)
            group.wait_for(load_ended)
        load.check(at)
        exact.check(at)
        java.check(at)
        cluster.wait_in_sync(*MADE, *INTERNAL)
        cluster.wait_quiet(*MADE, *INTERNAL)
        for topic in (*MADE, *INTERNAL):
            assert assert_same_logs(cluster.nodes.values(), topic, 3) > 20, topic
        for node in cluster.nodes.values():
            node.end(signal.SIGTERM)
