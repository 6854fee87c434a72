"""What DescribeConfigs says of each kind of resource: values, sources, synonyms (KIP-133, KIP-226)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from kbroker.config.broker_config import BrokerConfig, ConfigSource
from kbroker.config.definition import Definition, Scope
from kbroker.config.definitions import (
    broker_definition,
    broker_definitions,
    client_metrics_definitions,
    group_definitions,
    group_fallback,
    topic_definitions,
    topic_fallback,
)
from kbroker.config.topic_config import topic_value
from kbroker.config.values import ConfigType, InvalidValue, to_text


class Synonym(NamedTuple):
    """One layer's value; None if it is secret."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One setting of a resource. `value` is None if there is none or it is secret."""

    name: str
    value: str | None
    read_only: bool
    source: ConfigSource
    sensitive: bool
    type: ConfigType
    synonyms: tuple[Synonym, ...]
    documentation: str


#: What the names of our own settings begin with.
OWN_PREFIX = "kbroker."

#: Which names are asked for; None or nothing for all. (Kafka takes an empty list for all, too.)
Wanted = Collection[str] | None


def _entry(
    definition: Definition, value: str | None, synonyms: list[Synonym], *, read_only: bool = False
) -> ConfigEntry:
    return ConfigEntry(
        definition.name,
        None if definition.sensitive else value,
        read_only,
        synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        definition.sensitive,
        definition.type,
        tuple(synonyms),
        definition.doc,
    )


def _names(definitions: Mapping[str, Definition], own: Mapping[str, str], wanted: Wanted) -> Iterator[str]:
    """The names to show: all that are not hidden, and hidden ones that are set; of these the wanted ones.

    Our own settings show only when they are asked for by name, so that the full list is Kafka's.
    """
    for name, definition in definitions.items():
        shown = (not definition.hidden or name in own) and not name.startswith(OWN_PREFIX)
        if (name in wanted and (shown or name.startswith(OWN_PREFIX))) if wanted else shown:
            yield name


@cache
def _listed_topic_definitions() -> dict[str, Definition]:
    """The settings of a topic in the order of Kafka's listing: that of a Java hash table of 64 slots."""
    definitions = topic_definitions()
    return {name: definitions[name] for name in sorted(definitions, key=lambda name: _java_hash(name) % 64)}


def _java_hash(text: str) -> int:
    """`String.hashCode`, its upper half folded into the lower as `HashMap` does."""
    value = 0
    for char in text:
        value = (value * 31 + ord(char)) & 0xFFFFFFFF
    return value ^ (value >> 16)


def describe_topic(broker: BrokerConfig, own: Mapping[str, str], wanted: Wanted = None) -> list[ConfigEntry]:
    """The settings of a topic.

    Args:
        broker: stands in for what the topic does not set.
        own: the topic's own settings.
        wanted: names to show.
    """
    entries = []
    definitions = _listed_topic_definitions()
    for name in _names(definitions, own, wanted):
        value = to_text(topic_value(broker, own, name))
        fallback = topic_fallback(name)
        synonyms = [] if fallback is None else [Synonym(*layer) for layer in broker.synonyms(fallback)]
        if name in own:
            synonyms.insert(0, Synonym(name, value, ConfigSource.TOPIC))
        entries.append(_entry(definitions[name], value, synonyms))
    return entries


def describe_broker(broker: BrokerConfig, wanted: Wanted = None) -> list[ConfigEntry]:
    """The settings of this broker; also unknown ones that somebody set, as secrets."""
    entries = []
    own = {**broker.static, **broker.dynamic_default, **broker.dynamic_broker}
    for name in _names(broker_definitions(), own, wanted):
        entries.append(_broker_entry(broker, name))
    for name in own:
        if broker_definitions().get(name) is None and (not wanted or name in wanted):
            entries.append(_broker_entry(broker, name))
    return entries


def describe_broker_defaults(broker: BrokerConfig, wanted: Wanted = None) -> list[ConfigEntry]:
    """The dynamic defaults of all brokers: only what is set."""
    return [
        _broker_entry(broker, name, defaults_only=True)
        for name in broker.dynamic_default
        if not wanted or name in wanted
    ]


def _broker_entry(broker: BrokerConfig, name: str, *, defaults_only: bool = False) -> ConfigEntry:
    definition = broker_definition(name)
    if definition is None:
        unknown = Definition(name, ConfigType.PASSWORD, None)
        layers = [Synonym(*layer) for layer in broker.synonyms(name, sensitive=True)]
        return _entry(unknown, None, layers, read_only=True)._replace(type=ConfigType.UNKNOWN)
    synonyms = [Synonym(*layer) for layer in broker.synonyms(name, sensitive=definition.sensitive)]
    if definition.hidden and definition.scope is Scope.CLUSTER:
        # To Kafka's list of settings these do not belong: they are only ever set dynamically.
        synonyms = [s for s in synonyms if s.source is not ConfigSource.DEFAULT]
    value = broker.get(name)
    if defaults_only:
        synonyms = [s for s in synonyms if s.source is ConfigSource.DYNAMIC_DEFAULT_BROKER]
        value = definition.parse(broker.dynamic_default[name])
    read_only = definition.scope is Scope.READ_ONLY
    return _entry(definition, to_text(value), synonyms, read_only=read_only)._replace(name=name)


def describe_group(broker: BrokerConfig, own: Mapping[str, str], wanted: Wanted = None) -> list[ConfigEntry]:
    """The settings of a group, set or not."""
    entries = []
    definitions = group_definitions()
    for name in _names(definitions, own, wanted):
        definition = definitions[name]
        fallback = group_fallback(name)
        if fallback is None:
            inherited = definition.default_text
            synonyms = [Synonym(name, inherited, ConfigSource.DEFAULT)] if inherited is not None else []
        else:
            value = broker.get(fallback)
            inherited = to_text(
                value[0] if name == "streams.assignor.name" and isinstance(value, tuple) else value
            )
            synonyms = [Synonym(*layer) for layer in broker.synonyms(fallback)]
        shown = inherited
        if name in own:
            shown = _own_text(definition, own[name])
            synonyms.insert(0, Synonym(name, shown, ConfigSource.GROUP))
        entries.append(_entry(definition, shown, synonyms))
    return entries


def describe_client_metrics(own: Mapping[str, str], wanted: Wanted = None) -> list[ConfigEntry]:
    """The settings of a client-metrics subscription, known or not (KIP-714)."""
    entries = []
    definitions = client_metrics_definitions()
    for name in _names(definitions, own, wanted):
        definition = definitions[name]
        if name in own:
            value: str | None = _own_text(definition, own[name])
            synonyms = [Synonym(name, value, ConfigSource.CLIENT_METRICS)]
        else:
            value, synonyms = definition.default_text, []
        entries.append(_entry(definition, value, synonyms))
    return entries


def _own_text(definition: Definition, text: str) -> str | None:
    try:
        return to_text(definition.parse(text))
    except InvalidValue:
        return text
