"""Requests of transactions with bytes changed, cut out or doubled: an answer or a closed connection, and
never our bug; and afterwards an honest transaction works.
"""

from __future__ import annotations

import logging

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kbroker.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kbroker.protocol.generated.write_txn_markers_request import WritableTxnMarker, WritableTxnMarkerTopic
from tests.handlers.node import Node, batch
from tests.handlers.transactional import Producer, with_transactions


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    node = with_transactions(Node(tmp_path_factory.mktemp("mutated") / "data"))
    node.publish(FeatureLevelRecord(name="transaction.version", feature_level=2))
    node.topic("__consumer_offsets", partitions=2, cleanup_policy="compact")
    node.topic("__transaction_state", partitions=2, cleanup_policy="compact")
    node.topic("t", partitions=3)
    return node


def requests(producer):
    who = {"producer_id": producer.id, "producer_epoch": producer.epoch}
    records = batch(b"a", **who, base_sequence=0, transactional=True)
    data = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=records)])]
    topics = [AddPartitionsToTxnTopic(name="t", partitions=[0, 1])]
    old = {f"v3_and_below_{name}": value for name, value in who.items()}
    old |= {"v3_and_below_transactional_id": "x", "v3_and_below_topics": topics}
    many = [AddPartitionsToTxnTransaction(transactional_id="x", topics=topics, **who)]
    offsets = [
        TxnOffsetCommitRequestTopic(
            name="t", partitions=[TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
        )
    ]
    marker = WritableTxnMarker(
        **who,
        transaction_result=True,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[1])],
        coordinator_epoch=0,
    )
    return [
        ("InitProducerId", 4, {"transactional_id": "x", "transaction_timeout_ms": 1000}),
        ("Produce", 12, {"transactional_id": "x", "acks": -1, "timeout_ms": 1000, "topic_data": data}),
        ("AddPartitionsToTxn", 3, old),
        ("AddPartitionsToTxn", 5, {"transactions": many}),
        ("AddOffsetsToTxn", 3, {"transactional_id": "x", "group_id": "g", **who}),
        ("TxnOffsetCommit", 5, {"transactional_id": "x", "group_id": "g", "topics": offsets, **who}),
        ("EndTxn", 5, {"transactional_id": "x", "committed": True, **who}),
        ("EndTxn", 0, {"transactional_id": "x", "committed": False, **who}),
        ("WriteTxnMarkers", 1, {"markers": [marker]}),
        ("DescribeTransactions", 0, {"transactional_ids": ["x", "y"]}),
        ("ListTransactions", 2, {"state_filters": ["Ongoing"], "transactional_id_pattern": "[a-z]+"}),
    ]


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_requests_are_answered_or_close(node, caplog, data):
    caplog.clear()
    producer = Producer(node.connect(), name=f"x{data.draw(st.integers(0, 3))}", timeout_ms=1000)
    client = node.connect()
    name, version, fields = data.draw(st.sampled_from(requests(producer)))
    body = bytearray(client.frame(name, version, **fields)[4:])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(4, len(body)))
        change = data.draw(st.sampled_from(["set", "cut", "double"]))
        if change == "set":
            body[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
        elif change == "cut":
            del body[at : at + data.draw(st.integers(1, 8))]
        else:
            body[at:at] = body[at : at + data.draw(st.integers(1, 8))]
    client.send(len(body).to_bytes(4, "big") + bytes(body))
    client.core.take_output()
    node.advance(20_000)  # what it began is aborted
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR], caplog.text
    honest = Producer(node.connect(), name="honest", timeout_ms=60_000)
    assert honest.commit_offset(3, group="honest") == 0
    honest.next()
