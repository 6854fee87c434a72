"""Valid requests with bytes changed, cut out or doubled: an answer or a closed connection, and never our
bug.
"""

from __future__ import annotations

import logging

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kbroker.broker.client_metrics import ClientMetrics, subscription_id
from kbroker.protocol.compression import compress
from kbroker.protocol.generated.delete_records_request import DeleteRecordsPartition, DeleteRecordsTopic
from kbroker.protocol.generated.describe_log_dirs_request import DescribableLogDirTopic
from kbroker.protocol.generated.describe_producers_request import TopicRequest
from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kbroker.protocol.generated.offset_for_leader_epoch_request import (
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.handlers.node import Node, batch
from tests.handlers.test_fetch import want
from tests.handlers.test_produce import to
from tests.protocol.test_otlp import SAMPLE

OFFSETS = [ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=-1)])]
EPOCHS = [OffsetForLeaderTopic(topic="t", partitions=[OffsetForLeaderPartition()])]
RECORDS = [DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(offset=0)])]
SOFTWARE = {"client_software_name": "x", "client_software_version": "1"}
PUSH = {"client_instance_id": b"i" * 16, "subscription_id": subscription_id((), 300_000, b"i" * 16)}


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    node = Node(tmp_path_factory.mktemp("mutated") / "data")
    node.topic("t")
    node.services.client_metrics = ClientMetrics(keeps=True)
    return node


def requests(topic_id):
    idempotent = batch(b"a", producer_id=1, producer_epoch=0, base_sequence=0)
    return [
        ("Produce", 3, to("t", batch(b"a", b"b"))),
        ("Produce", 9, to("t", idempotent, acks=-1)),
        ("Produce", 13, to("", batch(b"a"), topic_id=topic_id)),
        ("Fetch", 4, {"topics": [want("t")]}),
        ("Fetch", 11, {"topics": [want("t")], "session_epoch": 0}),
        ("Fetch", 12, {"topics": [want("t", last_fetched_epoch=0)], "session_id": 1, "session_epoch": 1}),
        ("Fetch", 17, {"topics": [want("", topic_id=topic_id)]}),
        ("ListOffsets", 1, {"topics": OFFSETS}),
        ("ListOffsets", 11, {"topics": OFFSETS}),
        ("ApiVersions", 5, SOFTWARE),
        ("OffsetForLeaderEpoch", 4, {"topics": EPOCHS}),
        ("DeleteRecords", 2, {"topics": RECORDS}),
        ("DescribeProducers", 0, {"topics": [TopicRequest(name="t", partition_indexes=[0])]}),
        ("DescribeLogDirs", 4, {"topics": [DescribableLogDirTopic(topic="t", partitions=[0])]}),
        ("GetTelemetrySubscriptions", 0, {"client_instance_id": b"i" * 16}),
        ("PushTelemetry", 0, {**PUSH, "metrics": SAMPLE}),
        ("PushTelemetry", 0, {**PUSH, "metrics": compress(1, SAMPLE), "compression_type": 1}),
        ("KbrokerCommand", 0, {"command": "clients", "arguments": b'{"gone": true, "limit": 3}'}),
        ("KbrokerCommand", 0, {"command": "client_metrics", "arguments": b'{"client_id": "test"}'}),
    ]


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_requests_are_answered_or_close(node, caplog, data):
    caplog.clear()
    client = node.connect()
    client.core.context.client_software_name = "kbroker"
    node.services.client_metrics.on_closed(client.core.context.connection_id)
    if data.draw(st.booleans()):
        # Known prefixes are read by another path.
        client.ask("Produce", 9, **to("t", batch(b"warm")))
    name, version, fields = data.draw(st.sampled_from(requests(node.cache.image.topics.get("t").id)))
    body = bytearray(client.frame(name, version, **fields)[4:])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(4, len(body)))
        kind = data.draw(st.sampled_from(["set", "cut", "add", "end"]))
        if kind == "set" and at < len(body):
            body[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF, body[at] ^ 1]))
        elif kind == "cut":
            del body[at : at + data.draw(st.integers(1, 8))]
        elif kind == "add":
            body[at:at] = data.draw(st.binary(min_size=1, max_size=8))
        elif kind == "end" and at >= 8:
            del body[at:]
    frame = len(body).to_bytes(4, "big") + body
    if data.draw(st.booleans()):
        client.core.feed(memoryview(bytearray(frame)))
    else:
        for byte in frame:
            client.core.feed(memoryview(bytearray([byte])))
    client.core.take_output()
    client.core.abandon()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(node.replicas.fetches) == 0
