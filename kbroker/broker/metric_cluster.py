"""Controller, quorum and metadata as Kafka's metrics name them; loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from kbroker.broker.metric_sockets import loop_idle
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.metrics.histogram import Histogram
from kbroker.metrics.rates import RecentRates, RecentTimes
from kbroker.metrics.registry import ATTRIBUTES, GAUGE, HISTOGRAM
from kbroker.types import uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.kraft_node import KraftNode, Leader
    from kbroker.broker.services import Services
    from kbroker.broker.zk_migration import ZkMigration
    from kbroker.metadata.image import ClusterImage

_SERVER = "kafka.server"
#: Kafka's numbers of a broker's registration: fenced, in controlled shutdown, active.
_FENCED, _LEAVING, _ACTIVE = 10, 20, 30


def add(services: Services) -> None:
    """Add the families."""
    _add_controller(services)
    _add_heartbeats(services)
    migration = services.extras.get("migration")
    if migration is not None:
        _add_migration(services, migration)
    _add_features(services)
    kraft = services.extras.get("kraft")
    if kraft is not None:
        _add_quorum(services, kraft)


class _Counts:
    """What is counted over all partitions of the cluster, once for an image."""

    def __init__(self) -> None:
        self._image: ClusterImage | None = None
        self.partitions = self.offline = self.not_preferred = 0

    def of(self, image: ClusterImage) -> _Counts:
        """Those of the image."""
        if image is not self._image:
            self._image = image
            self.partitions = self.offline = self.not_preferred = 0
            for topic in image.topics:
                self.partitions += len(topic.partitions)
                for partition in topic.partitions:
                    self.offline += partition.leader < 0
                    self.not_preferred += partition.leader != partition.replicas[0]
        return self


def _add_controller(services: Services) -> None:
    registry, kind, counts = services.metrics, "KafkaController", _Counts()
    controller = services.controller
    roles = services.config.get_list("process.roles")
    is_controller = not roles or "controller" in roles

    def here(ask: Callable[[ClusterImage], int]) -> Callable[[], int]:
        """What each controller tells, active or not, as in Kafka; a node that is none has 0."""
        return lambda: ask(services.metadata.image) if is_controller else 0

    gauges: dict[str, Callable[[], int]] = {
        "ActiveControllerCount": lambda: int(controller.active),
        "GlobalTopicCount": here(lambda image: len(image.topics)),
        "GlobalPartitionCount": here(lambda image: counts.of(image).partitions),
        "OfflinePartitionsCount": here(lambda image: counts.of(image).offline),
        "PreferredReplicaImbalanceCount": here(lambda image: counts.of(image).not_preferred),
        "ActiveBrokerCount": here(lambda image: sum(not each.fenced for each in image.brokers.values())),
        "FencedBrokerCount": here(lambda image: sum(each.fenced for each in image.brokers.values())),
        "ControlledShutdownBrokerCount": here(
            lambda image: sum(each.in_controlled_shutdown for each in image.brokers.values())
        ),
        "EventQueueOperationsStartedCount": lambda: controller.started,
        "EventQueueOperationsTimedOutCount": lambda: controller.timed_out,
        # A record that cannot be applied ends the node.
        "MetadataErrorCount": lambda: 0,
        "IgnoredStaticVoters": lambda: 0,
        "LastCommittedRecordOffset": lambda: services.metadata.image.offset,
        "LastAppliedRecordOffset": lambda: services.metadata.image.offset,
    }
    for name, ask in gauges.items():
        registry.gauge("kafka.controller", kind, name, ask)
    for name, histogram in (
        ("EventQueueProcessingTimeMs", lambda: controller.times),
        # What is decided waits in no queue.
        ("EventQueueTimeMs", lambda: Histogram(0.001).with_zeros(controller.times.count)),
    ):
        registry.rows(
            "kafka.controller",
            "ControllerEventManager",
            name,
            HISTOGRAM,
            (),
            lambda histogram=histogram: [((), histogram())],  # type: ignore[misc]
        )
    registry.rows(
        "kafka.controller",
        kind,
        "BrokerRegistrationState",
        GAUGE,
        ("broker",),
        lambda: [
            (
                (str(each.id),),
                _FENCED if each.fenced else _LEAVING if each.in_controlled_shutdown else _ACTIVE,
            )
            for each in (services.metadata.image.brokers.values() if is_controller else ())
        ],
    )


def _add_heartbeats(services: Services) -> None:
    """What the active controller knows of brokers that no record tells."""

    def silences() -> list[tuple[tuple[str], int]]:
        chores, image = services.chores, services.metadata.image
        if chores is None or not services.controller.active:
            return []
        found = chores.silences_ms()
        return [((str(each),), found.get(each, 0)) for each in image.brokers]

    registry = services.metrics
    registry.rows(
        "kafka.controller",
        "KafkaController",
        "TimeSinceLastHeartbeatReceivedMs",
        GAUGE,
        ("broker",),
        silences,
    )


def _add_migration(services: Services, migration: ZkMigration) -> None:
    """Of controllers that are, or were, to take over a cluster in ZooKeeper (KIP-866)."""
    registry, domain, kind = services.metrics, "kafka.controller", "KafkaController"
    gauges: dict[str, Callable[[ClusterImage], int]] = {
        "ZkMigrationState": lambda image: image.zk_migration_state,
        "MigratingZkBrokerCount": lambda image: sum(
            each.is_migrating_zk_broker for each in image.brokers.values()
        ),
        "ZkWriteBehindLag": lambda image: migration.behind,
    }
    for name, ask in gauges.items():
        registry.gauge(domain, kind, name, partial(_of_image, services, ask))
    for name, times in (
        ("ZkWriteSnapshotTimeMs", migration.all_times),
        ("ZkWriteDeltaTimeMs", migration.commit_times),
    ):
        registry.rows(domain, kind, name, HISTOGRAM, (), partial(_row, times))


def _of_image(services: Services, ask: Callable[[ClusterImage], int]) -> int:
    return ask(services.metadata.image)


def _row(times: Histogram) -> list[tuple[tuple[()], Histogram]]:
    return [((), times)]


def _add_features(services: Services) -> None:
    registry = services.metrics

    def camel(name: str) -> str:
        first, *rest = name.replace(".", "-").split("-")
        return first + "".join(each.capitalize() for each in rest)

    registry.rows(
        _SERVER,
        "MetadataLoader",
        "FinalizedLevel",
        GAUGE,
        ("featureName",),
        lambda: [
            ((camel(name),), level) for name, level in services.metadata.image.finalized_features().items()
        ],
    )
    registry.gauge(
        _SERVER, "MetadataLoader", "CurrentMetadataVersion", lambda: services.metadata.image.metadata_version
    )
    registry.gauge(
        _SERVER, "MetadataLoader", "CurrentControllerId", lambda: services.metadata.image.controller_id
    )
    registry.rows(
        _SERVER,
        "node-metrics",
        "",
        ATTRIBUTES,
        ("feature-name",),
        lambda: [
            (
                (name.replace(".", "-"),),
                {"minimum-supported-level": levels[0], "maximum-supported-level": levels[1]},
            )
            for name, levels in SUPPORTED_FEATURES.items()
        ],
    )


def _add_quorum(services: Services, kraft: KraftNode) -> None:
    registry = services.metrics
    _add_raft(services, kraft)
    _add_loader(services, kraft)

    def written_ms() -> int:
        # What the active controller wrote itself it has not read: it became true when it was applied.
        return kraft.metadata.last_timestamp_ms or services.extras.get("applied_ms", 0)

    def lag_ms() -> int:
        """0 when all is applied that is known to be committed: an idle cluster writes nothing."""
        if services.metadata.image.offset + 1 >= kraft.raft.node.high_watermark:
            return 0
        return max(services.clock.now_ms() - written_ms(), 0)

    domain, kind = "kafka.controller", "KafkaController"
    registry.gauge(domain, kind, "LastAppliedRecordTimestamp", written_ms)
    registry.gauge(domain, kind, "LastAppliedRecordLagMs", lag_ms)
    registry.attributes(
        _SERVER,
        "broker-metadata-metrics",
        lambda: {
            "last-applied-record-offset": services.metadata.image.offset,
            "last-applied-record-timestamp": written_ms(),
            "last-applied-record-lag-ms": lag_ms(),
            "ignored-static-voters": 0,
            # A record that cannot be applied ends the node.
            "metadata-load-error-count": 0,
            "metadata-apply-error-count": 0,
        },
    )
    snapshots = kraft.snapshots
    registry.gauge(_SERVER, "SnapshotEmitter", "LatestSnapshotGeneratedAgeMs", lambda: snapshots.age_ms())
    registry.gauge(_SERVER, "SnapshotEmitter", "LatestSnapshotGeneratedBytes", lambda: snapshots.newest_bytes)


def _add_loader(services: Services, kraft: KraftNode) -> None:
    """What is committed, as it comes."""
    registry, metadata = services.metrics, kraft.metadata
    domain, kind = _SERVER, "BrokerMetadataListener"
    registry.rows(domain, kind, "MetadataBatchSizes", HISTOGRAM, (), lambda: [((), metadata.sizes)])
    registry.rows(
        domain, kind, "MetadataBatchProcessingTimeUs", HISTOGRAM, (), lambda: [((), metadata.times)]
    )
    registry.gauge(domain, "MetadataLoader", "HandleLoadSnapshotCount", lambda: metadata.snapshots)
    registry.gauge(
        "kafka.controller", "KafkaController", "NewActiveControllersCount", lambda: metadata.new_controllers
    )


def _add_raft(services: Services, kraft: KraftNode) -> None:
    # Of a leader these are what it appends, of another what it fetches.
    rates = RecentRates(lambda: {kraft.raft.node.role.value == "leader": kraft.raft.end_offset})
    services.metrics.on_tick.append(rates.tick)
    commits, elections, idle = services.controller.commit_times, RecentTimes(monotonic), loop_idle(services)
    kraft.on_leader_changed(_Elections(elections).leader_changed)
    services.metrics.attributes(
        _SERVER,
        "raft-metrics",
        lambda: (
            _raft(kraft)
            | {"append-records-rate": rates.of(True), "fetch-records-rate": rates.of(False)}
            | {"commit-latency-avg": commits.mean, "commit-latency-max": commits.most}
            | {"election-latency-avg": elections.mean, "election-latency-max": elections.most}
            | {"poll-idle-ratio-avg": idle.ratio}
        ),
    )


class _Elections:
    """How long this node knew of no leader."""

    def __init__(self, times: RecentTimes) -> None:
        self._times = times
        self._since_s: float | None = None

    def leader_changed(self, leader: Leader) -> None:
        """See `KraftNode.on_leader_changed`."""
        if leader.node_id < 0:
            self._since_s = self._since_s or monotonic()
        elif self._since_s is not None:
            self._times.record((monotonic() - self._since_s) * 1000)
            self._since_s = None


def _raft(kraft: KraftNode) -> dict[str, Any]:
    node = kraft.raft.node
    state = node.role.value if node.is_voter else "observer"
    return {
        "current-state": state,
        "current-leader": node.leader_id,
        "current-epoch": node.epoch,
        "current-vote": node.election.voted_id,
        "current-vote-directory-id": uuid_to_string(node.election.voted_directory_id),
        # There are no connections that wait for a voter to be known.
        "number-unknown-voter-connections": 0,
        "high-watermark": node.high_watermark,
        "log-end-offset": kraft.raft.end_offset,
        "log-end-epoch": kraft.raft.log.latest_epoch,
        "number-of-observers": node.observer_count,
        "number-of-voters": len(node.voters),
        "is-observer": int(not node.is_voter),
        "uncommitted-voter-change": int(node.changes_voters),
    }
