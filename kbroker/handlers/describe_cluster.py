"""DescribeCluster: brokers and controller (KIP-700).

v0 first; v1 endpoint types (KIP-919); v2 fenced brokers on request (KIP-1073).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.handlers.context import BROKER
from kbroker.protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.describe_cluster_request import DescribeClusterRequest

VERSIONS = (0, 2)

_BROKERS, _CONTROLLERS = 1, 2
_NAMES = {_BROKERS: "BROKER", _CONTROLLERS: "CONTROLLER"}


def handle(
    services: Services, context: RequestContext, request: DescribeClusterRequest
) -> DescribeClusterResponse:
    """The cluster as this node knows it: its brokers, or, at a controller's listener, its controllers."""
    here = _BROKERS if context.connection.role == BROKER else _CONTROLLERS
    if request.endpoint_type not in _NAMES:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        )
    if request.endpoint_type != here:
        raise ApiError(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            f"The request was sent to an endpoint of type {_NAMES[here]}, but we wanted an endpoint of type "
            f"{_NAMES[request.endpoint_type]}",
        )
    image = services.metadata.image
    operations = allowed_operations.UNKNOWN
    if request.include_cluster_authorized_operations:
        operations = allowed_operations.CLUSTER
    nodes = _brokers(image, context, request) if here == _BROKERS else _controllers(image, context)
    return DescribeClusterResponse(
        endpoint_type=here,
        cluster_id=image.cluster_id,
        controller_id=services.controller_for_clients if here == _BROKERS else image.controller_id,
        brokers=nodes,
        cluster_authorized_operations=operations,
    )


def _brokers(
    image: ClusterImage, context: RequestContext, request: DescribeClusterRequest
) -> list[DescribeClusterBroker]:
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
    return brokers


def _controllers(image: ClusterImage, context: RequestContext) -> list[DescribeClusterBroker]:
    return [
        DescribeClusterBroker(broker_id=node_id, host=endpoint.host, port=endpoint.port)
        for node_id, controller in sorted(image.controllers.items())
        for endpoint in controller.endpoints
        if endpoint.name == context.listener_name
    ]


def error_response(
    request: DescribeClusterRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeClusterResponse:
    """Nothing but the error."""
    return DescribeClusterResponse(error_code=code, error_message=message)
