"""Guards of share groups' records and offsets (KIP-932)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode, default_message
from kbroker.handlers.guard_groups import check_group
from kbroker.handlers.guard_offsets import sort_out
from kbroker.handlers.guard_pieces import after, allowed_names, with_changes
from kbroker.handlers.guards import Handle
from kbroker.protocol.generated.alter_share_group_offsets_response import (
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from kbroker.protocol.generated.delete_share_group_offsets_response import (
    DeleteShareGroupOffsetsResponseTopic,
)
from kbroker.protocol.generated.describe_share_group_offsets_response import (
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from kbroker.protocol.generated.share_acknowledge_response import (
    PartitionData,
    ShareAcknowledgeTopicResponse,
)
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TEXT = default_message(_DENIED)


def share_acknowledge(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ the group and each topic; without a group the request is invalid."""
    if request.group_id is not None:
        check_group(services, context, request.group_id)
    may, may_not = sort_out(services, context, Operation.READ, request.topics, by_id=True)
    refused = [
        ShareAcknowledgeTopicResponse(
            topic_id=topic.topic_id,
            partitions=[
                PartitionData(partition_index=each.partition_index, error_code=_DENIED, error_message=_TEXT)
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]

    def add(response: Any) -> Any:
        if not response.error_code:
            response.responses += refused
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)


def describe_offsets(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE each group and each topic; who asks for all topics gets those that may be described."""
    ids = [group.group_id for group in request.groups]
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.GROUP, ids)
    passed_on: list[Any] = []
    refused: dict[int, list[Any]] = {}
    for group in request.groups:
        if group.group_id not in allowed:
            continue
        if group.topics is None:
            passed_on.append(group)
            continue
        names = [topic.topic_name for topic in group.topics]
        visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, names)
        refused[len(passed_on)] = [
            DescribeShareGroupOffsetsResponseTopic(
                topic_name=topic.topic_name,
                partitions=[
                    DescribeShareGroupOffsetsResponsePartition(
                        partition_index=index, start_offset=-1, error_code=_DENIED, error_message=_TEXT
                    )
                    for index in topic.partitions
                ],
            )
            for topic in group.topics
            if topic.topic_name not in visible
        ]
        may = [topic for topic in group.topics if topic.topic_name in visible]
        passed_on.append(with_changes(group, topics=may))

    def join(response: Any) -> Any:
        for index, group in enumerate(response.groups):
            if index in refused and not group.error_code:
                group.topics += refused[index]
            elif index not in refused:
                names = [topic.topic_name for topic in group.topics]
                visible = allowed_names(
                    services, context, Operation.DESCRIBE, ResourceType.TOPIC, names, quietly=True
                )
                group.topics = [topic for topic in group.topics if topic.topic_name in visible]
        response.groups += [
            DescribeShareGroupOffsetsResponseGroup(group_id=each, error_code=_GROUP_DENIED)
            for each in ids
            if each not in allowed
        ]
        return response

    return after(handle(services, context, with_changes(request, groups=passed_on)), join)


def alter_offsets(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ the group and each topic."""
    check_group(services, context, request.group_id)
    may, may_not = _split(services, context, request.topics)
    refused = [
        AlterShareGroupOffsetsResponseTopic(
            topic_name=topic.topic_name,
            partitions=[
                AlterShareGroupOffsetsResponsePartition(
                    partition_index=each.partition_index, error_code=_DENIED, error_message=_TEXT
                )
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]
    return _add(handle(services, context, with_changes(request, topics=may)), refused)


def delete_offsets(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DELETE the group, READ each topic."""
    check_group(services, context, request.group_id, Operation.DELETE)
    may, may_not = _split(services, context, request.topics)
    refused = [
        DeleteShareGroupOffsetsResponseTopic(
            topic_name=topic.topic_name, error_code=_DENIED, error_message=_TEXT
        )
        for topic in may_not
    ]
    return _add(handle(services, context, with_changes(request, topics=may)), refused)


def _split(services: Services, context: RequestContext, topics: list[Any]) -> tuple[list[Any], list[Any]]:
    names = [topic.topic_name for topic in topics]
    allowed = allowed_names(services, context, Operation.READ, ResourceType.TOPIC, names)
    may = [topic for topic in topics if topic.topic_name in allowed]
    return may, [topic for topic in topics if topic.topic_name not in allowed]


def _add(result: Any, refused: list[Any]) -> Any:
    def add(response: Any) -> Any:
        if not response.error_code:
            response.responses += refused
        return response

    return after(result, add)
