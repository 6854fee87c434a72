"""Partitions, logs and topics as Kafka's metrics name them; loaded when somebody first looks.

With 10,000 partitions these are nine tenths of a scrape: each row is a tuple made once and one look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kbroker.metrics.registry import GAUGE, METER, Column

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.metrics.registry import Registry
    from kbroker.storage.log import Log

#: JMX name -> count of TopicStats, whether each topic has it, what it counts.
_TOPIC_METERS = {
    "BytesInPerSec": ("bytes_in", True, "bytes"),
    "BytesOutPerSec": ("bytes_out", True, "bytes"),
    "BytesRejectedPerSec": ("bytes_rejected", True, "bytes"),
    "FailedFetchRequestsPerSec": ("failed_fetch", True, "requests"),
    "FailedProduceRequestsPerSec": ("failed_produce", True, "requests"),
    "FetchMessageConversionsPerSec": ("conversions_fetch", True, "requests"),
    "InvalidMagicNumberRecordsPerSec": ("invalid_magic", False, "requests"),
    "InvalidMessageCrcRecordsPerSec": ("invalid_crc", False, "requests"),
    "InvalidOffsetOrSequenceRecordsPerSec": ("invalid_sequence", False, "requests"),
    "MessagesInPerSec": ("messages_in", True, "messages"),
    "NoKeyCompactedTopicRecordsPerSec": ("no_key", False, "requests"),
    "ProduceMessageConversionsPerSec": ("conversions_produce", True, "requests"),
    "ReassignmentBytesInPerSec": ("reassigned_in", False, "bytes"),
    "ReassignmentBytesOutPerSec": ("reassigned_out", False, "bytes"),
    "ReplicationBytesInPerSec": ("replicated_in", False, "bytes"),
    "ReplicationBytesOutPerSec": ("replicated_out", False, "bytes"),
    "TotalFetchRequestsPerSec": ("fetch_requests", True, "requests"),
    "TotalProduceRequestsPerSec": ("produce_requests", True, "requests"),
}
_KEYS = ("topic", "partition")


class _Hosted:
    """The partitions of one scrape, with their labels."""

    def __init__(self, services: Services, registry: Registry) -> None:
        self._partitions = services.replicas.partitions
        self._registry = registry
        self._scrape = -1
        #: The same list as long as the same partitions are here: their text is kept with it.
        self.labels: list[tuple[str, str]] = []
        self._listed: list[tuple[str, int]] = []
        self.partitions: list[Partition] = []
        #: Those whose log is there: labels, logs.
        self.online: list[tuple[str, str]] = []
        self.logs: list[Log] = []

    def look(self) -> _Hosted:
        """What is there at the beginning of the scrape."""
        if self._scrape != self._registry.scrapes or len(self.labels) != len(self._partitions):
            self._scrape = self._registry.scrapes
            self.partitions = list(self._partitions.values())
            listed = list(self._partitions)
            if listed != self._listed:
                self._listed, self.labels = listed, [(topic, str(index)) for topic, index in listed]
            self.logs = [each.log for each in self.partitions if each.log is not None]
            online = self.labels
            if len(self.logs) < len(self.labels):
                online = [
                    labels for labels, each in zip(self.labels, self.partitions) if each.log is not None
                ]
            if online != self.online:
                self.online = online
        return self


def add(services: Services) -> None:
    """Add the families."""
    registry = services.metrics
    hosted = _Hosted(services, registry)
    for name, of_log in _LOG_GAUGES.items():
        _column(registry, "kafka.log", "Log", name, _of_logs(hosted, of_log))
    for name, of_partition in _PARTITION_GAUGES.items():
        _column(registry, "kafka.cluster", "Partition", name, _of_partitions(hosted, of_partition))
    stats = services.replicas.topic_stats
    for name, (count, by_topic, event) in _TOPIC_METERS.items():
        registry.rows(
            "kafka.server", "BrokerTopicMetrics", name, METER, (), _total(stats.total, count), event=event
        )
        if by_topic:
            registry.rows(
                "kafka.server",
                "BrokerTopicMetrics",
                name,
                METER,
                ("topic",),
                _by_topic(stats.by_topic, count),
                event=event,
            )


def _total(ask: Callable[[str], int], count: str) -> Callable[[], list[tuple[tuple[str, ...], int]]]:
    return lambda: [((), ask(count))]


def _by_topic(
    ask: Callable[[str], Iterator[tuple[str, int]]], count: str
) -> Callable[[], list[tuple[tuple[str, ...], int]]]:
    return lambda: [((topic,), value) for topic, value in ask(count)]


def _column(registry: Registry, domain: str, kind: str, name: str, column: Callable[[], Column]) -> None:
    family = registry.rows(domain, kind, name, GAUGE, _KEYS, lambda: column().rows())
    family.column = column


def _of_logs(hosted: _Hosted, ask: Callable[[Log], int]) -> Callable[[], Column]:
    def column() -> Column:
        found = hosted.look()
        logs = found.logs
        return Column(found.online, lambda start, stop: [ask(log) for log in logs[start:stop]])

    return column


def _of_partitions(hosted: _Hosted, ask: Callable[[Partition], int]) -> Callable[[], Column]:
    def column() -> Column:
        found = hosted.look()
        partitions = found.partitions
        return Column(found.labels, lambda start, stop: [ask(each) for each in partitions[start:stop]])

    return column


def is_under_replicated(partition: Partition) -> bool:
    """Whether this broker leads it and not all replicas are in sync."""
    state = partition.leader_state
    return state is not None and len(state.isr) < len(state.replicas)


def is_under_min_isr(partition: Partition) -> bool:
    """Whether acks=all is refused."""
    state = partition.leader_state
    if state is None or len(state.isr) >= state.min_isr:
        return False
    return len(state.isr) < state.effective_min_isr


def is_at_min_isr(partition: Partition) -> bool:
    """Whether acks=all is refused if one more replica falls behind."""
    state = partition.leader_state
    if state is None or len(state.isr) > state.min_isr:
        return False
    return len(state.isr) == state.effective_min_isr


def _in_sync(partition: Partition) -> int:
    state = partition.leader_state
    return len(state.isr) if state is not None else 0


def _replicas(partition: Partition) -> int:
    state = partition.leader_state
    return len(state.replicas) if state is not None else 0


def _stable_lag(partition: Partition) -> int:
    log = partition.log
    if log is None or partition.leader_state is None:
        return 0
    return log.high_watermark - log.last_stable_offset


def _retention_percent(log: Log) -> int:
    allowed = log.config.retention_bytes
    return log.size * 100 // allowed if allowed > 0 else 0


_LOG_GAUGES: dict[str, Callable[[Log], int]] = {
    "LogEndOffset": lambda log: log.log_end_offset,
    "LogStartOffset": lambda log: log.log_start_offset,
    "NumLogSegments": lambda log: len(log.segments),
    "RetentionSizeInPercent": _retention_percent,
    "Size": lambda log: log.size,
}
_PARTITION_GAUGES: dict[str, Callable[[Partition], int]] = {
    "AtMinIsr": lambda partition: int(is_at_min_isr(partition)),
    "InSyncReplicasCount": _in_sync,
    "LastStableOffsetLag": _stable_lag,
    "ReplicasCount": _replicas,
    "UnderMinIsr": lambda partition: int(is_under_min_isr(partition)),
    "UnderReplicated": lambda partition: int(is_under_replicated(partition)),
}
