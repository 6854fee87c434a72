from __future__ import annotations

import pytest

from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.protocol.generated.describe_quorum_request import PartitionData, TopicData
from kbroker.protocol.generated.describe_topic_partitions_request import Cursor, TopicRequest
from kbroker.protocol.generated.update_features_request import FeatureUpdateKey
from tests.handlers.admin_node import AdminNode


@pytest.fixture(scope="module")
def node():
    node = AdminNode()
    topics = [
        CreatableTopic(name=name, num_partitions=count, replication_factor=1)
        for name, count in (("a", 3), ("b", 2), ("c", 1))
    ]
    node.ask("CreateTopics", 7, topics=topics, timeout_ms=1000)
    return node


# -- DescribeCluster -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_described_in_every_version(node, version):
    answer = node.ask("DescribeCluster", version, include_cluster_authorized_operations=version == 1)
    assert (answer.error_code, answer.cluster_id, answer.controller_id) == (0, "cluster", 1)
    assert [(b.broker_id, b.host, b.port, b.rack) for b in answer.brokers] == [(1, "h", 9092, None)]
    assert answer.cluster_authorized_operations == (8096 if version == 1 else -(2**31))


@pytest.mark.parametrize(
    ("endpoint_type", "code", "message"),
    [
        (
            2,
            114,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER",
        ),
        (0, 115, "Unsupported endpoint type 0"),
    ],
)
def test_controllers_are_elsewhere(node, endpoint_type, code, message):
    answer = node.ask("DescribeCluster", 1, endpoint_type=endpoint_type)
    assert (answer.error_code, answer.error_message, answer.cluster_id) == (code, message, "")


# -- DescribeTopicPartitions -----------------------------------------------------------------------------


def page(node, *names, limit=2000, cursor=None):
    start = None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1])
    answer = node.ask(
        "DescribeTopicPartitions",
        0,
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=start,
    )
    topics = [(t.name, t.error_code, [p.partition_index for p in t.partitions]) for t in answer.topics]
    following = answer.next_cursor
    return topics, None if following is None else (following.topic_name, following.partition_index)


def test_topics_come_by_name_and_all_if_none_is_named(node):
    everything = [("a", 0, [0, 1, 2]), ("b", 0, [0, 1]), ("c", 0, [0])]
    assert page(node, "c", "a", "b", "a") == (everything, None)
    assert page(node) == (everything, None)
    assert page(node, "zz", "a b", "c")[0] == [("a b", 17, []), ("c", 0, [0]), ("zz", 3, [])]


@pytest.mark.parametrize("limit", range(1, 8))
def test_pages_together_are_everything(node, limit):
    found, cursor, pages = [], None, 0
    while True:
        topics, cursor = page(node, "a", "b", "c", limit=limit, cursor=cursor)
        assert sum(len(partitions) for _, _, partitions in topics) <= limit
        found += [(name, index) for name, _, partitions in topics for index in partitions]
        pages += 1
        if cursor is None:
            break
    assert found == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("c", 0)]
    assert pages == -(-6 // limit)


def test_a_limit_below_one_is_one(node):
    assert page(node, "a", limit=0) == ([("a", 0, [0])], ("a", 1))
    assert page(node, "a", limit=-5) == ([("a", 0, [0])], ("a", 1))


@pytest.mark.parametrize(
    ("names", "cursor", "expected"),
    [
        (("a", "b"), ("a", 9), [("a", 0, []), ("b", 0, [0, 1])]),
        (("a", "b"), ("aa", 1), [("a", 42, []), ("b", 42, [])]),
        (("a",), ("a", -1), [("a", 42, [])]),
        ((), ("bb", 7), [("c", 0, [0])]),
    ],
)
def test_odd_cursors(node, names, cursor, expected):
    assert page(node, *names, cursor=cursor) == (expected, None)


# -- DescribeQuorum --------------------------------------------------------------------------------------


def quorum(node, version, *asked):
    topics = [
        TopicData(topic_name=name, partitions=[PartitionData(partition_index=index)]) for name, index in asked
    ]
    return node.ask("DescribeQuorum", version, topics=topics)


@pytest.mark.parametrize("version", range(3))
def test_the_quorum_is_described_in_every_version(node, version):
    answer = quorum(node, version, ("__cluster_metadata", 0))
    (partition,) = answer.topics[0].partitions
    assert (partition.error_code, partition.leader_id, partition.leader_epoch) == (0, 1, 1)
    assert partition.high_watermark == partition.current_voters[0].log_end_offset > 0
    assert [voter.replica_id for voter in partition.current_voters] == [1]
    if version >= 2:
        assert [n.node_id for n in answer.nodes] == [1]


@pytest.mark.parametrize(
    "asked", [[("a", 0)], [("__cluster_metadata", 1)], [("__cluster_metadata", 0), ("a", 0)]]
)
def test_only_the_metadata_partition_and_nothing_else(node, asked):
    answer = quorum(node, 2, *asked)
    assert {p.error_code for t in answer.topics for p in t.partitions} == {3}
    assert quorum(node, 2).topics == []


# -- UpdateFeatures, InitProducerId ----------------------------------------------------------------------


@pytest.mark.parametrize("version", range(3))
def test_features_are_updated_or_refused_in_every_version(node, version):
    def update(level):
        wanted = [FeatureUpdateKey(feature="metadata.version", max_version_level=level)]
        return node.ask("UpdateFeatures", version, feature_updates=wanted, timeout_ms=1000)

    done = update(33)
    assert (done.error_code, done.error_message) == (0, None)
    assert [r.error_message for r in done.results] == (["NONE"] if version < 2 else [])
    refused = update(34)
    assert refused.error_code == 95
    assert refused.error_message.endswith("Local controller 1 only supports versions 7-33")
    assert refused.results == []


@pytest.mark.parametrize("version", range(6))
def test_producers_get_ids_of_their_own(node, version):
    ids = [node.ask("InitProducerId", version, transactional_id=None).producer_id for _ in range(3)]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]


def test_a_transactional_id_is_not_empty(node):
    answer = node.ask("InitProducerId", 4, transactional_id="")
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (42, -1, -1)


@pytest.mark.parametrize(("producer_id", "epoch", "code"), [(-1, 0, 42), (5, -1, 42), (-1, -1, 0), (5, 0, 0)])
def test_a_producer_names_both_id_and_epoch_or_neither(node, producer_id, epoch, code):
    answer = node.ask(
        "InitProducerId", 3, transactional_id=None, producer_id=producer_id, producer_epoch=epoch
    )
    assert answer.error_code == code
