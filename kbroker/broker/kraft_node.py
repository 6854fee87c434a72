"""This node as a KRaft node: opens the metadata log, folds it, joins the quorum and registers as a broker.

From `start` on the order is: election state stored, leader-change batch, (first start: bootstrap records,)
controller registration, broker registration and unfencing. All of it is committed by one flush, and
only then published: `started` resolves when subscribers have made every log and this broker leads its
partitions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kbroker.broker.committed_metadata import CommittedMetadata
from kbroker.broker.controller_driver import ControllerDriver, QuorumStatus
from kbroker.broker.deferred import Deferred
from kbroker.broker.metadata_files import METADATA_DIRECTORY, MetadataFiles
from kbroker.broker.metadata_loader import MetadataLoader
from kbroker.broker.metadata_snapshots import MetadataSnapshots
from kbroker.broker.raft_driver import RaftDriver, RunBlocking
from kbroker.broker.timer import Timer
from kbroker.clock import Clock
from kbroker.controller.brokers import (
    NodeRegistration,
    check_features,
    fence_broker,
    join_broker,
    register_controller,
)
from kbroker.controller.features import (
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    SUPPORTED_FEATURES,
    latent_features,
)
from kbroker.controller.kraft.bootstrap import abort_transaction, bootstrap
from kbroker.errors import ApiError, ConfigError
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.delta import MetadataCorruption
from kbroker.metadata.image import ClusterImage, Endpoint
from kbroker.metadata.records import MetadataRecord, decode_record
from kbroker.raft.batches import LogItem, QuorumRules, RaftLogCorruption, read_items
from kbroker.raft.node import RaftNode
from kbroker.raft.snapshot import BOOTSTRAP_ID, DEFAULT_POLICY, SnapshotPolicy
from kbroker.raft.voter_set import QuorumVoter, VoterSet
from kbroker.storage.log import Log
from kbroker.storage.log_config import UNLIMITED, LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.recovery import LogHistory, create_log, open_log
from kbroker.types import METADATA_TOPIC_ID, OffsetAndEpoch, TopicPartition, Uuid

_log = logging.getLogger(__name__)

_PARTITION = TopicPartition("__cluster_metadata", 0)
#: Kafka's readers take batches up to this size; ours are far smaller.
_MAX_BATCH_BYTES = 8 << 20
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KraftSetup:
    """Who this node is and how it keeps its metadata.

    Attributes:
        incarnation_id: random, new for each start of the process.
        broker_endpoints: what clients are told, with real ports.
        controller_endpoints: controller listeners; none for a node by itself.
        log_dir_ids: the directory.id of each log directory.
        static_voters: controller.quorum.voters; empty: the quorum is in the log, or is this node.
        min_insync_replicas: as configured; what a new cluster begins with.
        wait_for_disk: whether a metadata change counts only when it is durable (kbroker.metadata.fsync).
        segment_bytes, segment_ms: of the metadata log.
    """

    node_id: int
    cluster_id: str
    incarnation_id: Uuid
    broker_endpoints: Sequence[Endpoint]
    controller_endpoints: Sequence[Endpoint] = ()
    rack: str | None = None
    log_dir_ids: Sequence[Uuid] = ()
    static_voters: Sequence[QuorumVoter] = ()
    snapshots: SnapshotPolicy = DEFAULT_POLICY
    min_insync_replicas: int = 1
    wait_for_disk: bool = True
    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000


@dataclass(slots=True)
class _Loaded:
    """What the disk holds."""

    log: Log
    files: MetadataFiles
    image: ClusterImage
    rules: QuorumRules
    snapshot: OffsetAndEpoch
    log_bytes: int
    formatted: list[MetadataRecord]
    rules_in_log: bool
    in_transaction: bool


class KraftNode:
    """The parts of this node that keep the metadata. `controller` is for handlers, the rest for `main.py`.

    Args:
        setup: who this node is.
        metadata_dir: the directory of the metadata log; nobody else touches `__cluster_metadata-0` in it.
        cache: where images are published; subscribe before `start`.
        clock, timer: of the node.
        run_blocking: runs an fsync, or the writing of a snapshot, where it does not hold up others.
        on_failure: the metadata can no longer be kept: stop the node.

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
    ) -> None:
        self._setup = setup
        loaded = _load(setup, metadata_dir, clock.now_ms())
        voters = loaded.rules.voters or _static_voters(setup, loaded.files)
        try:
            check_features(loaded.image, SUPPORTED_FEATURES)
        except ApiError as error:
            raise ConfigError(f"this release cannot serve the cluster here: {error.text}") from None
        self._loaded: _Loaded | None = loaded
        self.started: Deferred[None] = Deferred()
        log = loaded.log
        self.metadata = CommittedMetadata(
            cache, loaded.image, loaded.rules, lambda start, end: _read_log(log, start, end)
        )
        self.controller = ControllerDriver(setup.node_id, timer, self.metadata)
        self.raft = RaftDriver(
            _raft_node(setup.node_id, voters, loaded),
            loaded.log,
            loaded.files,
            loaded.rules,
            rules_in_log=loaded.rules_in_log,
            clock=clock,
            run_blocking=run_blocking,
            on_failure=on_failure,
            wait_for_disk=setup.wait_for_disk,
        )
        self.snapshots = MetadataSnapshots(
            loaded.files,
            loaded.log,
            loaded.rules,
            setup.snapshots,
            last_snapshot=loaded.snapshot,
            log_bytes=loaded.log_bytes,
            clock=clock,
            timer=timer,
            run_blocking=run_blocking,
        )
        self.controller.on_active = self._join
        self.controller.quorum_status = self._status
        self.metadata.on_commit = self.snapshots.committed

    def start(self) -> Deferred[None]:
        """Join the quorum; `started` resolves when this broker serves, or fails with ConfigError."""
        self.raft.start(self)
        return self.started

    def stop(self) -> None:
        """Leave cleanly: nothing is appended any more, what is written is durable.

        The last records fence this broker, so that whoever reads the log next, Apache Kafka included, need
        not wait whether it is still alive.
        """
        self.metadata.publish_no_more()
        broker = self.metadata.image.brokers.get(self._setup.node_id)
        if broker is not None and self.controller.active and not self.raft.failed:
            self.controller.append_records(lambda image: fence_broker(image, broker.id, broker.epoch))
        self.raft.stop()
        self.snapshots.stop()
        if not self.raft.failed:
            self.raft.log.close()

    # -- QuorumListener --------------------------------------------------------------------------------------

    def became_leader(self, epoch: int) -> None:
        """See `QuorumListener`."""
        self.controller.lead_with(self.raft, epoch)

    def committed(self, high_watermark: int) -> None:
        """See `QuorumListener`."""
        self.controller.committed(high_watermark)
        self.metadata.committed(high_watermark)

    def resigned(self, epoch: int) -> None:
        """See `QuorumListener`."""
        self.controller.resigned()

    def _status(self) -> QuorumStatus:
        node = self.raft.node
        return QuorumStatus(
            node.leader_id, node.epoch, node.high_watermark, node.end_offset, tuple(node.voters)
        )

    # -- joining ---------------------------------------------------------------------------------------------

    def _join(self) -> None:
        loaded, self._loaded = self._loaded, None
        if loaded is None:
            return
        setup, append = self._setup, self.controller.append_records
        if loaded.in_transaction:
            append(abort_transaction)
        if loaded.image.metadata_version == 0:
            append(lambda image: bootstrap(image, loaded.formatted, setup.min_insync_replicas))
        broker = NodeRegistration(
            setup.node_id,
            setup.incarnation_id,
            setup.broker_endpoints,
            SUPPORTED_FEATURES,
            setup.rack,
            setup.log_dir_ids,
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
        latent = latent_features(self.metadata.image)
        if latent:
            _log.warning(
                "this cluster uses features that this release does not act on: %s. What they wrote is kept, "
                "but their groups and transactions are not served",
                ", ".join(f"{name} {level}" for name, level in sorted(latent.items())),
            )
        self.metadata.publish_from_now()
        self.started.resolve(None)


def _static_voters(setup: KraftSetup, files: MetadataFiles) -> VoterSet:
    """The configured quorum; the one that the folder was last part of, if none is configured."""
    known = files.read_static_voters()
    configured = [voter.id for voter in setup.static_voters]
    if known and configured and sorted(known) != sorted(configured):
        raise ConfigError(
            f"controller.quorum.voters names {_names(configured)}, but the metadata in {files.path} belongs "
            f"to the quorum of {_names(known)}"
        )
    return VoterSet(
        setup.static_voters or [QuorumVoter(voter) for voter in known] or [QuorumVoter(setup.node_id)]
    )


def _names(node_ids: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(node_ids)))


def _raft_node(node_id: int, voters: VoterSet, loaded: _Loaded) -> RaftNode:
    election = loaded.files.read_election()
    # A lost quorum-state file must not let an old epoch come again.
    newest = max(election.epoch, loaded.log.latest_epoch, loaded.snapshot.epoch)
    return RaftNode(node_id, voters, election._replace(epoch=newest))


def _load(setup: KraftSetup, metadata_dir: LogDir, now_ms: int) -> _Loaded:
    """Open the log and fold snapshot and log into an image."""
    files = MetadataFiles(metadata_dir.disk, metadata_dir.path)
    snapshot_ids = files.snapshot_ids()
    newest = snapshot_ids[-1] if snapshot_ids else BOOTSTRAP_ID
    log = _open(setup, metadata_dir, newest.offset, now_ms)
    files.remove_leftovers()
    loader = MetadataLoader(ClusterImage(setup.cluster_id))
    try:
        snapshot = files.read_snapshot(newest) if snapshot_ids else files.read_old_bootstrap()
        if newest == BOOTSTRAP_ID and log.log_end_offset == 0:
            return _first_start(setup, files, log, snapshot)
        if snapshot_ids:
            loader.load_snapshot(snapshot, newest)
        log_bytes = 0
        for data in _read_log(log, newest.offset, log.log_end_offset):
            log_bytes += len(data)
            loader.load(read_items(data))
    except (RaftLogCorruption, MetadataCorruption) as error:
        level = loader.image().features.get(METADATA_VERSION, 0)
        if level > LATEST_METADATA_VERSION:
            raise ConfigError(
                f"a newer release wrote the metadata in {files.path}: its {METADATA_VERSION} is {level}, and "
                f"this release knows those up to {LATEST_METADATA_VERSION}"
            ) from None
        raise ConfigError(f"the metadata in {files.path} is damaged: {error}") from None
    # The old bootstrap file is no part of the log; its records were repeated there.
    return _Loaded(
        log, files, loader.image(), loader.rules, newest, log_bytes, [], True, loader.in_transaction
    )


def _first_start(setup: KraftSetup, files: MetadataFiles, log: Log, snapshot: list[LogItem]) -> _Loaded:
    """Nothing was ever appended: the formatted records are to be repeated in the log."""
    if not snapshot:
        raise ConfigError(
            f"the metadata of this node is gone: {files.path} holds neither snapshot nor log, although "
            "meta.properties says the folder was formatted"
        )
    rules = next((item.rules for item in snapshot if item.rules is not None), QuorumRules())
    formatted = [decode_record(value) for item in snapshot for value in item.values if value is not None]
    image = ClusterImage(setup.cluster_id, kraft_version=rules.kraft_version)
    return _Loaded(log, files, image, rules, BOOTSTRAP_ID, 0, formatted, False, False)


def _open(setup: KraftSetup, metadata_dir: LogDir, snapshot_offset: int, now_ms: int) -> Log:
    config = LogConfig(
        segment_bytes=setup.segment_bytes,
        segment_ms=setup.segment_ms,
        retention_ms=UNLIMITED,
        retention_bytes=UNLIMITED,
        max_message_bytes=_MAX_BATCH_BYTES,
    )
    path = f"{metadata_dir.path}/{METADATA_DIRECTORY}"
    entries = metadata_dir.disk.list_dir(path) if metadata_dir.disk.exists(path) else []
    if any(entry.name.endswith(".log") for entry in entries):
        # What a snapshot contains was committed, and so durable, before it was written.
        log = open_log(metadata_dir, _PARTITION, config, LogHistory(False, snapshot_offset), now_ms)
    else:
        log = create_log(metadata_dir, _PARTITION, METADATA_TOPIC_ID, config, now_ms)
    if log.log_end_offset < snapshot_offset:
        log.truncate_fully_and_start_at(snapshot_offset, now_ms)
    return log


def _read_log(log: Log, start: int, end: int) -> Iterator[bytes]:
    """The whole batches from the one that holds `start` on, below `end`."""
    if start < log.log_start_offset:
        raise RaftLogCorruption(f"records {start} to {log.log_start_offset} are in no snapshot and no log")
    offset = start
    while offset < end:
        found = log.read(offset, _READ_BYTES, end, True)
        if not found.parts:
            raise RaftLogCorruption(f"nothing can be read at offset {offset}")
        yield b"".join(part.read() for part in found.parts)
        offset = found.next_offset
