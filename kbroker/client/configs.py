"""Configurations of topics, brokers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import ClientError, check
from kbroker.protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kbroker.protocol.generated.describe_configs_response import DescribeConfigsResponse
from kbroker.protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kbroker.protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse

_SOURCES = {
    -1: "unknown",
    0: "unknown",
    1: "topic",
    2: "broker",
    3: "broker default",
    4: "static",
    5: "default",
    6: "broker logger",
    7: "client metrics",
    8: "group",
}
_TYPES = ("unknown", "boolean", "string", "int", "short", "long", "double", "list", "class", "password")
_SET, _DELETE, _APPEND, _SUBTRACT = range(4)


class ResourceType(IntEnum):
    """What a configuration belongs to."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One setting as it is in force; the value is None if it is a secret, or not set."""

    name: str
    value: str | None
    source: str
    type: str
    sensitive: bool
    read_only: bool
    documentation: str | None

    @property
    def is_default(self) -> bool:
        """Nobody has set it."""
        return self.source in ("default", "unknown")


def describe_configs(
    cluster: Cluster, resource: ResourceType, name: str, *, documentation: bool = False
) -> list[ConfigEntry]:
    """All settings of a resource, sorted by name. The name "" with `BROKER` is the cluster-wide default.

    Raises:
        ApiError: it does not exist.
    """
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=resource, resource_name=name, configuration_keys=None)
        ],
        include_documentation=documentation,
    )
    connection = _where(cluster, resource, name)
    answer = connection.ask(request, DescribeConfigsResponse)
    (result,) = answer.results
    check(result.error_code, result.error_message, _what(resource, name), needs="DESCRIBE_CONFIGS", on=name)
    entries = [
        ConfigEntry(
            entry.name,
            entry.value,
            _SOURCES.get(entry.config_source, "unknown"),
            _TYPES[entry.config_type] if 0 <= entry.config_type < len(_TYPES) else "unknown",
            entry.is_sensitive,
            entry.read_only,
            entry.documentation or None,
        )
        for entry in result.configs
    ]
    return sorted(entries, key=lambda entry: entry.name)


def alter_configs(
    cluster: Cluster,
    resource: ResourceType,
    name: str,
    *,
    set_: Mapping[str, str] | None = None,
    delete: Sequence[str] = (),
    append: Mapping[str, str] | None = None,
    subtract: Mapping[str, str] | None = None,
    validate_only: bool = False,
) -> None:
    """Change single settings, leaving all others alone (KIP-339).

    Args:
        delete: settings that fall back to their default.
        append, subtract: items of settings that are lists.

    Raises:
        ApiError: the broker refuses; nothing is changed then.
    """
    changes = [AlterableConfig(name=key, config_operation=_DELETE, value=None) for key in delete]
    for operation, values in ((_SET, set_), (_APPEND, append), (_SUBTRACT, subtract)):
        for key, value in (values or {}).items():
            changes.append(AlterableConfig(name=key, config_operation=operation, value=value))
    request = IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=resource, resource_name=name, configs=changes)],
        validate_only=validate_only,
    )
    what = _what(resource, name)
    if resource in (ResourceType.BROKER, ResourceType.BROKER_LOGGER) and name:
        answer = _where(cluster, resource, name).ask(request, IncrementalAlterConfigsResponse)
    else:
        answer = cluster.ask_controller(
            request,
            IncrementalAlterConfigsResponse,
            lambda answer: [result.error_code for result in answer.responses],
        )
    for result in answer.responses:
        check(result.error_code, result.error_message, what, needs="ALTER_CONFIGS", on=name)


def _where(cluster: Cluster, resource: ResourceType, name: str) -> Connection:
    """A broker's own settings only that broker knows."""
    if resource in (ResourceType.BROKER, ResourceType.BROKER_LOGGER) and name:
        if not name.isascii() or not name.isdigit():
            raise ClientError(f"{name!r} is no broker id: it must be a number")
        return cluster.node(int(name))
    return cluster.any()


def _what(resource: ResourceType, name: str) -> str:
    if resource == ResourceType.BROKER and not name:
        return "broker defaults"
    return f"{resource.name.lower().replace('_', ' ')} {name}"
