"""The difference of two images says what the records between them would have said."""

from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import CONFIG_TOPIC, ClusterImage
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.register_broker_record import RegisterBrokerRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.generated.unregister_broker_record import UnregisterBrokerRecord


def topic_id(number):
    return number.to_bytes(16, "big")


def topic(number, partitions=2):
    yield TopicRecord(name=f"t{number}", topic_id=topic_id(number))
    for index in range(partitions):
        yield PartitionRecord(
            topic_id=topic_id(number), partition_id=index, replicas=[1, 2], isr=[1, 2], leader=1
        )


def broker(number):
    return RegisterBrokerRecord(broker_id=number, broker_epoch=number, incarnation_id=topic_id(number))


def base():
    return ClusterImage("c").apply(
        [*topic(1), *topic(2), *topic(3), broker(1), broker(2), FeatureLevelRecord(name="f", feature_level=1)]
    )


def fold(image, records):
    delta = ClusterDelta(image)
    for record in records:
        delta.replay(record)
    return delta.image(image.offset + len(records), 1), delta


def seen(delta):
    return (
        delta.topics,
        set(delta.deleted_topics),
        set(delta.configs),
        set(delta.brokers),
        delta.features_changed,
        delta.controllers_changed,
        delta.acls_changed,
    )


def test_nothing_differs_between_equal_images():
    delta = difference(base(), base())
    assert seen(delta) == ({}, set(), set(), set(), False, False, False)


def test_it_says_what_the_records_said():
    records = [
        RemoveTopicRecord(topic_id=topic_id(2)),
        *topic(4, partitions=1),
        PartitionChangeRecord(topic_id=topic_id(1), partition_id=1, isr=[1], leader=1),
        ConfigRecord(resource_type=CONFIG_TOPIC, resource_name="t1", name="retention.ms", value="1"),
        UnregisterBrokerRecord(broker_id=2, broker_epoch=2),
        broker(3),
        FeatureLevelRecord(name="g", feature_level=2),
    ]
    new, told = fold(base(), records)
    assert seen(difference(base(), new)) == seen(told)


def test_a_topic_made_anew_under_its_name_goes_and_comes():
    new, _ = fold(
        base(), [RemoveTopicRecord(topic_id=topic_id(2)), TopicRecord(name="t2", topic_id=topic_id(9))]
    )
    delta = difference(base(), new)
    assert delta.topics[topic_id(2)].new is None
    assert delta.topics[topic_id(9)].old is None


def test_a_config_that_is_gone_counts_as_changed():
    record = ConfigRecord(resource_type=CONFIG_TOPIC, resource_name="t1", name="retention.ms", value="1")
    old, _ = fold(base(), [record])
    assert list(difference(old, base()).configs) == [(CONFIG_TOPIC, "t1")]
