"""BrokerRegistration: a broker comes to the cluster, at the active controller (KIP-631).

v0 first; v1 brokers that migrate from ZooKeeper (KIP-866); v2 log directories (KIP-858);
v3 the epoch of the last clean stop (KIP-966); v4 features whose lowest level is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.brokers import NodeRegistration
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import Endpoint, FeatureRange
from kbroker.protocol.generated.broker_registration_response import BrokerRegistrationResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.broker_registration_request import BrokerRegistrationRequest

VERSIONS = (0, 4)


def handle(
    services: Services, context: RequestContext, request: BrokerRegistrationRequest
) -> Deferred[BrokerRegistrationResponse]:
    """Answered with the broker's epoch when the registration is committed."""
    if request.cluster_id != services.cluster_id:
        foreign = ApiError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {services.cluster_id}, but got cluster ID {request.cluster_id}",
        )
        services.active_chores.refused(request.broker_id, request.incarnation_id, foreign)
        raise foreign
    node = NodeRegistration(
        request.broker_id,
        request.incarnation_id,
        [Endpoint(e.name, e.host, e.port, e.security_protocol) for e in request.listeners],
        {f.name: FeatureRange(f.min_supported_version, f.max_supported_version) for f in request.features},
        request.rack,
        request.log_dirs,
        request.previous_broker_epoch,
        is_migrating_zk_broker=request.is_migrating_zk_broker,
    )
    return services.active_chores.register(node).map(
        lambda epoch: BrokerRegistrationResponse(broker_epoch=epoch)
    )


def error_response(
    request: BrokerRegistrationRequest, version: int, code: ErrorCode, message: str | None
) -> BrokerRegistrationResponse:
    """No epoch."""
    return BrokerRegistrationResponse(error_code=code)
