"""What a change of a resource's settings must satisfy: the rules beyond one value, in Kafka's words.

Each check gets the whole set as it would be after the change and raises `ApiError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kbroker.config.broker_config import BrokerConfig, check_cordoned
from kbroker.config.definition import Definition, Scope
from kbroker.config.definitions import (
    base_name,
    broker_definition,
    broker_definitions,
    client_metrics_definitions,
    group_definitions,
)
from kbroker.config.listeners import is_endpoint
from kbroker.config.release_defaults import is_older
from kbroker.config.release_settings import topic_settings
from kbroker.config.values import InvalidValue, Value, to_text
from kbroker.errors import ApiError, ConfigError, ErrorCode

#: Selectors of clients in a client-metrics subscription (KIP-714).
_SELECTORS = frozenset(
    {
        "client_id",
        "client_instance_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)

#: Group settings that the broker bounds: below and above, or on one side only.
_GROUP_RANGES = (
    *(
        f"{kind}.{what}"
        for kind in ("consumer", "share", "streams")
        for what in ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms")
    ),
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
)
_GROUP_MAXIMA = {
    "streams.num.standby.replicas": "group.streams.max.standby.replicas",
    "streams.num.warmup.replicas": "group.streams.max.warmup.replicas",
}
_GROUP_MINIMA = {"streams.task.offset.interval.ms": "group.streams.min.task.offset.interval.ms"}

#: A listener's keys: each may change, but only under the prefix of a listener.
_STORES = ("ssl.keystore.", "ssl.truststore.", "ssl.key.")

#: Thread counts may at most double or halve at a time.
_CLEANER_MEMORY = ("log.cleaner.threads", "log.cleaner.dedupe.buffer.size")
_PER_IP, _PER_IP_OVERRIDES = "max.connections.per.ip", "max.connections.per.ip.overrides"
_CONNECTIONS = frozenset({"max.connections", "max.connection.creation.rate"})
_THREAD_COUNTS = frozenset(
    {
        "background.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
    }
)


def _parse_all(
    definitions: Mapping[str, Definition], settings: Mapping[str, str], unknown: str
) -> dict[str, Value]:
    """Values of `settings`; INVALID_CONFIG for a name that is unknown or a value that is refused."""
    for name in settings:
        if name not in definitions:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"{unknown}: {name}")
    try:
        return {name: definitions[name].parse(text) for name, text in settings.items()}
    except InvalidValue as error:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from None


def check_topic(
    settings: Mapping[str, str], *, remote_storage: bool = False, compatibility: str = "all"
) -> None:
    """The settings of a topic as a whole; also for CreateTopics.

    `compatibility`: the release whose limits hold.

    Raises:
        ApiError: INVALID_CONFIG.
    """
    defaults = topic_settings(compatibility)
    values = _parse_all(defaults, settings, "Unknown topic config name")
    low = values.get("min.compaction.lag.ms", defaults["min.compaction.lag.ms"].default)
    high = values.get("max.compaction.lag.ms", defaults["max.compaction.lag.ms"].default)
    assert isinstance(low, int)
    assert isinstance(high, int)
    if low > high:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})",
        )
    if values.get("remote.storage.enable") and not remote_storage:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        )


def check_client_metrics(name: str, settings: Mapping[str, str]) -> None:
    """The settings of a client-metrics subscription (KIP-714).

    Raises:
        ApiError: INVALID_REQUEST or INVALID_CONFIG, as Kafka mixes them.
    """
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    definitions = client_metrics_definitions()
    for key in settings:
        if key not in definitions:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {key}")
    values = _parse_all(definitions, settings, "")
    interval = values.get("interval.ms")
    if isinstance(interval, int) and not 100 <= interval <= 3_600_000:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {interval} for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        )
    patterns = values.get("match")
    for pattern in patterns if isinstance(patterns, tuple) else ():
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    selector, equals, expression = (part.strip() for part in pattern.partition("="))
    try:
        re.compile(expression)
    except re.error:
        equals = ""
    if not equals or selector not in _SELECTORS:
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}")


def check_group(broker: BrokerConfig, settings: Mapping[str, str]) -> None:
    """The settings of a group within the limits of the broker (KIP-848, KIP-932, KIP-1071).

    Raises:
        ApiError: INVALID_CONFIG.
    """
    values = _parse_all(group_definitions(), settings, "Unknown group config name")
    for name in _GROUP_RANGES:
        _check_group_range(broker, name, values.get(name))
    for name, limit in _GROUP_MAXIMA.items():
        value = values.get(name)
        if isinstance(value, int) and value > broker.get_int(limit):
            _refuse(f"{name} must be less than or equal to {broker.get_int(limit)}")
    for name, limit in _GROUP_MINIMA.items():
        value = values.get(name)
        if isinstance(value, int) and value < broker.get_int(limit):
            _refuse(f"{name} must be greater than or equal to {broker.get_int(limit)}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        timeout = values.get(session, broker.get(f"group.{session}"))
        interval = values.get(heartbeat, broker.get(f"group.{heartbeat}"))
        if isinstance(timeout, int) and isinstance(interval, int) and timeout <= interval:
            _refuse(f"{session} must be greater than {heartbeat}")
    assignor, known = values.get("streams.assignor.name"), broker.get_list("group.streams.assignors")
    if assignor is not None and assignor not in known:
        _refuse(
            f"streams.assignor.name '{assignor}' is not a registered task assignor. "
            f"Registered assignors are: [{', '.join(known)}]."
        )
    if str(values.get("errors.deadletterqueue.topic.name", "")).startswith("__"):
        _refuse("errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'")


def _check_group_range(broker: BrokerConfig, name: str, value: Value) -> None:
    if value is None:
        return
    assert isinstance(value, int)
    kind, _, what = name.partition(".")
    low, high = broker.get_int(f"group.{kind}.min.{what}"), broker.get_int(f"group.{kind}.max.{what}")
    if not low <= value <= high:
        _refuse(f"{name} must be in the range {low} to {high} inclusive.")


def _refuse(message: str) -> None:
    raise ApiError(ErrorCode.INVALID_CONFIG, message)


def check_broker(broker: BrokerConfig, settings: Mapping[str, str], *, per_broker: bool) -> None:
    """Dynamic settings of a broker, or the defaults of all brokers, as a change leaves them (KIP-226).

    Raises:
        ApiError: INVALID_REQUEST.
    """
    _refuse_names(
        broker,
        "Cannot update these configs dynamically",
        (name for name in settings if _scope(name) is Scope.READ_ONLY),
    )
    _refuse_names(
        broker,
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        (name for name in settings if name.startswith(_STORES) and name in broker_definitions()),
    )
    if not per_broker:
        _refuse_names(
            broker,
            "Cannot update these configs at default cluster level, broker id must be specified",
            (
                name
                for name in settings
                if _scope(name) is Scope.PER_BROKER or name.startswith("listener.name.")
            ),
        )
    _check_connections(broker, settings)
    for name, text in settings.items():
        definition = broker_definition(name)
        if definition is not None:
            try:
                _check_dynamic_value(broker, name, definition.parse(text))
            except (InvalidValue, ConfigError) as error:
                raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from None


def _check_connections(broker: BrokerConfig, settings: Mapping[str, str]) -> None:
    """Limits that would let nobody in again, not even to take them back; in Kafka's own words."""
    overrides = settings.get(_PER_IP_OVERRIDES, broker.get_str(_PER_IP_OVERRIDES))
    if settings.get(_PER_IP, "").strip() == "0" and not overrides.strip():
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"requirement failed: {_PER_IP} can be set to zero only if {_PER_IP_OVERRIDES} property is set.",
        )
    for pair in settings.get(_PER_IP_OVERRIDES, "").split(","):
        if pair.strip() and not pair.rpartition(":")[2].strip().isdecimal():
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Error parsing configuration property '{_PER_IP_OVERRIDES}': "
                f"{pair.strip()} is no host:count",
            )
    for name, text in settings.items():
        plain = base_name(name)
        if plain in _CONNECTIONS and text.strip() == "0":
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Invalid value org.apache.kafka.common.config.ConfigException: Invalid {plain} 0 "
                "for configuration Invalid dynamic configuration",
            )


def _scope(name: str) -> Scope | None:
    definition = broker_definition(name)
    return None if definition is None else definition.scope


def _refuse_names(broker: BrokerConfig, why: str, names: Iterable[str]) -> None:
    found = ", ".join(names)
    if found:
        shown = f"Set({found})" if is_older(broker.get_str("kbroker.compatibility"), "4.0") else f"[{found}]"
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{why}: {shown}")


def _check_dynamic_value(broker: BrokerConfig, name: str, value: Value) -> None:
    """Rules that compare a new value with the one in force."""
    if name == "log.retention.ms" and value == 0:
        raise ConfigError("log.retention.ms must be unlimited (-1) or, greater than or equal to 1")
    if name == "cordoned.log.dirs" and isinstance(value, tuple):
        check_cordoned(value, broker.log_dirs)
    if name == "listeners" and isinstance(value, tuple):
        for entry in value:
            if not is_endpoint(entry):
                raise ConfigError(
                    f"Error creating broker listeners from '[{', '.join(value)}]': "
                    f"Unable to parse {entry} to a broker endpoint"
                )
    if name in _CLEANER_MEMORY:
        assert isinstance(value, int)
        _check_cleaner(name, value, broker)
    if name in _THREAD_COUNTS:
        assert isinstance(value, int)
        _check_thread_count(name, value, broker.get_int(name))


def _check_cleaner(name: str, value: int, broker: BrokerConfig) -> None:
    """Memory for each thread, and no more than half or double the threads at once, in Kafka's own words."""
    wanted = {each: broker.get_int(each) for each in _CLEANER_MEMORY} | {name: value}
    threads, buffer = (wanted[each] for each in _CLEANER_MEMORY)
    if not threads:
        raise ConfigError("/ by zero")
    if buffer // threads <= 1 << 20:
        raise ConfigError(
            "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."
        )
    current = broker.get_int("log.cleaner.threads")
    if current // 2 <= threads <= current * 2:
        return
    way = "increased to more than double" if threads > current else "reduced to less than half"
    raise ConfigError(
        f"Invalid value org.apache.kafka.common.config.ConfigException: Log cleaner threads cannot be {way} "
        f"the current value {current} for configuration Invalid dynamic configuration"
    )


def _check_thread_count(name: str, value: int, current: int) -> None:
    why = None
    if value < 1:
        why = "value should be at least 1"
    elif value > current * 2:
        why = f"value should not be greater than double the current value {current}"
    elif value < current // 2:
        why = f"value should be at least half the current value {current}"
    if why is not None:
        raise ConfigError(
            "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update "
            f"validation failed for {name}={to_text(value)}, {why} for configuration Invalid dynamic "
            "configuration"
        )
