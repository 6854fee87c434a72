"""GetTelemetrySubscriptions: which metrics a client is to push, and how often (KIP-714).

v0 first. ApiVersions names it where pushes are kept only; it is answered everywhere, as Kafka does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.client_metrics import COMPRESSION_TYPES, Caller
from kbroker.errors import ApiError
from kbroker.protocol.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.get_telemetry_subscriptions_request import (
        GetTelemetrySubscriptionsRequest,
    )

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    """A client without an id gets one."""
    instance_id = request.client_instance_id
    if instance_id == ZERO_UUID:
        instance_id = services.new_uuid()
    client_metrics = services.client_metrics
    try:
        instance = client_metrics.ask(instance_id, caller_of(context), services.clock.monotonic_ms())
    except ApiError as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.code)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=list(COMPRESSION_TYPES),
        push_interval_ms=instance.interval_ms,
        telemetry_max_bytes=client_metrics.push_bytes_max,
        delta_temporality=True,
        requested_metrics=list(instance.metrics),
    )


def caller_of(context: RequestContext) -> Caller:
    """Who asks, as subscriptions see it."""
    return Caller(
        context.connection.connection_id,
        context.client_id or "",
        context.client_software_name,
        context.client_software_version,
        context.client_address,
        context.connection.client_port,
    )
