"""A topic's settings: its own, else the broker's, in the units of the topic (KIP-226 synonyms)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.definitions import topic_definitions_of, topic_fallback
from kbroker.config.release_defaults import is_older
from kbroker.config.release_settings import TIME_DIFFERENCE
from kbroker.config.values import InvalidValue, Value

_MS_PER_HOUR = 3_600_000
_MS_PER_MINUTE = 60_000

#: Topic settings whose broker setting comes in several units.
_IN_UNITS = {
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", _MS_PER_MINUTE),
        ("log.retention.hours", _MS_PER_HOUR),
    ),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", _MS_PER_HOUR)),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _MS_PER_HOUR)),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
}

#: What storage's LogConfig holds, by topic setting; the field is the name with `_` for the dots.
_LOG_SETTINGS = (
    "segment.bytes",
    "segment.ms",
    "segment.jitter.ms",
    "segment.index.bytes",
    "index.interval.bytes",
    "preallocate",
    "retention.ms",
    "retention.bytes",
    "cleanup.policy",
    "max.message.bytes",
    "max.decompressed.message.bytes",
    "flush.messages",
    "flush.ms",
    "message.timestamp.type",
    "message.timestamp.before.max.ms",
    "message.timestamp.after.max.ms",
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "file.delete.delay.ms",
    "delete.retention.ms",
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
    "min.cleanable.dirty.ratio",
)


def topic_value(broker: BrokerConfig, overrides: Mapping[str, str], name: str) -> Value:
    """The value of a topic setting in force: the topic's own, else what the broker's settings come to.

    An own value that cannot be read (written under other limits) counts as unset.
    """
    definition = topic_definitions_of(broker.get_str("kbroker.compatibility"))[name]
    text = overrides.get(name)
    if text is not None:
        try:
            return definition.parse(text)
        except InvalidValue:
            pass
    units = _IN_UNITS.get(name)
    if units is not None:
        return _in_units(broker, units)
    fallback = topic_fallback(name)
    return definition.default if fallback is None else broker.get(fallback)


def _in_units(broker: BrokerConfig, units: tuple[tuple[str, int], ...]) -> Value:
    for name, factor in units:
        value = broker.get(name)
        if isinstance(value, int):
            # Kafka: a negative time is for ever, whatever its unit.
            return value * factor if value >= 0 else -1
    return None


def log_config_values(broker: BrokerConfig, overrides: Mapping[str, str]) -> dict[str, Any]:
    """Keyword arguments for storage's `LogConfig`: milliseconds, bytes, a set of cleanup policies."""
    values: dict[str, Any] = {}
    for name in _LOG_SETTINGS:
        value = topic_value(broker, overrides, name)
        values[name.replace(".", "_")] = frozenset(value) if isinstance(value, tuple) else value
    if is_older(broker.get_str("kbroker.compatibility"), "4.0"):
        _limit_times(broker, overrides, values)
    internal = overrides.get("internal.segment.bytes")
    if internal is not None and internal.isdigit():
        values["segment_bytes"] = int(internal)
    values["producer_id_expiration_ms"] = broker.get_int("producer.id.expiration.ms")
    return values


def _limit_times(broker: BrokerConfig, overrides: Mapping[str, str], values: dict[str, Any]) -> None:
    """Before 4.0 one setting could say for both directions how far a time may lie off (KIP-937)."""
    text = overrides.get(TIME_DIFFERENCE, broker.static.get(f"log.{TIME_DIFFERENCE}", "")).strip()
    if not text.isdigit():
        return
    for name in ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms"):
        if name not in overrides and f"log.{name}" not in broker.static:
            values[name.replace(".", "_")] = int(text)
