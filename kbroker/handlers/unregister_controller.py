"""UnregisterController: a controller will not come back (KIP-1214).

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.brokers import unregister_controller
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.unregister_controller_response import UnregisterControllerResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.unregister_controller_request import UnregisterControllerRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: UnregisterControllerRequest
) -> Deferred[UnregisterControllerResponse]:
    """Answered when the registration is gone."""
    return services.controller.append_records(
        lambda image: unregister_controller(image, request.controller_id)
    ).map(lambda _: UnregisterControllerResponse(error_message=""))


def error_response(
    request: UnregisterControllerRequest, version: int, code: ErrorCode, message: str | None
) -> UnregisterControllerResponse:
    """Nothing but the error."""
    return UnregisterControllerResponse(error_code=code, error_message=message)
