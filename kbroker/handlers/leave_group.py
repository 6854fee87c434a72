"""LeaveGroup: members go, or are taken out by an administrator.

v1 throttle time; v2 throttling before the answer; v3 many members, also by instance id alone (KIP-345); v4
flexible; v5 reasons (KIP-800).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.protocol.generated.leave_group_request import MemberIdentity
from kbroker.protocol.generated.leave_group_response import LeaveGroupResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.leave_group_request import LeaveGroupRequest

VERSIONS = (0, 5)

_MANY_SINCE = 3


def handle(
    services: Services, context: RequestContext, request: LeaveGroupRequest
) -> Deferred[LeaveGroupResponse]:
    """Before version 3 the one member's code is the answer's."""
    if context.version >= _MANY_SINCE:
        return services.groups.leave(request.group_id, request.members)
    left = services.groups.leave(request.group_id, [MemberIdentity(member_id=request.member_id)])
    return left.map(lambda response: LeaveGroupResponse(error_code=response.members[0].error_code))


def error_response(
    request: LeaveGroupRequest, version: int, code: ErrorCode, message: str | None
) -> LeaveGroupResponse:
    """No members."""
    return LeaveGroupResponse(error_code=code)
