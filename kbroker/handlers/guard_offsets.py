"""Guards of the offsets that groups commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode
from kbroker.handlers.guard_groups import check_group
from kbroker.handlers.guard_pieces import after, allowed_names, with_changes
from kbroker.handlers.guards import Handle
from kbroker.protocol.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kbroker.protocol.generated.offset_delete_response import (
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kbroker.protocol.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kbroker.security.acl import Operation, ResourceType
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_COMMIT_IDS_SINCE = _FETCH_IDS_SINCE = 10
_MANY_SINCE = 8
#: What a partition of OffsetFetch says that has an error.
_NOTHING = {"committed_offset": -1, "committed_leader_epoch": -1, "metadata": "", "error_code": _DENIED}


def known_name(services: Services, topic: Any, *, by_id: bool) -> str | None:
    """The name of a topic in a request; None: its id is unknown, which the handler tells."""
    if not by_id or topic.topic_id == ZERO_UUID:
        # Topics of ShareAcknowledge have no names.
        name: str | None = getattr(topic, "name", None)
        return name
    return services.topic_name_of(topic.topic_id)


def sort_out(
    services: Services, context: RequestContext, operation: Operation, topics: list[Any], *, by_id: bool
) -> tuple[list[Any], list[Any]]:
    """Topics that the handler may see, with those of unknown ids; and those that are refused."""
    names = [known_name(services, topic, by_id=by_id) for topic in topics]
    known = [name for name in names if name is not None]
    allowed = allowed_names(services, context, operation, ResourceType.TOPIC, known)
    may = [topic for topic, name in zip(topics, names) if name is None or name in allowed]
    may_not = [topic for topic, name in zip(topics, names) if name is not None and name not in allowed]
    return may, may_not


def offset_commit(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ the group and each topic."""
    check_group(services, context, request.group_id)
    by_id = context.version >= _COMMIT_IDS_SINCE
    may, may_not = sort_out(services, context, Operation.READ, request.topics, by_id=by_id)
    if not may_not:
        return handle(services, context, request)
    refused = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=_DENIED)
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]
    if not may:
        return OffsetCommitResponse(topics=refused)

    def add(response: Any) -> Any:
        response.topics = refused + response.topics
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)


def offset_delete(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DELETE the group, READ each topic."""
    check_group(services, context, request.group_id, Operation.DELETE)
    may, may_not = sort_out(services, context, Operation.READ, request.topics, by_id=False)
    refused = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(partition_index=each.partition_index, error_code=_DENIED)
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]

    def add(response: Any) -> Any:
        if not response.error_code:
            response.topics += refused
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)


# -- OffsetFetch --


def offset_fetch(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE the group and each topic; who asks for all topics gets those that may be described."""
    if context.version < _MANY_SINCE:
        return _fetch_one(services, context, request, handle)
    by_id = context.version >= _FETCH_IDS_SINCE
    ids = [group.group_id for group in request.groups]
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.GROUP, ids)
    passed_on, refused_topics = [], {}
    for group in request.groups:
        if group.group_id not in allowed:
            continue
        if group.topics is None:
            passed_on.append(group)
            continue
        may, may_not = sort_out(services, context, Operation.DESCRIBE, group.topics, by_id=by_id)
        refused_topics[len(passed_on)] = [
            OffsetFetchResponseTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetFetchResponsePartitions(partition_index=index, **_NOTHING)  # type: ignore[arg-type]
                    for index in topic.partition_indexes
                ],
            )
            for topic in may_not
        ]
        passed_on.append(with_changes(group, topics=may))

    def join(response: Any) -> Any:
        for index, group in enumerate(response.groups):
            if index in refused_topics and not group.error_code:
                group.topics += refused_topics[index]
            elif index not in refused_topics:
                group.topics = _visible(services, context, group.topics)
        response.groups += [
            OffsetFetchResponseGroup(group_id=group_id, error_code=_GROUP_DENIED)
            for group_id in ids
            if group_id not in allowed
        ]
        return response

    if not passed_on:
        return join(OffsetFetchResponse())
    return after(handle(services, context, with_changes(request, groups=passed_on)), join)


def _fetch_one(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    check_group(services, context, request.group_id, Operation.DESCRIBE)
    if request.topics is None:

        def narrow(response: Any) -> Any:
            response.topics = _visible(services, context, response.topics)
            return response

        return after(handle(services, context, request), narrow)
    may, may_not = sort_out(services, context, Operation.DESCRIBE, request.topics, by_id=False)
    refused = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(partition_index=index, **_NOTHING)  # type: ignore[arg-type]
                for index in topic.partition_indexes
            ],
        )
        for topic in may_not
    ]

    def add(response: Any) -> Any:
        if not response.error_code:
            response.topics += refused
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)


def _visible(services: Services, context: RequestContext, topics: list[Any]) -> list[Any]:
    names = [topic.name for topic in topics]
    visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, names, quietly=True)
    return [topic for topic in topics if topic.name in visible]
