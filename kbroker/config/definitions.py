"""Every setting by name and family, the synonyms between them, and the nearest known name to a wrong one."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from kbroker.config.definition import Definition, parse_table
from kbroker.config.release_defaults import release_limits

#: Families of broker settings, in the order of the documentation.
BROKER_FAMILIES = (
    "general",
    "network",
    "log",
    "replication",
    "quorum",
    "offsets",
    "consumer_groups",
    "share_groups",
    "streams_groups",
    "transactions",
    "sasl",
    "tls",
    "remote",
    "own",
)

#: Settings that mean one thing in several units or names; the first that is set wins.
BROKER_SYNONYMS: dict[str, tuple[str, ...]] = {
    name: group
    for group in (
        ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        ("log.roll.ms", "log.roll.hours"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours"),
        ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    )
    for name in group
    if name != "log.flush.scheduler.interval.ms"
}

#: The broker setting that stands in for a topic setting.
_TOPIC_FALLBACKS = {
    "cleanup.policy": "log.cleanup.policy",
    "compression.gzip.level": "compression.gzip.level",
    "compression.lz4.level": "compression.lz4.level",
    "compression.type": "compression.type",
    "compression.zstd.level": "compression.zstd.level",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "index.interval.bytes": "log.index.interval.bytes",
    "local.retention.bytes": "log.local.retention.bytes",
    "local.retention.ms": "log.local.retention.ms",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "max.decompressed.message.bytes": "max.decompressed.message.bytes",
    "max.message.bytes": "message.max.bytes",
    "message.timestamp.after.max.ms": "log.message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms": "log.message.timestamp.before.max.ms",
    "message.timestamp.type": "log.message.timestamp.type",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "min.insync.replicas": "min.insync.replicas",
    "preallocate": "log.preallocate",
    "remote.copy.lag.bytes": "log.remote.copy.lag.bytes",
    "remote.copy.lag.ms": "log.remote.copy.lag.ms",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.index.bytes": "log.index.size.max.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
    "unclean.leader.election.enable": "unclean.leader.election.enable",
}

#: Security settings, which may differ from listener to listener.
LISTENER_ONLY_PREFIXES = ("ssl.", "sasl.")


@cache
def broker_definitions() -> dict[str, Definition]:
    """Every broker setting, ours included, in the order of the families."""
    found: dict[str, Definition] = {}
    for family in BROKER_FAMILIES:
        found.update(_family(family))
    return found


@cache
def topic_definitions() -> dict[str, Definition]:
    """Every topic setting."""
    return _family("topic")


@cache
def topic_definitions_of(compatibility: str) -> dict[str, Definition]:
    """Every topic setting with the limits that it has in a release (`kbroker.compatibility`)."""
    found = topic_definitions()
    limits = release_limits(compatibility)
    return {**found, **{name: found[name].with_check(check) for name, check in limits.items()}}


@cache
def group_definitions() -> dict[str, Definition]:
    """Every group setting (KIP-848, KIP-932, KIP-1071)."""
    return _family("group")


@cache
def client_metrics_definitions() -> dict[str, Definition]:
    """Every setting of a client-metrics subscription (KIP-714)."""
    return _family("client_metrics")


def _family(name: str) -> dict[str, Definition]:
    table: str = import_module(f"kbroker.config.tables.{name}").TABLE
    return parse_table(table)


def broker_definition(name: str) -> Definition | None:
    """The definition of a broker setting, also of one with a `listener.name.….` prefix (KIP-103, KIP-226)."""
    known = broker_definitions()
    found = known.get(name)
    return found if found is not None else known.get(base_name(name))


def base_name(name: str) -> str:
    """`name` without its `listener.name.LISTENER.` and `MECHANISM.`; itself if it has no such prefix."""
    if not name.startswith("listener.name."):
        return name
    rest = name[len("listener.name.") :].partition(".")[2]
    known = broker_definitions()
    if rest not in known and rest.partition(".")[2] in known:
        return rest.partition(".")[2]
    return rest or name


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The names under which a broker setting is looked up, first the one that wins."""
    group = BROKER_SYNONYMS.get(name)
    if group is not None:
        return group
    base = base_name(name)
    return (name,) if base == name else (name, base)


def topic_fallback(name: str) -> str | None:
    """The broker setting that holds where a topic does not set `name`."""
    return _TOPIC_FALLBACKS.get(name)


def group_fallback(name: str) -> str | None:
    """The broker setting that holds where a group does not set `name`."""
    if name == "streams.assignor.name":
        return "group.streams.assignors"
    broker_name = f"group.{name}"
    return broker_name if broker_name in broker_definitions() else None


def nearest_name(name: str) -> str | None:
    """The known broker setting most like `name`, if one is like it at all."""
    from difflib import get_close_matches

    prefix = ""
    if name.startswith("listener.name."):
        listener, _, rest = name[len("listener.name.") :].partition(".")
        prefix, name = f"listener.name.{listener}.", rest
    matches = get_close_matches(name, broker_definitions(), n=1, cutoff=0.6)
    return prefix + matches[0] if matches else None
