"""JoinGroup: enter a classic group, and wait for its next generation.

v0 the session timeout is the rebalance timeout as well; v1 rebalance timeout; v2 throttle time; v3 throttling
before the answer; v4 a dynamic member first gets its id (KIP-394); v5 group instance id (KIP-345); v6
flexible; v7 protocol type, nullable protocol name; v8 reason (KIP-800); v9 skipAssignment (KIP-814).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.join_group_response import JoinGroupResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.join_group_request import JoinGroupRequest

VERSIONS = (0, 9)

#: From here on no protocol is null, before it is an empty name.
_NULL_PROTOCOL_SINCE = 7


def handle(
    services: Services, context: RequestContext, request: JoinGroupRequest
) -> Deferred[JoinGroupResponse]:
    """Answered when the generation is named, or at once with an error."""
    joined = services.groups.join(request, context.version, context.client_id or "", context.client_host)
    if context.version >= _NULL_PROTOCOL_SINCE:
        return joined

    def named(response: JoinGroupResponse) -> JoinGroupResponse:
        response.protocol_name = response.protocol_name or ""
        return response

    return joined.map(named)


def error_response(
    request: JoinGroupRequest, version: int, code: ErrorCode, message: str | None
) -> JoinGroupResponse:
    """No generation."""
    name = None if version >= _NULL_PROTOCOL_SINCE else ""
    return JoinGroupResponse(error_code=code, member_id=request.member_id, protocol_name=name)
