"""What this node's disk holds of the metadata when it starts: log, snapshots, and the cluster they come to.

A quorum of one has committed all that is in its log. In a larger one the tail of the log may never be
committed: `image` then is what the newest snapshot says, and the log is folded once the quorum tells how
far it holds; `expected` is what it will most likely be.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbroker.broker.metadata_files import METADATA_DIRECTORY, MetadataFiles
from kbroker.broker.metadata_loader import NO_RULES, MetadataLoader
from kbroker.broker.raft_log import RaftLog
from kbroker.controller.features import LATEST_METADATA_VERSION, METADATA_VERSION
from kbroker.errors import ConfigError
from kbroker.metadata.delta import MetadataCorruption
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import MetadataRecord, decode_record
from kbroker.plain import plain
from kbroker.raft.batches import LogItem, QuorumRules, RaftLogCorruption, read_items
from kbroker.raft.messages import RulesAt
from kbroker.raft.snapshot import BOOTSTRAP_ID
from kbroker.raft.voter_set import VoterSet
from kbroker.storage.log import Log
from kbroker.storage.log_config import UNLIMITED, LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.recovery import LogHistory, create_log, open_log
from kbroker.types import METADATA_TOPIC_ID, OffsetAndEpoch, TopicPartition

_PARTITION = TopicPartition("__cluster_metadata", 0)
#: Kafka's readers take batches up to this size; ours are far smaller.
_MAX_BATCH_BYTES = 8 << 20


@plain()
class StoredMetadata:
    """What the disk holds.

    Attributes:
        image: what is known to be committed.
        loader: has folded just that.
        expected: the cluster with all of the log.
        snapshot: the newest one, `BOOTSTRAP_ID` if there is none but that of the format.
        log_bytes: bytes of log behind it.
        formatted: what a new folder was formatted with, to be repeated in an empty log.
        quorum_rules: control records of the quorum in snapshot and log, oldest first.
        formatted_rules: what the format said of the quorum, while nothing else does.
    """

    log: RaftLog
    files: MetadataFiles
    image: ClusterImage
    loader: MetadataLoader
    expected: ClusterImage
    snapshot: OffsetAndEpoch
    log_bytes: int
    formatted: list[MetadataRecord]
    quorum_rules: list[RulesAt]
    formatted_rules: QuorumRules = NO_RULES

    @property
    def first_rules(self) -> QuorumRules:
        """What held before anything in the log, as far as snapshot or format say: what is left if all of
        the log's own rules are cut off.
        """
        rules = self.formatted_rules
        for at in self.quorum_rules:
            if at.offset < self.snapshot.offset:
                rules = QuorumRules(at.rules.kraft_version, at.rules.voters or rules.voters)
        return rules

    @property
    def newest_voters(self) -> VoterSet | None:
        """The voters in force: the newest in the log count, committed or not."""
        voters = self.formatted_rules.voters
        for at in self.quorum_rules:
            voters = at.rules.voters or voters
        return voters


def open_metadata(
    cluster_id: str,
    metadata_dir: LogDir,
    node_id: int,
    *,
    segment_bytes: int,
    segment_ms: int,
    now_ms: int,
    static_voters: Sequence[int] = (),
    is_voter_alone: bool = True,
) -> StoredMetadata:
    """Open log and files, and fold them.

    Args:
        static_voters: controller.quorum.voters; empty: they are in the log or in the quorum-state file.
        is_voter_alone: with nothing said about voters anywhere, whether this node is the quorum.

    Raises:
        ConfigError: the folder is damaged, or of a newer release.
        OSError: the disk failed.
    """
    files = MetadataFiles(metadata_dir.disk, metadata_dir.path)
    snapshot_ids = files.snapshot_ids()
    newest = snapshot_ids[-1] if snapshot_ids else BOOTSTRAP_ID
    log = _open_log(metadata_dir, newest, now_ms, segment_bytes, segment_ms)
    files.remove_leftovers()
    empty = ClusterImage(cluster_id)
    loader = MetadataLoader(empty)
    try:
        snapshot = files.read_snapshot(newest) if snapshot_ids else files.read_old_bootstrap()
        if newest == BOOTSTRAP_ID and log.log_end_offset == 0:
            return _first_start(empty, files, log, snapshot, is_voter_alone)
        rules = _rules(snapshot, newest) if snapshot_ids else []
        if snapshot_ids:
            loader.load_snapshot(snapshot, newest)
        base, base_rules = loader.image(), loader.rules
        log_bytes = 0
        raft_log = RaftLog(log)
        for data in raft_log.read_all(newest.offset, log.log_end_offset):
            log_bytes += len(data)
            items = list(read_items(data))
            rules += [RulesAt(item.last_offset, item.rules) for item in items if item.rules is not None]
            loader.load(items)
        expected = loader.image()
    except (RaftLogCorruption, MetadataCorruption) as error:
        raise _damaged(files, loader, error) from None
    # The old bootstrap file is no part of the log; its records were repeated there.
    stored = StoredMetadata(
        raft_log, files, base, MetadataLoader(base, base_rules), expected, newest, log_bytes, [], rules
    )
    voters = stored.newest_voters
    ids = [voter.id for voter in voters] if voters else list(static_voters) or files.read_static_voters()
    if ids == [node_id] or (not ids and is_voter_alone):
        stored.image, stored.loader = expected, loader
    return stored


def _damaged(files: MetadataFiles, loader: MetadataLoader, error: Exception) -> ConfigError:
    level = loader.image().features.get(METADATA_VERSION, 0)
    if level > LATEST_METADATA_VERSION:
        return ConfigError(
            f"a newer release wrote the metadata in {files.path}: its {METADATA_VERSION} is {level}, and "
            f"this release knows those up to {LATEST_METADATA_VERSION}"
        )
    return ConfigError(f"the metadata in {files.path} is damaged: {error}")


def _first_start(
    empty: ClusterImage, files: MetadataFiles, log: Log, snapshot: list[LogItem], is_voter_alone: bool
) -> StoredMetadata:
    """Nothing was ever appended: the formatted records are to be repeated in the log."""
    if not snapshot and is_voter_alone:
        raise ConfigError(
            f"the metadata of this node is gone: {files.path} holds neither snapshot nor log, although "
            "meta.properties says the folder was formatted"
        )
    rules = next((item.rules for item in snapshot if item.rules is not None), QuorumRules())
    formatted = [decode_record(value) for item in snapshot for value in item.values if value is not None]
    image = ClusterImage(empty.cluster_id, kraft_version=rules.kraft_version)
    loader = MetadataLoader(image, rules)
    return StoredMetadata(
        RaftLog(log), files, image, loader, image, BOOTSTRAP_ID, 0, formatted, [], formatted_rules=rules
    )


def _rules(snapshot: Sequence[LogItem], snapshot_id: OffsetAndEpoch) -> list[RulesAt]:
    return [RulesAt(snapshot_id.offset - 1, item.rules) for item in snapshot if item.rules is not None]


def static_voter_set(
    configured: VoterSet, files: MetadataFiles, node_id_if_alone: int | None
) -> VoterSet | list[int]:
    """The configured quorum; the ids of the one that the folder was last part of, if none is configured.

    Raises:
        ConfigError: the folder belongs to another quorum.
    """
    known = files.read_static_voters()
    ids = [voter.id for voter in configured]
    if known and ids and sorted(known) != sorted(ids):
        raise ConfigError(
            f"controller.quorum.voters names {_names(ids)}, but the metadata in {files.path} belongs "
            f"to the quorum of {_names(known)}"
        )
    if ids:
        return configured
    return known or ([] if node_id_if_alone is None else [node_id_if_alone])


def _names(node_ids: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(node_ids)))


def _open_log(
    metadata_dir: LogDir, snapshot: OffsetAndEpoch, now_ms: int, segment_bytes: int, segment_ms: int
) -> Log:
    config = LogConfig(
        segment_bytes=segment_bytes,
        segment_ms=segment_ms,
        retention_ms=UNLIMITED,
        retention_bytes=UNLIMITED,
        max_message_bytes=_MAX_BATCH_BYTES,
    )
    path = f"{metadata_dir.path}/{METADATA_DIRECTORY}"
    entries = metadata_dir.disk.list_dir(path) if metadata_dir.disk.exists(path) else []
    if any(entry.name.endswith(".log") for entry in entries):
        # What a snapshot contains was committed, and so durable, before it was written.
        log = open_log(metadata_dir, _PARTITION, config, LogHistory(False, snapshot.offset), now_ms)
    else:
        log = create_log(metadata_dir, _PARTITION, METADATA_TOPIC_ID, config, now_ms)
    end = log.log_end_offset
    if end < snapshot.offset or (end > snapshot.offset and log.latest_epoch < snapshot.epoch):
        # The snapshot came from a leader, and the crash came before the log was dropped for it.
        log.truncate_fully_and_start_at(snapshot.offset, now_ms)
    return log
