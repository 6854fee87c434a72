"""What a broker tells of its replicas' directories becomes records, where it is news."""

from __future__ import annotations

from kbroker.controller.directories import assign_directories
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
    for broker in (1, 2):
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
    decision = assign_directories(cluster(), 1, {(TOPIC, 0): B, (TOPIC, 1): A, (TOPIC, 9): B, (A, 0): B})
    [record] = decision.records
    assert (record.topic_id, record.partition_id, record.directories) == (TOPIC, 0, [B, C])
    after = ClusterDelta(cluster())
    after.replay(record)
    state = after.image(11, 1).topics.partition("t", 0)
    assert (state.directory_of(1), state.directory_of(2), state.leader) == (B, C, 1)


def test_a_broker_without_a_replica_has_nothing_to_tell():
    assert list(assign_directories(cluster(), 3, {(TOPIC, 0): B}).records) == []


def test_old_metadata_has_no_place_for_it():
    assert list(assign_directories(cluster(16), 1, {(TOPIC, 0): B}).records) == []
