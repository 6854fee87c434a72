"""Replicas and their fetchers as Kafka names them; loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.metric_partitions import is_at_min_isr, is_under_min_isr, is_under_replicated
from kbroker.broker.partition_counts import PartitionCounts
from kbroker.errors import ErrorCode
from kbroker.metrics.rates import RecentRates
from kbroker.metrics.registry import GAUGE, METER

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.replication import Replication
    from kbroker.broker.services import Services

_SERVER = "kafka.server"
#: After the longest time-out of a transaction, until it is late.
_LATE_MS = 300_000


def add(services: Services) -> None:
    """Add the families."""
    counts = PartitionCounts(services.replicas.partitions, services.metrics)
    _add_counts(services, counts)
    _add_moves(services)
    if services.replication is not None:
        _add_changes(services, services.replication)
        _add_fetchers(services, services.replication, counts)


def _add_counts(services: Services, counts: PartitionCounts) -> None:
    registry, replicas = services.metrics, services.replicas
    late_ms = services.config.get_int("transaction.max.timeout.ms") + _LATE_MS
    gauges: dict[str, Callable[[], int]] = {
        "PartitionCount": lambda: len(replicas.partitions),
        "LeaderCount": counts.add(lambda partition: partition.leader_state is not None),
        "OfflineReplicaCount": counts.add(lambda partition: partition.log is None),
        "UnderReplicatedPartitions": counts.add(is_under_replicated),
        "UnderMinIsrPartitionCount": counts.add(is_under_min_isr),
        "AtMinIsrPartitionCount": counts.add(is_at_min_isr),
        "ReassigningPartitions": counts.add(lambda partition: _is_reassigning(services, partition)),
        "ProducerIdCount": counts.add(_producers),
        "PartitionsWithLateTransactionsCount": counts.add(
            lambda partition: has_late_transaction(partition, services.clock.now_ms() - late_ms)
        ),
    }
    for name, ask in gauges.items():
        registry.gauge(_SERVER, "ReplicaManager", name, ask)
    waiting = counts.add(lambda partition: partition.waiting_commits)
    deleting = counts.add(lambda partition: partition.waiting_deletions)
    for name in ("NumDelayedOperations", "PurgatorySize"):
        for operation, ask in (("Produce", waiting), ("DeleteRecords", deleting)):
            registry.gauge(_SERVER, "DelayedOperationPurgatory", name, ask, delayedOperation=operation)
    errors = services.requests.of("Produce").errors
    registry.rows(
        _SERVER,
        "DelayedProduceMetrics",
        "ExpiresPerSec",
        METER,
        (),
        lambda: [((), errors.get(ErrorCode.REQUEST_TIMED_OUT, 0))],
        event="requests",
    )
    reports = services.extras.get("directory_reports")
    if reports is not None:
        registry.gauge(
            _SERVER, "AssignmentsManager", "QueuedReplicaToDirAssignments", lambda: reports.waiting
        )


def _add_changes(services: Services, replication: Replication) -> None:
    sender = replication.sender
    for name, attribute in (
        ("IsrShrinksPerSec", "shrinks"),
        ("IsrExpandsPerSec", "expands"),
        ("FailedIsrUpdatesPerSec", "failures"),
    ):
        services.metrics.rows(
            _SERVER,
            "ReplicaManager",
            name,
            METER,
            (),
            _one(sender, attribute),
            event="failedUpdates" if attribute == "failures" else attribute,
        )


def _add_moves(services: Services) -> None:
    """Between log directories: rounds of copying, not requests, but what is asked of them is the same."""

    def failed() -> int:
        mover, partitions = services.log_mover, services.replicas.partitions
        return 0 if mover is None else sum((tp.topic, tp.partition) in partitions for tp in mover.failed)

    gauges: dict[str, Callable[[], int]] = {
        "MaxLag": lambda: 0 if services.log_mover is None else services.log_mover.lag,
        "FailedPartitionsCount": failed,
        # There are no requests.
        "MinFetchRate": lambda: 0,
    }
    for name, ask in gauges.items():
        services.metrics.gauge(
            _SERVER, "ReplicaAlterLogDirsManager", name, ask, clientId="ReplicaAlterLogDirs"
        )


def has_late_transaction(partition: Partition, before_ms: int) -> bool:
    """Whether a transaction has been open without a record since then: its coordinator has forgotten it."""
    log = partition.log
    if log is None or not log.producers.open_txns:
        return False
    return any(
        entry.last_timestamp < before_ms
        for entry in log.producers.entries.values()
        if entry.current_txn_first_offset >= 0
    )


def _producers(partition: Partition) -> int:
    log = partition.log
    return len(log.producers.entries) if log is not None else 0


def _is_reassigning(services: Services, partition: Partition) -> bool:
    if partition.leader_state is None:
        return False
    state = services.metadata.image.topics.partition(*partition.topic_partition)
    return state is not None and state.reassigning


def _one(owner: Any, attribute: str) -> Callable[[], list[tuple[tuple[str, ...], int]]]:
    return lambda: [((), getattr(owner, attribute))]


def _add_fetchers(services: Services, replication: Replication, counts: PartitionCounts) -> None:
    registry, kind = services.metrics, "ReplicaFetcherManager"

    def lags() -> list[tuple[tuple[str, ...], int]]:
        return [
            ((f"ReplicaFetcherThread-{number}-{leader}", topic, str(index)), lag)
            for leader, number, topic, index, lag in replication.lags()
        ]

    registry.gauge(
        _SERVER, kind, "MaxLag", lambda: max((lag for _, lag in lags()), default=0), clientId="Replica"
    )
    registry.gauge(
        _SERVER,
        kind,
        "FailedPartitionsCount",
        counts.add(lambda partition: partition.log is None and partition.leader_state is None),
        clientId="Replica",
    )
    rates = RecentRates(replication.requests)
    registry.on_tick.append(rates.tick)
    registry.gauge(
        _SERVER,
        kind,
        "MinFetchRate",
        lambda: min((rates.of(key) for key in replication.requests()), default=0.0),
        clientId="Replica",
    )
    registry.rows(
        _SERVER, "FetcherLagMetrics", "ConsumerLag", GAUGE, ("clientId", "topic", "partition"), lags
    )
