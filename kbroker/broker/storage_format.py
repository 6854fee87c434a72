"""Formatting a node's folders: meta.properties in each log directory, and the metadata log's first snapshot.

As Kafka 4.4's `kafka-storage format`: the first snapshot, at offset 0 of epoch 0, holds the feature levels,
and with dynamic voters (`kraft.version` 1, KIP-853) the quorum itself. Random ids come in as arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.controller.features import LATEST_METADATA_VERSION
from kbroker.controller.kraft.bootstrap import feature_records
from kbroker.metadata.records import encode_record
from kbroker.plain import made, plain, replace
from kbroker.protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kbroker.raft.batches import QuorumRules, snapshot_batches
from kbroker.raft.snapshot import BOOTSTRAP_ID
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, VoterSet
from kbroker.storage.disk import Disk
from kbroker.storage.meta_properties import MetaProperties, read_meta_properties, write_meta_properties
from kbroker.types import Uuid


@plain(frozen=True, kw_only=True)
class StorageFormat:
    """What to write.

    Attributes:
        log_dirs: all log directories of the node, absolute.
        metadata_dir: the one that holds the metadata log (one of `log_dirs`, or one more).
        directory_ids: one for each of `log_dirs`, then one for `metadata_dir` if it is none of them.
        controller_endpoints: where the node's controller listener is; may be empty for a node by itself.
        static_voters: the quorum is fixed by controller.quorum.voters: `kraft.version` stays 0.
        is_controller: only a controller's metadata begin with a snapshot; a broker fetches all of it.
        voters: the first voters of a dynamic quorum; None: this node alone; empty: it joins one that exists.
        metadata_version: the feature level to begin with.
        features: levels of other features that differ from those of that `metadata.version`.
        scram: credentials of users, who can log in before anybody could make them.
    """

    log_dirs: Sequence[str]
    metadata_dir: str
    cluster_id: str
    node_id: int
    directory_ids: Sequence[Uuid]
    controller_endpoints: Sequence[QuorumEndpoint] = ()
    static_voters: bool = False
    is_controller: bool = True
    voters: Sequence[QuorumVoter] | None = None
    metadata_version: int = LATEST_METADATA_VERSION
    features: Mapping[str, int] = made(default_factory=dict)
    scram: Sequence[UserScramCredentialRecord] = ()

    @property
    def directories(self) -> list[str]:
        """Every directory that gets a meta.properties."""
        return list(dict.fromkeys([*self.log_dirs, self.metadata_dir]))


def format_storage(disk: Disk, plan: StorageFormat, now_ms: int) -> None:
    """Format what is not formatted yet; directories that are (a new one beside them) stay as they are.

    meta.properties comes last: a crash in between leaves folders that are formatted again.

    Raises:
        OSError: a directory cannot be written.
    """
    metadata_id = plan.directory_ids[plan.directories.index(plan.metadata_dir)]
    meta = read_meta_properties(disk, plan.metadata_dir)
    if meta is None and plan.is_controller:
        _write_first_snapshot(disk, plan, metadata_id, now_ms)
    for directory, directory_id in zip(plan.directories, plan.directory_ids):
        if read_meta_properties(disk, directory) is None:
            write_meta_properties(
                disk,
                directory,
                MetaProperties(cluster_id=plan.cluster_id, node_id=plan.node_id, directory_id=directory_id),
            )


def format_without_quorum(disk: Disk, plan: StorageFormat, *, named: bool = False) -> None:
    """Format the log directories of a broker whose cluster is kept in ZooKeeper: meta.properties, version 0.

    Args:
        named: with a directory.id, and that of the metadata as well: the cluster moves to KRaft.

    Raises:
        OSError: a directory cannot be written.
    """
    for directory, directory_id in zip(plan.directories if named else plan.log_dirs, plan.directory_ids):
        if read_meta_properties(disk, directory) is None:
            meta = MetaProperties(version=0, cluster_id=plan.cluster_id, node_id=plan.node_id)
            write_meta_properties(
                disk, directory, replace(meta, directory_id=directory_id) if named else meta
            )


def _write_first_snapshot(disk: Disk, plan: StorageFormat, directory_id: Uuid, now_ms: int) -> None:
    rules = QuorumRules()
    if not plan.static_voters:
        voters = plan.voters
        if voters is None:
            voters = [QuorumVoter(plan.node_id, directory_id, tuple(plan.controller_endpoints))]
        rules = QuorumRules(1, VoterSet(voters) if voters else None)
    level = plan.metadata_version
    records = [*feature_records(level, plan.features), *plan.scram]
    values = [encode_record(record, level) for record in records]
    batches = snapshot_batches(
        values, rules, epoch=BOOTSTRAP_ID.epoch, last_log_timestamp_ms=now_ms, now_ms=now_ms
    )
    MetadataFiles(disk, plan.metadata_dir).write_snapshot(BOOTSTRAP_ID, batches)
