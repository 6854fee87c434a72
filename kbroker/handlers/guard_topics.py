"""Guards of what is asked of topics and their partitions: each topic by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode, default_message
from kbroker.handlers.guard_pieces import after, split, with_changes
from kbroker.handlers.guards import Handle, may_on_cluster
from kbroker.protocol.generated.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsTopicResult,
)
from kbroker.protocol.generated.describe_producers_response import PartitionResponse, TopicResponse
from kbroker.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsTopicResponse,
)
from kbroker.protocol.generated.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderTopicResult,
)
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def list_offsets(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE. Who only calls himself a replica is answered like a consumer (CVE-2018-1288)."""
    if request.replica_id >= 0 and not may_on_cluster(services, context, Operation.CLUSTER_ACTION):
        request = with_changes(request, replica_id=-1)
    may, may_not = split(
        services, context, Operation.DESCRIBE, ResourceType.TOPIC, request.topics, lambda each: each.name
    )
    refused = [
        ListOffsetsTopicResponse(
            name=topic.name,
            partitions=[
                ListOffsetsPartitionResponse(partition_index=each.partition_index, error_code=_DENIED)
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]
    return _topics(services, context, request, handle, may, refused)


def delete_records(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DELETE."""
    may, may_not = split(
        services, context, Operation.DELETE, ResourceType.TOPIC, request.topics, lambda each: each.name
    )
    refused = [
        DeleteRecordsTopicResult(
            name=topic.name,
            partitions=[
                DeleteRecordsPartitionResult(
                    partition_index=each.partition_index, low_watermark=-1, error_code=_DENIED
                )
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]
    return _topics(services, context, request, handle, may, refused)


def offset_for_leader_epoch(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """CLUSTER_ACTION for all, or DESCRIBE."""
    if may_on_cluster(services, context, Operation.CLUSTER_ACTION):
        return handle(services, context, request)
    may, may_not = split(
        services, context, Operation.DESCRIBE, ResourceType.TOPIC, request.topics, lambda each: each.topic
    )
    refused = [
        OffsetForLeaderTopicResult(
            topic=topic.topic,
            partitions=[
                EpochEndOffset(partition=each.partition, leader_epoch=-1, end_offset=-1, error_code=_DENIED)
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]
    return _topics(services, context, request, handle, may, refused)


def describe_producers(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ."""
    may, may_not = split(
        services, context, Operation.READ, ResourceType.TOPIC, request.topics, lambda each: each.name
    )
    refused = [
        TopicResponse(
            name=topic.name,
            partitions=[
                PartitionResponse(
                    partition_index=index, error_code=_DENIED, error_message=default_message(_DENIED)
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in may_not
    ]
    return _topics(services, context, request, handle, may, refused)


def _topics(
    services: Services,
    context: RequestContext,
    request: Any,
    handle: Handle,
    may: list[Any],
    refused: list[Any],
) -> Any:
    if not refused:
        return handle(services, context, request)

    def add(response: Any) -> Any:
        response.topics += refused
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)
