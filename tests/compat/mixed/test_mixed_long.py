"""kbroker and Apache Kafka in one cluster, at length: collected only with KBROKER_MIXED=all."""

from __future__ import annotations

import random
import signal
import time

import pytest

from kbroker.client.describe import describe_cluster, describe_quorum
from kbroker.client.features import update_features
from tests.compat.mixed.load import Group, Load, Transactions
from tests.compat.mixed.mixed_cluster import KAFKA, KBROKER, MixedCluster, assert_same_logs
from tests.compat.mixed.test_mixed_cluster import INTERNAL, SETTINGS
from tests.compat.mixed.test_roll_over import SETTINGS as ALONE, Roller
from tests.needs import need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(600)]

TOPICS = ["load", "exact", *INTERNAL]


@pytest.mark.parametrize("releases", [(KBROKER, KAFKA, KBROKER), (KAFKA, KBROKER, KAFKA)], ids="-".join)
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_in_a_storm(tmp_path, releases, seed):
    """One, two or all three nodes at once are killed, stopped or paused, again and again."""
    need_java()
    chance = random.Random(seed)
    with MixedCluster(tmp_path, releases, settings=SETTINGS) as cluster:
        for topic in ("load", "exact"):
            cluster.create(topic, [[1, 2, 3], [2, 3, 1], [3, 1, 2]], **{"min.insync.replicas": "2"})
        at = cluster.bootstrap
        with Load(at, "load", 3) as load, Group(at, "load") as group, Transactions(at, "exact", 3) as exact:
            parts = (load, group, exact)
            for _ in range(5):
                for part in parts:
                    part.wait_for_more()
                strike(cluster, chance)
                cluster.wait_for_brokers()
                cluster.wait_in_sync(*TOPICS)
            group.wait_for(dict(load.acknowledged))
        load.check(at)
        exact.check(at)
        cluster.wait_in_sync(*TOPICS)
        cluster.wait_quiet(*TOPICS)
        for topic in TOPICS:
            assert assert_same_logs(cluster.nodes.values(), topic, 3) > 20, topic
        assert assert_same_logs(cluster.nodes.values(), "__cluster_metadata", upto=1) > 20


def strike(cluster, chance):
    """Some nodes are gone for a while."""
    victims = [cluster.nodes[i] for i in chance.sample([1, 2, 3], chance.choice([1, 1, 2, 3]))]
    number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
    for node in victims:
        node.process.send_signal(number)
    time.sleep(chance.choice([0, 1, 8 if number == signal.SIGSTOP else 3]))
    for node in victims:
        if number == signal.SIGSTOP:
            node.process.send_signal(signal.SIGCONT)
        else:
            node.end(number)
            node.start()


@pytest.mark.parametrize("releases", [(KBROKER, KBROKER, KAFKA), (KAFKA, KAFKA, KBROKER)], ids="-".join)
def test_kraft_version_goes_up_in_a_quorum_of_both(tmp_path, releases) -> None:
    """KIP-853: the two that start first lead; then a voter of the other kind goes and comes back."""
    need_java()
    with MixedCluster(tmp_path, releases, settings=ALONE, late=[3]) as cluster:
        roller = Roller(cluster)
        cluster.restart(3)

        def upgraded(client) -> bool:
            levels = {feature.name: feature.level for feature in describe_cluster(client).features}
            if not levels.get("kraft.version"):
                update_features(client, {"kraft.version": 1})
            return levels.get("kraft.version") == 1

        cluster.wait(upgraded, "kraft.version 1")
        roller.leave(3)
        roller.join(3)
        cluster.kill(1)
        cluster.wait(lambda client: describe_quorum(client).leader in (2, 3), "another leader")
        cluster.create("after", [[2, 3]])
        cluster.restart(1)
        assert assert_same_logs(cluster.nodes.values(), "__cluster_metadata", upto=1) > 20


def test_a_node_goes_on_as_the_other_kind_on_the_same_folder(tmp_path) -> None:
    """With fixed voters: a Kafka node stops, kbroker starts with its properties and data; and back."""
    need_java()
    releases = [KAFKA, KBROKER, KBROKER]
    with MixedCluster(tmp_path, releases, settings=SETTINGS, made_by_kafka=True) as cluster:
        at = cluster.bootstrap
        for topic in ("load", "exact"):
            cluster.create(topic, [[1, 2, 3], [2, 3, 1], [3, 1, 2]], **{"min.insync.replicas": "2"})
        with Load(at, "load", 3) as load, Group(at, "load") as group, Transactions(at, "exact", 3) as exact:
            parts = (load, group, exact)
            for release in (KBROKER, KAFKA):
                for part in parts:
                    part.wait_for_more()
                node = cluster.nodes[1]
                node.end()
                node.release = release
                cluster.restart(1)
                cluster.wait_in_sync(*TOPICS)
                cluster.lead(1, TOPICS)
            for part in parts:
                part.wait_for_more()
            group.wait_for(dict(load.acknowledged))
        load.check(at)
        exact.check(at)
        cluster.wait_quiet(*TOPICS)
        for topic in TOPICS:
            assert assert_same_logs(cluster.nodes.values(), topic, 3) > 20, topic
