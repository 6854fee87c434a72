"""AlterReplicaLogDirs (KIP-113): copies logs to other directories beside the traffic, one after the other.

Each round of copying runs where blocking is allowed. Only the last step, with at most some hundred kilobytes
to copy, is done on the loop, which then waits for the disk; nothing can be appended meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.disk import StorageError
from kbroker.storage.log_move import LogMove
from kbroker.storage.open_files import NO_ROOM
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.raft_driver import RunBlocking
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.storage.log_move import CopyJob

_log = logging.getLogger(__name__)

#: A log that is written as fast as it is copied is moved all the same, after so many rounds.
_ROUNDS_MAX = 1000


class LogMover:
    """The moves that are under way or wait, by partition.

    Args:
        new_uuid: for the names of copies.
    """

    def __init__(
        self, replicas: ReplicaManager, run_blocking: RunBlocking, new_uuid: Callable[[], Uuid]
    ) -> None:
        self._replicas = replicas
        self._logs = replicas.logs
        self._run_blocking = run_blocking
        self._new_uuid = new_uuid
        self.moves: dict[TopicPartition, LogMove] = {}
        #: Told of a partition that lies elsewhere now.
        self.on_moved: Callable[[Partition], object] | None = None
        self._running: LogMove | None = None
        self._rounds = 0
        self._stopped = False

    def resume(self) -> None:
        """After the start: begin anew what a stop interrupted."""
        for tp, directory, unique_hex in self._logs.unfinished_moves:
            log = self._logs.get(tp)
            if log is not None and log.directory is not directory:
                self.moves[tp] = LogMove(log, directory, unique_hex)
        self._logs.unfinished_moves = []
        self._next()

    def stop(self) -> None:
        """Do nothing more; copies stay, and are begun anew after the next start."""
        self._stopped = True

    def move(self, tp: TopicPartition, path: str) -> None:
        """Move the partition to the log directory `path`, or let it stay if it lies there.

        Raises:
            ApiError: LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR, INVALID_REPLICA_ASSIGNMENT (it is cordoned, which
                counts even for what lies there), REPLICA_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION.
        """
        target = next((log_dir for log_dir in self._logs.dirs if log_dir.path == path), None)
        if target is None:
            raise ApiError(ErrorCode.LOG_DIR_NOT_FOUND)
        target.check()
        if target.cordoned:
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT)
        log = self._replicas.hosted(tp.topic, tp.partition).online_log()
        current = self.moves.get(tp)
        if current is not None and current.log is log and current.target is target:
            return
        if current is not None:
            del self.moves[tp]
            if current is not self._running:
                current.abandon()
        if log.directory is not target:
            self.moves[tp] = LogMove(log, target, self._new_uuid().hex())
            self._next()

    def _next(self) -> None:
        """Go on with the move that runs, or begin the next one."""
        while self._running is None and self.moves and not self._stopped:
            move = next(iter(self.moves.values()))
            self._running, self._rounds = move, 0
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
            return
        self._rounds += 1
        try:
            if move.is_near or self._rounds > _ROUNDS_MAX:
                self._finish(move)
                return
            job = move.next_copy()
        except (OSError, StorageError) as error:
            self._failed(move, error)
            self._next()
            return
        self._run_blocking(job.run, lambda error: self._copied(move, job, error))

    def _copied(self, move: LogMove, job: CopyJob, error: BaseException | None) -> None:
        if error is None:
            move.note(job)
            self._step(move)
        elif isinstance(error, OSError):
            self._failed(move, error)
            self._next()
        else:
            raise error

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
        if isinstance(error, OSError) and error.errno not in NO_ROOM and not move.log.directory.offline:
            # Which of the two disks it was only the disks know; the log's own is tried with every append.
            _log.error("%s or %s has a problem", move.log.directory.path, target.path)
        if not target.offline:
            move.abandon()

    def _end(self, move: LogMove) -> None:
        if self._running is move:
            self._running = None
        if self.moves.get(move.log.topic_partition) is move:
            del self.moves[move.log.topic_partition]
