"""Guards of groups: their members, and who looks at them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode, default_message
from kbroker.handlers import allowed_operations
from kbroker.handlers.guard_pieces import (
    HIDDEN_TOPICS,
    after,
    allowed_names,
    hide_operations,
    with_changes,
)
from kbroker.handlers.guards import Handle, check_cluster, may_on_cluster
from kbroker.protocol.generated.delete_groups_response import DeletableGroupResult
from kbroker.protocol.generated.describe_groups_response import DescribedGroup
from kbroker.protocol.generated.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_MANY_KEYS_SINCE = 4
_SYNC_GROUP, _PROTOCOLS_SINCE = 14, 5
#: By the key type of FindCoordinator.
_KEYS = {
    0: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    1: (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}
_SHARE_KEYS = 2


def check_group(
    services: Services, context: RequestContext, group_id: str, operation: Operation = Operation.READ
) -> None:
    """An operation on a group.

    Raises:
        ApiError: GROUP_AUTHORIZATION_FAILED.
    """
    if not services.allows(context, operation, ResourceType.GROUP, group_id):
        raise ApiError(_DENIED)


def check_topics(services: Services, context: RequestContext, names: Iterable[str]) -> None:
    """DESCRIBE of all topics.

    Raises:
        ApiError: TOPIC_AUTHORIZATION_FAILED.
    """
    wanted = list(dict.fromkeys(names))
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, wanted)
    if len(allowed) < len(wanted):
        raise ApiError(_TOPIC_DENIED)


def member(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ the group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup and others of its members."""
    names_protocol = getattr(request, "protocol_type", ""), getattr(request, "protocol_name", "")
    if context.api_key != _SYNC_GROUP or context.version < _PROTOCOLS_SINCE or None not in names_protocol:
        check_group(services, context, request.group_id)
    # Else the handler refuses it for that, as Kafka does before it asks who it is.
    return handle(services, context, request)


def subscriber(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ the group, DESCRIBE the topics subscribed to by name."""
    check_group(services, context, request.group_id)
    check_topics(services, context, request.subscribed_topic_names or ())
    return handle(services, context, request)


def streams_heartbeat(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """READ the group, DESCRIBE the topics of the topology; internal ones are created as in handlers."""
    check_group(services, context, request.group_id)
    if request.topology is not None:
        names: dict[str, None] = {}
        for part in request.topology.subtopologies:
            names.update(dict.fromkeys((*part.source_topics, *part.repartition_sink_topics)))
            for each in (*part.repartition_source_topics, *part.state_changelog_topics):
                names[each.name] = None
        check_topics(services, context, names)
    return handle(services, context, request)


# -- looking at groups --


def find_coordinator(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE the group or transactional id; CLUSTER_ACTION for share partitions."""
    many = context.version >= _MANY_KEYS_SINCE
    if request.key_type == _SHARE_KEYS and many:
        check_cluster(services, context, Operation.CLUSTER_ACTION)
    if request.key_type not in _KEYS:
        return handle(services, context, request)
    kind, code = _KEYS[request.key_type]
    keys = request.coordinator_keys if many else [request.key]
    allowed = allowed_names(services, context, Operation.DESCRIBE, kind, keys)
    refused = [key for key in keys if key not in allowed]
    if not refused:
        return handle(services, context, request)
    if not many:
        return FindCoordinatorResponse(
            error_code=code, error_message=default_message(code), node_id=-1, host="", port=-1
        )
    denied = [
        Coordinator(key=key, node_id=-1, host="", port=-1, error_code=code, error_message="")
        for key in refused
    ]
    if not allowed:
        return FindCoordinatorResponse(coordinators=denied)

    def add(response: Any) -> Any:
        response.coordinators += denied
        return response

    may = [key for key in keys if key in allowed]
    return after(handle(services, context, with_changes(request, coordinator_keys=may)), add)


def list_groups(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """All to who may DESCRIBE the cluster, else the groups that may be described."""
    if may_on_cluster(services, context, Operation.DESCRIBE):
        return handle(services, context, request)

    response = handle(services, context, request)
    names = [group.group_id for group in response.groups]
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.GROUP, names, quietly=True)
    response.groups = [group for group in response.groups if group.group_id in allowed]
    return response


def describe_groups(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE each group."""
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.GROUP, request.groups)
    refused = [
        DescribedGroup(group_id=name, error_code=_DENIED) for name in request.groups if name not in allowed
    ]
    may = [name for name in request.groups if name in allowed]
    response = handle(services, context, with_changes(request, groups=may))
    _narrow(services, context, response)
    response.groups = refused + response.groups
    return response


def delete_groups(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DELETE each group."""
    names = request.groups_names
    allowed = allowed_names(services, context, Operation.DELETE, ResourceType.GROUP, names)
    refused = [
        DeletableGroupResult(group_id=name, error_code=_DENIED)
        for name in dict.fromkeys(names)
        if name not in allowed
    ]

    def add(response: Any) -> Any:
        response.results += refused
        return response

    may = [name for name in names if name in allowed]
    return after(handle(services, context, with_changes(request, groups_names=may)), add)


def describe_members(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """ConsumerGroupDescribe, ShareGroupDescribe: DESCRIBE each group, and all topics of its members."""

    def names(group: Any) -> set[str]:
        found: set[str] = set()
        for each in group.members:
            found.update(each.subscribed_topic_names)
            for part in (each.assignment, getattr(each, "target_assignment", None)):
                if part is not None:
                    found.update(topic.topic_name for topic in part.topic_partitions)
        return found

    return _describe(services, context, request, handle, names)


def describe_streams(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE each group, and all topics of its topology."""

    def names(group: Any) -> set[str]:
        found: set[str] = set()
        for part in () if group.topology is None else group.topology.subtopologies:
            found.update(part.source_topics)
            found.update(part.repartition_sink_topics)
            for each in (*part.repartition_source_topics, *part.state_changelog_topics):
                found.add(each.name)
        return found

    return _describe(services, context, request, handle, names)


def _describe(
    services: Services, context: RequestContext, request: Any, handle: Handle, names_of: Any
) -> Any:
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.GROUP, request.group_ids)
    may = [name for name in request.group_ids if name in allowed]
    response = handle(services, context, with_changes(request, group_ids=may))
    shape = type(response.groups[0]) if response.groups else _group_shape(type(response))
    topics = {index: names_of(group) for index, group in enumerate(response.groups) if not group.error_code}
    every = sorted(set().union(*topics.values())) if topics else []
    visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, every, quietly=True)
    for index, names in topics.items():
        if not names <= visible:
            group = response.groups[index]
            response.groups[index] = shape(
                group_id=group.group_id, error_code=_TOPIC_DENIED, error_message=HIDDEN_TOPICS
            )
    _narrow(services, context, response)
    response.groups = [
        shape(group_id=name, error_code=_DENIED) for name in request.group_ids if name not in allowed
    ] + response.groups
    return response


def _group_shape(response: Any) -> Any:
    from importlib import import_module

    return import_module(response.__module__).DescribedGroup


def _narrow(services: Services, context: RequestContext, response: Any) -> None:
    """Authorized operations, where the handler put all that there are."""
    told = [
        (group, group.group_id)
        for group in response.groups
        if group.authorized_operations != allowed_operations.UNKNOWN
    ]
    hide_operations(services, context, ResourceType.GROUP, told)
