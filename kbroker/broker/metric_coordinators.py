"""Shards of coordinators, transactions and their markers as Kafka names them; loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kbroker.broker.metric_sockets import loop_idle
from kbroker.broker.shard_figures import EPOCHS
from kbroker.metrics.rates import RecentRates
from kbroker.metrics.registry import ATTRIBUTES, HISTOGRAM, METER

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.shard_driver import ShardDriver
    from kbroker.broker.shard_figures import ShardFigures
    from kbroker.broker.transactions import Transactions

_SERVER = "kafka.server"
_QUANTILES = ("p50", "p95", "p99", "p999", "max")
#: There is no thread in the background.
_BACKGROUND = {"background-thread-idle-ratio-avg": 1.0} | {
    f"background-{what}-time-ms-{each}": 0.0 for what in ("queue", "processing") for each in _QUANTILES
}


def add(services: Services) -> None:
    """Add the families."""
    registry = services.metrics

    def of_shares() -> Iterable[ShardDriver[Any]]:
        shares = services.extras.get("shares")
        return () if shares is None else shares.state.shards

    groups, shares = services.groups, services.extras.get("shares")
    of_groups = _figures(services, groups.figures, "count", lambda: _group_counts(services))
    registry.attributes(
        _SERVER,
        "group-coordinator-metrics",
        lambda: (
            _loads(groups.shards.values())
            | of_groups()
            | {"offset-count": offset_count(services)}
            | _BACKGROUND
        ),
    )
    if shares is not None:
        figures: ShardFigures = shares.state.figures
        of_state = _figures(services, figures, "total", lambda: {"write": figures.batches})
        registry.attributes(
            _SERVER,
            "share-coordinator-metrics",
            lambda: _loads(of_shares()) | of_state() | _write_latency(figures),
        )
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


def _group_counts(services: Services) -> dict[str, int]:
    """What group coordinators count, by Kafka's names without `-count`."""
    groups = services.groups
    figures = groups.figures
    now = sum(driver.shard.rebalances for driver in list(groups.shards.values()))
    return {
        "offset-commit": figures.commits,
        "offset-deletion": figures.removed,
        "offset-expiration": figures.expired,
        "group-completed-rebalance": figures.rebalances + now,
        **{f"{kind}-group-rebalance": figures.written[key] for kind, key in EPOCHS.items()},
    }


def _write_latency(figures: ShardFigures) -> dict[str, float]:
    """Of what is written: the append, and the replicas that have to have it."""
    flush, wait = figures.flushing, figures.waiting
    return {
        "write-latency-avg": flush.mean + wait.mean,
        "write-latency-max": flush.highest + wait.highest,
    }


def _figures(
    services: Services, figures: ShardFigures, total: str, counts: Callable[[], dict[str, int]]
) -> Callable[[], dict[str, Any]]:
    """What is told of them. Nothing waits in queues, nor lingers in a buffer: what Kafka has of these is 0.

    Args:
        total: how Kafka calls what is counted: `count` or `total`.
        counts: that, by name.
    """
    registry, idle = services.metrics, loop_idle(services)
    figures.timed = True
    rates = RecentRates(lambda: counts() | {"batch-flush": figures.batches})
    registry.on_tick.append(rates.tick)
    times = {
        "event-processing": figures.deciding,
        "event-purgatory": figures.waiting,
        "batch-flush": figures.flushing,
    }
    registry.on_tick += [each.rotate for each in times.values()]

    def told() -> dict[str, Any]:
        found: dict[str, Any] = {
            "event-queue-size": 0,
            "batch-buffer-cache-size-bytes": 0,
            "batch-buffer-cache-discard-count": 0,
            "thread-idle-ratio-avg": idle.ratio,
            "batch-flush-rate": rates.of("batch-flush"),
        }
        for name, count in counts().items():
            found |= {f"{name}-{total}": count, f"{name}-rate": rates.of(name)}
        for name, histogram in times.items():
            found |= {f"{name}-time-ms-{each}": value for each, value in histogram.short().items()}
        for name in ("event-queue", "batch-linger"):
            found |= {f"{name}-time-ms-{each}": 0.0 for each in _QUANTILES}
        return found

    return told


def offset_count(services: Services) -> int:
    """Committed offsets of all groups that this broker coordinates."""
    return sum(driver.shard.offsets.count for driver in list(services.groups.shards.values()) if driver.ready)


def _loads(shards: Iterable[ShardDriver[Any]]) -> dict[str, Any]:
    """How long those that are here took to load, in ms; Kafka's are of the last half a minute."""
    found = [shard.load_ms for shard in list(shards) if shard.load_ms is not None]
    return {
        "partition-load-time-avg": sum(found) / len(found) if found else 0.0,
        "partition-load-time-max": float(max(found, default=0)),
    }


def _add_transactions(services: Services, transactions: Transactions) -> None:
    registry, verifier = services.metrics, transactions.verifier
    registry.attributes(
        _SERVER, "transaction-coordinator-metrics", lambda: _loads(transactions.coordinator.shards)
    )
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
