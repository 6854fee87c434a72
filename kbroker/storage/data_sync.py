"""Making batches durable before they are acknowledged: as little as that takes.

Only the `.log` files from the durable end on are synced. Indexes and epochs are built anew from the batches
after a crash, since the recovery point stays where it is; it moves with `FsyncJob`, which syncs them, too.
"""

from __future__ import annotations

from kbroker.storage.disk import Disk, DiskFile
from kbroker.storage.file_names import PARTITION_METADATA
from kbroker.storage.log import Log
from kbroker.storage.log_config import MAX_LONG


class DataSync:
    """The batches of one log that are written now: `run` anywhere, then `finish` where the log is used.

    Raises:
        StorageError: the directory is offline, or a file cannot be opened.
    """

    __slots__ = ("_cuts", "_disk", "directories", "end_offset", "files", "log")

    def __init__(self, log: Log) -> None:
        log.directory.check()
        self.log = log
        self.end_offset = log.log_end_offset
        self._cuts = log.cuts
        self._disk: Disk = log.directory.disk
        #: What `run` syncs: directories only where names are new.
        self.directories: list[str] = []
        try:
            self.files: list[DiskFile] = [
                segment.file() for segment in log.segments.from_offset(log.durable_end)
            ]
            if log.names_dirty:
                self._note_names(log)
                log.names_dirty = False
        except OSError as error:
            raise log.directory.fail(error) from error

    def _note_names(self, log: Log) -> None:
        metadata = f"{log.path}/{PARTITION_METADATA}"
        if self._disk.exists(metadata):
            self.files.append(log.directory.files.get(metadata))
        self.directories += (log.path, log.directory.path)

    def run(self) -> None:
        """Sync. Raises OSError."""
        for file in self.files:
            file.sync()
        for path in self.directories:
            self._disk.sync_dir(path)

    def finish(self) -> None:
        """It is done: the log may count on it."""
        log = self.log
        if log.cuts == self._cuts:
            log.durable_end = max(log.durable_end, self.end_offset)
            log.cut_at = MAX_LONG
