"""Decisions on AlterConfigs and IncrementalAlterConfigs (KIP-133, KIP-339).

Each resource stands alone: one that is refused does not keep the others from changing. The records of one
resource belong together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.definitions import broker_definition, topic_definitions, topic_fallback
from kbroker.config.resource_checks import check_client_metrics, check_group, check_topic
from kbroker.config.values import ConfigType
from kbroker.controller.decision import Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import (
    CONFIG_BROKER,
    CONFIG_CLIENT_METRICS,
    CONFIG_GROUP,
    CONFIG_TOPIC,
    ClusterImage,
)
from kbroker.protocol.releases import is_before

if TYPE_CHECKING:
    from kbroker.metadata.records import MetadataRecord

#: The longest value that is kept, in bytes of UTF-8 (Kafka's limit).
MAX_VALUE_BYTES = 32767


class ConfigOperation(IntEnum):
    """What to do with a setting (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigChange(NamedTuple):
    """One setting of an incremental change."""

    name: str
    operation: ConfigOperation
    value: str | None


class ConfigResource(NamedTuple):
    """What is configured: a topic, a broker (or all, by an empty name), a group, a subscription."""

    type: int
    name: str


def decide_incremental(
    image: ClusterImage,
    broker: BrokerConfig,
    changes: Sequence[tuple[ConfigResource, Sequence[ConfigChange]]],
    *,
    validate_only: bool = False,
) -> Decision[list[ApiError | None]]:
    """Records for incremental changes, and for each resource its refusal or None.

    Args:
        broker: limits of groups, and what lists start from that are not set.
        validate_only: refuse the same, write nothing.
    """
    wanted: list[tuple[ConfigResource, dict[str, str] | ApiError]] = []
    for resource, resource_changes in changes:
        current = image.config(*resource)
        try:
            check_type(broker, resource)
            wanted.append((resource, _apply_changes(broker, resource, current, resource_changes)))
        except ApiError as error:
            wanted.append((resource, error.with_traceback(None)))
    return _decide(image, broker, wanted, validate_only)


def decide_replacement(
    image: ClusterImage,
    broker: BrokerConfig,
    settings: Sequence[tuple[ConfigResource, Mapping[str, str]]],
    *,
    validate_only: bool = False,
) -> Decision[list[ApiError | None]]:
    """The older AlterConfigs: each resource gets exactly these settings, all others of it are removed."""
    return _decide(image, broker, [(r, dict(values)) for r, values in settings], validate_only)


def _decide(
    image: ClusterImage,
    broker: BrokerConfig,
    wanted: Sequence[tuple[ConfigResource, dict[str, str] | ApiError]],
    validate_only: bool,
) -> Decision[list[ApiError | None]]:
    outcomes: list[ApiError | None] = []
    records: list[MetadataRecord] = []
    for resource, settings in wanted:
        try:
            if isinstance(settings, ApiError):
                raise settings
            current = image.config(*resource)
            _check_resource(image, broker, resource, current, settings)
            records += _difference(image, resource, current, settings)
            outcomes.append(None)
        except ApiError as error:
            outcomes.append(error.with_traceback(None))
    return Decision(outcomes, [] if validate_only else records, atomic=False)


def _apply_changes(
    broker: BrokerConfig,
    resource: ConfigResource,
    current: Mapping[str, str],
    changes: Sequence[ConfigChange],
) -> dict[str, str]:
    """The settings of a resource after `changes`."""
    settings = dict(current)
    for change in changes:
        if change.operation is ConfigOperation.DELETE:
            settings.pop(change.name, None)
            continue
        assert change.value is not None, "the handler refuses null values"
        if change.operation is ConfigOperation.SET:
            settings[change.name] = change.value
        else:
            parts = _list_parts(broker, resource, settings, change)
            items = [item.strip() for item in change.value.split(",")]
            if change.operation is ConfigOperation.APPEND:
                parts += [item for item in dict.fromkeys(items) if item not in parts]
            else:
                parts = [part for part in parts if part not in items]
            settings[change.name] = ",".join(parts)
        if len(settings[change.name].encode()) > MAX_VALUE_BYTES:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"The configuration value cannot be added because it exceeds the maximum value size of "
                f"{MAX_VALUE_BYTES} bytes.",
            )
    return settings


def _list_parts(
    broker: BrokerConfig, resource: ConfigResource, settings: Mapping[str, str], change: ConfigChange
) -> list[str]:
    """What a list holds now: as set, else as configured in server.properties, else its default."""
    if resource.type == CONFIG_TOPIC:
        definition = topic_definitions().get(change.name)
        broker_name = topic_fallback(change.name) or change.name
    else:
        definition = broker_definition(change.name) if resource.type == CONFIG_BROKER else None
        broker_name = change.name
    if definition is None or definition.type is not ConfigType.LIST:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Can't {change.operation.name} to key {change.name} because its type is not LIST.",
        )
    text = settings.get(change.name)
    if text is None:
        text = broker.static.get(broker_name, definition.default_text or "")
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_resource(
    image: ClusterImage,
    broker: BrokerConfig,
    resource: ConfigResource,
    current: Mapping[str, str],
    settings: Mapping[str, str],
) -> None:
    kind, name = resource
    check_type(broker, resource)
    if kind == CONFIG_TOPIC:
        _check_topic_name(name)
        check_topic(
            settings,
            remote_storage=broker.get_bool("remote.log.storage.system.enable"),
            compatibility=broker.get_str("kbroker.compatibility"),
        )
        if name not in image.topics:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    elif kind == CONFIG_BROKER:
        _check_min_isr(image, name, current, settings)
    elif kind == CONFIG_GROUP:
        if not name:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
        check_group(broker, settings)
    else:
        check_client_metrics(name, settings)


def check_type(broker: BrokerConfig, resource: ConfigResource) -> None:
    """Whether the controller keeps settings of such resources; of groups since 4.0.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    known = resource.type in (CONFIG_TOPIC, CONFIG_BROKER, CONFIG_GROUP, CONFIG_CLIENT_METRICS)
    if resource.type == CONFIG_GROUP:
        known = not is_before(broker.get_str("kbroker.compatibility"), (4, 0))
    if not known:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.type}")


def _check_topic_name(name: str) -> None:
    from kbroker.controller.topics import topic_name_problem

    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


def _elr_enabled(image: ClusterImage) -> bool:
    return image.features.get("eligible.leader.replicas.version", 0) > 0


def _check_min_isr(
    image: ClusterImage, name: str, current: Mapping[str, str], settings: Mapping[str, str]
) -> None:
    """KIP-966: with eligible leader replicas, min.insync.replicas is one number for all brokers."""
    if not _elr_enabled(image):
        return
    key = "min.insync.replicas"
    if not name and key in current and key not in settings:
        raise ApiError(
            ErrorCode.INVALID_CONFIG, f"Cluster-level {key} cannot be removed while ELR is enabled."
        )
    if name and settings.get(key) != current.get(key):
        raise ApiError(
            ErrorCode.INVALID_CONFIG, f"Broker-level {key} cannot be altered while ELR is enabled."
        )


def _difference(
    image: ClusterImage, resource: ConfigResource, current: Mapping[str, str], settings: Mapping[str, str]
) -> list[MetadataRecord]:
    """The records that turn `current` into `settings`."""
    from kbroker.protocol.generated.clear_elr_record import ClearElrRecord
    from kbroker.protocol.generated.config_record import ConfigRecord

    changed = {name: text for name, text in settings.items() if current.get(name) != text}
    removed = [name for name in current if name not in settings]
    records: list[MetadataRecord] = [
        ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)
        for name, value in [*changed.items(), *((name, None) for name in removed)]
    ]
    moved = "min.insync.replicas" in changed or "min.insync.replicas" in removed
    if moved and _elr_enabled(image):
        if resource.type == CONFIG_TOPIC:
            records.append(ClearElrRecord(topic_name=resource.name))
        elif resource.type == CONFIG_BROKER:
            records.append(ClearElrRecord())
    return records
