"""Nodes of a cluster that is kept in ZooKeeper, a real one: what clients see, and what is in the znodes."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition as Place
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import ClientError
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode
from kbroker.testing import Broker, Cluster
from kbroker.testing.cluster import ZOOKEEPER
from tests.needs import need_command, need_java
from tests.server.zookeeper import ZooKeeperServer
from tests.testing.test_cluster import end_offset, send
from tests.testing.test_cluster_scenarios import send_at
from tests.testing.test_coordinators import outlive_their_coordinators

QUICK = {
    "zookeeper.session.timeout.ms": 2000,
    "replica.lag.time.max.ms": 2000,
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.num.partitions": 3,
}
PATIENCE_S = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    need_java()
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture(scope="module")
def znodes(server):
    """Everything below a path, as text."""
    from kazoo.client import KazooClient

    client = KazooClient(server.address)
    client.start()

    def read(path):
        found, places = {}, [path]
        for each in places:
            if client.exists(each):
                found[each] = (client.get(each)[0] or b"").decode()
                places += [f"{each}/{child}" for child in client.get_children(each)]
        return found

    yield read
    client.stop()
    client.close()


@pytest.fixture(scope="module")
def lone(server):
    """One node, with an authorizer that lets everybody do what no entry is about."""
    config = {
        **QUICK,
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "allow.everyone.if.no.acl.found": True,
    }
    with Broker(zookeeper=f"{server.address}/lone", config=config) as broker:
        yield broker


@pytest.fixture(scope="module")
def cluster(server, tmp_path_factory):
    data = str(tmp_path_factory.mktemp("cluster"))
    with Cluster(3, zookeeper=f"{server.address}/three/nodes", config=QUICK, data=data) as cluster:
        yield cluster


@pytest.fixture
def whole(cluster):
    yield cluster
    cluster.mend()


def done(futures):
    """What all of an admin client's answers are; raises what one of them is."""
    return [future.result(PATIENCE_S) for future in futures.values()]


def admin_of(node):
    return AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})


def produced(where, topic, *values):
    """Send with acks=all; what went wrong."""
    errors = []
    producer = Producer({"bootstrap.servers": where, "enable.idempotence": True, "log_level": 0})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: error and errors.append(error))
    assert producer.flush(PATIENCE_S) == 0
    return errors


def consumed(where, topic, count, partitions=1):
    settings = {"bootstrap.servers": where, "group.id": "reader", "log_level": 0}
    with closing(Consumer(settings)) as consumer:
        consumer.assign([Place(topic, index, 0) for index in range(partitions)])
        return [message.value() for message in consumer.consume(count, PATIENCE_S)]


def test_topics_and_their_settings_are_znodes_as_kafka_writes_them(lone, znodes):
    admin = admin_of(lone)
    done(admin.create_topics([NewTopic("orders", 2, 1, config={"retention.ms": "7777"})]))
    made = znodes("/lone/brokers/topics/orders")
    assert json.loads(made["/lone/brokers/topics/orders"])["partitions"] == {"0": [1], "1": [1]}
    assert json.loads(made["/lone/brokers/topics/orders/partitions/1/state"])["leader"] == 1
    assert json.loads(znodes("/lone/config/topics/orders")["/lone/config/topics/orders"]) == {
        "version": 1,
        "config": {"retention.ms": "7777"},
    }
    resource = ConfigResource(ResourceType.TOPIC, "orders")
    resource.add_incremental_config(
        ConfigEntry("retention.ms", "8888", incremental_operation=AlterConfigOpType.SET)
    )
    done(admin.incremental_alter_configs([resource]))
    (described,) = done(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "orders")]))
    assert described["retention.ms"].value == "8888"
    assert "8888" in znodes("/lone/config/topics/orders")["/lone/config/topics/orders"]
    done(admin.create_partitions([NewPartitions("orders", 3)]))
    assert set(admin.list_topics("orders", PATIENCE_S).topics["orders"].partitions) == {0, 1, 2}
    done(admin.delete_topics(["orders"]))
    assert "orders" not in admin.list_topics(timeout=PATIENCE_S).topics
    assert not znodes("/lone/brokers/topics/orders")
    assert not znodes("/lone/config/topics/orders")
    assert not znodes("/lone/admin/delete_topics/orders")


def test_kcat_and_librdkafka_send_and_read(lone):
    kcat = need_command("kcat")
    lone.create_topic("sent")
    sends = [kcat, "-P", "-b", lone.bootstrap, "-t", "sent", "-X", "acks=all"]
    subprocess.run(sends, input=b"one\ntwo\n", check=True, timeout=PATIENCE_S)
    assert produced(lone.bootstrap, "sent", b"three") == []
    assert consumed(lone.bootstrap, "sent", 3) == [b"one", b"two", b"three"]
    reads = [kcat, "-C", "-b", lone.bootstrap, "-t", "sent", "-e", "-q"]
    read = subprocess.run(reads, stdout=subprocess.PIPE, check=True, timeout=PATIENCE_S)
    assert read.stdout == b"one\ntwo\nthree\n"


def test_users_and_access_control_entries_are_znodes_and_are_obeyed(lone, znodes):
    admin = admin_of(lone)
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    done(
        admin.alter_user_scram_credentials([UserScramCredentialUpsertion("alice", scram, b"secret", b"salt")])
    )
    kept = json.loads(znodes("/lone/config/users/alice")["/lone/config/users/alice"])["config"]
    assert kept["SCRAM-SHA-512"].startswith("salt=")
    assert set(admin.describe_user_scram_credentials().result(PATIENCE_S)) == {"alice"}
    gone = UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_512)
    done(admin.alter_user_scram_credentials([gone]))
    assert admin.describe_user_scram_credentials().result(PATIENCE_S) == {}

    lone.create_topic("guarded")
    entry = "Topic", "guarded", ResourcePatternType.LITERAL, "User:ANONYMOUS", "*"
    denied = AclBinding(ResourceType.TOPIC, *entry[1:], AclOperation.WRITE, AclPermissionType.DENY)
    done(admin.create_acls([denied]))
    (text,) = znodes("/lone/kafka-acl/Topic/guarded").values()
    assert json.loads(text) == {
        "version": 1,
        "acls": [
            {"principal": "User:ANONYMOUS", "permissionType": "Deny", "operation": "Write", "host": "*"}
        ],
    }
    (error,) = produced(lone.bootstrap, "guarded", b"x")
    assert error.name() == "TOPIC_AUTHORIZATION_FAILED"
    every = AclBindingFilter(ResourceType.TOPIC, *entry[1:], AclOperation.ANY, AclPermissionType.ANY)
    done(admin.delete_acls([every]))
    assert not json.loads(next(iter(znodes("/lone/kafka-acl/Topic/guarded").values()), '{"acls": []}'))[
        "acls"
    ]
    assert produced(lone.bootstrap, "guarded", b"x") == []


def test_a_node_comes_back_as_it_was(lone, znodes):
    lone.create_topic("kept", config={"retention.ms": 123_456})
    produced(lone.bootstrap, "kept", b"x")
    before = znodes("/lone/brokers/ids/1")
    cluster_id = znodes("/lone/cluster/id")
    lone.restart()
    assert end_offset(lone, "kept") == 1
    admin = admin_of(lone)
    (described,) = done(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "kept")]))
    assert described["retention.ms"].value == "123456"
    assert znodes("/lone/cluster/id") == cluster_id
    assert set(znodes("/lone/brokers/ids/1")) == set(before)


def test_topics_are_encrypted(server, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"spring {'5a' * 32}\n")
    config = {**QUICK, "kbroker.encryption.keys.file": str(keys), "kbroker.encryption.topics": "*=spring"}
    folder = tmp_path / "data"
    with Broker(zookeeper=f"{server.address}/sealed", config=config, data=str(folder)) as broker:
        broker.create_topic("sealed")
        assert produced(broker.bootstrap, "sealed", b"in the open") == []
        assert consumed(broker.bootstrap, "sealed", 1) == [b"in the open"]
        (log,) = folder.glob("sealed-0/*.log")
        assert b"in the open" not in log.read_bytes()
        assert log.stat().st_size > 0


def test_the_controller_is_killed_and_nothing_acknowledged_is_lost(whole, znodes):
    topic = whole.create_topic("sends", 3)
    whole.wait_for(whole.all_in_sync)
    failed, sent = [], 0
    producer = Producer(
        {"bootstrap.servers": whole.bootstrap, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
    )

    def tick():
        nonlocal sent
        producer.produce(
            topic,
            str(sent).encode(),
            partition=sent % 3,
            on_delivery=lambda error, _: error and failed.append(error),
        )
        sent += 1
        producer.poll(0)

    for _ in range(2):
        victim = whole.controller()
        assert json.loads(znodes("/three/nodes/controller")["/three/nodes/controller"])["brokerid"] == victim
        whole.kill(victim)
        whole.wait_for(lambda: tick() or whole.controller() not in (-1, victim))  # noqa: B023
        whole.wait_for(
            lambda: tick() or all(whole.leader(topic, index) not in (-1, victim) for index in range(3))  # noqa: B023
        )
        whole.restart(victim)
        whole.wait_for(lambda: tick() or whole.all_in_sync())
    assert producer.flush(PATIENCE_S) == 0
    assert failed == []
    with closing(
        Consumer({"bootstrap.servers": whole.bootstrap, "group.id": "all", "log_level": 0})
    ) as consumer:
        consumer.assign([Place(topic, index, 0) for index in range(3)])
        read = [int(message.value()) for message in consumer.consume(sent, PATIENCE_S)]
    assert sorted(read) == list(range(sent))


def test_all_are_killed_and_come_back_with_what_was_acknowledged(whole):
    topic = whole.create_topic("all")
    assert send(whole, topic, b"kept") == 1
    for node_id in whole.nodes:
        whole.kill(node_id)
    whole.start()
    whole.wait_for(whole.all_in_sync)
    # A leader that has just been told so does not know yet what is committed.
    whole.wait_for(lambda: end_offset(whole, topic) == 1)
    assert send(whole, topic, b"more") == 2


def test_a_leader_that_is_cut_off_from_zookeeper_acknowledges_nothing(whole):
    """It sees the other nodes, which follow another leader once its session is over."""
    topic = whole.create_topic("cut")
    victim = whole.leader(topic)
    other = next(node_id for node_id in whole.nodes if node_id != victim)
    whole.cut((victim, ZOOKEEPER), (ZOOKEEPER, victim))
    whole.wait_for(lambda: whole.describe(topic, 0, other).leader_id not in (-1, victim))
    with pytest.raises((ApiError, ClientError)):
        send_at(whole.nodes[victim].bootstrap, topic, b"never", timeout_s=1)
    assert send(whole, topic, b"x", avoid=[victim]) == 1
    whole.heal()
    whole.wait_for(whole.all_in_sync)
    # A leader that has just been told so does not know yet what is committed.
    whole.wait_for(lambda: end_offset(whole, topic) == 1)


def test_while_zookeeper_is_away_leaders_serve_and_nothing_changes(whole, server):
    topic = whole.create_topic("away")
    send(whole, topic, b"before")
    over = "the session with ZooKeeper is over"
    before = {node: node.log.count(over) for node in whole.nodes.values()}
    server.stop()
    try:
        whole.wait_for(lambda: all(node.log.count(over) > count for node, count in before.items()))
        # Who may lead next is in sync, and follows: what all of those have is not lost.
        assert send(whole, topic, b"meanwhile") == 2
        why = "There is no session with ZooKeeper at 127.0.0.1:"
        with Client(whole.bootstrap, timeout_s=60) as client, pytest.raises(ApiError, match=why):
            create_topic(client, "nobody-decides", partitions=1, replication_factor=1)
    finally:
        server.start()
    whole.wait_for(whole.all_in_sync)
    assert send(whole, topic, b"after") == 3


def test_while_zookeeper_stands_still_leaders_serve(whole, server):
    topic = "still"

    def made():
        # The test before may have cost the nodes their sessions.
        try:
            whole.create_topic(topic)
        except ApiError as error:
            return error.code is ErrorCode.TOPIC_ALREADY_EXISTS
        return True

    whole.wait_for(made)
    whole.wait_for(whole.all_in_sync)
    send(whole, topic, b"before")
    server.pause()
    try:
        assert send(whole, topic, b"meanwhile") == 2
    finally:
        server.resume()
    whole.wait_for(whole.all_in_sync)
    whole.wait_for(lambda: whole.controller() in whole.nodes)
    assert send(whole, topic, b"after") == 3


def test_a_group_and_a_transaction_outlive_their_coordinators(whole):
    outlive_their_coordinators(whole, times=1)


def test_leaders_come_back_by_the_clock(server, tmp_path):
    config = QUICK | {"leader.imbalance.check.interval.seconds": 1}
    where = f"{server.address}/balanced"
    with Cluster(2, zookeeper=where, config=config, data=str(tmp_path), in_process=True) as cluster:
        topic = cluster.create_topic("t", 2)
        cluster.wait_for(cluster.all_in_sync)
        leaders = [cluster.leader(topic, index) for index in range(2)]
        assert sorted(leaders) == [1, 2]
        cluster.stop_node(1)
        cluster.wait_for(lambda: {cluster.leader(topic, index) for index in range(2)} == {2})
        cluster.restart(1)
        cluster.wait_for(lambda: [cluster.leader(topic, index) for index in range(2)] == leaders)
