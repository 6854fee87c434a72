"""Clients' telemetry, as before 4.0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode
from kbroker.handlers.manners.manner import then

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.manners.manner import Handle


def unread_pushes(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """PushTelemetry: who pushed in a codec that nobody knows may not ask at once which there are."""

    def told(answer: Any) -> Any:
        if answer.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE:
            services.client_metrics.not_forgiven(request.client_instance_id)
        return answer

    return then(handle(services, context, request), told)
