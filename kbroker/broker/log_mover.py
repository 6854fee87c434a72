"""AlterReplicaLogDirs (KIP-113): copies logs to other directories beside the traffic.

Each round of copying runs where blocking is allowed, and so do the syncs of small files and checkpoints
before the last step. Only that step is done on the loop: it copies at most some hundred kilobytes and waits
for the disk three times; nothing can be appended meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.disk import StorageError
from kbroker.storage.log_move import ROUND_BYTES, LogMove
from kbroker.storage.open_files import NO_ROOM
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.checkpoint_writer import CheckpointWriter
    from kbroker.broker.partition import Partition
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.timer import Timer
    from kbroker.replication.throttle import ReplicationQuota
    from kbroker.storage.log_move import CopyJob

_log = logging.getLogger(__name__)

#: A log that is written as fast as it is copied is moved all the same: after so many rounds, not held up by a
#: quota, that left no less to copy than one before.
_ROUNDS_MAX = 100
#: What is waited for where a quota leaves no room, and how long at a time.
_WORTHWHILE_BYTES = 1 << 20
_WAIT_MS = 100.0


class _Progress:
    """Rounds of a move that did not bring its end nearer."""

    __slots__ = ("_least", "rounds")

    def __init__(self) -> None:
        self.rounds = 0
        self._least = -1

    def note(self, missing: int) -> None:
        """So much is missing now."""
        if missing < self._least or self._least < 0:
            self._least = missing
        else:
            self.rounds += 1


class LogMover:
    """The moves that are under way or wait, by partition.

    Args:
        new_uuid: for the names of copies.
        checkpoints: who writes those of the log directories.
        at_once: how many moves are under way at a time.
        quota: the bytes a second that all may copy.
    """

    def __init__(
        self,
        replicas: ReplicaManager,
        run_blocking: RunBlocking,
        new_uuid: Callable[[], Uuid],
        checkpoints: CheckpointWriter,
        timer: Timer,
        *,
        at_once: int = 1,
        quota: ReplicationQuota | None = None,
    ) -> None:
        self._replicas = replicas
        self._logs = replicas.logs
        self._run_blocking = run_blocking
        self._new_uuid = new_uuid
        self._checkpoints = checkpoints
        self._timer = timer
        self._at_once = at_once
        self._quota = quota
        self.moves: dict[TopicPartition, LogMove] = {}
        #: Told of a partition that lies elsewhere now.
        self.on_moved: Callable[[Partition], object] | None = None
        #: Partitions whose last move failed.
        self.failed: set[TopicPartition] = set()
        self._running: dict[LogMove, _Progress] = {}
        self._stopped = False

    def resume(self) -> None:
        """After the start: begin anew what a stop interrupted."""
        for tp, directory, unique_hex in self._logs.unfinished_moves:
            log = self._logs.get(tp)
            if log is not None and log.directory is not directory:
                self.moves[tp] = LogMove(log, directory, unique_hex)
        self._logs.unfinished_moves = []
        self._next()

    @property
    def lag(self) -> int:
        """How many offsets the copy that is furthest behind lacks, of those under way."""
        return max((max(move.log.log_end_offset - move.durable_end, 0) for move in self._running), default=0)

    def stop(self) -> None:
        """Do nothing more; copies stay, and are begun anew after the next start."""
        self._stopped = True

    def move(self, tp: TopicPartition, path: str) -> None:
        """Move the partition to the log directory `path`, or let it stay if it lies there.

        Raises:
            ApiError: LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE,
                UNKNOWN_TOPIC_OR_PARTITION; INVALID_REPLICA_ASSIGNMENT: it is cordoned.
        """
        target = next((log_dir for log_dir in self._logs.dirs if log_dir.path == path), None)
        if target is None:
            raise ApiError(ErrorCode.LOG_DIR_NOT_FOUND)
        target.check()
        if target.cordoned:
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT)
        log = self._replicas.hosted(tp.topic, tp.partition).online_log()
        self.failed.discard(tp)
        current = self.moves.get(tp)
        if current is not None and current.log is log and current.target is target:
            return
        if current is not None:
            del self.moves[tp]
            if current not in self._running:
                current.abandon()
        if log.directory is not target:
            self.moves[tp] = LogMove(log, target, self._new_uuid().hex())
            self._next()

    def _next(self) -> None:
        """Begin the moves that may be under way."""
        for move in list(self.moves.values()):
            if self._stopped or len(self._running) >= self._at_once:
                return
            if move in self._running:
                continue
            self._running[move] = _Progress()
            try:
                move.begin()
            except OSError as error:
                self._failed(move, error)
                continue
            _log.info("moving %s to %s", move.log.topic_partition, move.target.path)
            self._step(move)

    def _is_wanted(self, move: LogMove) -> bool:
        tp = move.log.topic_partition
        return (
            self.moves.get(tp) is move
            and self._logs.get(tp) is move.log
            and not move.log.directory.offline
            and not move.target.offline
        )

    def _step(self, move: LogMove) -> None:
        if self._stopped:
            return
        if not self._is_wanted(move):
            self._end(move)
            move.abandon()
            self._next()
            return
        try:
            job = self._next_job(move)
            if job is not None:
                self._run_blocking(job.run, lambda error: self._copied(move, job, error))
        except (OSError, StorageError) as error:
            self._failed(move, error)
            self._next()

    def _next_job(self, move: LogMove) -> CopyJob | None:
        """What to do for it in a thread; None: it is moved, or waits for room in the quota."""
        progress = self._running[move]
        if (move.is_told and move.is_ready) or progress.rounds > _ROUNDS_MAX:
            self._finish(move)
            return None
        if move.is_near:
            progress.rounds += 1
            return move.prepare()
        room = None if self._quota is None else self._quota.room(self._replicas.clock.monotonic_ms())
        if self._quota is not None and room is not None:
            if room < min(_WORTHWHILE_BYTES, self._quota.at_once):
                self._timer.call_later(_WAIT_MS, lambda: self._step(move))
                return None
            # What is copied meanwhile for others may leave less; the next round waits for it.
            return move.next_copy(max(min(ROUND_BYTES, int(room)), 1))
        progress.note(move.missing_bytes)
        return move.next_copy(ROUND_BYTES)

    def _copied(self, move: LogMove, job: CopyJob, error: BaseException | None) -> None:
        if error is None:
            if self._quota is not None:
                self._quota.record(job.size, self._replicas.clock.monotonic_ms())
            move.note(job)
            if job.state is None or move.is_told:
                self._step(move)
            else:
                self._logs.announce(move)
                self._checkpoints.write(then=lambda: self._told(move))
        elif isinstance(error, OSError):
            self._failed(move, error)
            self._next()
        else:
            raise error

    def _told(self, move: LogMove) -> None:
        move.is_told = not move.target.offline
        self._step(move)

    def _finish(self, move: LogMove) -> None:
        moved = self._logs.finish_move(move)
        tp = move.log.topic_partition
        partition = self._replicas.get(tp.topic, tp.partition)
        if partition is not None and partition.log is move.log:
            partition.moved(moved)
            if self.on_moved is not None:
                self.on_moved(partition)
        _log.info("%s lies in %s now", tp, move.target.path)
        self._end(move)
        self._next()

    def _failed(self, move: LogMove, error: OSError | StorageError) -> None:
        tp, target = move.log.topic_partition, move.target
        _log.error("moving %s to %s failed, it stays where it is: %s", tp, target.path, error)
        self._end(move)
        self.failed.add(tp)
        if isinstance(error, OSError) and error.errno not in NO_ROOM and not move.log.directory.offline:
            # Which of the two disks it was only the disks know; the log's own is tried with every append.
            _log.error("%s or %s has a problem", move.log.directory.path, target.path)
        if not target.offline:
            move.abandon()

    def _end(self, move: LogMove) -> None:
        self._running.pop(move, None)
        self._logs.renounce(move)
        if self.moves.get(move.log.topic_partition) is move:
            del self.moves[move.log.topic_partition]
