"""This node as a KRaft node: opens the metadata log, takes part in the quorum, knows what is committed.

A quorum of one whose process is the only broker, too (`is_lone`), brings itself into the cluster: election
state stored, leader-change batch, (first start: bootstrap records,) controller registration, broker
registration and unfencing, all committed by one flush and only then published: `started` resolves when
subscribers have made every log and this broker leads its partitions. In any other cluster the broker and the
controller register by request (`broker_lifecycle.py`), and this node only follows, or leads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from kbroker.broker.blocking import RunBlocking
from kbroker.broker.committed_metadata import CommittedMetadata
from kbroker.broker.controller_driver import ControllerDriver
from kbroker.broker.deferred import Deferred
from kbroker.broker.image_waits import ImageWaits
from kbroker.broker.metadata_room import MetadataRoom
from kbroker.broker.metadata_snapshots import MetadataSnapshots
from kbroker.broker.metadata_store import StoredMetadata, open_metadata, static_voter_set
from kbroker.broker.peer import PeerAddress
from kbroker.broker.raft_driver import RaftDriver
from kbroker.broker.raft_exchange import RaftTransport
from kbroker.broker.timer import Timer
from kbroker.clock import Clock
from kbroker.controller.brokers import (
    NodeRegistration,
    check_features,
    fence_broker,
    join_broker,
    register_controller,
)
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.controller.kraft.bootstrap import abort_transaction, bootstrap
from kbroker.controller.kraft.migration import cannot_migrate, finalize_migration
from kbroker.errors import ApiError, ConfigError
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.delta import MetadataCorruption
from kbroker.metadata.image import MIGRATING, ClusterImage, Endpoint
from kbroker.plain import made, plain
from kbroker.raft.batches import RaftLogCorruption
from kbroker.raft.node import RaftNode
from kbroker.raft.snapshot import BOOTSTRAP_ID, DEFAULT_POLICY, SnapshotPolicy
from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, VoterSet
from kbroker.storage.log_dir import LogDir
from kbroker.types import ZERO_UUID, OffsetAndEpoch, Uuid

_log = logging.getLogger(__name__)


@plain(frozen=True, kw_only=True)
class KraftSetup:
    """Who this node is and how it keeps its metadata.

    Attributes:
        incarnation_id: random, new for each start of the process.
        broker_endpoints: what clients are told, with real ports.
        controller_endpoints: controller listeners; none for a node by itself.
        log_dir_ids: the directory.id of each log directory.
        directory_id: that of the metadata log's directory.
        is_broker, is_controller: process.roles.
        static_voters: controller.quorum.voters; empty: the quorum is in the log, or is this node.
        bootstrap_controllers: controller.quorum.bootstrap.servers, asked while no leader is known.
        min_insync_replicas: as configured; what a new cluster begins with.
        wait_for_disk: whether a metadata change counts only when it is durable (kbroker.metadata.fsync).
        segment_bytes, segment_ms: of the metadata log.
        random: `random(n)` is one of 0 … n-1, to spread elections.
        migrates: the cluster is, or was, ZooKeeper's (zookeeper.metadata.migration.enable).
        auto_join: a controller that is no voter asks to become one (controller.quorum.auto.join.enable).
    """

    node_id: int
    cluster_id: str
    incarnation_id: Uuid
    broker_endpoints: Sequence[Endpoint]
    controller_endpoints: Sequence[Endpoint] = ()
    rack: str | None = None
    log_dir_ids: Sequence[Uuid] = ()
    directory_id: Uuid = ZERO_UUID
    is_broker: bool = True
    is_controller: bool = True
    static_voters: Sequence[QuorumVoter] = ()
    bootstrap_controllers: Sequence[PeerAddress] = ()
    snapshots: SnapshotPolicy = DEFAULT_POLICY
    timeouts: RaftTimeouts = made(default_factory=RaftTimeouts)
    min_insync_replicas: int = 1
    wait_for_disk: bool = True
    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    random: Callable[[int], int] = lambda limit: 0
    auto_join: bool = False
    migrates: bool = False


class Leader(NamedTuple):
    """The quorum's leader as this node knows it; id -1: nobody."""

    node_id: int
    epoch: int
    endpoints: tuple[QuorumEndpoint, ...] = ()


class KraftNode:
    """The parts of this node that keep the metadata. `controller` is for handlers, the rest for `main.py`.

    Args:
        setup: who this node is.
        metadata_dir: the directory of the metadata log; nobody else touches `__cluster_metadata-0` in it.
        cache: where images are published; subscribe before `start`.
        clock, timer: of the node.
        run_blocking: runs the writing of a snapshot where it does not hold up others.
        run_flush: the same for the sync of the metadata log; None: as `run_blocking`.
        on_failure: the metadata can no longer be kept: stop the node.
        transport: the way to the other nodes of the quorum; None for a node by itself.

    Raises:
        ConfigError: the folder is not this node's, is damaged, or needs what this release cannot do.
        OSError: the disk failed.
    """

    def __init__(
        self,
        setup: KraftSetup,
        metadata_dir: LogDir,
        cache: MetadataCache,
        *,
        clock: Clock,
        timer: Timer,
        run_blocking: RunBlocking,
        on_failure: Callable[[BaseException], None],
        transport: RaftTransport | None = None,
        run_flush: RunBlocking | None = None,
    ) -> None:
        self._setup = setup
        self._on_failure = on_failure
        stored = self._stored = _open(setup, metadata_dir, clock.now_ms())
        self._bootstrapped = False
        node = _raft_node(setup, stored)
        #: Nobody else takes part, so that nobody has to be asked.
        voters = stored.newest_voters or node.voters
        is_whole = setup.is_broker and setup.is_controller and voters.is_only(setup.node_id)
        # Beside one that is to take over a cluster from ZooKeeper there are that one's brokers.
        self.is_lone = is_whole and not setup.migrates
        if not self.is_lone:
            _check_ways(setup, voters, transport)
        self.started: Deferred[None] = Deferred()
        #: In which broker epoch this broker last stopped cleanly, -1 if it did not (KIP-966); before `start`.
        self.previous_broker_epoch: int | None = None
        self.metadata = CommittedMetadata(cache, stored.image, stored.loader, stored.log.read_all)
        self.controller = ControllerDriver(setup.node_id, timer, self.metadata)
        self._room = MetadataRoom(metadata_dir.disk, metadata_dir.path, timer, run_blocking)
        self.raft = RaftDriver(
            node,
            stored.log,
            stored.files,
            stored.quorum_rules,
            clock=clock,
            timer=timer,
            run_blocking=run_flush or run_blocking,
            on_failure=on_failure,
            transport=transport,
            request_timeout_ms=setup.timeouts.request_ms,
            wait_for_disk=setup.wait_for_disk,
            give_room=self._room.give,
        )
        self.snapshots = MetadataSnapshots(
            stored.files,
            stored.log.log,
            lambda: self.metadata.rules,
            setup.snapshots,
            last_snapshot=stored.snapshot,
            log_bytes=stored.log_bytes,
            clock=clock,
            timer=timer,
            run_blocking=run_blocking,
            on_changed=self.raft.snapshot_taken,
        )
        self.controller.on_active = self._begin
        self.metadata.on_commit = self._on_commit
        self._waits = ImageWaits(lambda: self.metadata.image)
        #: The first committed image from now on, published or not, that passes a test.
        self.when = self._waits.when
        self._leader_listeners: list[Callable[[Leader], None]] = []

    def start(self) -> Deferred[None]:
        """Join the quorum. `started` resolves when a lone broker serves, or fails with ConfigError; in a
        larger cluster it is for the lifecycle to resolve.
        """
        snapshot_id = None if self._stored.snapshot == BOOTSTRAP_ID else self._stored.snapshot
        self.raft.start(self, snapshot_id)
        self._room.start()
        return self.started

    def stop(self, *, clean: bool = True) -> None:
        """Leave: nothing is appended any more, and if this is `clean`, what is written is durable.

        The last records of a lone broker fence it, so that whoever reads the log next, Apache Kafka included,
        need not wait whether it is still alive.
        """
        self.metadata.publish_no_more()
        broker = self.metadata.image.brokers.get(self._setup.node_id)
        active = clean and self.controller.active and not self.raft.failed
        if self.is_lone and broker is not None and active:
            self.controller.append_records(lambda image: fence_broker(image, broker.id, broker.epoch))
        self.raft.stop()
        self.snapshots.stop()
        self._room.stop()
        if clean and not self.raft.failed:
            self._stored.log.log.close()

    # -- for the broker's life -------------------------------------------------------------------------------

    @property
    def expected_image(self) -> ClusterImage:
        """The cluster as the disk has it; what of it is committed, the quorum has to tell."""
        return self._stored.expected

    def publish_from_now(self) -> None:
        """See `CommittedMetadata.publish_from_now`."""
        self.metadata.publish_from_now()

    def leader(self) -> Leader:
        """Who leads the quorum."""
        node = self.raft.node
        if node.leader_id < 0:
            return Leader(-1, node.epoch)
        return Leader(node.leader_id, node.epoch, node.endpoints_of(node.leader_id))

    def on_leader_changed(self, listener: Callable[[Leader], None]) -> None:
        """Call `listener` with each leader from now on, this node included."""
        self._leader_listeners.append(listener)

    # -- QuorumListener --------------------------------------------------------------------------------------

    def became_leader(self, epoch: int) -> None:
        """See `QuorumListener`."""
        self._tell_leader()
        self.controller.lead_with(self.raft, epoch)

    def committed(self, high_watermark: int) -> None:
        """See `QuorumListener`."""
        self.controller.committed(high_watermark)
        try:
            self.metadata.committed(high_watermark)
            self.controller.kraft_version_is(self.metadata.image.kraft_version)
        except (RaftLogCorruption, MetadataCorruption) as error:
            self._on_failure(error)

    def resigned(self, epoch: int) -> None:
        """See `QuorumListener`."""
        self.controller.resigned()

    def leader_changed(self, leader_id: int, epoch: int) -> None:
        """See `QuorumListener`."""
        self.metadata.controller_is(leader_id)
        self._tell_leader()

    def snapshot_installed(self, snapshot_id: OffsetAndEpoch) -> None:
        """See `QuorumListener`."""
        try:
            self.metadata.loaded(self._stored.files.read_snapshot(snapshot_id), snapshot_id)
        except (RaftLogCorruption, MetadataCorruption) as error:
            self._on_failure(error)
        self.snapshots.installed(snapshot_id)

    def _tell_leader(self) -> None:
        leader = self.leader()
        for listener in self._leader_listeners:
            listener(leader)

    def _on_commit(self, image: ClusterImage) -> None:
        self.snapshots.committed(image)
        self._waits.committed(image)

    # -- as leader -------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """This node is the active controller: a new cluster gets its first records."""
        append, migrates = partial(self.controller.append_records, always=True), self._setup.migrates
        if self.metadata.in_transaction:
            append(abort_transaction)
        if self.metadata.image.metadata_version == 0:
            formatted, minimum = self._stored.formatted, self._setup.min_insync_replicas
            append(lambda image: bootstrap(image, formatted, minimum, migrates=migrates))
        elif not migrates and self.metadata.image.zk_migration_state == MIGRATING:
            _tell_of_the_end(self.metadata.image)
            append(finalize_migration)
        if self.is_lone and not self._bootstrapped:
            self._join()
        self._bootstrapped = True

    def _join(self) -> None:
        setup, append = self._setup, self.controller.append_records
        broker = NodeRegistration(
            setup.node_id,
            setup.incarnation_id,
            setup.broker_endpoints,
            SUPPORTED_FEATURES,
            setup.rack,
            setup.log_dir_ids,
            self.previous_broker_epoch,
        )
        controller = broker._replace(endpoints=setup.controller_endpoints, rack=None, log_dirs=())
        append(lambda image: register_controller(image, controller))
        append(lambda image: join_broker(image, broker)).then(self._serving)

    def _serving(self, done: Deferred[int]) -> None:
        try:
            done.result()
        except ApiError as error:
            self.started.fail(ConfigError(f"this release cannot serve the cluster here: {error.text}"))
            return
        self.publish_from_now()
        self.started.resolve(None)


def _tell_of_the_end(image: ClusterImage) -> None:
    """The migration from ZooKeeper ends, whoever is not ready for it."""
    behind = sorted(each.id for each in image.brokers.values() if each.is_migrating_zk_broker)
    _log.info("the migration from ZooKeeper is completed: this controller is not to migrate")
    if behind:
        names = ", ".join(map(str, behind))
        _log.warning("brokers %s were last seen in ZooKeeper's mode, and are told nothing any more", names)


def _open(setup: KraftSetup, metadata_dir: LogDir, now_ms: int) -> StoredMetadata:
    stored = open_metadata(
        setup.cluster_id,
        metadata_dir,
        setup.node_id,
        segment_bytes=setup.segment_bytes,
        segment_ms=setup.segment_ms,
        now_ms=now_ms,
        static_voters=[voter.id for voter in setup.static_voters],
        is_voter_alone=setup.is_controller and not setup.bootstrap_controllers,
    )
    reason = cannot_migrate(stored.expected, stored.formatted) if setup.migrates else None
    if reason is not None:
        raise ConfigError(reason)
    try:
        check_features(stored.expected, SUPPORTED_FEATURES)
    except ApiError as error:
        raise ConfigError(f"this release cannot serve the cluster here: {error.text}") from None
    return stored


def _raft_node(setup: KraftSetup, stored: StoredMetadata) -> RaftNode:
    election = stored.files.read_election()
    # A lost quorum-state file must not let an old epoch come again.
    newest = max(election.epoch, stored.log.log.latest_epoch, stored.snapshot.epoch)
    voters = stored.first_rules.voters
    if voters is None:
        alone = setup.is_controller and not setup.bootstrap_controllers
        configured = static_voter_set(
            VoterSet(setup.static_voters), stored.files, setup.node_id if alone else None
        )
        voters = configured if isinstance(configured, VoterSet) else VoterSet(map(QuorumVoter, configured))
    return RaftNode(
        setup.node_id,
        voters,
        election._replace(epoch=newest),
        directory_id=setup.directory_id,
        kraft_version=stored.first_rules.kraft_version,
        timeouts=setup.timeouts,
        random=setup.random,
        auto_join=setup.auto_join and setup.is_controller,
        bootstrap_servers=len(setup.bootstrap_controllers),
        endpoints=tuple(QuorumEndpoint(e.name, e.host, e.port) for e in setup.controller_endpoints),
    )


def _check_ways(setup: KraftSetup, voters: VoterSet, transport: RaftTransport | None) -> None:
    """Whether this node could reach the rest of its quorum.

    Raises:
        ConfigError: it could not.
    """
    names = ", ".join(str(voter.id) for voter in voters) or "unknown"
    if transport is None:
        raise ConfigError(
            f"the metadata quorum is {names}, and node {setup.node_id} is not to speak to others"
        )
    unknown = [voter for voter in voters if voter.id != setup.node_id and not voter.endpoints]
    if unknown and not setup.bootstrap_controllers:
        raise ConfigError(
            f"the metadata quorum is {names}: controller.quorum.voters must tell where these nodes are"
        )
