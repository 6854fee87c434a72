"""Scenarios of docs/replication.md and docs/controller.md by number, with processes and cut links."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.errors import ClientError
from kbroker.client.records import fetch, produce
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import Record
from kbroker.testing import Cluster
from kbroker.types import TopicPartition

QUICK = {
    "broker.heartbeat.interval.ms": 200,
    "broker.session.timeout.ms": 1500,
    "replica.lag.time.max.ms": 1500,
    "controller.quorum.fetch.timeout.ms": 500,
    "controller.quorum.election.timeout.ms": 300,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(3, config=QUICK, data=str(tmp_path_factory.mktemp("cluster"))) as cluster:
        yield cluster


@pytest.fixture
def whole(cluster):
    yield cluster
    cluster.mend()


def send_at(where, topic, value, *, acks=-1, timeout_s=3):
    """One try by the brokers at `where`; the offset."""
    with Client(where, timeout_s=timeout_s) as client:
        records = [Record(offset=-1, timestamp=1, key=None, value=value, headers=[])]
        return produce(client, TopicPartition(topic, 0), records, acks=acks)


def others(cluster, *without):
    return ",".join(
        node.bootstrap for node in cluster.nodes.values() if node.running and node.id not in without
    )


def values(where, topic):
    """All that can be read now."""
    with Client(where, timeout_s=5) as client:
        place, found = TopicPartition(topic, 0), []
        while records := fetch(client, {place: len(found)}, max_wait_ms=100)[place].records:
            found += [bytes(record.value) for record in records]
        return found


def test_6_and_34_a_leader_that_is_cut_off_acknowledges_nothing(whole):
    topic = whole.create_topic("cut-off")
    send_at(whole.bootstrap, topic, b"before")
    leader = whole.leader(topic)
    whole.partition([leader])
    with pytest.raises((ApiError, ClientError)):
        send_at(whole.nodes[leader].bootstrap, topic, b"never", timeout_s=2)
    assert values(whole.nodes[leader].bootstrap, topic) == [b"before"]
    whole.wait_for(lambda: send_at(others(whole, leader), topic, b"after") + 1)
    whole.heal()
    # Until it hears more the old leader goes on to tell what it knew.
    whole.wait_for(lambda: values(whole.bootstrap, topic) == [b"before", b"after"])


def stale_and_fresh(cluster, topic):
    """A topic of two replicas; the one has a record that the other lacks, and is dead; the other is back."""
    with Client(cluster.bootstrap) as client:
        create_topic(client, topic, replication_factor=2, configs={"min.insync.replicas": "1"})
    cluster.wait_for(lambda: len(cluster.describe(topic).isr_nodes) == 2)
    cluster.wait_for(lambda: send_at(cluster.bootstrap, topic, b"old") + 1)
    fresh = cluster.leader(topic)
    [stale] = [node for node in cluster.describe(topic).replica_nodes if node != fresh]
    cluster.kill(stale)
    cluster.wait_for(lambda: cluster.describe(topic).isr_nodes == [fresh])
    cluster.wait_for(lambda: send_at(others(cluster), topic, b"new") + 1)
    [third] = [node for node in cluster.nodes if node not in (stale, fresh)]
    cluster.kill(fresh)
    cluster.nodes[stale].spawn()
    cluster.nodes[stale].wait_ready()
    cluster.wait_for(lambda: cluster.describe(topic, node_id=third).leader_id == -1)
    return stale, fresh


def test_28_a_stale_replica_does_not_lead_while_the_one_in_sync_is_down(whole):
    _, fresh = stale_and_fresh(whole, "stale")
    time.sleep(0.5)
    assert whole.leader("stale") == -1
    whole.nodes[fresh].spawn()
    whole.nodes[fresh].wait_ready()
    whole.wait_for(lambda: whole.leader("stale") == fresh)
    whole.wait_for(lambda: len(whole.describe("stale").isr_nodes) == 2)
    whole.wait_for(lambda: values(whole.bootstrap, "stale") == [b"old", b"new"])


def test_29_an_unclean_election_is_allowed_while_the_partition_is_offline(whole):
    stale, fresh = stale_and_fresh(whole, "unclean")
    with Client(others(whole)) as client:
        changes = {"unclean.leader.election.enable": "true"}
        alter_configs(client, ResourceType.TOPIC, "unclean", set_=changes)
    whole.wait_for(lambda: whole.leader("unclean") == stale)
    assert values(whole.nodes[stale].bootstrap, "unclean") == [b"old"]
    whole.wait_for(lambda: send_at(others(whole), "unclean", b"other") + 1)
    whole.nodes[fresh].spawn()
    whole.nodes[fresh].wait_ready()
    whole.wait_for(lambda: len(whole.describe("unclean").isr_nodes) == 2)
    whole.wait_for(lambda: values(whole.bootstrap, "unclean") == [b"old", b"other"])


def suppressed(action):
    with suppress(ApiError, ClientError):
        action()


@pytest.mark.parametrize("delay_ms", [0, 5, 20])
def test_103_the_controller_dies_while_a_topic_is_made(whole, delay_ms):
    name = f"half-made-{delay_ms}"
    controller = whole.controller()

    def make():
        try:
            with Client(others(whole, controller), timeout_s=20) as client:
                create_topic(client, name, partitions=40)
        except ApiError as error:
            return error.code is ErrorCode.TOPIC_ALREADY_EXISTS
        return True

    first = threading.Thread(target=lambda: suppressed(make))
    first.start()
    time.sleep(delay_ms / 1000)
    whole.kill(controller)
    first.join()
    whole.wait_for(make)

    def all_led():
        [found] = whole.metadata(topics=[name]).topics
        return len(found.partitions) == 40 and all(part.leader_id > 0 for part in found.partitions)

    whole.wait_for(all_led)


def test_109_without_a_quorum_leaders_serve_and_nothing_changes(whole):
    topic = whole.create_topic("without-a-quorum")
    send_at(whole.bootstrap, topic, b"before")
    leader, before = whole.leader(topic), whole.describe(topic)
    pids = [node.pid for node in whole.nodes.values()]
    whole.partition([1], [2], [3])
    where = whole.nodes[leader].bootstrap
    assert values(where, topic) == [b"before"]
    assert send_at(where, topic, b"acks=1", acks=1) == 1
    with pytest.raises((ApiError, ClientError)), Client(where, timeout_s=2) as client:
        create_topic(client, "impossible")
    assert sorted(whole.describe(topic, node_id=leader).isr_nodes) == sorted(before.isr_nodes)
    whole.heal()
    whole.wait_for(lambda: send_at(whole.bootstrap, topic, b"after") + 1)
    whole.wait_for(whole.all_in_sync)
    assert b"before" in values(whole.bootstrap, topic)
    assert [node.pid for node in whole.nodes.values()] == pids
