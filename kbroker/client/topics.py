"""Topics: list, describe, create, delete, add partitions, delete records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check, failure
from kbroker.errors import ApiError
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kbroker.protocol.generated.create_partitions_response import CreatePartitionsResponse
from kbroker.protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kbroker.protocol.generated.create_topics_response import CreateTopicsResponse
from kbroker.protocol.generated.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kbroker.protocol.generated.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
)
from kbroker.protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kbroker.protocol.generated.delete_topics_response import DeleteTopicsResponse
from kbroker.protocol.generated.metadata_response import MetadataResponseTopic
from kbroker.types import TopicPartition, uuid_to_string


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition as the cluster sees it; leader -1: none."""

    partition: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline: list[int]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its partitions in order."""

    name: str
    id: str
    internal: bool
    partitions: list[Partition] = field(default_factory=list)

    @property
    def replication_factor(self) -> int:
        """Replicas of the first partition; others may differ during a reassignment."""
        return len(self.partitions[0].replicas) if self.partitions else 0


def list_topics(cluster: Cluster, *, internal: bool = False) -> list[Topic]:
    """All topics by name; those of the broker itself only if asked for."""
    topics = (_topic(topic) for topic in cluster.metadata().topics)
    return sorted((topic for topic in topics if internal or not topic.internal), key=lambda topic: topic.name)


def describe_topics(cluster: Cluster, names: Iterable[str]) -> list[Topic]:
    """Those topics, in that order.

    Raises:
        ApiError: one does not exist.
    """
    names = list(names)
    found = {topic.name: topic for topic in cluster.metadata(names).topics}
    for name in names:
        check(found[name].error_code, what=f"topic {name}", needs="DESCRIBE", on=name)
    return [_topic(found[name]) for name in names]


def _topic(topic: MetadataResponseTopic) -> Topic:
    partitions = [
        Partition(
            partition.partition_index,
            partition.leader_id,
            partition.leader_epoch,
            list(partition.replica_nodes),
            list(partition.isr_nodes),
            list(partition.offline_replicas),
        )
        for partition in topic.partitions
    ]
    partitions.sort(key=lambda partition: partition.partition)
    topic_id = uuid_to_string(topic.topic_id) if any(topic.topic_id) else ""
    return Topic(topic.name or "", topic_id, topic.is_internal, partitions)


def create_topic(
    cluster: Cluster,
    name: str,
    *,
    partitions: int = -1,
    replication_factor: int = -1,
    assignment: Sequence[Sequence[int]] = (),
    configs: Mapping[str, str] | None = None,
    validate_only: bool = False,
) -> Topic:
    """Create a topic and tell what came out (a broker older than 2.4 tells no numbers).

    Args:
        partitions, replication_factor: -1: the broker's default. Leave both with an assignment.
        assignment: broker ids per partition, the preferred leader first.
        validate_only: check, and change nothing.

    Raises:
        ApiError: the broker refuses.
    """
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in enumerate(assignment)
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )
    answer = cluster.ask_controller(
        CreateTopicsRequest(topics=[topic], timeout_ms=_timeout_ms(cluster), validate_only=validate_only),
        CreateTopicsResponse,
        lambda answer: [result.error_code for result in answer.topics],
    )
    (result,) = answer.topics
    check(result.error_code, result.error_message, f"topic {name}", needs="CREATE", on=name)
    topic_id = uuid_to_string(result.topic_id) if any(result.topic_id) else ""
    replicas = [-1] * max(result.replication_factor, 0)
    created = [Partition(index, -1, -1, replicas, [], []) for index in range(max(result.num_partitions, 0))]
    return Topic(name, topic_id, False, created)


def delete_topics(cluster: Cluster, names: Iterable[str]) -> dict[str, ApiError | None]:
    """Delete topics by name; for each None, or the `ApiError` that tells why not."""
    names = list(names)
    if cluster.controller().version(ApiKey.DELETE_TOPICS) >= 6:
        states = [DeleteTopicState(name=name) for name in names]
        request = DeleteTopicsRequest(topics=states, timeout_ms=_timeout_ms(cluster))
    else:
        request = DeleteTopicsRequest(topic_names=names, timeout_ms=_timeout_ms(cluster))
    answer = cluster.ask_controller(
        request, DeleteTopicsResponse, lambda answer: [result.error_code for result in answer.responses]
    )
    return {
        result.name or "": failure(
            result.error_code,
            result.error_message,
            f"topic {result.name}",
            needs="DELETE",
            on=result.name or "",
        )
        for result in answer.responses
    }


def create_partitions(
    cluster: Cluster,
    name: str,
    count: int,
    *,
    assignment: Sequence[Sequence[int]] = (),
    validate_only: bool = False,
) -> None:
    """Raise a topic's number of partitions to `count`; `assignment` is that of the new ones.

    Raises:
        ApiError: the broker refuses.
    """
    assignments = [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in assignment]
    topic = CreatePartitionsTopic(name=name, count=count, assignments=assignments or None)
    answer = cluster.ask_controller(
        CreatePartitionsRequest(topics=[topic], timeout_ms=_timeout_ms(cluster), validate_only=validate_only),
        CreatePartitionsResponse,
        lambda answer: [result.error_code for result in answer.results],
    )
    for result in answer.results:
        check(result.error_code, result.error_message, f"topic {name}", needs="ALTER", on=name)


def delete_records(cluster: Cluster, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Delete records below the given offsets (-1: all that consumers can see).

    Returns:
        the new first offset of each partition.

    Raises:
        ApiError: a partition's broker refuses; others may have been done.
    """

    def request(partitions: dict[str, list[int]]) -> DeleteRecordsRequest:
        topics = [
            DeleteRecordsTopic(
                name=name,
                partitions=[
                    DeleteRecordsPartition(partition_index=index, offset=offsets[TopicPartition(name, index)])
                    for index in indexes
                ],
            )
            for name, indexes in partitions.items()
        ]
        return DeleteRecordsRequest(topics=topics, timeout_ms=_timeout_ms(cluster))

    def results(
        answer: DeleteRecordsResponse,
    ) -> Iterator[tuple[TopicPartition, int, DeleteRecordsPartitionResult]]:
        for topic in answer.topics:
            for part in topic.partitions:
                yield TopicPartition(topic.name, part.partition_index), part.error_code, part

    done = {}
    for tp, result in cluster.ask_leaders(offsets, request, DeleteRecordsResponse, results).items():
        check(result.error_code, what=str(tp), needs="DELETE", on=tp.topic)
        done[tp] = result.low_watermark
    return done


def _timeout_ms(cluster: Cluster) -> int:
    """For the broker to finish, a little less than we wait for its answer."""
    return max(int(cluster.timeout_s * 900), 1)
