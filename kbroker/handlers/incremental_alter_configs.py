"""IncrementalAlterConfigs: set, delete, append to and subtract from single settings (KIP-339).

v0 first; v1 flexible (KIP-482).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.configs import (
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    check_type,
    decide_incremental,
)
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import config_changes
from kbroker.metadata.image import CONFIG_BROKER
from kbroker.protocol.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.incremental_alter_configs_request import (
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
    )

VERSIONS = (0, 1)
#: A resource costs 15 µs, more than most things that can be asked for.
ELEMENTS_MAX = 30_000


def handle(
    services: Services, context: RequestContext, request: IncrementalAlterConfigsRequest
) -> Deferred[IncrementalAlterConfigsResponse]:
    """What only this broker can refuse is refused here; the rest is the controller's."""
    resources = [ConfigResource(r.resource_type, r.resource_name) for r in request.resources]
    errors: dict[int, ApiError | None] = {}
    errors.update(config_changes.refuse_duplicates(resources))
    changes: list[tuple[ConfigResource, list[ConfigChange]]] = []
    positions: list[int] = []
    for index, (resource, asked) in enumerate(zip(resources, request.resources)):
        if index in errors:
            continue
        try:
            resource_changes = _checked(services, context, resource, asked)
            if resource.type == config_changes.BROKER_LOGGER:
                errors[index] = None
                _change_levels(resource_changes, request.validate_only)
            else:
                changes.append((resource, resource_changes))
                positions.append(index)
        except ApiError as error:
            errors[index] = error.with_traceback(None)
    decided = config_changes.decided_elsewhere(services, context, request, positions)
    if decided is None:
        decided = services.controller.append_records(
            lambda image: decide_incremental(
                image, services.config, changes, validate_only=request.validate_only
            )
        )
    whole = config_changes.with_decided(decided, positions, errors)
    return whole.map(lambda errors: _response(resources, errors))


def error_response(
    request: IncrementalAlterConfigsRequest, version: int, code: ErrorCode, message: str | None
) -> IncrementalAlterConfigsResponse:
    """Every resource refused alike."""
    resources = [ConfigResource(r.resource_type, r.resource_name) for r in request.resources]
    return _response(resources, dict.fromkeys(range(len(resources)), ApiError(code, message)))


def _checked(
    services: Services, context: RequestContext, resource: ConfigResource, asked: AlterConfigsResource
) -> list[ConfigChange]:
    config_changes.check_settings(asked.configs)
    if resource.type == config_changes.BROKER_LOGGER:
        config_changes.check_node(services, resource.name, "Unexpected node id. Expected {}, but received {}")
    else:
        check_type(services.config, resource)
        if resource.type == CONFIG_BROKER and resource.name:
            config_changes.check_own_node(services, context, resource.name)
    changes = []
    for config in asked.configs:
        if not 0 <= config.config_operation <= 3:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {config.config_operation}")
        changes.append(ConfigChange(config.name, ConfigOperation(config.config_operation), config.value))
    if resource.type == CONFIG_BROKER:
        touched = config_changes.after_incremental(services, resource, changes)
        config_changes.check_broker_change(services, resource, touched)
        removed = [change.name for change in changes if change.operation is ConfigOperation.DELETE]
        config_changes.try_broker_change(services, context, resource, touched, removed)
    elif resource.type == config_changes.BROKER_LOGGER:
        _check_levels(changes)
    return changes


def _check_levels(changes: list[ConfigChange]) -> None:
    from kbroker.handlers.log_levels import check_level

    for change in changes:
        if change.operation not in (ConfigOperation.SET, ConfigOperation.DELETE):
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"{change.operation.name} operation is not allowed for the BROKER_LOGGER resource",
            )
        check_level(change.name, None if change.operation is ConfigOperation.DELETE else change.value)


def _change_levels(changes: list[ConfigChange], validate_only: bool) -> None:
    from kbroker.handlers.log_levels import set_level

    if not validate_only:
        for change in changes:
            set_level(change.name, None if change.operation is ConfigOperation.DELETE else change.value)


def _response(
    resources: list[ConfigResource], errors: dict[int, ApiError | None]
) -> IncrementalAlterConfigsResponse:
    responses = config_changes.results(AlterConfigsResourceResponse, resources, errors)
    return IncrementalAlterConfigsResponse(responses=responses)
