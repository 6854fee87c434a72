"""ShareGroupHeartbeat (76): a member of a share group joins, stays, gets its partitions, or leaves (KIP-932).

v0 was an early access; v1 is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.share_groups import share_groups
from kbroker.protocol.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest

VERSIONS = (1, 1)


def handle(
    services: Services, context: RequestContext, request: ShareGroupHeartbeatRequest
) -> Deferred[ShareGroupHeartbeatResponse]:
    """Answered once what it changes is written."""
    return share_groups(services).heartbeat(request, context.client_id or "", context.client_host)


def error_response(
    request: ShareGroupHeartbeatRequest, version: int, code: ErrorCode, message: str | None
) -> ShareGroupHeartbeatResponse:
    """No assignment."""
    return ShareGroupHeartbeatResponse(error_code=code, error_message=message)
