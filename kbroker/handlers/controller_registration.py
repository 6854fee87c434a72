"""ControllerRegistration: a controller tells the active one its listeners and features (KIP-919).

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.brokers import CONTROLLER_LEVEL, NodeRegistration, register_controller
from kbroker.controller.decision import Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage, Endpoint, FeatureRange
from kbroker.protocol.generated.controller_registration_response import ControllerRegistrationResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.controller_registration_request import ControllerRegistrationRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: ControllerRegistrationRequest
) -> Deferred[ControllerRegistrationResponse]:
    """Answered when the registration is committed."""
    node = NodeRegistration(
        request.controller_id,
        request.incarnation_id,
        [Endpoint(e.name, e.host, e.port, e.security_protocol) for e in request.listeners],
        {f.name: FeatureRange(f.min_supported_version, f.max_supported_version) for f in request.features},
        zk_migration_ready=request.zk_migration_ready,
    )

    def decide(image: ClusterImage) -> Decision[None]:
        if image.metadata_version < CONTROLLER_LEVEL:
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                "The current MetadataVersion is too old to support controller registrations.",
            )
        return register_controller(image, node)

    return services.controller.append_records(decide, always=True).map(
        lambda _: ControllerRegistrationResponse(error_message="")
    )


def error_response(
    request: ControllerRegistrationRequest, version: int, code: ErrorCode, message: str | None
) -> ControllerRegistrationResponse:
    """Nothing but the error."""
    return ControllerRegistrationResponse(error_code=code, error_message=message)
