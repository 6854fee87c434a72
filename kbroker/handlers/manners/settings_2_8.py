"""Settings and features, as Kafka 2.8.2 with ZooKeeper refuses them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode
from kbroker.handlers.manners.manner import SAME, Around, Rule, then
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.manners.manner import Handle, Words

_MALFORMED, _WRONG = ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_CONFIG
_NAME, _UNKNOWN = ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_UNEXPECTED = ErrorCode.UNKNOWN_SERVER_ERROR
_ALTER, _CHANGE = ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS
_DESCRIBE = ApiKey.DESCRIBE_CONFIGS

_BY_CLIENT = (
    "This most likely occurs because of a request being malformed by the client library or the message was "
    "sent to an incompatible broker. See the broker logs for more details."
)
_FOR_RESOURCE = (
    "Invalid config value for resource ConfigResource(type={kind}, name='{of.resource_name}'): {0}"
)
_LEVELS = r"(Cannot set the log level of .* Valid log levels are ).*"
_ABSENT = "The topic '{of.resource_name}' does not exist."
#: As it was read, in no order.
_LEVELS_THEN = "TRACE, ERROR, INFO, FATAL, DEBUG, WARN"


def _levels(match: re.Match[str], item: Any) -> str:
    named = f"ConfigResource(type=BROKER_LOGGER, name='{item.resource_name}')"
    return f"Invalid config value for resource {named}: {match[1]}{_LEVELS_THEN}"


def _both(
    code: int, pattern: str, to: int | None = None, text: str | Words | None = SAME
) -> tuple[Rule, Rule]:
    return Rule(code, pattern, to, text, _ALTER), Rule(code, pattern, to, text, _CHANGE)


RULES = (
    Rule(_MALFORMED, "(Client metrics subscription|Group) name must not.*", text=_BY_CLIENT, api=_DESCRIBE),
    *_both(_NAME, ".*", _UNKNOWN, _ABSENT),
    Rule(_MALFORMED, "Default topic resources are not allowed.", _UNKNOWN, _ABSENT, _ALTER),
    Rule(
        _MALFORMED,
        "Default topic resources are not allowed.",
        text="Invalid config value for resource ConfigResource(type=TOPIC, name=''): "
        "Path must not end with / character",
        api=_CHANGE,
    ),
    *_both(_WRONG, "(Unknown topic config name: |conflict topic config setting ).*"),
    *_both(
        _WRONG,
        r"Can't (?:APPEND) to key (.*) because its type is not LIST\.",
        _MALFORMED,
        "Config value append is not allowed for config key: {1}",
    ),
    *_both(
        _WRONG,
        r"Can't (?:SUBTRACT) to key (.*) because its type is not LIST\.",
        _MALFORMED,
        "Config value subtract is not allowed for config key: {1}",
    ),
    *_both(_WRONG, "Config value (append|subtract) is not allowed .*", _MALFORMED),
    *_both(_WRONG, _LEVELS, _MALFORMED, _levels),
    *_both(_WRONG, ".*", _MALFORMED, _FOR_RESOURCE),
    *_both(_MALFORMED, "Node id( must be an integer.*)", text="Broker id{1}"),
    *_both(_MALFORMED, "Cannot update these configs .*", text=_FOR_RESOURCE),
    *_both(_MALFORMED, "Invalid value .* for configuration .*", text=_FOR_RESOURCE),
    *_both(_MALFORMED, "/ by zero", _UNEXPECTED, None),
    Rule(_MALFORMED, "Null value not supported for : .*", _UNEXPECTED, None, _ALTER),
    Rule(_MALFORMED, "Unknown operations type .*", _UNEXPECTED, None, _CHANGE),
    Rule(
        _MALFORMED,
        r"Unexpected node id\. Expected (.*), but received (.*)",
        text="Unexpected broker id, expected {1}, but received {2}",
        api=_CHANGE,
    ),
    *_both(_MALFORMED, "Unknown resource type .*", text="Unexpected resource type UNKNOWN"),
)

_TOPIC, _BROKER, _LOGGER = 2, 4, 8
#: As texts name what is done.
_OPERATIONS = {0: "SET", 1: "DELETE", 2: "APPEND", 3: "SUBTRACT"}


def _known_kinds(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """Clients' metrics and groups had no settings; of a resource named twice the last counted."""
    kinds = (_TOPIC, _BROKER) if context.api_key == _ALTER else (_TOPIC, _BROKER, _LOGGER)
    request = copy(request)
    last = {(each.resource_type, each.resource_name): each for each in request.resources}
    request.resources = list(last.values()) if context.api_key == _CHANGE else list(request.resources)
    types = [each.resource_type for each in request.resources]
    asked = [copy(each) for each in request.resources]
    for each in asked:
        if each.resource_type not in kinds:
            each.resource_type = 0
    request.resources = asked

    def told(answer: Any) -> Any:
        for response, kind in zip(answer.responses, types):
            response.resource_type = kind
            if response.error_code == _MALFORMED:
                resource = next(
                    each
                    for each in asked
                    if each.resource_name == response.resource_name and each.resource_type in (kind, 0)
                )
                response.error_message = _of_settings(response.error_message, resource.configs)
        return answer

    return then(handle(services, context, request), told)


def _of_settings(text: str | None, configs: list[Any]) -> str | None:
    """With what is said of single changes."""
    if text == "Error due to duplicate config keys":
        counts = Counter(config.name for config in configs)
        return f"{text} : {','.join(name for name, count in counts.items() if count > 1)}"
    prefix = "Null value not supported for : "
    if text is not None and text.startswith(prefix) and hasattr(configs[0], "config_operation"):
        nulls = [config for config in configs if config.value is None and config.config_operation != 1]
        return prefix + ",".join(
            f"{_OPERATIONS.get(config.config_operation, '')}:{config.name}" for config in nulls
        )
    return text


def _features(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """UpdateFeatures: there was none to update."""
    updates = {update.feature: update for update in request.feature_updates}
    results = []
    for name, update in updates.items():
        level = update.max_version_level
        if not name:
            text = "Feature name can not be empty."
        elif level < 1 and not update.allow_downgrade:
            text = (
                f"Can not provide maxVersionLevel: {level} less than 1 without setting the allowDowngrade "
                "flag to true in the request."
            )
        elif level < 1:
            text = "Can not delete non-existing finalized feature."
        else:
            text = "Could not apply finalized feature update because the provided feature is not supported."
        results.append(UpdatableFeatureResult(feature=name, error_code=_MALFORMED, error_message=text))
    return UpdateFeaturesResponse(error_message=None, results=results)


AROUND: Mapping[int, Around] = {
    _ALTER: _known_kinds,
    _CHANGE: _known_kinds,
    ApiKey.UPDATE_FEATURES: _features,
}
