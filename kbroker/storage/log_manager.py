"""All logs of a broker in its log directories: load, create, delete, and the work that comes by the clock.

Nothing here starts by itself: the driver calls the `tick_…` functions, in milliseconds since 1970.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kbroker.errors import ConfigError
from kbroker.storage.checkpoint_job import CheckpointJob
from kbroker.storage.checkpoints import (
    format_clean_shutdown,
    format_offsets,
)
from kbroker.storage.disk import Disk, Lock, StorageError
from kbroker.storage.file_names import (
    CLEAN_SHUTDOWN,
    DELETE_DIR,
    HIGH_WATERMARKS,
    LOCK,
    LOG_STARTS,
    NO_PRODUCERS,
    RECOVERY_POINTS,
    STRAY_DIR,
    marked_dir_name,
)
from kbroker.storage.idle_logs import MANY_LOGS
from kbroker.storage.log import FsyncJob, Log
from kbroker.storage.log_checkpoints import LogCheckpoints
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_dir import LogDir, RemovalJob
from kbroker.storage.log_loading import load_dir
from kbroker.storage.log_move import LogMove, UnfinishedMove, settle_moves
from kbroker.storage.meta_properties import read_meta_properties
from kbroker.storage.open_files import DEFAULT_LIMIT, OpenFiles
from kbroker.storage.recovery import create_log
from kbroker.storage.recovery_progress import RecoveryProgress
from kbroker.storage.running_mark import mark_running
from kbroker.types import ZERO_UUID, TopicPartition, Uuid

logger = logging.getLogger(__name__)

_METADATA_TOPIC = "__cluster_metadata"


class LogDirStats(NamedTuple):
    """For DescribeLogDirs; sizes in bytes, -1 while offline."""

    path: str
    offline: bool
    total_bytes: int
    usable_bytes: int
    logs: list[Log]


class LogManager:
    """The logs by partition.

    Args:
        disk: the file system.
        log_dirs: absolute paths; the first one holds the metadata log.
        default_config: for logs whose topic is not known yet, by topic name.
        open_files: how many files may be open.
    """

    def __init__(
        self,
        disk: Disk,
        log_dirs: Sequence[str],
        default_config: Callable[[str], LogConfig] | None = None,
        open_files: int = DEFAULT_LIMIT,
    ) -> None:
        self._disk = disk
        self._files = OpenFiles(disk, open_files)
        self._config_for = default_config or (lambda _topic: LogConfig())
        self.dirs = [LogDir(path, disk, self._files) for path in log_dirs]
        for log_dir in self.dirs:
            log_dir.on_recovery_point_lowered = lambda: self._checkpoints.write(RECOVERY_POINTS)
        self.logs: dict[TopicPartition, Log] = {}
        #: Broker epoch of the last process; -1 if a directory may lack what that one wrote (KIP-966).
        self.previous_broker_epoch = -1
        #: Copies for another directory that a stop interrupted; the log itself is where it was.
        self.unfinished_moves: list[UnfinishedMove] = []
        self._locks: list[Lock] = []
        self._checkpoints = LogCheckpoints(disk, self.dirs, self.logs)
        self._loaded = False

    # -- life ------------------------------------------------------------------------------------------------

    def lock(self) -> None:
        """Take every directory that is not offline for this process, creating it if need be.

        Raises:
            ConfigError: another broker has it, or it cannot be used.
        """
        for log_dir in self.dirs:
            if log_dir.offline:
                continue
            try:
                self._disk.make_dir(log_dir.path)
                lock = self._disk.lock(f"{log_dir.path}/{LOCK}")
            except OSError as error:
                self.unlock()
                why = error.strerror or error
                raise ConfigError(f"The log directory {log_dir.path} cannot be used: {why}") from None
            if lock is None:
                self.unlock()
                raise ConfigError(
                    f"The log directory {log_dir.path} is in use by another broker: "
                    "stop it, or choose another directory"
                )
            self._locks.append(lock)

    def unlock(self) -> None:
        """Give the directories back."""
        for lock in self._locks:
            lock.release()
        self._locks.clear()

    def identify(self) -> None:
        """Read who the directories are (`directory_id`); `load` does so, too."""
        for log_dir in self.dirs:
            if log_dir.offline:
                continue
            try:
                meta = read_meta_properties(self._disk, log_dir.path)
            except OSError as error:
                log_dir.fail(error)
                continue
            if meta is not None and meta.directory_id is not None:
                log_dir.directory_id = meta.directory_id

    def load(self, now_ms: int, monotonic_ms: Callable[[], int] | None = None) -> None:
        """Open every log, recovering those of a directory that was not stopped cleanly. Call `lock` before.

        A directory that fails goes offline; the others are loaded. With `monotonic_ms`, a clock, the log is
        told how far it has come when it takes long.

        Raises:
            ConfigError: a partition lies in two directories.
        """
        epochs: set[int] = set()
        progress = RecoveryProgress(monotonic_ms) if monotonic_ms else RecoveryProgress()
        self.identify()
        try:
            self.unfinished_moves = settle_moves([log_dir for log_dir in self.dirs if not log_dir.offline])
        except OSError as error:
            logger.error("moves between log directories are left as they are: %s", error)
        for log_dir in self.dirs:
            log_dir.now_ms = now_ms
            if log_dir.offline:
                epochs.add(-1)
                continue
            try:
                found = load_dir(self._disk, log_dir, self.logs, self._config_for, now_ms, progress)
            except OSError as error:
                log_dir.fail(error)
                epochs.add(-1)
                continue
            epochs.add(found.broker_epoch)
            self._checkpoints.loaded(log_dir, found)
        self.previous_broker_epoch = epochs.pop() if len(epochs) == 1 else -1
        self._loaded = True

    def mark_running(self, broker_epoch: int) -> None:
        """This process is registered in `broker_epoch`: if it is killed, the next one knows what is there."""
        for log_dir in self.dirs:
            if not log_dir.offline:
                mark_running(self._disk, log_dir.path, broker_epoch)

    def close(self, broker_epoch: int = -1, *, clean: bool = True) -> None:
        """Clean stop: close every log, write checkpoints and the marker, unlock; else just the last of these.

        A directory that fails on the way gets no marker, so that the next start recovers it. Nothing is
        written if nothing was loaded.
        """
        for log_dir in self.dirs if clean else ():
            if log_dir.offline or not self._loaded:
                continue
            try:
                self._close_logs(log_dir)
                self._checkpoints.write_last(log_dir)
                self._tell_of_no_producers(log_dir)
                self._disk.write_file(
                    f"{log_dir.path}/{CLEAN_SHUTDOWN}", format_clean_shutdown(broker_epoch).encode()
                )
            except StorageError:
                continue
            except OSError as error:
                log_dir.fail(error)
        self.logs.clear()
        self._files.clear()
        self.unlock()

    def _close_logs(self, log_dir: LogDir) -> None:
        logs = [log for log in self._logs_of(log_dir) if not log.is_sealed]
        if len(logs) <= MANY_LOGS or not self._disk.can_sync_all:
            for log in logs:
                log.close()
            return
        for log in logs:
            log.seal(sparing=True)
            log.write_epochs(durable=False)
        self._disk.sync_all(log_dir.path)
        for log in logs:
            log.fsynced(log.log_end_offset)

    def _tell_of_no_producers(self, log_dir: LogDir) -> None:
        ends = {
            log.topic_partition: log.log_end_offset
            for log in self._logs_of(log_dir)
            if not log.producers.entries and 0 < log.log_end_offset not in log.snapshots
        }
        path = f"{log_dir.path}/{NO_PRODUCERS}"
        if ends:
            self._disk.write_file(path, format_offsets(ends).encode())
        else:
            self._disk.remove(path)

    # -- logs ------------------------------------------------------------------------------------------------

    def get(self, tp: TopicPartition) -> Log | None:
        """The partition's log, None if there is none."""
        return self.logs.get(tp)

    def get_or_create(self, tp: TopicPartition, topic_id: Uuid, config: LogConfig, now_ms: int = 0) -> Log:
        """The partition's log; a new one goes to the online directory with the fewest logs (that has room).

        A log of the same name that belongs to another topic id is set aside as stray. `now_ms` of 0: the last
        tick.

        Raises:
            StorageError: no directory is online, or creating failed.
        """
        log = self.logs.get(tp)
        if log is not None and topic_id != ZERO_UUID:
            if log.topic_id == ZERO_UUID:
                log.topic_id = topic_id
                try:
                    log.write_partition_metadata()
                except OSError as error:
                    raise log.directory.fail(error) from error
            elif log.topic_id != topic_id:
                self.set_aside(tp)
                log = None
        if log is None:
            log_dir = self._place()
            if self._checkpoints.may_name(log_dir, tp):
                self._checkpoints.write()
            log = self.logs[tp] = create_log(log_dir, tp, topic_id, config, now_ms)
        else:
            log.config = config
        return log

    def _place(self) -> LogDir:
        online = [log_dir for log_dir in self.dirs if not log_dir.offline]
        if not online:
            raise StorageError("All log directories are offline")
        online = [log_dir for log_dir in online if not log_dir.cordoned] or online
        online = [log_dir for log_dir in online if log_dir.refusal is None] or online
        if len(online) == 1:
            return online[0]
        counts = {log_dir.path: 0 for log_dir in online}
        for log in self.logs.values():
            if log.directory.path in counts:
                counts[log.directory.path] += 1
        return min(online, key=lambda log_dir: counts[log_dir.path])

    def announce(self, move: LogMove) -> None:
        """From now on the checkpoints of its new directory tell of the log, as far as it is durable there."""
        self._checkpoints.arrives(move)

    def renounce(self, move: LogMove) -> None:
        """The log stays where it is."""
        self._checkpoints.stays(move)

    def finish_move(self, move: LogMove) -> Log:
        """Do the last part of a move; the log that takes the place of the old one.

        It is short if the move `is_ready`, and the checkpoints were written since it was announced.

        Raises:
            OSError: the old log is where it was, unless its directory or the target is offline now.
        """
        log, target = move.log, move.target
        if not move.complete():
            # Before the names change: a start that finds the log there must know where it begins.
            self.announce(move)
            self._checkpoints.write_now(target)
        try:
            moved = move.switch()
        except OSError as error:
            # Whichever name is in force, a start finds it.
            for log_dir in (log.directory, target):
                log_dir.fail_for_good(error)
            raise
        self.logs[log.topic_partition] = moved
        self._checkpoints.has_moved(move)
        return moved

    def delete(self, tp: TopicPartition) -> None:
        """Take the log away: rename its directory to `-delete` now, remove it after file.delete.delay.ms.

        Raises:
            StorageError: the rename failed.
        """
        log = self.logs.pop(tp, None)
        if log is not None:
            target = self._rename(log, DELETE_DIR)
            log.directory.remove_dir_later(target, log.config.file_delete_delay_ms)

    def set_aside(self, tp: TopicPartition) -> None:
        """Keep a log that belongs to nobody known: rename its directory to `-stray`. It is never deleted.

        Raises:
            StorageError: the rename failed.
        """
        log = self.logs.pop(tp, None)
        if log is not None:
            target = self._rename(log, STRAY_DIR)
            logger.warning("%s belongs to no topic of the cluster; it is kept as %s", log.path, target)

    def _rename(self, log: Log, mark: str) -> str:
        log_dir = log.directory
        number = int.from_bytes(log.topic_id, "big")
        try:
            while True:
                # The topic id makes the name unique; another number only after it was deleted twice.
                name = marked_dir_name(log.topic_partition, f"{number:032x}", mark)
                target = f"{log_dir.path}/{name}"
                if not self._disk.exists(target):
                    break
                number = (number + 1) % (1 << 128)
            self._files.forget_dir(log.path)
            self._checkpoints.leaves(log_dir, log.topic_partition)
            self._disk.rename(log.path, target)
            self._disk.sync_dir(log_dir.path)
        except OSError as error:
            raise log_dir.fail(error) from error
        return target

    def _logs_of(self, log_dir: LogDir) -> Iterator[Log]:
        return (log for log in self.logs.values() if log.directory is log_dir)

    # -- by the clock ----------------------------------------------------------------------------------------

    def tick_retention(self, now_ms: int) -> int:
        """Delete old segments of all logs (log.retention.check.interval.ms); how many went."""
        return self._each_log(lambda log: log.delete_old_segments(now_ms))

    def tick_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for long (producer.id.expiration.check.interval.ms)."""
        for log in self.logs.values():
            log.producers.remove_expired(now_ms, log.config.producer_id_expiration_ms)

    def tick_removals(self, now_ms: int) -> None:
        """Remove files and directories whose delay is over."""
        for log_dir in self.dirs:
            log_dir.tick(now_ms)

    def removal_jobs(self, now_ms: int) -> list[RemovalJob]:
        """The same, to be done in threads."""
        jobs = (log_dir.removal_job(now_ms) for log_dir in self.dirs)
        return [job for job in jobs if job is not None]

    def tick_room(self, min_free_bytes: int) -> None:
        """Refuse appends, or allow them again, by the bytes that are free; 0: only full is full."""
        for log_dir in self.dirs:
            log_dir.check_room(min_free_bytes)

    def sync_jobs(self, now_ms: int) -> list[tuple[Log, FsyncJob]]:
        """Logs to sync now: a segment was closed, or flush.ms is over.

        Run the jobs in a thread, then call `log.fsynced(job.durable_offset(log), now_ms)`, or
        `log.directory.fail_for_good(error)` if it raised OSError. Logs whose job still runs are left out.
        """
        jobs = []
        for log in self.logs.values():
            if log.recovery_point >= log.log_end_offset or log.sync_running or log.directory.offline:
                continue
            if log.wants_sync or now_ms - log.last_sync_ms >= log.config.flush_ms:
                try:
                    jobs.append((log, log.fsync_job()))
                    log.sync_running = True
                except StorageError:
                    continue
        return jobs

    def checkpoint_job(self, *names: str) -> CheckpointJob | None:
        """See `LogCheckpoints.job`."""
        return self._checkpoints.job(*names)

    def tick_high_watermarks(self) -> None:
        """Checkpoint the high watermarks here and now."""
        self._checkpoints.write(HIGH_WATERMARKS)

    def tick_recovery_points(self) -> None:
        """Checkpoint everything here and now."""
        self._checkpoints.write()

    def checkpoint_log_starts(self) -> None:
        """After DeleteRecords or retention moved a start, so that a crash does not bring records back."""
        self._checkpoints.write(LOG_STARTS)

    def _each_log(self, work: Callable[[Log], int]) -> int:
        total = 0
        for log in list(self.logs.values()):
            if not log.directory.offline:
                try:
                    total += work(log)
                except StorageError:
                    continue  # the directory says so in the log, once
        return total

    # -- facts -----------------------------------------------------------------------------------------------

    def dir_stats(self) -> list[LogDirStats]:
        """Every log directory with its logs."""
        stats = []
        for log_dir in self.dirs:
            total = usable = -1
            if not log_dir.offline:
                try:
                    total, usable = self._disk.total_bytes(log_dir.path), self._disk.free_bytes(log_dir.path)
                except OSError as error:
                    log_dir.fail(error)
            stats.append(
                LogDirStats(log_dir.path, log_dir.offline, total, usable, list(self._logs_of(log_dir)))
            )
        return stats
