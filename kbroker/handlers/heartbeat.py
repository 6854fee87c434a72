"""Heartbeat: a member of a classic group is alive, and learns whether it must join again.

v1 throttle time; v2 throttling before the answer; v3 group instance id (KIP-345); v4 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.heartbeat_response import HeartbeatResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.heartbeat_request import HeartbeatRequest

VERSIONS = (0, 4)


def handle(services: Services, context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    """Answered at once."""
    try:
        code = services.groups.heartbeat(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
    except ApiError as error:
        if error.code is not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            raise
        # Nobody can tell yet; the member goes on, as with Kafka, and its next heartbeat is told.
        code = ErrorCode.NONE
    return HeartbeatResponse(error_code=code)


def error_response(
    request: HeartbeatRequest, version: int, code: ErrorCode, message: str | None
) -> HeartbeatResponse:
    """The code is all there is."""
    return HeartbeatResponse(error_code=code)
