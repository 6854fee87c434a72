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
    topic_fallback,
)
from kbroker.config.release_settings import ReleaseSettings, release_settings, topic_settings
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
def _listed_topic_definitions(compatibility: str) -> dict[str, Definition]:
    """The settings of a topic in the order of Kafka's listing: that of a Java hash table of 64 slots."""
    definitions = topic_settings(compatibility)
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
    compatibility = broker.get_str("kbroker.compatibility")
    definitions, then = _listed_topic_definitions(compatibility), release_settings(compatibility)
    for name in _names(definitions, own, wanted):
        if then is not None and name in then.topic:
            entries.append(_gone_entry(broker, then, definitions[name], own, f"log.{name}"))
            continue
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
    then = release_settings(broker.get_str("kbroker.compatibility"))
    for name in _names(broker_definitions(), own, wanted):
        if then is None:
            entries.append(_broker_entry(broker, name))
        elif name not in then.hidden_broker:
            entries.append(_as_then(_broker_entry(broker, name), then))
        elif name in own:
            entries.append(_unknown_entry(broker, name))
    gone = {} if then is None else then.broker
    entries += [_gone_entry(broker, then, gone[name], {}, name) for name in _names(gone, {}, wanted) if then]
    for name in own:
        known = name in gone or broker_definitions().get(name) is not None
        if not known and (not wanted or name in wanted):
            entries.append(_broker_entry(broker, name))
    if then is not None:
        entries.sort(key=lambda entry: _java_hash(entry.name) % 512)
    return entries


def _as_then(entry: ConfigEntry, then: ReleaseSettings) -> ConfigEntry:
    """A setting of today, as an older release shows it."""
    kind = then.types.get(entry.name, entry.type)
    read_only = entry.read_only
    if entry.name in then.scopes:
        read_only = then.scopes[entry.name] is Scope.READ_ONLY
    entry = entry._replace(type=kind, read_only=read_only)
    if entry.name not in then.shown_defaults:
        return entry
    text = then.shown_defaults[entry.name]
    synonyms = [each for each in entry.synonyms if each.source is not ConfigSource.DEFAULT]
    if text is not None:
        synonyms.append(Synonym(entry.name, text, ConfigSource.DEFAULT))
    value = text if entry.source is ConfigSource.DEFAULT else entry.value
    return entry._replace(synonyms=tuple(synonyms), value=value)


def _gone_entry(
    broker: BrokerConfig,
    then: ReleaseSettings,
    definition: Definition,
    own: Mapping[str, str],
    broker_name: str,
) -> ConfigEntry:
    """A setting that there is none of today: of a topic or, with the same name as `broker_name`, a broker."""
    name = definition.name
    layers = [
        (name, own.get(name), ConfigSource.TOPIC),
        (broker_name, broker.static.get(broker_name), ConfigSource.STATIC_BROKER),
        (broker_name, then.shown_defaults.get(name, definition.default_text), ConfigSource.DEFAULT),
    ]
    synonyms = [
        Synonym(at, None if definition.sensitive else text, source)
        for at, text, source in layers
        if text is not None
    ]
    read_only = name == broker_name and definition.scope is Scope.READ_ONLY
    value = synonyms[0].value if synonyms else None
    return _entry(definition, value, synonyms, read_only=read_only)


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
        return _unknown_entry(broker, name)
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


def _unknown_entry(broker: BrokerConfig, name: str) -> ConfigEntry:
    unknown = Definition(name, ConfigType.PASSWORD, None)
    layers = [Synonym(*layer) for layer in broker.synonyms(name, sensitive=True)]
    layers = [layer for layer in layers if layer.source is not ConfigSource.DEFAULT]
    return _entry(unknown, None, layers, read_only=True)._replace(type=ConfigType.UNKNOWN)


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
