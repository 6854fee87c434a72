"""One log directory: whether it still works, its open files, and files that wait to be removed."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from kbroker.storage.disk import Disk, StorageError
from kbroker.storage.file_names import DELETED
from kbroker.storage.open_files import NO_DESCRIPTORS, OpenFiles
from kbroker.types import ZERO_UUID, Uuid

logger = logging.getLogger(__name__)

#: At 20 to 200 µs each.
_REMOVALS_A_TICK = 200


def _nothing() -> None:
    """Nobody keeps a checkpoint of recovery points."""


class LogDir:
    """A directory of `log.dirs`.

    The law: once a write or fsync has failed the directory stays offline for the life of the process. What
    the failed call left behind is unknown, and a later fsync that succeeds would not prove that it arrived.

    Args:
        path: absolute.
        disk: the file system.
        files: open files, shared by the directories of a broker.
        directory_id: from meta.properties, if it has one.
    """

    __slots__ = (
        "_removals",
        "directory_id",
        "disk",
        "failure",
        "files",
        "now_ms",
        "on_recovery_point_lowered",
        "path",
    )

    def __init__(self, path: str, disk: Disk, files: OpenFiles, directory_id: Uuid = ZERO_UUID) -> None:
        self.path = path
        self.disk = disk
        self.files = files
        self.directory_id = directory_id
        #: Why it is offline; None while it works.
        self.failure: str | None = None
        #: The time of the last tick, from which delays count.
        self.now_ms = 0
        #: A truncation cut synced data off: the checkpoint must say so before other data takes its place.
        self.on_recovery_point_lowered: Callable[[], None] = _nothing
        self._removals: deque[tuple[int, str, bool]] = deque()

    @property
    def offline(self) -> bool:
        """Whether it has failed."""
        return self.failure is not None

    def fail(self, error: OSError) -> StorageError:
        """Take the directory offline; the error to raise.

        A lack of descriptors does not count: it strikes before anything is written, so the same call may
        succeed later.
        """
        if error.errno in NO_DESCRIPTORS:
            self.files.keep_fewer()
            return StorageError(f"Log directory {self.path}: {error}")
        if self.failure is None:
            self.failure = str(error)
            logger.error("log directory %s failed and is offline until a restart: %s", self.path, error)
        return StorageError(f"Log directory {self.path} is offline: {self.failure}")

    def check(self) -> None:
        """Raises StorageError if the directory is offline."""
        if self.failure is not None:
            raise StorageError(f"Log directory {self.path} is offline: {self.failure}")

    def remove_later(self, path: str, delay_ms: int) -> None:
        """Rename a file to `.deleted` now and remove it after `delay_ms`. Raises OSError."""
        self.files.forget(path)
        if self.disk.exists(path):
            self.disk.rename(path, path + DELETED)
            self._removals.append((self.now_ms + delay_ms, path + DELETED, False))

    def remove_dir_later(self, path: str, delay_ms: int) -> None:
        """Remove a directory, renamed already, after `delay_ms`."""
        self._removals.append((self.now_ms + delay_ms, path, True))

    def remove_at_leisure(self, path: str) -> None:
        """Remove a file that does no harm, some tick or other; after a restart somebody has to ask again."""
        self._removals.append((0, path, False))

    def tick(self, now_ms: int) -> None:
        """Remove what is due, but not so much that others have to wait for it."""
        self.now_ms = now_ms
        if not self._removals or self.failure is not None:
            return
        waiting: deque[tuple[int, str, bool]] = deque()
        removed = 0
        try:
            while self._removals and removed < _REMOVALS_A_TICK:
                due, path, is_dir = self._removals.popleft()
                if due > now_ms:
                    waiting.append((due, path, is_dir))
                    continue
                removed += 1
                if is_dir:
                    self.disk.remove_tree(path)
                else:
                    self.disk.remove(path)
        except OSError as error:
            self.fail(error)
        waiting += self._removals
        self._removals = waiting

    @property
    def pending_removals(self) -> list[str]:
        """What waits to be removed."""
        return [path for _, path, _ in self._removals]
