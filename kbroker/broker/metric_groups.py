"""Groups, transactions, shares and what clients push, for the metrics; loaded when somebody looks.

The lag of each group and partition is told here, too, in the names of kafka_exporter, by the broker that
coordinates the group. For partitions that are not here others have to be asked: `broker/remote_ends.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kbroker.broker.metric_coordinators import offset_count, states as shard_states
from kbroker.broker.remote_ends import RemoteEnds
from kbroker.metrics.registry import ATTRIBUTES, COUNTER, GAUGE, Family
from kbroker.protocol.otlp import Histogram as ClientHistogram
from kbroker.types import uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_SERVER = "kafka.server"
_CLASSIC_STATES = {
    "NumGroupsPreparingRebalance": "PreparingRebalance",
    "NumGroupsCompletingRebalance": "CompletingRebalance",
    "NumGroupsStable": "Stable",
    "NumGroupsDead": "Dead",
    "NumGroupsEmpty": "Empty",
}
_STATES = {
    "classic": ("CompletingRebalance", "Dead", "Empty", "PreparingRebalance", "Stable"),
    "consumer": ("Assigning", "Dead", "Empty", "Reconciling", "Stable"),
    "share": ("Dead", "Empty", "Stable"),
    "streams": ("Assigning", "Dead", "Empty", "NotReady", "Reconciling", "Stable"),
}
_GROUP_KEYS = ("consumergroup", "topic", "partition")
#: What Kafka's own clients begin the names of their metrics with.
_CLIENT_PREFIX = "org.apache.kafka."


def add(services: Services) -> None:
    """Add the families."""
    _add_groups(services)
    _add_offsets(services)
    clients = services.client_metrics
    services.metrics.attributes(
        _SERVER,
        "client-metrics",
        lambda: {
            "instance-count": clients.instance_count,
            "unknown-subscription-request-count": clients.unknown_subscriptions,
        },
    )
    services.metrics.dynamic.append(lambda: _pushed(services))


def _add_groups(services: Services) -> None:
    registry, groups = services.metrics, services.groups

    def states(kind: str) -> Counter[str]:
        return Counter(group.state for group in groups.list_groups() if group.type == kind)

    domain, kind = "kafka.coordinator.group", "GroupMetadataManager"
    registry.gauge(domain, kind, "NumGroups", lambda: sum(1 for _ in groups.list_groups()))
    for name, state in _CLASSIC_STATES.items():
        registry.gauge(domain, kind, name, lambda state=state: states("classic")[state])  # type: ignore[misc]
    registry.gauge(domain, kind, "NumOffsets", lambda: offset_count(services))

    def by_protocol() -> list[Any]:
        found = Counter(group.type for group in groups.list_groups())
        return [
            ((each,), {"group-count": found[each]}) for each in ("classic", "consumer", "share", "streams")
        ]

    def by_state() -> Iterator[Any]:
        found: dict[str, dict[str, int]] = {}
        for each, names in _STATES.items():
            counts = states(each)
            for state in names:
                found.setdefault(state, {})[f"{each}-group-count"] = counts[state]
        for state, of_state in sorted(found.items()):
            yield (state,), of_state
        for state, count in shard_states(groups.shards.values()).items():
            yield (state,), {"num-partitions": count}

    registry.rows(_SERVER, "group-coordinator-metrics", "", ATTRIBUTES, ("protocol",), by_protocol)
    registry.rows(_SERVER, "group-coordinator-metrics", "", ATTRIBUTES, ("state",), by_state)


def _committed(services: Services) -> Iterator[tuple[str, str, int, int]]:
    """(group, topic, partition, committed offset) of all groups that this broker coordinates."""
    for driver in list(services.groups.shards.values()):
        if driver.ready:
            for group, topic, partition, committed in driver.shard.offsets.everything():
                yield group, topic, partition, committed.offset


def _add_offsets(services: Services) -> None:
    registry = services.metrics
    membership = services.extras.get("membership")
    ends = None if membership is None else RemoteEnds(services, membership.broker_listener)

    def offsets() -> list[Any]:
        return [
            ((group, topic, str(partition)), offset)
            for group, topic, partition, offset in _committed(services)
        ]

    def lags() -> Iterator[tuple[tuple[str, str, str], int]]:
        replicas = services.replicas
        for group, topic, partition, offset in list(_committed(services)):
            here = replicas.get(topic, partition)
            if here is not None and here.log is not None:
                end = here.high_watermark
            elif ends is not None:
                end = ends.end_of(topic, partition)
            else:
                continue
            if end >= 0:
                yield (group, topic, str(partition)), max(end - offset, 0)

    def sums() -> list[Any]:
        found: Counter[tuple[str, str]] = Counter()
        for (group, topic, _), lag in lags():
            found[group, topic] += lag
        return list(found.items())

    def members() -> list[Any]:
        return [
            ((group_id,), len(getattr(group, "members", ())))
            for driver in list(services.groups.shards.values())
            for group_id, group in list(driver.shard.groups.items())
        ]

    kind = "consumergroup"
    registry.rows(
        "kafka",
        kind,
        "current_offset",
        GAUGE,
        _GROUP_KEYS,
        offsets,
        help_text="What a group has committed for a partition",
    )
    registry.rows(
        "kafka", kind, "lag", GAUGE, _GROUP_KEYS, lags, help_text="How far a group is behind on a partition"
    )
    registry.rows(
        "kafka",
        kind,
        "lag_sum",
        GAUGE,
        _GROUP_KEYS[:2],
        sums,
        help_text="How far a group is behind on a topic",
    )
    registry.rows("kafka", kind, "members", GAUGE, _GROUP_KEYS[:1], members, help_text="Members of a group")


# -- what clients push (KIP-714) --


def _pushed(services: Services) -> list[Family]:
    """A family for each metric that clients have told of, with the client's labels and its own."""
    series: dict[tuple[str, str], list[tuple[dict[str, str], float]]] = {}
    keys: dict[tuple[str, str], dict[str, None]] = {}
    for instance in list(services.client_metrics.store.instances(services.clock.now_ms())):
        base = {
            "client_id": instance.client_id,
            "client_instance_id": uuid_to_string(instance.instance_id),
            "client_software_name": instance.software,
        }
        for (name, attributes), each in list(instance.series.items()):
            for suffix, value in _numbers(each.value):
                kind = COUNTER if each.kind == "sum" or suffix else GAUGE
                at = name.removeprefix(_CLIENT_PREFIX) + suffix, kind
                labels = base | {_label(key): text for key, text in attributes}
                series.setdefault(at, []).append((labels, value))
                keys.setdefault(at, {}).update(dict.fromkeys(labels))
    return [
        _family(name, kind, tuple(keys[name, kind]), rows) for (name, kind), rows in sorted(series.items())
    ]


def _numbers(value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, ClientHistogram):
        yield ".count", value.value_count
        yield ".sum", value.sum
    else:
        yield "", value


def _label(key: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in key)


def _family(name: str, kind: str, keys: tuple[str, ...], rows: list[tuple[dict[str, str], float]]) -> Family:
    return Family(
        "kafka.client",
        name,
        "",
        kind,
        keys,
        lambda: [(tuple(labels.get(key, "") for key in keys), value) for labels, value in rows],
        "Pushed by clients (KIP-714)",
    )
