"""What a node of the quorum writes: log and snapshots; a full disk is told apart from one that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.broker.raft_log import RaftLog, Written
from kbroker.broker.raft_snapshots import SnapshotTransfer
from kbroker.broker.raft_sync import RaftSync
from kbroker.broker.raft_writer import RaftWriter
from kbroker.errors import ApiError, ErrorCode
from kbroker.raft.messages import (
    Appended,
    AppendFetched,
    AppendLeaderChange,
    AppendNoOp,
    AppendRules,
    Effect,
    Event,
    Flushed,
    FlushLog,
    RulesAt,
    Truncate,
    WriteSnapshot,
)
from kbroker.storage.disk import StorageError
from kbroker.storage.open_files import NO_ROOM
from kbroker.types import OffsetAndEpoch

T = TypeVar("T")


class RaftDisk:
    """Performs the effects that change the disk; what is not done raises ApiError, KAFKA_STORAGE_ERROR.

    Args:
        files: snapshots.
        wait_for_disk: what is written counts as flushed when it is durable; False: at once.
        give_room: on a full disk, whether there is room now that was kept.
        queue: takes what comes of an effect; it is looked at after the effect.
        feed: takes what comes later.
        on_failure: the disk failed, it is not only full.
    """

    __slots__ = (
        "_feed",
        "_give_room",
        "_log",
        "_on_failure",
        "_queue",
        "_snapshots",
        "_sync",
        "_wait_for_disk",
        "_writer",
    )

    def __init__(
        self,
        log: RaftLog,
        files: MetadataFiles,
        writer: RaftWriter,
        sync: RaftSync,
        *,
        wait_for_disk: bool,
        give_room: Callable[[], bool],
        queue: Callable[[Event], None],
        feed: Callable[[Event], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._log = log
        self._snapshots = SnapshotTransfer(files)
        self._writer = writer
        self._sync = sync
        self._wait_for_disk = wait_for_disk
        self._give_room = give_room
        self._queue = queue
        self._feed = feed
        self._on_failure = on_failure

    @property
    def rules(self) -> tuple[RulesAt, ...]:
        """Control records of the quorum in snapshot and log, oldest first."""
        return self._writer.rules

    def performers(self) -> dict[type[Effect], Callable[[Any], None]]:
        """Who performs which effect."""
        return {
            AppendLeaderChange: self.leader_change,
            AppendRules: self.changed_rules,
            AppendNoOp: self.no_op,
            AppendFetched: self.fetched,
            FlushLog: self.flush,
            Truncate: self.truncate,
            WriteSnapshot: self.write_snapshot,
        }

    def stop(self) -> None:
        """A flush under way is not waited for."""
        self._sync.stop()

    # -- the log --

    def values(self, values: Sequence[bytes], epoch: int) -> None:
        """Append records of the controller as one batch."""
        self._wrote(self.attempt(lambda: self._writer.values(values, epoch)))

    def leader_change(self, effect: AppendLeaderChange) -> None:
        """A leader's first batch."""
        self._wrote(self.attempt(lambda: self._writer.leader_change(effect)))

    def changed_rules(self, effect: AppendRules) -> None:
        """Other voters, or kraft.version."""
        self._wrote(self.attempt(lambda: self._writer.changed_rules(effect)))

    def no_op(self, effect: AppendNoOp) -> None:
        """A record that moves the high watermark, and nothing else."""
        self._wrote(self.attempt(lambda: self._writer.no_op(effect)), no_op=True)

    def fetched(self, effect: AppendFetched) -> None:
        """Batches of the leader."""
        self._wrote(self.attempt(lambda: self._writer.fetched(effect)))

    def _wrote(self, written: Written, no_op: bool = False) -> None:
        self._queue(Appended(written.end_offset, written.epochs, written.rules, no_op))

    def truncate(self, effect: Truncate) -> None:
        """Cut the log."""
        self.attempt(lambda: self._writer.truncate(effect.end_offset))
        self._sync.rewritten()

    def flush(self, effect: FlushLog) -> None:
        """Make the log durable."""
        if self._wait_for_disk:
            # Also what was appended after the core asked: it is written, and so covered.
            covered = self._log.end_offset
            self._sync.run(lambda: self._feed(Flushed(covered)))
            return
        self._queue(Flushed(effect.end_offset))
        if not self._sync.under_way:
            self._sync.run(_nothing)

    # -- snapshots --

    def write_snapshot(self, effect: WriteSnapshot) -> None:
        """A piece of the leader's."""
        self.attempt(lambda: self._snapshots.write(effect.response))

    def install(self, snapshot_id: OffsetAndEpoch) -> tuple[RulesAt, ...] | None:
        """Let the log begin behind the snapshot that has come.

        Returns:
            what it says of the quorum; None: it was no snapshot.
        """
        rules = self.attempt(lambda: self._snapshots.install(snapshot_id))
        if rules is not None:
            self.attempt(lambda: self._writer.start_at(snapshot_id, rules))
            self._sync.rewritten()
        return rules

    # -- failures --

    def attempt(self, work: Callable[[], T]) -> T:
        """Do it; a failure is the end of this node's part in the quorum, unless the disk is only full.

        Raises:
            ApiError: KAFKA_STORAGE_ERROR.
        """
        try:
            return work()
        except (ApiError, OSError) as error:
            if not self.is_full(error):
                self._on_failure(error)
            elif self._give_room():
                return self.attempt(work)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error

    def is_full(self, error: ApiError | OSError) -> bool:
        """Whether a change merely found no room: it was taken back, the next one may find some."""
        if isinstance(error, OSError):
            return error.errno in NO_ROOM
        directory = self._log.log.directory
        return isinstance(error, StorageError) and directory.own_refusal is not None and not directory.offline


def _nothing() -> None:
    """Nobody waits for it."""
