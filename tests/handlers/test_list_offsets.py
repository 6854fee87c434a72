from __future__ import annotations

import random

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.generated.delete_records_request import DeleteRecordsPartition, DeleteRecordsTopic
from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kbroker.protocol.generated.offset_for_leader_epoch_request import (
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kbroker.protocol.record_batch import (
    CREATE_TIME,
    Record,
    build_batch,
    parse_batch_header,
    set_max_timestamp,
)
from tests.handlers.node import batch
from tests.handlers.test_fetch import produce
from tests.handlers.test_produce import to


def ask(client, *timestamps, topic="t", index=0, version=11, epoch=-1, **fields):
    wanted = [
        ListOffsetsPartition(partition_index=index, timestamp=timestamp, current_leader_epoch=epoch)
        for timestamp in timestamps
    ]
    topics = [ListOffsetsTopic(name=topic, partitions=wanted)]
    response = client.ask("ListOffsets", version, replica_id=-1, topics=topics, **fields)
    return response.topics[0].partitions


def one(client, timestamp, **fields):
    (answer,) = ask(client, timestamp, **fields)
    return answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch


@pytest.fixture
def client(node):
    node.topic("t", partitions=2)
    client = node.connect()
    for times in ((1000, 3000), (2000, 5000, 4000)):
        records = [Record(timestamp=time, value=b"x") for time in times]
        client.ask("Produce", 9, **to("t", bytes(build_batch(records))))
    return client


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (0, (1000, 0)),
        (1000, (1000, 0)),
        (1001, (3000, 1)),
        (3001, (5000, 3)),
        (4500, (5000, 3)),
        (5001, (-1, -1)),
        (-1, (-1, 5)),
        (-2, (-1, 0)),
        (-3, (5000, 3)),
        (-4, (-1, 0)),
        (-5, (-1, -1)),
        (-6, (-1, -1)),
    ],
)
def test_times_and_special_times(client, timestamp, expected):
    code, time, offset, epoch = one(client, timestamp)
    assert (code, time, offset) == (0, *expected)
    assert epoch == (0 if offset >= 0 else -1)


@pytest.mark.parametrize(("timestamp", "since"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11), (-7, 99)])
def test_special_times_are_too_new_for_old_versions(client, timestamp, since):
    for version in range(1, 12):
        code = one(client, timestamp, version=version)[0]
        assert code == (0 if version >= since else ErrorCode.UNSUPPORTED_VERSION), version


def test_errors_of_single_partitions(client):
    assert one(client, -1, epoch=2)[0] == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert one(client, -1, epoch=0)[0] == 0
    assert one(client, -1, epoch=-2)[0] == ErrorCode.FENCED_LEADER_EPOCH
    assert one(client, -1, index=7)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert one(client, -1, topic="nowhere")[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    (answer,) = ask(client, -1, -2)
    assert answer.error_code == ErrorCode.INVALID_REQUEST


def test_an_empty_partition(client):
    assert one(client, -1, index=1) == (0, -1, 0, 0)
    assert one(client, -2, index=1) == (0, -1, 0, 0)
    assert one(client, -3, index=1) == (0, -1, -1, -1)


def test_a_consumer_does_not_see_what_is_not_committed(node):
    node.topic("t", replicas=(1, 2))
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"a")))
    assert one(client, -1)[2] == 0
    assert one(client, 0)[2] == -1


def test_the_end_of_an_epoch(client):
    def end_of(epoch, current=-1, index=0):
        wanted = OffsetForLeaderPartition(partition=index, leader_epoch=epoch, current_leader_epoch=current)
        topics = [OffsetForLeaderTopic(topic="t", partitions=[wanted])]
        (answer,) = client.ask("OffsetForLeaderEpoch", 4, topics=topics).topics[0].partitions
        return answer.error_code, answer.leader_epoch, answer.end_offset

    assert end_of(0) == (0, 0, 5)
    assert end_of(1) == end_of(-1) == (0, -1, -1)
    assert end_of(0, current=4) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1)
    assert end_of(0, index=8) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)


def delete(client, offset, topic="t", index=0):
    topics = [
        DeleteRecordsTopic(
            name=topic, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
        )
    ]
    (answer,) = client.ask("DeleteRecords", 2, timeout_ms=1000, topics=topics).topics[0].partitions
    return answer.error_code, answer.low_watermark


def test_deleting_records_moves_the_start_and_never_back(client):
    assert delete(client, 3) == (0, 3)
    assert one(client, -2)[2] == 3
    assert delete(client, 1) == (0, 3)
    assert delete(client, 6) == delete(client, -2) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(client, -1) == (0, 5)
    assert delete(client, 0, index=9) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)


def test_topics_that_only_compact_keep_their_records(node):
    node.topic("t", cleanup_policy="compact")
    node.topic("u", cleanup_policy="compact,delete")
    client = node.connect()
    assert delete(client, 0) == (ErrorCode.POLICY_VIOLATION, -1)
    assert delete(client, 0, topic="u") == (0, 0)


def test_deletion_wakes_a_fetch_that_waits_below(node):
    from tests.handlers.test_fetch import want

    node.topic("t")
    client, other = node.connect(), node.connect()
    produce(client, "t", b"a")
    waiting = other.frame("Fetch", 11, max_wait_ms=9000, min_bytes=1000, topics=[want("t", 0)])
    other.send(waiting)
    assert other.answers() == []
    assert delete(client, 1) == (0, 1)
    (response,) = other.answers()
    assert response.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_partition_named_twice_in_two_entries_is_refused_once(client):
    def entry(*indexes):
        return ListOffsetsTopic(
            name="t",
            partitions=[ListOffsetsPartition(partition_index=index, timestamp=-2) for index in indexes],
        )

    answer = client.ask("ListOffsets", 7, replica_id=-1, topics=[entry(0, 1), entry(), entry(1)])
    assert [t.name for t in answer.topics] == ["t"]
    assert [(p.partition_index, p.error_code) for p in answer.topics[0].partitions] == [(0, 0), (1, 42)]


def test_of_a_partition_to_delete_from_the_last_offset_counts(client):
    topics = [
        DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])
        for offset in (4, 2)
    ]
    topics.append(DeleteRecordsTopic(name="none"))
    answer = client.ask("DeleteRecords", 2, topics=topics, timeout_ms=1000)
    assert [(t.name, [p.low_watermark for p in t.partitions]) for t in answer.topics] == [("t", [2])]


def test_long_batches_are_looked_into_elsewhere_and_nobody_waits_for_them(node, client):
    """Their headers promise a time that no record in them has."""
    jobs = []
    node.services.run_blocking = lambda work, done: jobs.append((work, done))
    value = random.Random(1).randbytes(12_000)
    for newest in (9_000, 9_500, 8_000):
        long = bytearray(build_batch([Record(timestamp=6_000, value=value)], codec=Codec.GZIP))
        set_max_timestamp(long, parse_batch_header(long), CREATE_TIME, newest)
        client.ask("Produce", 9, **to("t", bytes(long)))
    client.ask("Produce", 9, **to("t", bytes(build_batch([Record(timestamp=8_500, value=b"last")]))))

    def looked():
        work, done = jobs.pop()
        work()
        done(None)

    cases = [
        (7_000, 3, (0, 8_500, 8)),
        (9_400, 1, (0, -1, -1)),
        (5_500, 1, (0, 6_000, 5)),
        (-3, 4, (0, 8_500, 8)),
    ]
    for timestamp, looks, expected in cases:
        topics = [
            ListOffsetsTopic(
                name="t",
                partitions=[
                    ListOffsetsPartition(partition_index=index, timestamp=timestamp) for index in (0, 1)
                ],
            )
        ]
        client.send(client.frame("ListOffsets", 11, replica_id=-1, topics=topics))
        for _ in range(looks):
            assert client.answers() == []
            looked()
        (answer,) = client.answers()
        found, empty = answer.topics[0].partitions
        assert (found.error_code, found.timestamp, found.offset) == expected
        assert (empty.error_code, empty.offset) == (0, -1)
        assert not jobs
    damaged = bytearray(build_batch([Record(timestamp=9_900, value=value)], codec=Codec.GZIP))
    damaged[-20:-10] = bytes(10)
    set_max_timestamp(damaged, parse_batch_header(damaged), CREATE_TIME, 9_901)
    client.ask("Produce", 9, **to("t", bytes(damaged)))
    wanted = [ListOffsetsPartition(partition_index=0, timestamp=9_800)]
    topics = [ListOffsetsTopic(name="t", partitions=wanted)]
    client.send(client.frame("ListOffsets", 11, replica_id=-1, topics=topics))
    looked()
    (answer,) = client.answers()
    assert answer.topics[0].partitions[0].error_code == ErrorCode.INVALID_RECORD
