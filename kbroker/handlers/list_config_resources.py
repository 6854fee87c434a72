"""ListConfigResources: names of resources that can have settings (KIP-714, KIP-1142).

v0 lists client-metrics subscriptions only (its name was ListClientMetricsResources); v1 any of five types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_CLIENT_METRICS, CONFIG_GROUP, CONFIG_TOPIC
from kbroker.protocol.generated.list_config_resources_response import (
    ConfigResource,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.list_config_resources_request import ListConfigResourcesRequest

VERSIONS = (0, 1)

BROKER_LOGGER = 8
_LISTABLE = (CONFIG_GROUP, CONFIG_CLIENT_METRICS, BROKER_LOGGER, CONFIG_BROKER, CONFIG_TOPIC)


def handle(
    services: Services, context: RequestContext, request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    """Topics and brokers that exist, groups and subscriptions that have settings."""
    asked = [CONFIG_CLIENT_METRICS] if context.version == 0 else request.resource_types
    kinds = set(asked or _LISTABLE)
    if not kinds.issubset(_LISTABLE):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, config_resources=[])
    found = []
    for kind in _LISTABLE:
        if kind in kinds:
            found += [
                ConfigResource(resource_name=name, resource_type=kind) for name in _names(services, kind)
            ]
    return ListConfigResourcesResponse(config_resources=found)


def _names(services: Services, kind: int) -> list[str]:
    image = services.metadata.image
    if kind == CONFIG_TOPIC:
        return image.topics.names()
    if kind in (CONFIG_BROKER, BROKER_LOGGER):
        return [str(broker_id) for broker_id in sorted(image.brokers)]
    return sorted(name for resource_type, name in image.configs if resource_type == kind)
