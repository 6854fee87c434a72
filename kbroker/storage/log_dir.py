"""One log directory: whether it still works, its open files, and files that wait to be removed."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from kbroker.storage.disk import Disk, StorageError
from kbroker.storage.file_names import DELETED
from kbroker.storage.log_types import AppendOrigin
from kbroker.storage.open_files import NO_DESCRIPTORS, NO_ROOM, OpenFiles
from kbroker.storage.running_mark import unmark
from kbroker.types import ZERO_UUID, Uuid

logger = logging.getLogger(__name__)

#: A disk that was full counts as usable again with so many bytes.
ROOM_BYTES = 4 << 20

#: At 20 to 200 µs each, if they are small.
_REMOVALS_A_TICK = 200

#: When, what, whether it is a directory.
_Removal: TypeAlias = tuple[int, str, bool]


def _nothing() -> None:
    """Nobody keeps a checkpoint of recovery points."""


def _ignore(_directory: LogDir) -> None:
    """Nobody asks."""


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
        "_removing",
        "cordoned",
        "cut",
        "directory_id",
        "disk",
        "failure",
        "files",
        "now_ms",
        "on_failed",
        "on_recovery_point_lowered",
        "own_refusal",
        "path",
        "refusal",
    )

    def __init__(self, path: str, disk: Disk, files: OpenFiles, directory_id: Uuid = ZERO_UUID) -> None:
        self.path = path
        self.disk = disk
        self.files = files
        self.directory_id = directory_id
        #: Why it is offline; None while it works.
        self.failure: str | None = None
        #: Why clients may not append, and why nobody may; None while they may.
        self.refusal: str | None = None
        self.own_refusal: str | None = None
        #: Told once when it goes offline.
        self.on_failed: Callable[[LogDir], object] = _ignore
        #: No log is placed here, or moved to it.
        self.cordoned = False
        #: The time of the last tick, from which delays count.
        self.now_ms = 0
        #: A truncation cut synced data off: the checkpoint must say so before other data takes its place.
        self.on_recovery_point_lowered: Callable[[], None] = _nothing
        #: Recovery found a log that does not end as it was written.
        self.cut = False
        self._removals: deque[_Removal] = deque()
        self._removing = False

    @property
    def offline(self) -> bool:
        """Whether it has failed."""
        return self.failure is not None

    def fail(self, error: OSError) -> StorageError:
        """Take the directory offline; the error to raise.

        A lack of descriptors does not count: it strikes before anything is written, so the same call may
        succeed later. So does a lack of room, if whoever met it has taken back what it wrote.
        """
        if error.errno in NO_DESCRIPTORS:
            self.files.keep_fewer()
            return StorageError(f"Log directory {self.path}: {error}")
        if error.errno in NO_ROOM:
            return self.note_full(error)
        return self.fail_for_good(error)

    def fail_for_good(self, error: OSError) -> StorageError:
        """Take the directory offline, whatever the error is: after an fsync that failed, or half a change."""
        if self.failure is None:
            self.failure = str(error)
            self.refusal = self.own_refusal = f"Log directory {self.path} is offline: {self.failure}"
            logger.error("log directory %s failed and is offline until a restart: %s", self.path, error)
            unmark(self.disk, self.path)
            self.on_failed(self)
        return StorageError(f"Log directory {self.path} is offline: {self.failure}")

    def note_full(self, error: OSError) -> StorageError:
        """Nothing more fits: appends are refused until `check_room` finds room; the error to raise."""
        if self.own_refusal is None:
            logger.error(
                "log directory %s is full, nothing is appended until there is room: %s", self.path, error
            )
            self.refusal = self.own_refusal = f"Log directory {self.path} is full: {error.strerror or error}"
        return StorageError(self.own_refusal)

    def check_room(self, min_free_bytes: int = 0) -> None:
        """Refuse or allow appends by the bytes that are free.

        Clients are refused below `min_free_bytes`, so that what remains is there for offsets, checkpoints and
        compaction; everybody once the disk was full, until `ROOM_BYTES` are free.
        """
        if self.failure is not None or (not min_free_bytes and self.refusal is None):
            return
        try:
            free = self.disk.free_bytes(self.path)
        except OSError as error:
            self.fail_for_good(error)
            return
        if self.own_refusal is not None:
            if free < ROOM_BYTES:
                return
            self.own_refusal = None
            logger.warning("log directory %s has room again: %d bytes", self.path, free)
        if free >= min_free_bytes:
            if self.refusal is not None:
                logger.warning("log directory %s takes records again: %d bytes are free", self.path, free)
            self.refusal = None
            return
        if self.refusal is None:
            logger.error(
                "log directory %s takes no records: %d bytes are free, %s asks for %d",
                self.path,
                free,
                "kbroker.log.dir.min.free.bytes",
                min_free_bytes,
            )
        self.refusal = (
            f"Log directory {self.path} is nearly full: {free} bytes are free, "
            f"kbroker.log.dir.min.free.bytes asks for {min_free_bytes}"
        )

    def check(self) -> None:
        """Raises StorageError if the directory is offline."""
        if self.failure is not None:
            raise StorageError(f"Log directory {self.path} is offline: {self.failure}")

    def check_append(self, origin: AppendOrigin) -> None:
        """Raises StorageError if nothing of that origin may be appended now.

        Metadata may, as long as the disk takes them: who deletes a topic changes metadata.
        """
        refusal = self.refusal if origin is AppendOrigin.CLIENT else self.own_refusal
        if refusal is not None and (origin is not AppendOrigin.RAFT or self.failure is not None):
            raise StorageError(refusal)

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
        """Remove what is due here and now, but not so much that others have to wait for it."""
        job = self.removal_job(now_ms)
        if job is not None:
            job.run()
            job.finish()

    def removal_job(self, now_ms: int) -> RemovalJob | None:
        """What is due to be removed, to be done anywhere; None: nothing is, or a job is under way.

        The removal of a large file takes the system a tenth of a second for each gigabyte.
        """
        self.now_ms = now_ms
        if self._removing or not self._removals or self.failure is not None:
            return None
        due: list[_Removal] = []
        waiting: deque[_Removal] = deque()
        while self._removals and len(due) < _REMOVALS_A_TICK:
            removal = self._removals.popleft()
            (waiting if removal[0] > now_ms else due).append(removal)
        waiting += self._removals
        self._removals = waiting
        self._removing = bool(due)
        return RemovalJob(self, due) if due else None

    def removed(self, left: list[_Removal], error: OSError | None) -> None:
        """A removal job is over; `left` waits for the next."""
        self._removing = False
        self._removals.extendleft(reversed(left))
        if error is not None:
            self.fail(error)


class RemovalJob:
    """Files and directories to remove: `run` it in any thread, then `finish` where the logs are used."""

    __slots__ = ("_due", "_error", "_log_dir")

    def __init__(self, log_dir: LogDir, due: list[_Removal]) -> None:
        self._log_dir = log_dir
        self._due = due
        self._error: OSError | None = None

    def run(self) -> None:
        """Remove; an error is kept for `finish`."""
        disk = self._log_dir.disk
        done = 0
        try:
            for _, path, is_dir in self._due:
                done += 1
                if is_dir:
                    disk.remove_tree(path)
                else:
                    disk.remove(path)
        except OSError as error:
            self._error = error
        del self._due[:done]

    def finish(self) -> None:
        """Take the directory offline if it failed."""
        self._log_dir.removed(self._due, self._error)
