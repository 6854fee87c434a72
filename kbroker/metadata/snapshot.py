"""An image as records: what a snapshot holds. Folding them into an empty image gives the image back."""

from __future__ import annotations

from collections.abc import Iterator

from kbroker.metadata.image import (
    NOT_MIGRATED,
    BrokerImage,
    ClusterImage,
    ControllerImage,
    PartitionImage,
    TopicImage,
)
from kbroker.metadata.records import MetadataRecord
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.producer_ids_record import ProducerIdsRecord
from kbroker.protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kbroker.protocol.generated.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.generated.zk_migration_state_record import ZkMigrationStateRecord

_METADATA_VERSION = "metadata.version"


def image_records(image: ClusterImage) -> Iterator[MetadataRecord]:
    """The records of `image`, in the order of Kafka's snapshots; `metadata.version` comes first, because it
    decides how the others are written."""
    if _METADATA_VERSION in image.features:
        yield FeatureLevelRecord(name=_METADATA_VERSION, feature_level=image.features[_METADATA_VERSION])
    for name, level in image.features.items():
        if name != _METADATA_VERSION:
            yield FeatureLevelRecord(name=name, feature_level=level)
    if image.zk_migration_state != NOT_MIGRATED:
        yield ZkMigrationStateRecord(zk_migration_state=image.zk_migration_state)
    for broker in image.brokers.values():
        yield broker_record(broker)
    for controller in image.controllers.values():
        yield _controller_record(controller)
    for topic in image.topics:
        yield TopicRecord(name=topic.name, topic_id=topic.id)
        for index, partition in enumerate(topic.partitions):
            yield _partition_record(topic, index, partition)
    for (resource_type, resource), configs in image.configs.items():
        for name, value in configs.items():
            yield ConfigRecord(resource_type=resource_type, resource_name=resource, name=name, value=value)
    yield from _quota_records(image)
    if image.next_producer_id:
        yield ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=image.next_producer_id)
    yield from image.acls.values()
    yield from image.scram.values()
    yield from image.tokens.values()


def broker_record(broker: BrokerImage) -> RegisterBrokerRecord:
    """The registration that leads to this state of a broker."""
    return RegisterBrokerRecord(
        broker_id=broker.id,
        is_migrating_zk_broker=broker.is_migrating_zk_broker,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[
            BrokerEndpoint(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
            for e in broker.endpoints
        ],
        features=[
            BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in broker.features.items()
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.log_dirs),
        cordoned_log_dirs=None if broker.cordoned_log_dirs is None else list(broker.cordoned_log_dirs),
    )


def _controller_record(controller: ControllerImage) -> RegisterControllerRecord:
    return RegisterControllerRecord(
        controller_id=controller.id,
        incarnation_id=controller.incarnation_id,
        zk_migration_ready=controller.zk_migration_ready,
        end_points=[
            ControllerEndpoint(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
            for e in controller.endpoints
        ],
        features=[
            ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in controller.features.items()
        ],
    )


def _partition_record(topic: TopicImage, index: int, partition: PartitionImage) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic.id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing_replicas),
        adding_replicas=list(partition.adding_replicas),
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories),
        eligible_leader_replicas=list(partition.elr) or None,
        last_known_elr=list(partition.last_known_elr) or None,
    )


def _quota_records(image: ClusterImage) -> Iterator[ClientQuotaRecord]:
    for entity, quotas in image.quotas.items():
        for key, value in quotas.items():
            yield ClientQuotaRecord(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                key=key,
                value=value,
                remove=False,
            )
