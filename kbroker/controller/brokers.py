"""Brokers and controllers come, go, and come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import broker_back, broker_gone, broker_lost_data
from kbroker.controller.features import METADATA_VERSION
from kbroker.controller.partitions import DIRECTORY_LEVEL
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import (
    BEFORE_MIGRATION,
    MIGRATING,
    RESERVED_DIRECTORIES,
    BrokerImage,
    ClusterImage,
    Endpoint,
    FeatureRange,
    PartitionImage,
)
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
from kbroker.protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kbroker.protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kbroker.protocol.primitives import Message
from kbroker.types import Uuid

#: `metadata.version` from which controllers register (3.7-IV0) and registrations tell of cordoned
#: directories.
CONTROLLER_LEVEL = 15
CORDON_LEVEL = 32


class NodeRegistration(NamedTuple):
    """What a node says of itself when it starts; `incarnation_id` is new with every process.

    `previous_broker_epoch` is the epoch it stopped cleanly in, -1 if it did not; None: nobody looks at it.
    """

    id: int
    incarnation_id: Uuid
    endpoints: Sequence[Endpoint]
    features: Mapping[str, FeatureRange]
    rack: str | None = None
    log_dirs: Sequence[Uuid] = ()
    previous_broker_epoch: int | None = None
    #: A broker still in ZooKeeper's mode; a controller that may take over such a cluster (KIP-866).
    is_migrating_zk_broker: bool = False
    zk_migration_ready: bool = False


_DEFAULT_RULES = ElectionRules()
#: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL.
_SECURITY_PROTOCOLS = 4


def register_controller(image: ClusterImage, node: NodeRegistration) -> Decision[None]:
    """A controller tells its endpoints and features (KIP-919).

    Raises:
        ApiError: INVALID_REQUEST, an endpoint that cannot be one.
    """
    if image.metadata_version < CONTROLLER_LEVEL:
        return Decision(None)
    _check_endpoints(node)
    record = RegisterControllerRecord(
        controller_id=node.id,
        incarnation_id=node.incarnation_id,
        zk_migration_ready=node.zk_migration_ready,
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


def unregister_controller(image: ClusterImage, controller_id: int) -> Decision[None]:
    """A controller will not come back (KIP-1214).

    Raises:
        ApiError: CONTROLLER_ID_NOT_REGISTERED; INVALID_REQUEST, it is the one that decides this.
    """
    if controller_id == image.controller_id and controller_id in image.controllers:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Controller cannot unregister itself while it is active.")
    if controller_id not in image.controllers:
        raise ApiError(
            ErrorCode.CONTROLLER_ID_NOT_REGISTERED,
            f"Controller ID {controller_id} is not currently registered.",
        )
    return Decision(None, [UnregisterControllerRecord(controller_id=controller_id)])


def register_broker(
    image: ClusterImage,
    node: NodeRegistration,
    rules: ElectionRules = _DEFAULT_RULES,
    *,
    alive: bool = False,
    keeps_only_copies: bool = False,
) -> Decision[int]:
    """A broker registers, fenced; the answer is its epoch: the offset of the first record.

    An older incarnation is gone: it is in no ISR and leads nothing any more. If it did not stop cleanly its
    logs may lack what was committed, so it is not eligible either (KIP-966). The same incarnation again
    (its listeners or directories changed) keeps its epoch and whether it is fenced.

    Args:
        alive: the registered incarnation was heard of within its session.
        keeps_only_copies: where it is the only replica it counts as stopped cleanly: nobody has more.

    Raises:
        ApiError: UNSUPPORTED_VERSION, the broker cannot work at a finalized feature level;
            INVALID_REGISTRATION, its log directories are not its own, or not all different;
            DUPLICATE_BROKER_REGISTRATION, another incarnation is alive;
            BROKER_ID_NOT_REGISTERED, a broker in ZooKeeper's mode where nothing migrates, or one in KRaft's
            before the migration has begun; INVALID_REQUEST, an endpoint that cannot be one.
    """
    _check_migration(image, node)
    _check_endpoints(node)
    old = image.brokers.get(node.id)
    same = old is not None and old.incarnation_id == node.incarnation_id
    if old is not None and alive and not same:
        raise ApiError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            f"Another broker is registered with id {node.id}, and alive. If the broker was just restarted, "
            "this ends when the session of its last start does.",
        )
    if image.metadata_version >= DIRECTORY_LEVEL:
        _check_directories(image, node)
    if METADATA_VERSION not in node.features:
        raise ApiError(
            ErrorCode.INVALID_REGISTRATION, "The broker does not tell which metadata.version it supports."
        )
    check_features(image, node.features)
    records: list[Message] = []
    if not same:
        clean = node.previous_broker_epoch is None or (
            old is not None and old.epoch == node.previous_broker_epoch
        )
        if clean:
            records += broker_gone(image, rules, node.id)
        else:
            records += broker_lost_data(image, rules, node.id, keeps_only_copies=keeps_only_copies)
    epoch = old.epoch if old is not None and same else image.offset + 1
    record = _registration(image, node, epoch)
    if old is not None and same:
        record.fenced, record.in_controlled_shutdown = old.fenced, old.in_controlled_shutdown
    # Not atomic: leadership given up before the registration is what a crash in between means anyway.
    return Decision(epoch, [*records, record], atomic=False)


def _check_migration(image: ClusterImage, node: NodeRegistration) -> None:
    state = image.zk_migration_state
    if node.is_migrating_zk_broker and state not in (BEFORE_MIGRATION, MIGRATING):
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, "Controller does not support registering ZK brokers."
        )
    if not node.is_migrating_zk_broker and state == BEFORE_MIGRATION:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            "Controller is in pre-migration mode and cannot register KRaft brokers until the metadata "
            "migration is complete.",
        )


def _registration(image: ClusterImage, node: NodeRegistration, epoch: int) -> RegisterBrokerRecord:
    level = image.metadata_version
    return RegisterBrokerRecord(
        broker_id=node.id,
        is_migrating_zk_broker=node.is_migrating_zk_broker,
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


def _check_endpoints(node: NodeRegistration) -> None:
    """No record may be written that Kafka's nodes cannot read (its own controller trips over these)."""
    for endpoint in node.endpoints:
        if endpoint.port == 0 or not 0 <= endpoint.security_protocol < _SECURITY_PROTOCOLS:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Listener {endpoint.name} of node {node.id} has port {endpoint.port} and security protocol "
                f"{endpoint.security_protocol}.",
            )


def _check_directories(image: ClusterImage, node: NodeRegistration) -> None:
    """KIP-858: a directory belongs to one broker, and has an id of its own."""
    mine = set(node.log_dirs)
    if not mine:
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "No directories specified in request")
    if any(int.from_bytes(directory, "big") < RESERVED_DIRECTORIES for directory in mine):
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "Reserved directory ID in request")
    if len(mine) != len(node.log_dirs):
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "Duplicate directory ID in request")
    for other in image.brokers.values():
        if other.id != node.id and not mine.isdisjoint(other.log_dirs):
            raise ApiError(
                ErrorCode.INVALID_REGISTRATION,
                f"Broker {other.id} is already registered with a log directory of broker {node.id}: was its "
                "folder copied?",
            )


def check_features(image: ClusterImage, features: Mapping[str, FeatureRange]) -> None:
    """Can a broker with these features serve the cluster?

    Raises:
        ApiError: UNSUPPORTED_VERSION, it cannot work at a finalized level.
    """
    finalized = image.finalized_features()
    for name in dict.fromkeys((*finalized, *features)):
        level = finalized.get(name, 0)
        low, high = features.get(name, (0, 0))
        if not low <= level <= high and not (name == METADATA_VERSION and level == 0):
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version {level} of "
                f"{name}. The broker wants a version between {low} and {high}, inclusive.",
            )


def unfence_broker(
    image: ClusterImage, broker_id: int, broker_epoch: int, rules: ElectionRules = _DEFAULT_RULES
) -> Decision[None]:
    """The broker has caught up with the metadata and serves: it may lead.

    Raises:
        ApiError: STALE_BROKER_EPOCH.
    """
    if not registered(image, broker_id, broker_epoch).fenced:
        return Decision(None)
    change = BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker_epoch, fenced=-1)
    return Decision(None, [change, *broker_back(image, rules, broker_id)], atomic=False)


def fence_broker(
    image: ClusterImage, broker_id: int, broker_epoch: int, rules: ElectionRules = _DEFAULT_RULES
) -> Decision[None]:
    """The broker does not serve any more: it has stopped, or was not heard of for too long.

    Raises:
        ApiError: STALE_BROKER_EPOCH.
    """
    if registered(image, broker_id, broker_epoch).fenced:
        return Decision(None)
    change = BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker_epoch, fenced=1)
    return Decision(None, [*broker_gone(image, rules, broker_id), change], atomic=False)


def unregister_broker(
    image: ClusterImage, broker_id: int, rules: ElectionRules = _DEFAULT_RULES
) -> Decision[None]:
    """The broker will not come back; where it was a replica it stays one until it is reassigned.

    If it registers again nevertheless, it counts as one that did not stop cleanly.

    Raises:
        ApiError: BROKER_ID_NOT_REGISTERED.
    """
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {broker_id} is not currently registered"
        )
    record = UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.epoch)
    return Decision(None, [*broker_gone(image, rules, broker_id), record], atomic=False)


def registered(image: ClusterImage, broker_id: int, broker_epoch: int) -> BrokerImage:
    """The broker, if it is the incarnation that asks.

    Raises:
        ApiError: STALE_BROKER_EPOCH, also for one that is not registered at all.
    """
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH, f"No broker registration found for {broker_id}")
    if broker.epoch != broker_epoch:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Expected broker epoch {broker.epoch} of broker {broker_id}, but got {broker_epoch}",
        )
    return broker


def join_broker(
    image: ClusterImage, node: NodeRegistration, rules: ElectionRules = _DEFAULT_RULES
) -> Decision[int]:
    """Registration and unfencing in one step, for the broker in the controller's own process: it has all
    metadata already. The answer is its epoch. Raises as `register_broker`.

    A partition that would be given up and taken back in this step is only led anew: one record, one epoch.
    After a crash the only copy of a partition is taken as it is; Kafka has its leader recover it first, from
    itself.
    """
    given_up = register_broker(image, node, rules, keeps_only_copies=True)
    fenced = image.apply(given_up.records)
    taken_back = unfence_broker(fenced, node.id, given_up.response, rules)
    joined = fenced.apply(taken_back.records)
    records: list[Message] = []
    changed: dict[tuple[Uuid, int], None] = {}
    for record in (*given_up.records, *taken_back.records):
        if isinstance(record, PartitionChangeRecord):
            changed[record.topic_id, record.partition_id] = None
        else:
            records.append(record)
    for topic_id, index in changed:
        old, new = image.topics.by_id(topic_id), joined.topics.by_id(topic_id)
        assert old is not None
        assert new is not None
        records.append(_one_step(topic_id, index, old.partitions[index], new.partitions[index]))
    return Decision(given_up.response, records, atomic=False)


def _one_step(topic_id: Uuid, index: int, old: PartitionImage, new: PartitionImage) -> PartitionChangeRecord:
    """The one change that leads from `old` to `new`, of leader and ISR."""
    record = PartitionChangeRecord(partition_id=index, topic_id=topic_id)
    if new.leader_epoch != old.leader_epoch:
        record.leader = new.leader
    if new.isr != old.isr:
        record.isr = list(new.isr)
    if new.elr != old.elr:
        record.eligible_leader_replicas = list(new.elr)
    if new.last_known_elr != old.last_known_elr:
        record.last_known_elr = list(new.last_known_elr)
    if new.leader_recovery_state != old.leader_recovery_state:
        record.leader_recovery_state = new.leader_recovery_state
    return record
