"""A cluster moves from ZooKeeper to KRaft (KIP-866) and nobody who uses it notices; and back again.

Brokers and controllers of kbroker and of Apache Kafka 3.9.2; `make mixed` runs it.
"""

from __future__ import annotations

import json

import pytest

from kbroker.client.acls import create_acls, describe_acls
from kbroker.client.configs import ResourceType as ConfigType, alter_configs, describe_configs
from kbroker.client.quotas import alter_quotas, list_quotas
from kbroker.client.topics import create_topic, delete_topics, list_topics
from kbroker.client.users import list_users, set_user
from kbroker.security.acl import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from tests.compat.mixed.load import Group, Load, Transactions
from tests.compat.mixed.mixed_cluster import KAFKA_39, KBROKER, assert_same_logs
from tests.compat.mixed.moving_cluster import KRAFT, MIGRATING, ZOOKEEPER, MovingCluster
from tests.needs import need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(900)]
KINDS = [
    pytest.param([KBROKER] * 3, [KAFKA_39], id="kbroker-to-kafka"),
    pytest.param([KAFKA_39] * 3, [KBROKER] * 3, id="kafka-to-kbroker"),
    pytest.param([KBROKER, KAFKA_39, KBROKER], [KBROKER], id="both-to-kbroker"),
    pytest.param([KBROKER] * 3, [KBROKER] * 3, id="kbroker"),
]
ASSIGNMENT = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]


def acl(name):
    return Acl(
        ResourceType.TOPIC, name, PatternType.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW
    )


class Kept:
    """What is to survive: made at each stage, and looked for at each later one."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.names = []

    def make(self, name):
        """A topic with a setting, a list entry, a user and a quota of that name."""
        with self.cluster.client() as client:
            create_topic(client, name, assignment=[[1, 2, 3]], configs={"retention.ms": "777000"})
            alter_configs(client, ConfigType.TOPIC, name, set_={"max.message.bytes": "7777"})
            assert create_acls(client, [acl(name)]) == [None]
            set_user(client, name, "secret", "SCRAM-SHA-256")
            alter_quotas(client, [("client-id", name)], {"producer_byte_rate": 7e6})
        self.names.append(name)

    def wait(self):
        """All of it is there."""
        for name in self.names:
            self.cluster.wait(lambda client, name=name: self._has(client, name), f"all that {name} has")

    def _has(self, client, name):
        configs = {each.name: each.value for each in describe_configs(client, ConfigType.TOPIC, name)}
        return (
            configs["retention.ms"] == "777000"
            and configs["max.message.bytes"] == "7777"
            and describe_acls(client, AclFilter(name=name)) == [acl(name)]
            and any(each.name == name for each in list_users(client))
            and any(each.entity == (("client-id", name),) for each in map(_hashable, list_quotas(client)))
        )

    def wait_for_znodes(self, name):
        """The quorum has written it to ZooKeeper, too."""
        wait = self.cluster.wait_for_znode
        wait(f"/brokers/topics/{name}", lambda data: json.loads(data)["partitions"] == {"0": [1, 2, 3]})
        wait(f"/brokers/topics/{name}/partitions/0/state", lambda data: json.loads(data)["leader"] > 0)
        wait(
            f"/config/topics/{name}",
            lambda data: (
                json.loads(data)["config"] == {"retention.ms": "777000", "max.message.bytes": "7777"}
            ),
        )
        wait(
            f"/kafka-acl/Topic/{name}", lambda data: json.loads(data)["acls"][0]["principal"] == "User:alice"
        )
        wait(f"/config/users/{name}", lambda data: "SCRAM-SHA-256" in json.loads(data)["config"])
        wait(f"/config/clients/{name}", lambda data: "producer_byte_rate" in json.loads(data)["config"])


def _hashable(quota):
    return quota._replace(entity=tuple(map(tuple, quota.entity)))


class Users:
    """A producer, a group and transactions, all the while."""

    def __init__(self, cluster):
        at = cluster.bootstrap
        self.cluster = cluster
        self.load = Load(at, "load", 3)
        self.parts = (self.load, Group(at, "load"), Transactions(at, "exact", 3))

    def __enter__(self):
        for part in self.parts:
            part.__enter__()
        return self

    def __exit__(self, *exception):
        for part in reversed(self.parts):
            part.__exit__(*exception)

    def go_on(self):
        for part in self.parts:
            part.wait_for_more()

    def seen(self):
        """The group has all that was acknowledged so far."""
        self.parts[1].wait_for(dict(self.load.acknowledged))

    def check(self):
        at = self.cluster.bootstrap
        self.load.check(at)
        self.parts[2].check(at)
        for topic in ("load", "exact"):
            self.cluster.wait_in_sync(topic)
            self.cluster.wait_quiet(topic)
            assert assert_same_logs(self.cluster.nodes.values(), topic, 3) > 20


@pytest.fixture(autouse=True)
def kazoo():
    need_java()
    pytest.importorskip("kazoo")


def begun(cluster):
    for topic in ("load", "exact"):
        cluster.create(topic, ASSIGNMENT, **{"min.insync.replicas": "2"})


def roll_all(cluster, users, mode):
    for node_id in cluster.nodes:
        cluster.roll(node_id, mode)
        cluster.wait_in_sync("load", "exact", "__consumer_offsets", "__transaction_state")
        users.go_on()


@pytest.mark.parametrize(("brokers", "controllers"), KINDS)
def test_from_zookeeper_to_kraft_without_a_stop(tmp_path, brokers, controllers):
    with MovingCluster(tmp_path, brokers, controllers) as cluster:
        begun(cluster)
        kept = Kept(cluster)
        kept.make("before")
        with cluster.client() as client:
            create_topic(client, "deleted", assignment=[[1, 2, 3]])
        with Users(cluster) as users:
            users.go_on()
            cluster.start_quorum()
            roll_all(cluster, users, MIGRATING)
            cluster.wait_for_migration()
            users.go_on()
            kept.wait()
            kept.make("both")
            kept.wait()
            kept.wait_for_znodes("both")
            with cluster.client() as client:
                delete_topics(client, ["deleted"])
            for node_id in cluster.nodes:
                # Brokers of both modes side by side.
                cluster.roll(node_id, KRAFT)
                cluster.wait_in_sync("load", "exact", "__consumer_offsets", "__transaction_state")
                users.go_on()
                if node_id == 1 and len(cluster.quorum) > 1:
                    cluster.kill_controller()
                    users.go_on()
                kept.make(f"rolled-{node_id}")
                kept.wait()
                kept.wait_for_znodes(f"rolled-{node_id}")
            cluster.finalise()
            users.go_on()
            kept.make("after")
            kept.wait()
            assert cluster.znode("/brokers/topics/after") is None
            cluster.server.stop()
            users.go_on()
            users.seen()
        users.check()
        with cluster.client() as client:
            assert "deleted" not in [topic.name for topic in list_topics(client)]


def test_from_kafka_in_zookeeper_to_kbroker_in_kraft(tmp_path):
    """In one move: each broker goes on as one of kbroker's on the folder that Kafka left."""
    with MovingCluster(tmp_path, [KAFKA_39] * 3, [KBROKER]) as cluster:
        begun(cluster)
        kept = Kept(cluster)
        kept.make("before")
        with Users(cluster) as users:
            users.go_on()
            cluster.start_quorum()
            roll_all(cluster, users, MIGRATING)
            cluster.wait_for_migration()
            users.go_on()
            for node_id in cluster.nodes:
                cluster.roll(node_id, KRAFT, KBROKER)
                cluster.wait_in_sync("load", "exact", "__consumer_offsets", "__transaction_state")
                users.go_on()
                kept.make(f"rolled-{node_id}")
                kept.wait()
            cluster.finalise()
            users.go_on()
            cluster.server.stop()
            users.go_on()
            users.seen()
        users.check()


@pytest.mark.parametrize(("brokers", "controllers"), KINDS)
def test_back_to_zookeeper(tmp_path, brokers, controllers):
    """Before it is finalised a migration can be called off: the steps of Kafka's documentation."""
    with MovingCluster(tmp_path, brokers, controllers) as cluster:
        begun(cluster)
        kept = Kept(cluster)
        with Users(cluster) as users:
            users.go_on()
            cluster.start_quorum()
            roll_all(cluster, users, MIGRATING)
            cluster.wait_for_migration()
            kept.make("both")
            cluster.roll(1, KRAFT)
            cluster.wait_in_sync("load", "exact")
            users.go_on()
            kept.make("mixed")
            kept.wait_for_znodes("mixed")
            cluster.roll(1, MIGRATING)
            cluster.wait_in_sync("load", "exact")
            users.go_on()
            cluster.end_quorum()
            cluster.delete("/controller")
            users.go_on()
            roll_all(cluster, users, ZOOKEEPER)
            assert cluster.controller() in cluster.nodes
            kept.make("after")
            kept.wait()
            kept.wait_for_znodes("after")
            users.seen()
        users.check()
