"""Nodes in a real ZooKeeper that end without a word: others go on long before the session ends."""

import pytest

from kbroker.testing.cluster import Cluster
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer

SESSION_MS = 45_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    folder = tmp_path_factory.mktemp("nodes")
    settings = {"zookeeper.session.timeout.ms": SESSION_MS}
    with ZooKeeperServer(folder / "zookeeper") as server:
        cluster = Cluster(
            4,
            controller="zookeeper",
            zookeeper=server.address,
            data=str(folder / "data"),
            config=settings,
            in_process=True,
            links=False,
        )
        with cluster:
            cluster.create_topic("t", 4, replication_factor=4)
            yield cluster


def registered(cluster):
    from kazoo.client import KazooClient

    client = KazooClient(cluster.zookeeper)
    client.start()
    try:
        return {int(each) for each in client.get_children("/brokers/ids")}, client.get("/controller_epoch")[0]
    finally:
        client.stop()
        client.close()


def without(cluster, gone):
    """Whether nobody counts on that broker any more."""

    def look():
        partitions = [cluster.describe("t", each) for each in range(4)]
        return all(each.leader_id not in (-1, gone) and gone not in each.isr_nodes for each in partitions)

    return look


def test_a_killed_leader_is_followed_before_its_session_ends(cluster):
    controller = cluster.controller()
    gone = next(each for each in cluster.nodes if each != controller)
    cluster.kill(gone)
    cluster.wait_for(without(cluster, gone), SESSION_MS / 2000)
    assert registered(cluster) == ({1, 2, 3, 4}, b"1")
    assert cluster.controller() == controller


def test_a_killed_controller_is_followed_before_its_session_ends(cluster):
    gone = cluster.controller()
    cluster.kill(gone)
    cluster.wait_for(lambda: cluster.controller() not in (-1, gone), SESSION_MS / 2000)
    cluster.wait_for(without(cluster, gone), SESSION_MS / 2000)
    assert registered(cluster) == ({1, 2, 3, 4}, b"2")
