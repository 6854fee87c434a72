"""Brokers and controllers come, go, and come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kbroker.controller.decision import Decision
from kbroker.controller.features import is_latent
from kbroker.controller.partitions import DIRECTORY_LEVEL, broker_back, broker_gone
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import BrokerImage, ClusterImage, Endpoint, FeatureRange
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
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
from kbroker.protocol.primitives import Message
from kbroker.types import Uuid

#: `metadata.version` from which controllers register (3.7-IV0) and registrations tell of cordoned
#: directories.
CONTROLLER_LEVEL = 15
CORDON_LEVEL = 32


class NodeRegistration(NamedTuple):
    """What a node says of itself when it starts; `incarnation_id` is new with every process."""

    id: int
    incarnation_id: Uuid
    endpoints: Sequence[Endpoint]
    features: Mapping[str, FeatureRange]
    rack: str | None = None
    log_dirs: Sequence[Uuid] = ()


def register_controller(image: ClusterImage, node: NodeRegistration) -> Decision[None]:
    """A controller tells its endpoints and features (KIP-919)."""
    if image.metadata_version < CONTROLLER_LEVEL:
        return Decision(None)
    record = RegisterControllerRecord(
        controller_id=node.id,
        incarnation_id=node.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            ControllerEndpoint(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
            for e in node.endpoints
        ],
        features=[
            ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in node.features.items()
        ],
    )
    return Decision(None, [record])


def register_broker(image: ClusterImage, node: NodeRegistration) -> Decision[int]:
    """A broker registers, fenced; the answer is its epoch: the offset of the first record.

    An older incarnation is gone: what it led is without it until the new one is unfenced.

    Raises:
        ApiError: UNSUPPORTED_VERSION, the broker cannot work at a finalized feature level;
            INVALID_REGISTRATION, its log directories are not all different.
    """
    check_features(image, node.features)
    if len(set(node.log_dirs)) != len(node.log_dirs):
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "Duplicate log directories in the registration.")
    old = image.brokers.get(node.id)
    records: list[Message] = []
    if old is None or old.incarnation_id != node.incarnation_id:
        records += broker_gone(image, node.id)
    epoch = image.offset + 1
    level = image.metadata_version
    records.append(
        RegisterBrokerRecord(
            broker_id=node.id,
            incarnation_id=node.incarnation_id,
            broker_epoch=epoch,
            end_points=[
                BrokerEndpoint(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
                for e in node.endpoints
            ],
            features=[
                BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in node.features.items()
            ],
            rack=node.rack,
            fenced=True,
            log_dirs=list(node.log_dirs) if level >= DIRECTORY_LEVEL else [],
            cordoned_log_dirs=[] if level >= CORDON_LEVEL else None,
        )
    )
    # Not atomic: leadership given up before the registration is what a crash in between means anyway.
    return Decision(epoch, records, atomic=False)


def check_features(image: ClusterImage, features: Mapping[str, FeatureRange]) -> None:
    """Can a broker with these features serve the cluster?

    Raises:
        ApiError: UNSUPPORTED_VERSION, it cannot work at a finalized level.
    """
    for name, level in image.features.items():
        if name not in features and is_latent(name, level):
            continue
        supported = features.get(name)
        if supported is None or not supported.min_level <= level <= supported.max_level:
            known = "does not support it" if supported is None else f"supports {supported[0]}-{supported[1]}"
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version {level} of "
                f"{name}. The broker {known}.",
            )


def unfence_broker(image: ClusterImage, broker_id: int, broker_epoch: int) -> Decision[None]:
    """The broker has caught up with the metadata and serves: it may lead.

    Raises:
        ApiError: STALE_BROKER_EPOCH or BROKER_ID_NOT_REGISTERED.
    """
    if not _registered(image, broker_id, broker_epoch).fenced:
        return Decision(None)
    change = BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker_epoch, fenced=-1)
    return Decision(None, [change, *broker_back(image, broker_id)], atomic=False)


def fence_broker(image: ClusterImage, broker_id: int, broker_epoch: int) -> Decision[None]:
    """The broker does not serve any more: it has stopped, or was not heard of for too long.

    Raises:
        ApiError: STALE_BROKER_EPOCH or BROKER_ID_NOT_REGISTERED.
    """
    if _registered(image, broker_id, broker_epoch).fenced:
        return Decision(None)
    change = BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker_epoch, fenced=1)
    return Decision(None, [*broker_gone(image, broker_id), change], atomic=False)


def _registered(image: ClusterImage, broker_id: int, broker_epoch: int) -> BrokerImage:
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED)
    if broker.epoch != broker_epoch:
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH)
    return broker


def join_broker(image: ClusterImage, node: NodeRegistration) -> Decision[int]:
    """Registration and unfencing in one step, for the broker in the controller's own process: it has all
    metadata already. The answer is its epoch. Raises as `register_broker`.

    A partition that would be given up and taken back in this step is only led anew: one record, one epoch.
    """
    registered = register_broker(image, node)
    unfenced = unfence_broker(image.apply(registered.records), node.id, registered.response)
    taken_back = {
        (record.topic_id, record.partition_id)
        for record in unfenced.records
        if isinstance(record, PartitionChangeRecord) and record.isr is None
    }
    records = [
        record
        for record in registered.records
        if not (
            isinstance(record, PartitionChangeRecord)
            and record.isr is None
            and (record.topic_id, record.partition_id) in taken_back
        )
    ]
    return Decision(registered.response, [*records, *unfenced.records], atomic=False)
