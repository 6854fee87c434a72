"""What a broker tells of its replicas' directories becomes records, where it is news."""

from __future__ import annotations

import pytest

from kbroker.controller.directories import assign_replicas
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.register_broker_record import RegisterBrokerRecord
from kbroker.protocol.generated.topic_record import TopicRecord

TOPIC = bytes(15) + b"\x77"
A, B, C = (bytes([number]) * 16 for number in (10, 11, 12))


def cluster(level=25):
    delta = ClusterDelta(ClusterImage(cluster_id="c"))
    for broker in (1, 2, 3):
        delta.replay(
            RegisterBrokerRecord(broker_id=broker, broker_epoch=broker, fenced=False, log_dirs=[A, B, C])
        )
    delta.replay(FeatureLevelRecord(name="metadata.version", feature_level=level))
    delta.replay(TopicRecord(name="t", topic_id=TOPIC))
    for index in range(2):
        delta.replay(
            PartitionRecord(
                partition_id=index,
                topic_id=TOPIC,
                replicas=[1, 2],
                isr=[1, 2],
                leader=1,
                directories=[A, C] if level >= 17 else [],
            )
        )
    return delta.image(10, 1)


def test_only_news_is_written_and_other_replicas_stay():
    told = {(TOPIC, 0): B, (TOPIC, 1): A, (TOPIC, 9): B, (A, 0): B}
    decision = assign_replicas(cluster(), 1, 1, told)
    [record] = decision.records
    assert (record.topic_id, record.partition_id, record.directories) == (TOPIC, 0, [B, C])
    assert list(decision.response.values()) == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    ]
    state = cluster().apply([record]).topics.partition("t", 0)
    assert (state.directory_of(1), state.directory_of(2), state.leader) == (B, C, 1)


def test_a_broker_without_a_replica_has_nothing_to_tell():
    decision = assign_replicas(cluster(), 3, 3, {(TOPIC, 0): B})
    assert list(decision.records) == []
    assert decision.response == {(TOPIC, 0): ErrorCode.NOT_LEADER_OR_FOLLOWER}


def test_old_metadata_has_no_place_for_it():
    with pytest.raises(ApiError) as refused:
        assign_replicas(cluster(16), 1, 1, {(TOPIC, 0): B})
    assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_a_replica_in_a_directory_that_is_not_online_leaves_the_isr():
    lost = bytes([99]) * 16
    decision = assign_replicas(cluster(), 1, 1, {(TOPIC, 0): lost})
    state = cluster().apply(decision.records).topics.partition("t", 0)
    assert (state.directory_of(1), state.isr, state.leader) == (lost, (2,), 2)
