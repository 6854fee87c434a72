"""SyncGroup: the leader of a classic group brings the assignments, the others fetch theirs.

v1 throttle time; v2 throttling before the answer; v3 group instance id (KIP-345); v4 flexible; v5
protocol type and name, both required (KIP-559).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.sync_group_response import SyncGroupResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.sync_group_request import SyncGroupRequest

VERSIONS = (0, 5)


def handle(
    services: Services, context: RequestContext, request: SyncGroupRequest
) -> Deferred[SyncGroupResponse]:
    """A follower waits until the leader has synced."""
    if context.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return services.groups.sync(request)


def error_response(
    request: SyncGroupRequest, version: int, code: ErrorCode, message: str | None
) -> SyncGroupResponse:
    """No assignment."""
    return SyncGroupResponse(error_code=code)
