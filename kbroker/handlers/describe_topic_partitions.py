"""DescribeTopicPartitions: topics in pages of partitions, with eligible leader replicas (KIP-966).

v0 only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.topics import topic_name_problem
from kbroker.errors import ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.handlers.partition_state import Reachable
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.generated.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import PartitionImage, TopicImage
    from kbroker.protocol.generated.describe_topic_partitions_request import (
        DescribeTopicPartitionsRequest,
    )

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """Topics by name; all if none is named. A limit below 1 counts as 1."""
    image = services.metadata.image
    asked = {topic.name for topic in request.topics}
    start = request.cursor
    if start is not None and (start.partition_index < 0 or (asked and start.topic_name not in asked)):
        return error_response(request, context.version, ErrorCode.INVALID_REQUEST, None)
    names = sorted(asked) if asked else image.topics.names()
    first = start.topic_name if start is not None else ""
    most = services.config.get_int("max.request.partition.size.limit")
    left = max(1, min(request.response_partition_limit, most))
    reachable = Reachable(image, context.listener_name)
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    cursor = None
    for name in names:
        if name < first:
            continue
        if left <= 0:
            cursor = Cursor(topic_name=name, partition_index=0)
            break
        topic = image.topics.get(name)
        if topic is None:
            topics.append(_unknown(name))
            continue
        begin = start.partition_index if start is not None and start.topic_name == name else 0
        topics.append(_topic(topic, reachable, begin, begin + left))
        left -= len(topics[-1].partitions)
        if begin + len(topics[-1].partitions) < len(topic.partitions):
            cursor = Cursor(topic_name=name, partition_index=begin + len(topics[-1].partitions))
            break
    return DescribeTopicPartitionsResponse(topics=topics, next_cursor=cursor)


def error_response(
    request: DescribeTopicPartitionsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeTopicPartitionsResponse:
    """Every topic refused alike."""
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(name=topic.name, error_code=code) for topic in request.topics
        ]
    )


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    invalid = topic_name_problem(name) is not None
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.INVALID_TOPIC_EXCEPTION if invalid else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=allowed_operations.TOPIC,
    )


def _topic(
    topic: TopicImage, reachable: Reachable, begin: int, end: int
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.is_internal,
        partitions=[
            _partition(index, partition, reachable)
            for index, partition in enumerate(topic.partitions[begin:end], begin)
        ],
        topic_authorized_operations=allowed_operations.TOPIC,
    )


def _partition(
    index: int, partition: PartitionImage, reachable: Reachable
) -> DescribeTopicPartitionsResponsePartition:
    leader = reachable.leader(partition)
    nodes, offline = reachable.replicas(partition)
    return DescribeTopicPartitionsResponsePartition(
        error_code=leader.error,
        partition_index=index,
        leader_id=leader.id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=nodes,
        isr_nodes=reachable.nodes(partition.isr),
        eligible_leader_replicas=reachable.nodes(partition.elr),
        last_known_elr=reachable.nodes(partition.last_known_elr),
        offline_replicas=offline,
    )
