"""Logs at rest are made ready for a stop ahead of time, a few at a time.

A clean stop writes some small files for each log that has taken records since the last one. With ten thousand
of them that is seconds; so logs to which nothing comes are sealed and synced while the broker runs. What is
appended to such a log later makes it one like any other.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from kbroker.storage.disk import StorageError
from kbroker.storage.file_names import SNAPSHOT, offset_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.storage.disk import Disk
    from kbroker.storage.log import FsyncJob, Log
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager
    from kbroker.types import TopicPartition

#: From how many on one sync of the whole file system is cheaper than one of each file.
MANY_LOGS = 8


class SealJob:
    """Makes logs that were sealed durable: `run` it in any thread, then `finish` where the logs are used."""

    __slots__ = ("_directory", "_disk", "_error", "_jobs", "_logs")

    def __init__(self, directory: LogDir, logs: list[Log]) -> None:
        self._directory = directory
        self._disk: Disk = directory.disk
        self._error: OSError | None = None
        self._logs = [(log, log.log_end_offset, log.cuts) for log in logs]
        together = len(logs) > MANY_LOGS and self._disk.can_sync_all
        self._jobs: list[FsyncJob] = [] if together else [log.fsync_job() for log in logs]

    def run(self) -> None:
        """Sync; what fails is kept for `finish`."""
        try:
            if not self._jobs:
                self._disk.sync_all(self._directory.path)
            for job in self._jobs:
                job.run()
        except OSError as error:
            self._error = error

    def finish(self, now_ms: int, is_current: Callable[[Log], bool]) -> None:
        """Note what is durable now, or that the directory has failed."""
        current = [each for each in self._logs if is_current(each[0])]
        if self._error is not None:
            # Of a log that was deleted meanwhile the files may be missing; no other reason is harmless.
            if self._jobs and len(current) < len(self._logs) and isinstance(self._error, FileNotFoundError):
                return
            self._directory.fail_for_good(self._error)
            return
        for log, end, cuts in current:
            if log.cuts == cuts:
                log.metadata_dirty = log.epochs_unsynced = False
                log.fsynced(end, now_ms)


class IdleLogs:
    """Finds logs at rest and seals them. Everything by calls from outside.

    Args:
        logs: all logs.
    """

    def __init__(self, logs: LogManager) -> None:
        self._logs = logs
        #: Where logs ended when they were looked at last.
        self._ends: dict[TopicPartition, int] = {}
        self._waiting: deque[Log] = deque()

    def look(self) -> bool:
        """Find those to which nothing came since the last look; whether `seal_some` has something to do."""
        ends: dict[TopicPartition, int] = {}
        self._waiting.clear()
        for tp, log in self._logs.logs.items():
            if log.is_sealed or log.directory.refusal is not None:
                continue
            end = ends[tp] = log.staged_end_offset
            if self._ends.get(tp) == end and not log.has_staged:
                self._waiting.append(log)
        self._ends = ends
        return bool(self._waiting)

    def seal_some(self, most: int, directory: LogDir | None) -> list[Log]:
        """Seal up to so many, all in one directory (None: any); they are durable after a `SealJob`.

        Fewer: no more are left there.
        """
        sealed: list[Log] = []
        while self._waiting and len(sealed) < most:
            log = self._waiting[0]
            if directory is not None and log.directory is not directory:
                break
            self._waiting.popleft()
            if self._is_at_rest(log):
                directory = log.directory
                try:
                    _seal(log)
                except (OSError, StorageError):
                    continue  # the directory says so in the log
                sealed.append(log)
        return sealed

    def _is_at_rest(self, log: Log) -> bool:
        tp = log.topic_partition
        return (
            self._logs.get(tp) is log
            and log.directory.refusal is None
            and not (log.is_sealed or log.sync_running or log.has_staged)
            and self._ends.get(tp) == log.staged_end_offset
        )


def _seal(log: Log) -> None:
    old = [
        offset for offset in log.snapshots if log.segments.active.base_offset < offset < log.log_end_offset
    ]
    log.seal(sparing=True)
    try:
        log.write_epochs(durable=False)
    except OSError as error:
        raise log.directory.fail(error) from error
    for offset in old:
        # Of an earlier rest: a start would take the newest, and recovery none of them.
        del log.snapshots[offset]
        log.directory.remove_at_leisure(f"{log.path}/{offset_name(offset, SNAPSHOT)}")
