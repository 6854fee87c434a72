"""AlterConfigs: replaces all settings of a resource (KIP-133); newer clients use the incremental API.

v0 first; v1 same as v0; v2 flexible (KIP-482).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.configs import ConfigResource, decide_replacement
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import config_changes
from kbroker.metadata.image import CONFIG_BROKER
from kbroker.protocol.generated.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.alter_configs_request import AlterConfigsRequest, AlterConfigsResource

VERSIONS = (0, 2)
#: A resource costs 15 µs, more than most things that can be asked for.
ELEMENTS_MAX = 30_000


def handle(
    services: Services, context: RequestContext, request: AlterConfigsRequest
) -> Deferred[AlterConfigsResponse]:
    """What only this broker can refuse is refused here; the rest is the controller's."""
    resources = [ConfigResource(r.resource_type, r.resource_name) for r in request.resources]
    errors: dict[int, ApiError | None] = {}
    errors.update(config_changes.refuse_duplicates(resources))
    wanted: list[tuple[ConfigResource, dict[str, str]]] = []
    positions: list[int] = []
    for index, (resource, asked) in enumerate(zip(resources, request.resources)):
        if index in errors:
            continue
        try:
            wanted.append((resource, _checked(services, context, resource, asked)))
            positions.append(index)
        except ApiError as error:
            errors[index] = error.with_traceback(None)
    decided = config_changes.decided_elsewhere(services, context, request, positions)
    if decided is None:
        decided = services.controller.append_records(
            lambda image: decide_replacement(
                image, services.config, wanted, validate_only=request.validate_only
            )
        )
    whole = config_changes.with_decided(decided, positions, errors)
    return whole.map(lambda errors: _response(resources, errors))


def error_response(
    request: AlterConfigsRequest, version: int, code: ErrorCode, message: str | None
) -> AlterConfigsResponse:
    """Every resource refused alike."""
    resources = [ConfigResource(r.resource_type, r.resource_name) for r in request.resources]
    return _response(resources, dict.fromkeys(range(len(resources)), ApiError(code, message)))


def _checked(
    services: Services, context: RequestContext, resource: ConfigResource, asked: AlterConfigsResource
) -> dict[str, str]:
    config_changes.check_settings(asked.configs)
    settings = {config.name: config.value for config in asked.configs if config.value is not None}
    if resource.type == CONFIG_BROKER:
        if resource.name:
            config_changes.check_own_node(services, context, resource.name)
        config_changes.check_broker_change(services, resource, settings)
        config_changes.try_broker_change(services, context, resource, settings, replaces=True)
    return settings


def _response(resources: list[ConfigResource], errors: dict[int, ApiError | None]) -> AlterConfigsResponse:
    responses = config_changes.results(AlterConfigsResourceResponse, resources, errors)
    return AlterConfigsResponse(responses=responses)
