"""Scenario 130 of correctness.md: what an ACL takes away is away at once, also for who recognises requests by
their bytes and for a Fetch that waits; DENY beats ALLOW."""

from __future__ import annotations

import itertools

import pytest

from kbroker.broker.access import Access
from kbroker.handlers.context import RequestContext
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kbroker.security.acl import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kbroker.security.authorizer import AclAuthorizer, Chain
from tests.handlers.node import Node, batch

DENIED = 29


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path / "data")
    acls = AclAuthorizer()
    access = node.services.authorizer = Access(Chain([acls]), acls)
    node.cache.subscribe(access.on_metadata)
    node.services.clients.on_closed(access.on_closed)
    node.acl_ids = itertools.count(1)
    return node


def allow(node, operation, name="t", kind=ResourceType.TOPIC, permission=Permission.ALLOW, **more):
    """Add an entry; its id."""
    key = next(node.acl_ids).to_bytes(16, "big")
    fields = {"pattern_type": PatternType.LITERAL, "principal": "User:ANONYMOUS", "host": "*", **more}
    node.publish(
        AccessControlEntryRecord(
            id=key,
            resource_type=kind,
            resource_name=name,
            operation=operation,
            permission_type=permission,
            **fields,
        )
    )
    return key


def remove(node, key):
    node.publish(RemoveAccessControlEntryRecord(id=key))


def produce(client, topic="t", **more):
    part = PartitionProduceData(index=0, records=batch(b"x"))
    fields = {"acks": 1, "timeout_ms": 1000, **more}
    return client.frame(
        "Produce", 9, topic_data=[TopicProduceData(name=topic, partition_data=[part])], **fields
    )


def produce_code(client):
    client.send(produce(client))
    (answer,) = client.answers()
    return answer.responses[0].partition_responses[0].error_code


def fetch(client, topic="t", **more):
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20, current_leader_epoch=-1)
    fields = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, **more}
    return client.frame(
        "Fetch", 12, session_epoch=-1, topics=[FetchTopic(topic=topic, partitions=[part])], **fields
    )


def fetch_part(client, **more):
    client.send(fetch(client, **more))
    (answer,) = client.answers()
    return answer.responses[0].partitions[0]


def test_a_producer_that_is_recognised_is_stopped(node):
    node.topic("t")
    client = node.connect()
    assert produce_code(client) == DENIED
    key = allow(node, Operation.WRITE)
    assert produce_code(client) == 0
    assert client.core.produce_cache.by_bytes
    assert produce_code(client) == 0
    remove(node, key)
    assert not client.core.produce_cache.by_bytes
    assert produce_code(client) == DENIED


def test_what_is_refused_is_not_recognised(node):
    node.topic("t")
    client = node.connect()
    for _ in range(3):
        assert produce_code(client) == DENIED
    cache = client.core.produce_cache
    assert cache is None or not cache.by_bytes


def test_a_transactional_id_that_nobody_looked_at_is_not_recognised(node):
    """CVE-2018-17196: plain batches under a transactional id must not open the way for transactional ones."""
    node.topic("t")
    allow(node, Operation.WRITE)
    client = node.connect()
    for _ in range(2):
        client.send(produce(client, transactional_id="mine"))
        (answer,) = client.answers()
        assert answer.responses[0].partition_responses[0].error_code == 0
    assert client.core.produce_cache is None or not client.core.produce_cache.by_bytes


def test_acks_0_without_permission_closes(node):
    node.topic("t")
    client = node.connect()
    client.send(produce(client, acks=0))
    assert not client.answers()
    assert client.closed


def test_a_fetch_that_waits_is_refused(node):
    node.topic("t")
    reader, writer = node.connect(), node.connect()
    allow(node, Operation.WRITE)
    key = allow(node, Operation.READ)
    reader.send(fetch(reader, max_wait_ms=5000))
    assert not reader.answers()  # it waits
    remove(node, key)
    assert produce_code(writer) == 0
    (answer,) = reader.answers()
    part = answer.responses[0].partitions[0]
    assert part.error_code == DENIED
    assert not part.records
    assert fetch_part(reader).error_code == DENIED


def test_a_denial_beats_what_is_allowed(node):
    node.topic("t")
    client = node.connect()
    allow(node, Operation.ALL, "", pattern_type=PatternType.PREFIXED, principal="User:*")
    assert fetch_part(client).error_code == 0
    key = allow(node, Operation.READ, permission=Permission.DENY, host="127.0.0.1")
    assert fetch_part(client).error_code == DENIED
    assert produce_code(client) == 0
    remove(node, key)
    assert fetch_part(client).error_code == 0
    allow(node, Operation.READ, permission=Permission.DENY, host="127.0.0.2")
    assert fetch_part(client).error_code == 0


def test_prefixes_and_names_come_together(node):
    for name in ("pay-a", "pay-b", "other"):
        node.topic(name)
    client = node.connect()
    allow(node, Operation.READ, "pay-", pattern_type=PatternType.PREFIXED)
    allow(node, Operation.READ, "pay-b", permission=Permission.DENY)
    found = {name: fetch_part(client, topic=name).error_code for name in ("pay-a", "pay-b", "other", "pay-")}
    assert found == {"pay-a": 0, "pay-b": DENIED, "other": DENIED, "pay-": 3}


def test_who_calls_himself_a_replica_moves_nothing(node):
    """CVE-2018-1288: the offsets of a Fetch with a replica id count as copies."""
    node.topic("t", replicas=(1, 2), isr=(1, 2))
    allow(node, Operation.ALL)
    client = node.connect()
    assert produce_code(client) == 0
    partition = node.replicas.led("t", 0)
    before = partition.high_watermark
    assert fetch_part(client, replica_id=2).error_code == DENIED
    assert partition.high_watermark == before
    allow(node, Operation.CLUSTER_ACTION, CLUSTER_NAME, ResourceType.CLUSTER)
    assert fetch_part(client, replica_id=2).error_code == 0


def test_who_calls_himself_a_replica_sees_no_more_than_a_consumer(node):
    """CVE-2018-1288: the end of the log is for followers."""
    node.topic("t", replicas=(1, 2), isr=(1, 2))
    allow(node, Operation.ALL)
    client = node.connect()
    assert produce_code(client) == 0

    def end():
        wanted = ListOffsetsPartition(partition_index=0, timestamp=-1)
        topics = [ListOffsetsTopic(name="t", partitions=[wanted])]
        answer = client.ask("ListOffsets", 4, replica_id=2, topics=topics)
        return answer.topics[0].partitions[0].offset

    assert end() == 0
    allow(node, Operation.CLUSTER_ACTION, CLUSTER_NAME, ResourceType.CLUSTER)
    assert end() == 1


def test_connections_that_close_are_forgotten(node):
    node.topic("t")
    allow(node, Operation.WRITE)
    client = node.connect()
    assert produce_code(client) == 0
    access = node.services.authorizer
    assert access._learned
    access.on_closed(client.core.context.connection_id)
    assert not access._learned


def test_another_principal_has_its_own_decisions(node):
    allow(node, Operation.READ, principal="User:ann")
    access = node.services.authorizer
    client = node.connect()
    context = RequestContext(client.core.context, 1, 12, 1)
    assert not access.allows(context, Operation.READ, ResourceType.TOPIC, "t")
    client.core.context.principal = "User:ann"
    assert access.allows(context, Operation.READ, ResourceType.TOPIC, "t")
