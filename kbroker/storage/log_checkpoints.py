"""What the checkpoint files of all log directories say, and have to say next.

The law of this file: a checkpoint never tells of one log what was true of another one of that name. So what
left a directory is remembered until its checkpoints have been written without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kbroker.storage.checkpoint_job import CheckpointJob, checkpoint_texts
from kbroker.storage.file_names import CHECKPOINTS

if TYPE_CHECKING:
    from kbroker.storage.disk import Disk
    from kbroker.storage.log import Log
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_loading import LoadedDir
    from kbroker.storage.log_move import LogMove
    from kbroker.types import TopicPartition


class LogCheckpoints:
    """The checkpoints of the logs by partition, `logs`, which its owner changes.

    Args:
        dirs: all log directories; nothing is written to those that are offline.
    """

    def __init__(self, disk: Disk, dirs: Sequence[LogDir], logs: Mapping[TopicPartition, Log]) -> None:
        self._disk = disk
        self._dirs = dirs
        self._logs = logs
        #: What the files say, by path, as far as this life has written them.
        self._written: dict[str, str] = {}
        #: A job is under way; when it is done, write again.
        self._writing = self._write_again = False
        #: Logs that are not where a checkpoint (by name) may still name them: what it says is not true of the
        #: next log of that name.
        self._stale: set[tuple[LogDir, TopicPartition, str]] = set()
        #: Copies of logs in other directories, as far as they are durable there; soon the logs themselves.
        self._arriving: dict[TopicPartition, LogMove] = {}
        #: Where logs began at the last clean stop, with nothing left of what was before.
        self._settled_starts: dict[TopicPartition, int] = {}

    # -- what changes ----------------------------------------------------------------------------------------

    def loaded(self, log_dir: LogDir, found: LoadedDir) -> None:
        """A directory was loaded."""
        self._settled_starts |= found.settled_starts
        self._stale.update((log_dir, tp, name) for tp, name in found.missing)

    def leaves(self, log_dir: LogDir, tp: TopicPartition) -> None:
        """The log is not in that directory any more, or about to go."""
        self._forget(log_dir, tp)
        self._settled_starts.pop(tp, None)

    def arrives(self, move: LogMove) -> None:
        """From now on the checkpoints of its new directory tell of the log, as far as it is durable there."""
        self._arriving[move.log.topic_partition] = move

    def stays(self, move: LogMove) -> None:
        """The log stays where it is."""
        tp = move.log.topic_partition
        if self._arriving.get(tp) is move:
            del self._arriving[tp]
            self._forget(move.target, tp)

    def has_moved(self, move: LogMove) -> None:
        """The log is in its new directory."""
        tp = move.log.topic_partition
        del self._arriving[tp]
        self._forget(move.log.directory, tp)

    def _forget(self, log_dir: LogDir, tp: TopicPartition) -> None:
        self._stale.update((log_dir, tp, name) for name in CHECKPOINTS)

    def may_name(self, log_dir: LogDir, tp: TopicPartition) -> bool:
        """Whether a checkpoint there may still tell of a log of that name that has gone."""
        return any((log_dir, tp, name) in self._stale for name in CHECKPOINTS)

    # -- writing ---------------------------------------------------------------------------------------------

    def job(self, *names: str) -> CheckpointJob | None:
        """The checkpoints of these names (all, if none is given) that have changed, ready to be written
        anywhere; None if none has. Finish one job before asking for the next.
        """
        files = [
            (log_dir, path, text)
            for log_dir in self._dirs
            if not log_dir.offline
            for path, text in self._texts(log_dir, names or CHECKPOINTS)
            if self._written.get(path) != text
        ]
        covered = {each for each in self._stale if each[2] in (names or CHECKPOINTS)}
        if not files:
            self._stale -= covered
            return None
        self._writing = True

        def finished(succeeded: bool) -> None:
            self._writing = False
            if succeeded:
                self._stale -= covered
            if self._write_again:
                self._write_again = False
                self.write()

        return CheckpointJob(self._disk, files, self._written, finished)

    def write(self, *names: str) -> None:
        """Write what has changed here and now; a directory that fails goes offline."""
        if self._writing:
            # A thread is at the same files; what it writes is made good as soon as it is done.
            self._write_again = True
            return
        job = self.job(*names)
        if job is not None:
            job.run()
            job.finish()

    def write_now(self, log_dir: LogDir) -> None:
        """Write all of one directory, whatever else is under way.

        Raises:
            OSError: it failed.
        """
        self._write(self._texts(log_dir, CHECKPOINTS))

    def write_last(self, log_dir: LogDir) -> None:
        """Write what has changed in one directory, as its logs are closed.

        Raises:
            OSError: it failed.
        """
        texts = self._texts(log_dir, CHECKPOINTS)
        self._write((path, text) for path, text in texts if self._written.get(path) != text)

    def _write(self, texts: Iterable[tuple[str, str]]) -> None:
        for path, text in texts:
            self._disk.write_file(path, text.encode())
            self._written[path] = text

    def _texts(self, log_dir: LogDir, names: tuple[str, ...]) -> list[tuple[str, str]]:
        """(path, text) of the directory's checkpoints of these names."""
        arriving = {
            move.log: move.durable_end
            for tp, move in self._arriving.items()
            if move.target is log_dir and self._logs.get(tp) is move.log
        }
        present = {log: log.recovery_point for log in self._logs.values() if log.directory is log_dir}
        return checkpoint_texts(log_dir, present | arriving, self._settled_starts, names)
