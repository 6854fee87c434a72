"""What a broker makes of its controller's requests: LeaderAndIsr, UpdateMetadata and StopReplica as images.

Where ZooKeeper keeps the cluster a broker does not read a log: the controller tells it. What it is told is
folded into the same `ClusterImage` that KRaft's records make. Requests that an older controller sent, or that
mean an earlier life of this broker, change nothing.

UpdateMetadata says what exists. LeaderAndIsr says what this broker leads and follows; of a topic that is not
in the image yet it is kept, until UpdateMetadata names the partition: otherwise clients would take the
partitions of this broker for all that the topic has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kbroker.controller.zookeeper.entities import made_id
from kbroker.errors import ErrorCode
from kbroker.metadata.image import (
    CONFIG_TOPIC,
    DIRECTORY_LOST,
    DIRECTORY_UNASSIGNED,
    NO_LEADER,
    BrokerImage,
    ClusterImage,
    Endpoint,
    PartitionImage,
    TopicImage,
)
from kbroker.plain import made, plain, replace
from kbroker.types import ZERO_UUID, TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.protocol.generated.leader_and_isr_request import (
        LeaderAndIsrPartitionState,
        LeaderAndIsrRequest,
    )
    from kbroker.protocol.generated.stop_replica_request import StopReplicaRequest
    from kbroker.protocol.generated.update_metadata_request import (
        UpdateMetadataBroker,
        UpdateMetadataPartitionState,
        UpdateMetadataRequest,
    )

#: As a leader in UpdateMetadata: the topic is being deleted.
LEADER_DURING_DELETE = -2
#: Leader epochs with which StopReplica is obeyed in any case: not said; the topic is being deleted.
_ANY_EPOCH = (-1, -2)
#: Of other brokers UpdateMetadata does not say under which epoch they registered.
EPOCH_UNKNOWN = -1
#: `type` of a request of a KRaft controller, during a migration: all there is, not only what changed.
FULL = 2

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
#: Where a partition should be of which nothing is known yet.
_NOT_KNOWN = PartitionImage((), (), NO_LEADER, -1, -1)


class Replica(NamedTuple):
    """What LeaderAndIsr said last of a partition."""

    topic_id: Uuid
    leader_epoch: int


@plain(frozen=True)
class Followed:
    """What a broker was told.

    Attributes:
        image: the cluster; its epoch is that of the newest controller that was heard of.
        replicas: the partitions that this broker was told to lead or follow.
        ahead: those of them that UpdateMetadata has not named yet, as LeaderAndIsr describes them.
    """

    image: ClusterImage
    replicas: Mapping[TopicPartition, Replica] = made(default_factory=dict)
    ahead: Mapping[TopicPartition, PartitionImage] = made(default_factory=dict)


class Stop(NamedTuple):
    """A replica that is not to be led or copied any more; `delete`: nor kept."""

    topic_partition: TopicPartition
    delete: bool


#: Whether a partition lies in a log directory that cannot be used.
IsOffline = Callable[[TopicPartition], bool]
Errors = dict[TopicPartition, ErrorCode]


def refusal(image: ClusterImage, own_epoch: int, *, controller_epoch: int, broker_epoch: int) -> ErrorCode:
    """Whether a request is obeyed at all.

    A broker epoch above our own one is that of a registration whose answer is still on its way.

    Args:
        own_epoch: of the registration with the controller's kind: in ZooKeeper, or with the quorum.
    """
    if broker_epoch != EPOCH_UNKNOWN and broker_epoch < own_epoch:
        return ErrorCode.STALE_BROKER_EPOCH
    if controller_epoch < image.epoch:
        return ErrorCode.STALE_CONTROLLER_EPOCH
    return ErrorCode.NONE


class _Topics:
    """The image's topics being changed."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._removed: dict[Uuid, TopicImage] = {}
        self._changed: dict[str, tuple[Uuid, dict[int, PartitionImage]]] = {}

    def id_of(self, name: str, told: Uuid) -> Uuid:
        """The id, also where the controller is from before 2.8 and says none."""
        if told != ZERO_UUID:
            return told
        topic = self._image.topics.get(name)
        return made_id("topic", name) if topic is None else topic.id

    def get(self, name: str, topic_id: Uuid, index: int) -> PartitionImage | None:
        """The partition as it is now."""
        changed = self._changed.get(name)
        if changed is not None and changed[0] == topic_id and index in changed[1]:
            return changed[1][index]
        topic = self._image.topics.by_id(topic_id)
        if topic is None or topic.name != name or not 0 <= index < len(topic.partitions):
            return None
        return topic.partitions[index]

    def set(self, name: str, topic_id: Uuid, index: int, state: PartitionImage) -> None:
        """The partition's new state; a topic of that name with another id is gone."""
        changed = self._changed.get(name)
        if changed is None or changed[0] != topic_id:
            old = self._image.topics.get(name)
            if old is not None and old.id != topic_id:
                self._removed[old.id] = old
            changed = self._changed[name] = (topic_id, {})
        changed[1][index] = state

    def remove(self, topic: TopicImage) -> None:
        """The topic is gone."""
        self._removed[topic.id] = topic
        self._changed.pop(topic.name, None)

    def _configs(self) -> Mapping[tuple[int, str], Mapping[str, str]]:
        """Configs go with their topic; who makes one anew has read those of the new one already."""
        gone = {each.name for each in self._removed.values()} - self._changed.keys()
        configs = self._image.configs
        if not any((CONFIG_TOPIC, name) in configs for name in gone):
            return configs
        return {key: value for key, value in configs.items() if key[0] != CONFIG_TOPIC or key[1] not in gone}

    def image(
        self, request: LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest
    ) -> ClusterImage:
        """The next image: of the request's controller, one offset later."""
        written = [self._topic(name, topic_id, new) for name, (topic_id, new) in self._changed.items()]
        return replace(
            self._image,
            topics=self._image.topics.changed(list(self._removed.values()), written),
            configs=self._configs(),
            offset=self._image.offset + 1,
            epoch=request.controller_epoch,
            controller_id=request.controller_id,
        )

    def _topic(self, name: str, topic_id: Uuid, new: Mapping[int, PartitionImage]) -> TopicImage:
        old = self._image.topics.by_id(topic_id)
        partitions = [] if old is None else list(old.partitions)
        partitions += [_NOT_KNOWN] * (max(new) + 1 - len(partitions))
        for index, state in new.items():
            partitions[index] = state
        return TopicImage(name, topic_id, tuple(partitions))


def _is_older(state: PartitionImage, known: PartitionImage) -> bool:
    return (state.leader_epoch, state.partition_epoch) < (known.leader_epoch, known.partition_epoch)


def new_topics(image: ClusterImage, named: Iterable[tuple[str, Uuid]]) -> list[tuple[str, Uuid]]:
    """Those of the topics that a request names which the image does not have."""
    return [
        (name, topic_id)
        for name, topic_id in named
        if (topic := image.topics.get(name)) is None or topic_id not in (ZERO_UUID, topic.id)
    ]


# -- LeaderAndIsr ----------------------------------------------------------------------------------------


def led_topics(request: LeaderAndIsrRequest) -> Iterator[tuple[str, Uuid, list[LeaderAndIsrPartitionState]]]:
    """Name, id and partitions, in whichever version they came: before 2 there are no topics."""
    for topic in request.topic_states:
        yield topic.topic_name, topic.topic_id, topic.partition_states
    for state in request.ungrouped_partition_states:
        yield state.topic_name, ZERO_UUID, [state]


def leader_and_isr(
    known: Followed, node_id: int, request: LeaderAndIsrRequest, is_offline: IsOffline
) -> tuple[Followed, Errors]:
    """Lead and follow as told, where the leader epoch is higher than the one before; what became of each.

    `refusal` was asked before.
    """
    topics = _Topics(known.image)
    replicas, ahead = dict(known.replicas), dict(known.ahead)
    errors: Errors = {}
    for name, told_id, states in led_topics(request):
        topic_id = topics.id_of(name, told_id)
        for told in states:
            tp = TopicPartition(name, told.partition_index)
            code = errors[tp] = _check(replicas.get(tp), node_id, told_id, told, is_offline(tp))
            if code is not ErrorCode.NONE:
                continue
            replicas[tp] = Replica(topic_id, told.leader_epoch)
            before = topics.get(name, topic_id, told.partition_index)
            state = _led_state(told, before)
            if before is None:
                ahead[tp] = state
            elif not _is_older(state, before):
                topics.set(name, topic_id, told.partition_index, state)
    return Followed(topics.image(request), replicas, ahead), errors


def _check(
    known: Replica | None, node_id: int, topic_id: Uuid, told: LeaderAndIsrPartitionState, offline: bool
) -> ErrorCode:
    if offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if known is not None:
        if topic_id not in (ZERO_UUID, known.topic_id):
            return ErrorCode.INCONSISTENT_TOPIC_ID
        if told.leader_epoch <= known.leader_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
    if node_id not in told.replicas:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _led_state(told: LeaderAndIsrPartitionState, before: PartitionImage | None) -> PartitionImage:
    replicas = tuple(told.replicas)
    directories = before.directories if before is not None and before.replicas == replicas else ()
    return PartitionImage(
        replicas,
        tuple(told.isr),
        told.leader,
        told.leader_epoch,
        told.partition_epoch,
        directories,
        tuple(told.adding_replicas),
        tuple(told.removing_replicas),
        leader_recovery_state=told.leader_recovery_state,
    )


# -- UpdateMetadata --------------------------------------------------------------------------------------


def update_metadata(
    known: Followed, node_id: int, own_epoch: int, request: UpdateMetadataRequest
) -> Followed:
    """The live brokers, and the partitions that are told, as they are now. `refusal` was asked before."""
    topics = _Topics(known.image)
    live = {
        each.id: _broker(each, own_epoch if each.id == node_id else None) for each in request.live_brokers
    }
    replicas, ahead = dict(known.replicas), dict(known.ahead)
    named: set[Uuid] = set()

    def gone(topic: TopicImage) -> None:
        topics.remove(topic)
        for index in range(len(topic.partitions)):
            tp = TopicPartition(topic.name, index)
            if tp in replicas and replicas[tp].topic_id == topic.id:
                del replicas[tp]

    for name, told_id, states in told_topics(request):
        topic_id = topics.id_of(name, told_id)
        named.add(topic_id)
        old = known.image.topics.get(name)
        if old is not None and old.id != topic_id:
            gone(old)
        for told in states:
            tp = TopicPartition(name, told.partition_index)
            if told.leader == LEADER_DURING_DELETE:
                ahead.pop(tp, None)
                replicas.pop(tp, None)
                if old is not None and old.id == topic_id:
                    gone(old)
                continue
            before = topics.get(name, topic_id, told.partition_index)
            before = ahead.pop(tp, None) if before is None else before
            state = _told_state(told, before, live)
            if before is not None and _is_older(state, before):
                state = before
            topics.set(name, topic_id, told.partition_index, state)
    if is_full(request):
        for topic in known.image.topics:
            if topic.id not in named:
                gone(topic)
    # As in a controller's image: clients are told of who has just gone (broker/absent_brokers.py).
    gone_brokers = {
        each.id: replace(each, fenced=True) for each in known.image.brokers.values() if each.id not in live
    }
    image = replace(topics.image(request), brokers={**gone_brokers, **live})
    return Followed(image, replicas, ahead)


def is_full(request: UpdateMetadataRequest | LeaderAndIsrRequest) -> bool:
    """Whether it tells of all there is: what it does not name is there no more."""
    return request.is_kraft_controller and request.type == FULL


def untold_topics(image: ClusterImage, request: UpdateMetadataRequest) -> list[TopicImage]:
    """Topics that a request which tells of all does not name: they were deleted, unheard by this broker."""
    if not is_full(request):
        return []
    named = {topic_id for _, topic_id, _ in told_topics(request)}
    return [topic for topic in image.topics if topic.id not in named]


def missing_topics(before: ClusterImage, now: ClusterImage) -> list[TopicImage]:
    """Topics that are there no more."""
    if before.topics is now.topics:
        return []
    return [topic for topic in before.topics if now.topics.by_id(topic.id) is None]


def untold_replicas(
    held: Iterable[tuple[TopicPartition, Uuid]], request: LeaderAndIsrRequest
) -> list[TopicPartition]:
    """Of the partitions that this broker has a log of, with their topics' ids, those that a request which
    tells of all it has does not name."""
    if not is_full(request):
        return []
    named = {
        (topic_id, each.partition_index) for _, topic_id, states in led_topics(request) for each in states
    }
    return [tp for tp, topic_id in held if topic_id != ZERO_UUID and (topic_id, tp.partition) not in named]


def told_topics(
    request: UpdateMetadataRequest,
) -> Iterator[tuple[str, Uuid, list[UpdateMetadataPartitionState]]]:
    """Name, id and partitions, in whichever version they came: before 5 there are no topics."""
    for topic in request.topic_states:
        yield topic.topic_name, topic.topic_id, topic.partition_states
    for state in request.ungrouped_partition_states:
        yield state.topic_name, ZERO_UUID, [state]


def _told_state(
    told: UpdateMetadataPartitionState, before: PartitionImage | None, live: Mapping[int, BrokerImage]
) -> PartitionImage:
    replicas = tuple(told.replicas)
    # Brokers that are gone are not among the live ones: that is said once.
    lost = {each for each in told.offline_replicas if each in live}
    directories = (
        tuple(DIRECTORY_LOST if each in lost else DIRECTORY_UNASSIGNED for each in replicas) if lost else ()
    )
    state = PartitionImage(
        replicas, tuple(told.isr), told.leader, told.leader_epoch, told.zk_version, directories
    )
    if before is None:
        return state
    # What UpdateMetadata does not say holds on.
    return state._replace(
        adding_replicas=tuple(each for each in before.adding_replicas if each in replicas),
        removing_replicas=tuple(each for each in before.removing_replicas if each in replicas),
        leader_recovery_state=(
            before.leader_recovery_state if before.leader_epoch == told.leader_epoch else 0
        ),
    )


def _broker(told: UpdateMetadataBroker, own_epoch: int | None) -> BrokerImage:
    """A live broker; before version 1 with one endpoint, before version 3 without names of listeners."""
    endpoints = [
        Endpoint(
            each.listener or _protocol_name(each.security_protocol),
            each.host,
            each.port,
            each.security_protocol,
        )
        for each in told.endpoints
    ]
    if told.v0_host:
        endpoints.append(Endpoint(_PROTOCOLS[0], told.v0_host, told.v0_port))
    return BrokerImage(
        told.id,
        EPOCH_UNKNOWN if own_epoch is None else own_epoch,
        ZERO_UUID,
        tuple(endpoints),
        {},
        told.rack or None,
        fenced=False,
    )


def _protocol_name(number: int) -> str:
    return _PROTOCOLS[number] if 0 <= number < len(_PROTOCOLS) else f"PROTOCOL_{number}"


# -- StopReplica -----------------------------------------------------------------------------------------


def stopped(request: StopReplicaRequest) -> Iterator[tuple[TopicPartition, int, bool]]:
    """Partition, leader epoch and whether to delete it, in whichever version they came."""
    for each in request.ungrouped_partitions:
        yield TopicPartition(each.topic_name, each.partition_index), -1, request.delete_partitions
    for old in request.topics:
        for index in old.partition_indexes:
            yield TopicPartition(old.name, index), -1, request.delete_partitions
    for topic in request.topic_states:
        for state in topic.partition_states:
            tp = TopicPartition(topic.topic_name, state.partition_index)
            yield tp, state.leader_epoch, state.delete_partition


def stop_replica(
    known: Followed, node_id: int, request: StopReplicaRequest, is_offline: IsOffline
) -> tuple[Followed, Errors, list[Stop]]:
    """Lead and copy no more what is named, or give it up. `refusal` was asked before."""
    topics = _Topics(known.image)
    replicas, ahead = dict(known.replicas), dict(known.ahead)
    errors: Errors = {}
    stops: list[Stop] = []
    for tp, epoch, delete in stopped(request):
        replica = replicas.get(tp)
        if is_offline(tp):
            errors[tp] = ErrorCode.KAFKA_STORAGE_ERROR
            continue
        if replica is not None and epoch not in _ANY_EPOCH and epoch < replica.leader_epoch:
            errors[tp] = ErrorCode.FENCED_LEADER_EPOCH
            continue
        errors[tp] = ErrorCode.NONE
        stops.append(Stop(tp, delete))
        # The next LeaderAndIsr is obeyed whatever its epoch.
        replicas.pop(tp, None)
        ahead.pop(tp, None)
        if not delete:
            continue
        topic = known.image.topics.get(tp.topic)
        state = None if topic is None else topics.get(tp.topic, topic.id, tp.partition)
        if topic is not None and state is not None and node_id in state.replicas:
            topics.set(tp.topic, topic.id, tp.partition, _without(state, node_id))
    return Followed(topics.image(request), replicas, ahead), errors, stops


def _without(state: PartitionImage, node_id: int) -> PartitionImage:
    """The partition once this broker has none of it; what it is for others UpdateMetadata tells."""
    kept = [each != node_id for each in state.replicas]
    return state._replace(
        replicas=tuple(each for each in state.replicas if each != node_id),
        isr=tuple(each for each in state.isr if each != node_id),
        leader=NO_LEADER if state.leader == node_id else state.leader,
        directories=tuple(each for each, keep in zip(state.directories, kept) if keep),
    )
