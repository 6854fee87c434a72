"""BrokerHeartbeat: a broker is alive, and hears whether it may serve or stop (KIP-631).

v0 first; v1 log directories that have failed (KIP-858); v2 those that take no new replicas (KIP-1066).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.heartbeats import Heartbeat, HeartbeatReply
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: BrokerHeartbeatRequest
) -> Deferred[BrokerHeartbeatResponse]:
    """Answered when what follows from it is committed."""
    beat = Heartbeat(
        request.broker_id,
        request.broker_epoch,
        request.current_metadata_offset,
        request.want_fence,
        request.want_shut_down,
        request.offline_log_dirs,
        request.cordoned_log_dirs,
    )
    return services.active_chores.heartbeat(beat).map(_answer)


def _answer(reply: HeartbeatReply) -> BrokerHeartbeatResponse:
    return BrokerHeartbeatResponse(
        is_caught_up=reply.caught_up, is_fenced=reply.fenced, should_shut_down=reply.should_shut_down
    )


def error_response(
    request: BrokerHeartbeatRequest, version: int, code: ErrorCode, message: str | None
) -> BrokerHeartbeatResponse:
    """Nothing but the error."""
    return BrokerHeartbeatResponse(error_code=code)
