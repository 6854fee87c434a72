"""Performs what the raft core decides: writes the election state and the log, flushes, reports commits.

Flushes run elsewhere (`run_blocking`), one at a time; what is appended meanwhile is covered by the next
one, so that many requests share an fsync. A disk that fails stops the node: a quorum that cannot tell what
is durable must not answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.clock import Clock
from kbroker.errors import ApiError, ErrorCode
from kbroker.raft.batches import QuorumRules, leader_change_batch, values_batch
from kbroker.raft.messages import (
    Appended,
    AppendLeaderChange,
    BecomeLeader,
    Commit,
    Effect,
    ElectionStored,
    Event,
    Flushed,
    FlushLog,
    Resign,
    ShutDown,
    Started,
    StoreElection,
)
from kbroker.raft.node import RaftNode, Role
from kbroker.storage.disk import StorageError
from kbroker.storage.log import AppendOrigin, Log


class QuorumListener(Protocol):
    """Who hears of the quorum: the controller."""

    def became_leader(self, epoch: int) -> None:
        """This node may append now; all before its epoch is committed."""
        ...

    def committed(self, high_watermark: int) -> None:
        """Everything before this offset is committed."""
        ...

    def resigned(self, epoch: int) -> None:
        """This node does not lead any more."""
        ...


#: `run_blocking(work, done)`: do `work()` where blocking is allowed, then call `done(error or None)` on the
#: loop.
RunBlocking = Callable[[Callable[[], object], Callable[[BaseException | None], None]], None]


class RaftDriver:
    """This node's part in the metadata quorum.

    Args:
        node: the core.
        log: the metadata partition's log, recovered.
        files: election state and snapshots.
        rules: `kraft.version` and voters in force.
        rules_in_log: whether log or snapshot already have them as control records.
        clock: wall clock for records, monotonic for the core.
        run_blocking: for fsync.
        wait_for_disk: records count as committed when they are durable; False: when they are written.
        on_failure: the disk failed: stop the node.
    """

    def __init__(
        self,
        node: RaftNode,
        log: Log,
        files: MetadataFiles,
        rules: QuorumRules,
        *,
        rules_in_log: bool,
        clock: Clock,
        run_blocking: RunBlocking,
        on_failure: Callable[[BaseException], None],
        wait_for_disk: bool = True,
    ) -> None:
        self.node = node
        self.log = log
        self.rules = rules
        self._files = files
        self._rules_in_log = rules_in_log
        self._clock = clock
        self._run_blocking = run_blocking
        self._on_failure = on_failure
        self._listener: QuorumListener | None = None
        self._events: deque[Event] = deque()
        self._stepping = False
        self._tail_only = False
        self._syncing = False
        self._stopped = False
        self._wait_for_disk = wait_for_disk
        self.failed = False

    @property
    def end_offset(self) -> int:
        """See `MetadataWriter.end_offset`."""
        return self.log.log_end_offset

    def start(self, listener: QuorumListener) -> None:
        """Take part in the quorum; `listener` hears what comes of it."""
        self._listener = listener
        self.step(Started(self.log.log_end_offset))

    def stop(self) -> None:
        """Give up leadership; nothing is appended afterwards, and a flush under way is not waited for."""
        self.step(ShutDown())
        self._stopped = True

    def append(self, values: Sequence[bytes]) -> int:
        """See `MetadataWriter.append`.

        Raises:
            ApiError: NOT_CONTROLLER, this node does not lead; KAFKA_STORAGE_ERROR.
        """
        if self.node.role is not Role.LEADER or self.failed:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        base = self.log.log_end_offset
        batch = values_batch(values, base_offset=base, epoch=self.node.epoch, now_ms=self._clock.now_ms())
        self._write(batch)
        self.step(Appended(self.log.log_end_offset))
        return self.log.log_end_offset - 1

    def step(self, event: Event) -> None:
        """Feed the core and perform its effects in order; events that effects cause come after them."""
        if self._stopped:
            return
        self._events.append(event)
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._events and not self.failed:
                for effect in self.node.step(self._clock.monotonic_ms(), self._events.popleft()):
                    self._perform(effect)
        finally:
            self._stepping = False

    def _perform(self, effect: Effect) -> None:
        assert self._listener is not None, "not started"
        match effect:
            case StoreElection(state=state):
                voters = None if self.rules.kraft_version else [voter.id for voter in self.node.voters]
                self._attempt(lambda: self._files.write_election(state, voters))
                self._events.append(ElectionStored(state.epoch))
            case AppendLeaderChange(epoch=epoch):
                self._append_leader_change(epoch)
            case FlushLog(end_offset=end):
                self._flush(end)
            case Commit(high_watermark=end):
                self.log.high_watermark = end
                self._listener.committed(end)
            case BecomeLeader(epoch=epoch):
                self._listener.became_leader(epoch)
            case Resign(epoch=epoch):
                self._listener.resigned(epoch)

    def _append_leader_change(self, epoch: int) -> None:
        voters = [voter.id for voter in self.node.voters]
        batch = leader_change_batch(
            self.node.node_id,
            voters,
            [self.node.node_id],
            None if self._rules_in_log else self.rules,
            base_offset=self.log.log_end_offset,
            epoch=epoch,
            now_ms=self._clock.now_ms(),
        )
        self._rules_in_log = True
        self._write(batch)
        self._events.append(Appended(self.log.log_end_offset))

    def _write(self, batch: bytes) -> None:
        def write() -> None:
            self.log.append_as_leader(
                memoryview(batch), self.node.epoch, self._clock.now_ms(), AppendOrigin.RAFT
            )
            self.log.flush_staged()

        self._attempt(write)

    def _attempt(self, work: Callable[[], None]) -> None:
        """Do it; a failure is the end of this node's part in the quorum, unless the disk is only full.

        Raises:
            ApiError: KAFKA_STORAGE_ERROR.
        """
        try:
            work()
        except (ApiError, OSError) as error:
            if not self._is_full(error):
                self._fail(error)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error

    def _is_full(self, error: ApiError | OSError) -> bool:
        """Whether a change merely found no room: it was taken back, the next one may find some."""
        directory = self.log.directory
        return isinstance(error, StorageError) and directory.own_refusal is not None and not directory.offline

    def _flush(self, end_offset: int) -> None:
        if self._wait_for_disk:
            # Also what was appended after the core asked: it is written, and so covered.
            covered = self.log.log_end_offset
            self._sync(lambda: self.step(Flushed(covered)))
            return
        self._events.append(Flushed(end_offset))
        if not self._syncing:
            self._sync(lambda: None)

    def _sync(self, then: Callable[[], None]) -> None:
        """Make what is written durable, then call `then`."""
        log = self.log
        if self._tail_only and not (log.wants_sync or log.metadata_dirty or log.epochs.dirty):
            # The batches alone decide: indexes and epochs are built anew from them after a crash.
            work: Callable[[], object] = log.directory.files.get(log.segments.active.path).sync
            synced = None
        else:
            job = log.fsync_job()
            work, synced = job.run, job.offset
            self._tail_only = True

        def done(error: BaseException | None) -> None:
            self._syncing = False
            if error is not None:
                self._fail(error)
                return
            if synced is not None and not self._stopped:
                log.fsynced(synced, self._clock.now_ms())
            then()

        self._syncing = True
        self._run_blocking(work, done)

    def _fail(self, error: BaseException) -> None:
        if not self.failed:
            self.failed = True
            self._on_failure(error)
