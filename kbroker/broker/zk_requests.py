"""The controller's requests of the ZooKeeper era, from an image and what a broker has acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.controller.zookeeper.following import FULL
from kbroker.errors import ErrorCode
from kbroker.plain import made, plain
from kbroker.protocol.generated.leader_and_isr_request import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kbroker.protocol.generated.stop_replica_request import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from kbroker.protocol.generated.update_metadata_request import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)

if TYPE_CHECKING:
    from kbroker.metadata.image import BrokerImage, ClusterImage, PartitionImage, TopicImage
    from kbroker.protocol.generated.leader_and_isr_response import LeaderAndIsrResponse
    from kbroker.types import Uuid

#: As a leader: the topic is being deleted; as a leader epoch: delete it in whichever epoch.
LEADER_DURING_DELETE = -2
EPOCH_DURING_DELETE = -2

#: Lower than that of any state, and of a partition that has none.
_NO_EPOCH = -2

#: `type` of what a controller of KRaft tells, other than FULL.
INCREMENTAL = 1

#: A partition as it was told: topic id and index.
Key = tuple["Uuid", int]

#: By broker, those of its partitions that lie in failed log directories.
Lost = Mapping[int, Collection[Key]]
_NONE_LOST: Lost = {}


def _nobody_keeps(topic_id: Uuid) -> bool:
    """What is gone was deleted."""
    return False


class Replica(NamedTuple):
    """A partition that a broker was told to lead or follow."""

    topic: str
    state: PartitionImage


@plain(frozen=True)
class Told:
    """What a broker has acknowledged.

    Attributes:
        replicas: the partitions it leads or follows.
        metadata: all topics, as of the last UpdateMetadata; None: it had none.
        brokers: the live brokers, as of then.
        controller: by which controller's id.
    """

    replicas: Mapping[Key, Replica] = made(default_factory=dict)
    metadata: Mapping[Uuid, TopicImage] | None = None
    brokers: Mapping[int, BrokerImage] = made(default_factory=dict)
    first: bool = True


def said(told: Told, asked: Told) -> Told:
    """What a broker may know of that has acknowledged `told`, and may have heard what leads to `asked`.

    The newest is said to it again in any case, but that something is deleted, too.
    """
    known = {} if told.metadata is None else told.metadata
    maybe = {} if asked.metadata is None else asked.metadata
    topics = {key: _untold_topic(each) for key, each in maybe.items() if key not in known}
    replicas = {key: _untold(each) for key, each in asked.replicas.items() if key not in told.replicas}
    return Told({**told.replicas, **replicas}, {**known, **topics}, {}, True)


def forgotten(told: Told) -> Told:
    """The same, but that the broker is to be told once more what it leads and follows."""
    replicas = {key: _untold(each) for key, each in told.replicas.items()}
    return Told(replicas, told.metadata, told.brokers, told.first)


def _untold(replica: Replica) -> Replica:
    """In an epoch that no state has: it is told in whichever it is now."""
    return replica._replace(state=replica.state._replace(leader_epoch=_NO_EPOCH))


def _untold_topic(topic: TopicImage) -> TopicImage:
    """The same of all its partitions, which are named where it is gone."""
    states = (each._replace(leader_epoch=_NO_EPOCH) for each in topic.partitions)
    return topic._replace(partitions=tuple(states))


def offline(image: ClusterImage, response: LeaderAndIsrResponse) -> set[Key]:
    """The partitions that lie in a failed log directory of the broker that answers, also by names (before
    version 5).
    """
    return _answered_with(ErrorCode.KAFKA_STORAGE_ERROR, image, response)


def former(image: ClusterImage, response: LeaderAndIsrResponse) -> set[Key]:
    """The partitions of which the broker that answers has a log of a topic that had the same name before."""
    return _answered_with(ErrorCode.INCONSISTENT_TOPIC_ID, image, response)


def _answered_with(failed: ErrorCode, image: ClusterImage, response: LeaderAndIsrResponse) -> set[Key]:
    found = {
        (topic.topic_id, each.partition_index)
        for topic in response.topics
        for each in topic.partition_errors
        if each.error_code == failed
    }
    for each in response.partition_errors:
        topic_image = image.topics.get(each.topic_name)
        if each.error_code == failed and topic_image is not None:
            found.add((topic_image.id, each.partition_index))
    return found


def _live(image: ClusterImage) -> dict[int, BrokerImage]:
    return {each.id: each for each in image.brokers.values() if not each.fenced and each.epoch >= 0}


def knows_not_all(image: ClusterImage, told: Told) -> bool:
    """Whether there are live brokers that the broker has not heard of as they are."""
    return any(told.brokers.get(each.id) != each for each in _live(image).values())


def of_former_topics(told: Told, keys: Collection[Key]) -> Told:
    """The same, but that these are replicas of topics that are gone, and were never told what they are."""
    replicas = dict(told.replicas)
    for topic_id, index in keys:
        replica = replicas.pop((topic_id, index), None)
        if replica is not None:
            replicas[bytes(each ^ 0xFF for each in topic_id), index] = replica
    return Told(replicas, told.metadata, told.brokers, told.first)


def has_former(image: ClusterImage, told: Told) -> bool:
    """Whether the broker has replicas of a topic that is gone, whose name another one has now: they go first,
    as StopReplica knows names only."""
    return any(
        image.topics.by_id(topic_id) is None and image.topics.get(replica.topic) is not None
        for (topic_id, _), replica in told.replicas.items()
    )


def leader_and_isr(
    image: ClusterImage, controller_id: int, broker_id: int, told: Told
) -> tuple[LeaderAndIsrRequest | None, Told]:
    """What the broker is to lead and follow and does not know; None: nothing.

    The first one is sent in any case: it says which replicas the broker has at all.
    """
    topics: list[LeaderAndIsrTopicState] = []
    replicas: dict[Key, Replica] = {
        key: kept for key, kept in told.replicas.items() if image.topics.by_id(key[0]) is None
    }
    leaders: dict[int, None] = {}
    for topic in image.topics:
        states = []
        for index, partition in enumerate(topic.partitions):
            key = (topic.id, index)
            if broker_id not in partition.replicas:
                if key in told.replicas:
                    replicas[key] = told.replicas[key]
                continue
            known = told.replicas.get(key)
            replicas[key] = Replica(topic.name, partition)
            if known is not None and known.state.leader_epoch >= partition.leader_epoch:
                continue
            states.append(_leader_and_isr_state(image, index, partition, is_new=partition.leader_epoch == 0))
            leaders[partition.leader] = None
        if states:
            topics.append(
                LeaderAndIsrTopicState(topic_name=topic.name, topic_id=topic.id, partition_states=states)
            )
    after = Told(replicas, told.metadata, told.brokers, False)
    if not topics and not told.first:
        return None, after
    live = _live(image)
    request = LeaderAndIsrRequest(
        controller_id=controller_id,
        controller_epoch=image.epoch,
        broker_epoch=live[broker_id].epoch,
        topic_states=topics,
        live_leaders=[
            LeaderAndIsrLiveLeader(
                broker_id=each, host_name=live[each].endpoints[0].host, port=live[each].endpoints[0].port
            )
            for each in leaders
            if each in live and live[each].endpoints
        ],
    )
    return request, after


def _leader_and_isr_state(
    image: ClusterImage, index: int, partition: PartitionImage, *, is_new: bool
) -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        partition_index=index,
        controller_epoch=image.epoch,
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        partition_epoch=partition.partition_epoch,
        replicas=list(partition.replicas),
        adding_replicas=list(partition.adding_replicas),
        removing_replicas=list(partition.removing_replicas),
        is_new=is_new,
        leader_recovery_state=partition.leader_recovery_state,
    )


def update_metadata(
    image: ClusterImage, controller_id: int, broker_id: int, told: Told, lost: Lost = _NONE_LOST
) -> tuple[UpdateMetadataRequest | None, Told]:
    """The live brokers, and what changed of topics; None: the broker knows all.

    Args:
        lost: replicas of live brokers in log directories that have failed.
    """
    live = _live(image)
    known = {} if told.metadata is None else told.metadata
    brokers_changed = told.metadata is None or told.brokers != live
    # Which replicas are offline follows from the live brokers.
    all_anew = told.metadata is None or told.brokers.keys() != live.keys()
    topics = [
        _topic_state(image, topic, None if all_anew else known.get(topic.id), live, lost)
        for topic in image.topics
        if all_anew or known.get(topic.id) != topic
    ]
    topics += [_deleted(image, topic) for key, topic in known.items() if image.topics.by_id(key) is None]
    after = Told(told.replicas, {topic.id: topic for topic in image.topics}, live, told.first)
    if not topics and not brokers_changed:
        return None, after
    request = UpdateMetadataRequest(
        controller_id=controller_id,
        controller_epoch=image.epoch,
        broker_epoch=live[broker_id].epoch,
        topic_states=topics,
        live_brokers=[_broker(each) for each in live.values()],
    )
    return request, after


def _broker(broker: BrokerImage) -> UpdateMetadataBroker:
    endpoints = [
        UpdateMetadataEndpoint(
            port=e.port, host=e.host, listener=e.name, security_protocol=e.security_protocol
        )
        for e in broker.endpoints
    ]
    return UpdateMetadataBroker(id=broker.id, endpoints=endpoints, rack=broker.rack)


def _topic_state(
    image: ClusterImage,
    topic: TopicImage,
    known: TopicImage | None,
    live: Mapping[int, BrokerImage],
    lost: Lost,
) -> UpdateMetadataTopicState:
    before = () if known is None else known.partitions
    states = [
        UpdateMetadataPartitionState(
            partition_index=index,
            controller_epoch=image.epoch,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=list(partition.isr),
            zk_version=partition.partition_epoch,
            replicas=list(partition.replicas),
            offline_replicas=[
                each
                for each in partition.replicas
                if each not in live or (each in lost and (topic.id, index) in lost[each])
            ],
        )
        for index, partition in enumerate(topic.partitions)
        if index >= len(before) or before[index] != partition
    ]
    return UpdateMetadataTopicState(topic_name=topic.name, topic_id=topic.id, partition_states=states)


def _deleted(image: ClusterImage, topic: TopicImage) -> UpdateMetadataTopicState:
    states = [
        UpdateMetadataPartitionState(
            partition_index=index,
            controller_epoch=image.epoch,
            leader=LEADER_DURING_DELETE,
            leader_epoch=EPOCH_DURING_DELETE,
            isr=list(partition.isr),
            zk_version=partition.partition_epoch,
            replicas=list(partition.replicas),
        )
        for index, partition in enumerate(topic.partitions)
    ]
    return UpdateMetadataTopicState(topic_name=topic.name, topic_id=topic.id, partition_states=states)


def mark_as_of_quorum(request: Any, told: Told) -> None:
    """The request comes from a controller of KRaft (KIP-866). The first one is FULL: the broker sets aside
    what it has and is not named.
    """
    request.is_kraft_controller = True
    if isinstance(request, LeaderAndIsrRequest):
        request.type = FULL if told.first and not told.replicas else INCREMENTAL
    elif isinstance(request, UpdateMetadataRequest):
        request.type = FULL if told.metadata is None else INCREMENTAL


def stop_replica(
    image: ClusterImage,
    controller_id: int,
    broker_id: int,
    told: Told,
    keeps: Callable[[Uuid], bool] = _nobody_keeps,
) -> tuple[StopReplicaRequest | None, Told]:
    """Replicas that the broker was told of and has no more: deleted. None: there are none.

    Args:
        keeps: whether the logs of a topic that is gone are to stay.
    """
    gone: dict[str, list[StopReplicaPartitionState]] = {}
    kept: dict[Key, Replica] = {}
    for (topic_id, index), replica in told.replicas.items():
        topic = image.topics.by_id(topic_id)
        if topic is not None and broker_id in topic.partitions[index].replicas:
            kept[topic_id, index] = replica
            continue
        epoch = EPOCH_DURING_DELETE if topic is None else topic.partitions[index].leader_epoch
        gone.setdefault(replica.topic, []).append(
            StopReplicaPartitionState(
                partition_index=index,
                leader_epoch=epoch,
                delete_partition=topic is not None or not keeps(topic_id),
            )
        )
    after = Told(kept, told.metadata, told.brokers, told.first)
    if not gone:
        return None, after
    request = StopReplicaRequest(
        controller_id=controller_id,
        controller_epoch=image.epoch,
        broker_epoch=_live(image)[broker_id].epoch,
        topic_states=[
            StopReplicaTopicState(topic_name=name, partition_states=states) for name, states in gone.items()
        ],
    )
    return request, after
