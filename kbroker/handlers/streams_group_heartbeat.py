"""StreamsGroupHeartbeat (88): a member of a streams group joins, stays, gets its tasks, or leaves (KIP-1071).

v0 first; v1 whether a topology description is wanted (KIP-1331), the acceptable lag as int64, status
MISSING_CLIENT_TAGS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.protocol.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kbroker.security.acl import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.coordinator.group.streams_requests import Beat
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest

VERSIONS = (0, 1)

_MISSING_INTERNAL_TOPICS = 3


def handle(
    services: Services, context: RequestContext, request: StreamsGroupHeartbeatRequest
) -> Deferred[StreamsGroupHeartbeatResponse]:
    """Answered once what it changes is written; missing internal topics are created behind it."""
    beats = services.groups.streams_heartbeat(
        request, context.version, context.client_id or "", context.client_host
    )
    return beats.map(lambda beat: _with_topics(services, context, request.group_id, beat))


def _with_topics(
    services: Services, context: RequestContext, group_id: str, beat: Beat
) -> StreamsGroupHeartbeatResponse:
    topics = services.groups.streams_rules.topics
    if not beat.missing:
        if not beat.response.error_code and beat.response.member_epoch >= 0:
            topics.forget(group_id)
        return beat.response
    denied = _not_creatable(services, context, beat)
    if denied:
        for status in beat.response.status or ():
            if status.status_code == _MISSING_INTERNAL_TOPICS:
                status.status_detail += f"; Unauthorized to CREATE on topics {','.join(denied)}."
        return beat.response
    failures = topics.failures(group_id)
    for status in beat.response.status or ():
        if status.status_code == _MISSING_INTERNAL_TOPICS:
            status.status_detail += failures
    topics.create(services, group_id, beat.missing)
    return beat.response


def _not_creatable(services: Services, context: RequestContext, beat: Beat) -> list[str]:
    """The missing topics that the member may not create: then none is."""
    authorizer = services.authorizer
    if authorizer is None:
        return []
    cluster = ResourceType.CLUSTER
    if authorizer.allows(context, Operation.CREATE, cluster, CLUSTER_NAME, quietly=True):
        return []
    names = [topic.name for topic in beat.missing]
    allowed = authorizer.allowed(context, Operation.CREATE, ResourceType.TOPIC, names)
    return [name for name in names if name not in allowed]


def error_response(
    request: StreamsGroupHeartbeatRequest, version: int, code: ErrorCode, message: str | None
) -> StreamsGroupHeartbeatResponse:
    """No tasks."""
    return StreamsGroupHeartbeatResponse(error_code=code, error_message=message, status=[])
