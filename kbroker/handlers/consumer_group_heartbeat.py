"""ConsumerGroupHeartbeat (68): a member of a consumer group joins, stays, gets its partitions, or leaves
(KIP-848).

v0 first; v1 subscriptions by pattern, and members make their own ids (KIP-1082).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.protocol.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest

VERSIONS = (0, 1)


def handle(
    services: Services, context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> Deferred[ConsumerGroupHeartbeatResponse]:
    """Answered once what it changes is written."""
    return services.groups.consumer_heartbeat(
        request, context.version, context.client_id or "", context.client_host, _visible(services, context)
    )


def _visible(
    services: Services, context: RequestContext
) -> Callable[[Collection[str]], Collection[str]] | None:
    """Which topics of a pattern the member may describe; None: nobody decides that."""
    authorizer = services.authorizer
    if authorizer is None:
        return None
    return lambda names: authorizer.decided(context, Operation.DESCRIBE, ResourceType.TOPIC, names)


def error_response(
    request: ConsumerGroupHeartbeatRequest, version: int, code: ErrorCode, message: str | None
) -> ConsumerGroupHeartbeatResponse:
    """No assignment."""
    return ConsumerGroupHeartbeatResponse(
        error_code=code, error_message=message, member_id=None, assignment=None
    )
