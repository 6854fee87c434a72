"""kbroker and Apache Kafka in one cluster, all of them brokers and voters: whoever fails, nothing is lost.

KBROKER_MIXED=all (`make mixed`) adds other mixtures and releases.
"""

from __future__ import annotations

import os

import pytest

from tests.compat.mixed.java_load import JavaLoad
from tests.compat.mixed.load import Group, Load, Transactions
from tests.compat.mixed.mixed_cluster import KAFKA, KAFKA_39, KBROKER, MixedCluster, assert_same_logs
from tests.needs import need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(600)]

MADE = ["load", "exact", "java"]
INTERNAL = ["__consumer_offsets", "__transaction_state"]
SETTINGS = {
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
}
MIXTURES = [(KBROKER, KBROKER, KAFKA)]
if os.environ.get("KBROKER_MIXED") == "all":
    MIXTURES += [(KAFKA, KBROKER, KAFKA), (KBROKER, KAFKA_39, KBROKER), (KAFKA_39, KBROKER, KAFKA_39)]


@pytest.mark.parametrize("releases", MIXTURES, ids="-".join)
def test_nothing_is_lost_whoever_is_killed(tmp_path, releases):
    need_java()
    old = ["--release-version", "3.9"] if KAFKA_39 in releases else []
    with MixedCluster(tmp_path, releases, settings=SETTINGS, format_arguments=old) as cluster:
        for topic in MADE:
            cluster.create(topic, [[1, 2, 3], [2, 3, 1], [3, 1, 2]], **{"min.insync.replicas": "2"})
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
            for node_id in (3, 2):
                # Leader of everything, and so the coordinator of the group and of the transactions.
                cluster.lead(node_id, [*MADE, *INTERNAL])
                for part in parts:
                    part.wait_for_more()
                cluster.kill(node_id)
                for part in parts:
                    part.wait_for_more()
                cluster.restart(node_id)
                cluster.wait_in_sync(*MADE, *INTERNAL)
            for part in parts:
                part.wait_for_more()
            load_ended = dict(load.acknowledged)
            group.wait_for(load_ended)
        load.check(at)
        exact.check(at)
        java.check(at)
        cluster.wait_in_sync(*MADE, *INTERNAL)
        nodes = list(cluster.nodes.values())
        cluster.wait_quiet(*MADE, *INTERNAL)
        for topic in (*MADE, *INTERNAL):
            assert assert_same_logs(nodes, topic, 3) > 20, topic
        assert assert_same_logs(nodes, "__cluster_metadata", upto=1) > 20
