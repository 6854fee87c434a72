from __future__ import annotations

import pytest

from kbroker.metadata.delta import ClusterDelta, MetadataCorruption, full_delta
from kbroker.metadata.image import CONFIG_TOPIC, ClusterImage
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.protocol.generated.clear_elr_record import ClearElrRecord
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.generated.unregister_broker_record import UnregisterBrokerRecord


def topic_id(number):
    return number.to_bytes(16, "big")


def topic(name, number, partitions=1):
    records = [TopicRecord(name=name, topic_id=topic_id(number))]
    for index in range(partitions):
        records.append(
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id(number),
                replicas=[1, 2],
                isr=[1, 2],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            )
        )
    return records


EMPTY = ClusterImage("c")


def test_topics_by_name_and_id_and_partition():
    image = EMPTY.apply(topic("a", 7, partitions=3))
    assert image.offset == 3
    assert image.topics.get("a") is image.topics.by_id(topic_id(7))
    assert len(image.topics.get("a").partitions) == 3
    assert image.topics.partition("a", 2).leader == 1
    assert image.topics.partition("a", 3) is None
    assert image.topics.partition("a", -1) is None
    assert image.topics.get("b") is None
    assert "a" in image.topics
    assert image.topics.names() == ["a"]


def test_an_image_never_changes_and_shares_what_is_untouched():
    first = EMPTY.apply([*topic("a", 1), *topic("b", 2)])
    second = first.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id(1), leader=2)])
    assert first.topics.partition("a", 0).leader == 1
    assert second.topics.partition("a", 0).leader == 2
    assert second.topics.get("b") is first.topics.get("b")
    assert second.brokers is first.brokers


def test_a_named_leader_gets_a_new_epoch_even_if_it_is_the_same():
    image = EMPTY.apply(topic("a", 1))
    again = image.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id(1), leader=1)])
    partition = again.topics.partition("a", 0)
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 1, 1)


def test_an_isr_change_alone_keeps_the_leader_epoch():
    image = EMPTY.apply(topic("a", 1))
    shrunk = image.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id(1), isr=[1])])
    partition = shrunk.topics.partition("a", 0)
    assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == ((1,), 0, 1)


def test_a_removed_topic_takes_its_configs_along():
    image = EMPTY.apply(
        [
            *topic("a", 1),
            ConfigRecord(resource_type=CONFIG_TOPIC, resource_name="a", name="retention.ms", value="5"),
        ]
    )
    assert image.topic_config("a") == {"retention.ms": "5"}
    delta = ClusterDelta(image)
    delta.replay(RemoveTopicRecord(topic_id=topic_id(1)))
    gone = delta.image(9, 1)
    assert gone.topic_config("a") == {}
    assert len(gone.topics) == 0
    assert delta.topics[topic_id(1)].old.name == "a"
    assert delta.topics[topic_id(1)].new is None
    assert (CONFIG_TOPIC, "a") in delta.configs


def test_a_topic_may_come_back_under_its_name_in_the_same_batch():
    image = EMPTY.apply(topic("a_x", 1))
    delta = ClusterDelta(image)
    delta.replay(RemoveTopicRecord(topic_id=topic_id(1)))
    for record in topic("a_x", 2, partitions=2):
        delta.replay(record)
    new = delta.image(9, 1)
    assert new.topics.get("a_x").id == topic_id(2)
    assert new.topics.by_id(topic_id(1)) is None
    assert new.topics.collides_with("a.x") == "a_x"
    assert delta.topics[topic_id(1)].new is None
    assert delta.topics[topic_id(2)].old is None


def test_a_topic_that_comes_and_goes_in_one_batch_leaves_nothing():
    delta = ClusterDelta(EMPTY)
    for record in [*topic("a", 1), RemoveTopicRecord(topic_id=topic_id(1))]:
        delta.replay(record)
    assert len(delta.image(1, 1).topics) == 0
    assert delta.topics == {}


def test_names_collide_in_dots_and_underscores_only():
    image = EMPTY.apply(topic("my.topic_x", 1))
    assert image.topics.collides_with("my_topic.x") == "my.topic_x"
    assert image.topics.collides_with("my.topic_x") is None
    assert image.topics.collides_with("mytopicx") is None
    gone = image.apply([RemoveTopicRecord(topic_id=topic_id(1))])
    assert gone.topics.collides_with("my_topic.x") is None


def test_configs_are_set_and_unset():
    def config(value):
        return ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value=value)

    image = EMPTY.apply([config("1"), config("2")])
    assert image.config(4, "") == {"log.retention.ms": "2"}
    assert image.apply([config(None)]).configs == {}


def test_features_of_level_zero_are_not_finalized():
    image = EMPTY.apply([FeatureLevelRecord(name="metadata.version", feature_level=33)])
    assert image.metadata_version == 33
    assert image.apply([FeatureLevelRecord(name="metadata.version", feature_level=0)]).features == {}


def test_brokers_register_change_and_leave():
    image = EMPTY.apply(
        [
            RegisterBrokerRecord(
                broker_id=1,
                broker_epoch=0,
                incarnation_id=topic_id(5),
                end_points=[BrokerEndpoint(name="PLAINTEXT", host="h", port=9, security_protocol=0)],
                log_dirs=[topic_id(6)],
            )
        ]
    )
    assert image.live_brokers() == []
    alive = image.apply([BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=0, fenced=-1)])
    assert alive.live_brokers()[0].endpoint("PLAINTEXT").host == "h"
    assert alive.live_brokers()[0].endpoint("OTHER") is None
    assert alive.brokers[1].active
    assert (
        not alive.apply(
            [BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=0, in_controlled_shutdown=1)]
        )
        .brokers[1]
        .active
    )
    assert alive.apply([UnregisterBrokerRecord(broker_id=1, broker_epoch=0)]).brokers == {}


def test_elrs_are_cleared_for_one_topic_or_all():
    image = EMPTY.apply([*topic("a", 1), *topic("b", 2)])
    change = {"isr": [1], "eligible_leader_replicas": [2], "last_known_elr": [2]}
    image = image.apply(
        [PartitionChangeRecord(partition_id=0, topic_id=topic_id(n), **change) for n in (1, 2)]
    )
    assert image.topics.partition("a", 0).elr == (2,)
    one = image.apply([ClearElrRecord(topic_name="a")])
    assert one.topics.partition("a", 0).elr == ()
    assert one.topics.partition("b", 0).elr == (2,)
    every = image.apply([ClearElrRecord(topic_name="")])
    assert [t.partitions[0].last_known_elr for t in every.topics] == [(), ()]


def test_quota_entities_do_not_depend_on_the_order_of_their_parts():
    def quota(order, **fields):
        parts = [
            EntityData(entity_type=kind, entity_name=name)
            for kind, name in [("user", "u"), ("client-id", None)][::order]
        ]
        return ClientQuotaRecord(entity=parts, key="producer_byte_rate", **fields)

    image = EMPTY.apply([quota(1, value=5.0)])
    assert image.quotas == {(("client-id", None), ("user", "u")): {"producer_byte_rate": 5.0}}
    assert image.apply([quota(-1, remove=True)]).quotas == {}


@pytest.mark.parametrize(
    "record",
    [
        PartitionChangeRecord(partition_id=0, topic_id=topic_id(9), leader=1),
        PartitionRecord(partition_id=0, topic_id=topic_id(9)),
        RemoveTopicRecord(topic_id=topic_id(9)),
        BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=1, fenced=1),
        UnregisterBrokerRecord(broker_id=3, broker_epoch=1),
    ],
    ids=lambda record: record.NAME,
)
def test_records_that_fit_nothing_are_corruption(record):
    with pytest.raises(MetadataCorruption):
        EMPTY.apply([record])


def test_a_partition_may_not_be_missing():
    image = EMPTY.apply(topic("a", 1))
    with pytest.raises(MetadataCorruption, match="lacks partition 1"):
        image.apply([PartitionRecord(partition_id=2, topic_id=topic_id(1))])


def test_a_full_delta_tells_everything_as_new():
    image = EMPTY.apply(
        [
            *topic("a", 1, partitions=2),
            ConfigRecord(resource_type=CONFIG_TOPIC, resource_name="a", name="retention.ms", value="5"),
        ]
    )
    delta = full_delta(image)
    change = delta.topics[topic_id(1)]
    assert change.old is None
    assert change.new is image.topics.get("a")
    assert sorted(change.partitions) == [0, 1]
    assert list(delta.configs) == [(CONFIG_TOPIC, "a")]


def test_one_of_ten_thousand_topics_changes_without_touching_the_others():
    image = EMPTY.apply([record for n in range(1, 10_001) for record in topic(f"t{n}", n)])
    changed = image.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id(500), leader=2)])
    same = sum(changed.topics.get(t.name) is t for t in image.topics)
    assert same == 9_999
