"""Defaults and limits that older releases of Apache Kafka had, for `kbroker.compatibility`.

Only those that a client can notice, or a person who reads the settings of a broker. 3.9 and 2.8 were asked;
what is older is from the releases' upgrade notes.
"""

from __future__ import annotations

#: (the release that brought today's default, setting, the default before).
_BEFORE: tuple[tuple[str, str, str], ...] = (
    ("4.0", "log.message.timestamp.after.max.ms", "9223372036854775807"),  # KIP-1030
    ("4.0", "num.recovery.threads.per.data.dir", "1"),  # KIP-1030
    ("4.0", "group.coordinator.rebalance.protocols", "classic"),  # KIP-848
    ("4.0", "group.coordinator.threads", "1"),
    ("3.6", "transaction.partition.verification.enable", "false"),  # KIP-890
    ("2.5", "message.max.bytes", "1000012"),  # KAFKA-4203
    ("2.5", "replica.lag.time.max.ms", "10000"),  # KIP-537
    ("2.0", "offsets.retention.minutes", "1440"),  # KIP-186
    ("0.11.0", "group.initial.rebalance.delay.ms", "0"),  # KIP-134
)

#: (the release that brought today's limit, topic setting, the check before, in the tables' notation).
_LIMITS_BEFORE: tuple[tuple[str, str, str], ...] = (("4.0", "segment.bytes", ">=14"),)  # KIP-1030


def release_limits(compatibility: str) -> dict[str, str]:
    """Topic setting to the check that it had in a release, where today's is stricter (none for `all`)."""
    if compatibility == "all":
        return {}
    number = _number(compatibility)
    return {name: check for since, name, check in _LIMITS_BEFORE if number < _number(since)}


def release_defaults(compatibility: str) -> dict[str, str]:
    """Setting to the default that it had in a release; only those that are others today (none for `all`)."""
    if compatibility == "all":
        return {}
    number = _number(compatibility)
    return {name: text for since, name, text in _BEFORE if number < _number(since)}


def is_older(compatibility: str, than: str) -> bool:
    """Whether that is a release before another; `all` is none."""
    return compatibility != "all" and _number(compatibility) < _number(than)


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
