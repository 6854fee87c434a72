"""Shards of coordinators, transactions and their markers as Kafka names them; loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kbroker.metrics.registry import ATTRIBUTES, HISTOGRAM, METER

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.shard_driver import ShardDriver
    from kbroker.broker.transactions import Transactions

_SERVER = "kafka.server"


def add(services: Services) -> None:
    """Add the families."""
    registry = services.metrics

    def of_shares() -> Iterable[ShardDriver[Any]]:
        shares = services.extras.get("shares")
        return () if shares is None else shares.state.shards

    _add_loads(services, "group-coordinator-metrics", lambda: services.groups.shards.values())
    _add_loads(services, "share-coordinator-metrics", of_shares)
    registry.rows(
        _SERVER,
        "share-coordinator-metrics",
        "",
        ATTRIBUTES,
        ("state",),
        lambda: [((state,), {"num-partitions": count}) for state, count in states(of_shares()).items()],
    )
    if services.transactions is not None:
        _add_transactions(services, services.transactions)


def states(shards: Iterable[ShardDriver[Any]]) -> dict[str, int]:
    """How many of the partitions are in each state; one whose log cannot be read is given up with it."""
    ready = [shard.ready for shard in list(shards)]
    return {"active": sum(ready), "failed": 0, "loading": len(ready) - sum(ready)}


def _add_loads(services: Services, kind: str, shards: Callable[[], Iterable[ShardDriver[Any]]]) -> None:
    """How long those that are here took to load, in ms; Kafka's are of the last half a minute."""

    def loads() -> dict[str, float]:
        found = [shard.load_ms for shard in list(shards()) if shard.load_ms is not None]
        return {
            "partition-load-time-avg": sum(found) / len(found) if found else 0.0,
            "partition-load-time-max": float(max(found, default=0)),
        }

    services.metrics.attributes(_SERVER, kind, loads)


def _add_transactions(services: Services, transactions: Transactions) -> None:
    registry, verifier = services.metrics, transactions.verifier
    _add_loads(services, "transaction-coordinator-metrics", lambda: transactions.coordinator.shards)
    kind = "AddPartitionsToTxnManager"
    registry.rows(
        _SERVER,
        kind,
        "VerificationFailureRate",
        METER,
        (),
        lambda: [((), verifier.failures)],
        event="failures",
    )
    registry.rows(_SERVER, kind, "VerificationTimeMs", HISTOGRAM, (), lambda: [((), verifier.times)])
    domain, kind = "kafka.coordinator.transaction", "TransactionMarkerChannelManager"
    registry.gauge(domain, kind, "UnknownDestinationQueueSize", lambda: transactions.markers_waiting)
    # What ends a transaction is written by the shard itself, or the shard is given up.
    registry.gauge(domain, kind, "LogAppendRetryQueueSize", lambda: 0)
