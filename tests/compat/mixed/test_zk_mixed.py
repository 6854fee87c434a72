"""Brokers of kbroker and of Apache Kafka 3.9.2 in one cluster in ZooKeeper; either is the controller."""

from __future__ import annotations

import shutil
import signal
import time

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from kbroker.client.records import produce
from kbroker.client.topics import create_topic, delete_topics, describe_topics
from kbroker.protocol.record_batch import Record
from kbroker.types import TopicPartition
from tests.compat.mixed.mixed_cluster import KAFKA_39, KBROKER
from tests.compat.mixed.zk_cluster import ZkMixedCluster
from tests.needs import need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(300)]
#: The first one is the first controller.
PAIRS = [(KAFKA_39, KBROKER), (KBROKER, KAFKA_39)]


@pytest.fixture(autouse=True)
def kazoo():
    need_java()
    pytest.importorskip("kazoo")


def send(cluster, topic="t", partitions=3):
    """One record to each partition, acknowledged by all that are in sync."""
    for index in range(partitions):
        record = Record(-1, int(time.time() * 1000), b"%d" % index, b"v" * 100)
        tp = TopicPartition(topic, index)
        cluster.wait(
            lambda client, tp=tp, record=record: [produce(client, tp, [record])], f"a record in {tp}"
        )


def partitions(client, topic="t"):
    return describe_topics(client, [topic])[0].partitions


def without(node_id):
    """Whether nobody counts on that broker."""

    def look(client):
        found = partitions(client)
        return all(each.leader not in (-1, node_id) and node_id not in each.isr for each in found)

    return look


def assert_equal(cluster, count):
    cluster.wait_quiet("t")
    for index in range(3):
        logs = [node.batches("t", index) for node in cluster.nodes.values()]
        assert len(logs[0]) == count
        assert all(log == logs[0] for log in logs)


@pytest.mark.parametrize(
    "releases", [(KAFKA_39, KBROKER, KBROKER), (KBROKER, KAFKA_39, KAFKA_39)], ids=["kafka", "kbroker"]
)
def test_each_copies_from_the_other_whoever_is_the_controller(tmp_path, releases):
    with ZkMixedCluster(tmp_path, releases) as cluster:
        assert cluster.controller() == 1
        cluster.create("t", [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
        send(cluster)
        # A broker of the other kind than the controller is killed and comes back.
        cluster.kill(3)
        cluster.wait(without(3), "others lead")
        send(cluster)
        cluster.restart(3)
        cluster.wait_in_sync("t")
        cluster.lead(3, ["t"])
        send(cluster)
        # So is the controller; the new one is of the other kind.
        cluster.kill(1)
        cluster.wait(without(1), "others lead")
        assert cluster.controller() != 1
        send(cluster)
        cluster.restart(1)
        cluster.wait_in_sync("t")
        cluster.lead(1, ["t"])
        send(cluster)
        # Its leader asks the other kind's controller to let a replica out of the ISR and in again.
        cluster.kill(3)
        cluster.wait(without(3), "replica 3 out of sync")
        send(cluster)
        cluster.restart(3)
        cluster.wait_in_sync("t")
        assert_equal(cluster, 6)


@pytest.mark.parametrize("releases", [(KAFKA_39, KBROKER, KBROKER), (KBROKER, KAFKA_39, KBROKER)])
def test_who_sleeps_longer_than_his_session(tmp_path, releases):
    with ZkMixedCluster(tmp_path, releases) as cluster:
        cluster.create("t", [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
        for sleeper in (2, 1):
            process = cluster.nodes[sleeper].process
            process.send_signal(signal.SIGSTOP)
            cluster.asleep = {sleeper}
            cluster.wait(without(sleeper), "others lead")
            send(cluster)
            process.send_signal(signal.SIGCONT)
            cluster.asleep = set()
            cluster.wait_for_brokers()
            cluster.wait_in_sync("t")
            cluster.lead(sleeper, ["t"])
            send(cluster)
        assert cluster.controller() != 1
        assert_equal(cluster, 4)


@pytest.mark.parametrize("releases", PAIRS, ids=["kafka", "kbroker"])
def test_settings_coordinators_and_stops(tmp_path, releases):
    with ZkMixedCluster(tmp_path, releases) as cluster:
        cluster.create("t", [[1, 2], [2, 1]])
        places = {node.id: f"127.0.0.1:{node.port}" for node in cluster.nodes.values()}
        for node_id, place in places.items():
            change_by(cluster, node_id, places)
            transact(place, f"transactional-{node_id}")
            assert consume(place, f"group-{node_id}", 10 * node_id) == 10 * node_id
        for node_id in (2, 1):
            cluster.nodes[node_id].end()
            # It had asked for leave: nothing waits for its session to end.
            cluster.wait(without(node_id), "others lead", 2)
            send(cluster, partitions=2)
            cluster.restart(node_id)
            cluster.wait_in_sync("t")
        assert cluster.controller() == 2
        with cluster.client() as client:
            assert delete_topics(client, ["t"]) == {"t": None}
        cluster.wait(lambda client: not kept(tmp_path), "the logs are deleted")
        cluster.wait(
            lambda client: create_topic(client, "t", assignment=[[2, 1]], configs={}) or True, "t anew"
        )
        cluster.wait_in_sync("t")
        send(cluster, partitions=1)


def kept(folder):
    """Logs that are not about to be removed."""
    return [each for each in folder.glob("node-*/t-*") if not each.name.endswith("-delete")]


def change_by(cluster, node_id, places):
    """A setting, and more partitions, asked of one broker: all know of it."""
    admin = AdminClient({"bootstrap.servers": places[node_id]})
    value = str(10**9 + node_id)
    entry = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, "t", incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(20)
    for place in places.values():
        asked = AdminClient({"bootstrap.servers": place})

        def heard(client, asked=asked):
            (future,) = asked.describe_configs([ConfigResource(ResourceType.TOPIC, "t")]).values()
            return future.result(10)["retention.ms"].value == value

        cluster.wait(heard, f"{value} at {place}")
    for future in admin.create_partitions([NewPartitions("t", 2 + node_id)]).values():
        future.result(20)
    cluster.wait_in_sync("t")


def transact(place, name):
    """Ten records that are committed, and one that is not."""
    producer = Producer({"bootstrap.servers": place, "transactional.id": name, "log_level": 0})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(10):
        producer.produce("t", b"x", partition=number % 2)
    producer.commit_transaction(30)
    producer.begin_transaction()
    producer.produce("t", b"no", partition=0)
    producer.flush(10)
    producer.abort_transaction(30)


def consume(place, group, count):
    """How many records a new group gets; its offsets are committed."""
    settings = {
        "bootstrap.servers": place,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.subscribe(["t"])
    found, deadline = 0, time.monotonic() + 60
    while found < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            found += 1
    consumer.commit(asynchronous=False)
    consumer.close()
    return found


class TwoDirectories(ZkMixedCluster):
    """Node 2 has two log directories."""

    def configure(self, node, settings):
        two = {"log.dirs": f"{node.data},{node.data}-b"} if node.id == 2 else {}
        super().configure(node, {**settings, **two})


@pytest.mark.parametrize("releases", PAIRS, ids=["kafka", "kbroker"])
def test_a_log_directory_of_one_that_the_other_controls(tmp_path, releases):
    with TwoDirectories(tmp_path, releases) as cluster:
        cluster.create("t", [[2, 1]] * 4)
        send(cluster, partitions=4)
        folder = tmp_path / "node-2-b"
        there = {int(each.name[2:]) for each in folder.glob("t-*")}
        assert 0 < len(there) < 4
        # Both write checkpoints every few seconds.
        shutil.rmtree(folder)
        folder.write_text("no folder")

        def moved(client):
            return all(
                (each.leader, each.isr) == (1, [1]) if each.partition in there else each.leader == 2
                for each in partitions(client)
            )

        cluster.wait(moved, "what lay there is led by the other")
        send(cluster, partitions=4)
