"""An idempotent producer (librdkafka) with five requests in flight, while leaders move."""

from __future__ import annotations

import pytest

from kbroker.testing import Cluster
from tests.compat.mixed.load import Load
from tests.testing.test_cluster import QUICK


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    data = str(tmp_path_factory.mktemp("pipelined"))
    with Cluster(3, config=QUICK, data=data, in_process=True, links=False) as cluster:
        yield cluster


def test_nothing_is_doubled_or_out_of_order_when_leaders_move(cluster):
    topic = cluster.create_topic("moves", 2)
    with Load(cluster.bootstrap, topic, 2, in_flight=5) as load:
        load.wait_for_more()
        for end in (cluster.kill, cluster.stop_node):
            victim = cluster.leader(topic)
            end(victim)
            load.wait_for_more()
            cluster.restart(victim)
            cluster.wait_for(cluster.all_in_sync, 60)
    load.check(cluster.bootstrap)
