"""DescribeConfigs: the settings of topics, brokers, loggers, groups and client-metrics subscriptions.

v1 synonyms and sources (KIP-226); v2 same as v1; v3 types and documentation (KIP-569); v4 flexible (KIP-482).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.config.broker_config import ConfigSource
from kbroker.config.describe import (
    ConfigEntry,
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from kbroker.config.values import ConfigType
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_CLIENT_METRICS, CONFIG_GROUP, CONFIG_TOPIC
from kbroker.protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_configs_request import (
        DescribeConfigsRequest,
        DescribeConfigsResource,
    )

VERSIONS = (0, 4)

BROKER_LOGGER = 8
_TYPES = frozenset((CONFIG_TOPIC, CONFIG_BROKER, BROKER_LOGGER, CONFIG_GROUP, CONFIG_CLIENT_METRICS))

#: An answer has no more settings than this, and some for each topic: a small request that repeats itself, or
#: names groups that nobody has, must not cost gigabytes.
_ENTRIES_MAX, _ENTRIES_PER_TOPIC_MAX = 100_000, 60

#: Kafka's text for a request that makes no sense.
_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was "
    "sent to an incompatible broker. See the broker logs for more details."
)


def handle(
    services: Services, context: RequestContext, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    """Each resource by itself; an unknown topic is an error, an unknown group or subscription is not.

    A resource of a type that does not exist spoils the whole request.
    """
    if any(resource.resource_type not in _TYPES for resource in request.resources):
        return error_response(request, context.version, ErrorCode.INVALID_REQUEST, None)
    results: list[DescribeConfigsResult] = []
    room = _ENTRIES_MAX + _ENTRIES_PER_TOPIC_MAX * len(services.metadata.image.topics)
    for resource in request.resources:
        results.append(_result(services, request, resource))
        room -= len(results[-1].configs)
        if room < 0:
            raise ProtocolError(f"DescribeConfigs asks for too much: {len(request.resources)} resources")
    return DescribeConfigsResponse(results=results)


def _result(
    services: Services, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        error_code=0,
        error_message="",
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[],
    )
    try:
        entries = _entries(services, resource)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message or ""
    else:
        result.configs = [_shown(entry, request) for entry in entries]
    return result


def _entries(services: Services, resource: DescribeConfigsResource) -> list[ConfigEntry]:
    kind, name, wanted = resource.resource_type, resource.resource_name, resource.configuration_keys
    image, config = services.metadata.image, services.config
    if kind == CONFIG_TOPIC:
        _require_topic(services, name)
        return describe_topic(config, image.topic_config(name), wanted)
    if kind == CONFIG_BROKER:
        if not name:
            return describe_broker_defaults(config, wanted)
        _require_this_broker(services, name, "expected {} or empty string, but received {}")
        return describe_broker(config, wanted)
    if kind == BROKER_LOGGER:
        if not name:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
        _require_this_broker(services, name, "expected {} but received {}")
        return _loggers(wanted)
    if kind == CONFIG_GROUP:
        if not name:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        return describe_group(config, image.config(CONFIG_GROUP, name), wanted)
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
    return describe_client_metrics(image.config(CONFIG_CLIENT_METRICS, name), wanted)


def _require_topic(services: Services, name: str) -> None:
    if name in services.metadata.image.topics:
        return
    from kbroker.controller.topics import topic_name_problem

    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _require_this_broker(services: Services, name: str, words: str) -> None:
    try:
        broker_id = int(name)
    except ValueError:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
        ) from None
    if broker_id != services.broker_id:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Unexpected broker id, {words.format(services.broker_id, broker_id)}"
        )


def _loggers(wanted: list[str] | None) -> list[ConfigEntry]:
    from kbroker.handlers.log_levels import level_names

    return [
        ConfigEntry(
            name,
            level,
            False,
            ConfigSource.BROKER_LOGGER,
            False,
            ConfigType.STRING,
            (),
            "",
        )
        for name, level in level_names().items()
        if not wanted or name in wanted
    ]


def _shown(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.sensitive,
        synonyms=[DescribeConfigsSynonym(name=s.name, value=s.value, source=s.source) for s in entry.synonyms]
        if request.include_synonyms
        else [],
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation else None,
    )


def error_response(
    request: DescribeConfigsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeConfigsResponse:
    """The error for each resource."""
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=code,
                error_message=_MALFORMED
                if message is None and code is ErrorCode.INVALID_REQUEST
                else message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )
