"""DescribeCluster: brokers and controller (KIP-700).

v0 first; v1 endpoint types (KIP-919); v2 fenced brokers on request (KIP-1073).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_cluster_request import DescribeClusterRequest

VERSIONS = (0, 2)

_BROKERS, _CONTROLLERS = 1, 2


def handle(
    services: Services, context: RequestContext, request: DescribeClusterRequest
) -> DescribeClusterResponse:
    """The cluster as this broker knows it."""
    if request.endpoint_type == _CONTROLLERS:
        raise ApiError(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        )
    image = services.metadata.image
    brokers = []
    for _, broker in sorted(image.brokers.items()):
        endpoint = broker.endpoint(context.listener_name)
        if endpoint is None or (broker.fenced and not request.include_fenced_brokers):
            continue
        brokers.append(
            DescribeClusterBroker(
                broker_id=broker.id,
                host=endpoint.host,
                port=endpoint.port,
                rack=broker.rack,
                is_fenced=broker.fenced,
            )
        )
    operations = allowed_operations.UNKNOWN
    if request.include_cluster_authorized_operations:
        operations = allowed_operations.CLUSTER
    return DescribeClusterResponse(
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        brokers=brokers,
        cluster_authorized_operations=operations,
    )


def error_response(
    request: DescribeClusterRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeClusterResponse:
    """Nothing but the error."""
    return DescribeClusterResponse(error_code=code, error_message=message)
