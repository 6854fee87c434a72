"""UnregisterBroker: a broker will not come back (KIP-631).

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.unregister_broker_response import UnregisterBrokerResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.unregister_broker_request import UnregisterBrokerRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: UnregisterBrokerRequest
) -> Deferred[UnregisterBrokerResponse]:
    """Answered when the registration is gone."""
    return services.active_chores.unregister(request.broker_id).map(
        lambda _: UnregisterBrokerResponse(error_message="")
    )


def error_response(
    request: UnregisterBrokerRequest, version: int, code: ErrorCode, message: str | None
) -> UnregisterBrokerResponse:
    """Nothing but the error."""
    return UnregisterBrokerResponse(error_code=code, error_message=message)
