"""What is copied for a reassignment is counted by itself, at both ends."""

from __future__ import annotations

from types import SimpleNamespace

from kbroker.client.cluster import Cluster as Client
from kbroker.client.reassignments import alter_reassignments, list_reassignments
from kbroker.client.records import produce
from kbroker.client.topics import create_topic
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.testing import Cluster
from kbroker.types import TopicPartition
from tests.metrics.scrape import Scraped

RECORDS = [Record(-1, 1_700_000_000_000, b"k", b"v" * 500)] * 5
SIZE = len(build_batch(RECORDS))
_BYTES = "kafka_server_brokertopicmetrics_reassignmentbytes{}_total"


def test_both_ends_count():
    config = {"kbroker.metrics.listener": "127.0.0.1:0", "min.insync.replicas": "1"}
    place = TopicPartition("moved", 0)
    with Cluster(2, in_process=True, config=config) as cluster, Client(cluster.bootstrap) as client:
        create_topic(client, "moved", assignment=[[1]])
        # Either node may be asked who leads it.
        cluster.wait_for(lambda: not any(_asked(cluster, node).error_code for node in (1, 2)))
        for _ in range(4):
            produce(client, place, RECORDS)

        def told(node, way):
            runner = cluster.nodes[node]._runner
            return Scraped(SimpleNamespace(_runner=SimpleNamespace(node=runner._node))).value(
                _BYTES.format(way)
            )

        assert told(1, "out") == told(2, "in") == 0
        alter_reassignments(client, {place: [1, 2]})
        cluster.wait_for(lambda: not list_reassignments(client))
        assert told(1, "out") == told(2, "in") == 4 * SIZE


def _asked(cluster, node):
    return cluster.metadata(node, ["moved"]).topics[0]
