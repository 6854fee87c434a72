"""The segment that a cleaning writes: `.cleaned` files, complete and synced before anybody hears of them."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from kbroker.storage import txn_index
from kbroker.storage.disk import Buffer, Disk, DiskFile
from kbroker.storage.file_names import CLEANED, INDEX, LOG, TIME_INDEX, TXN_INDEX, offset_name
from kbroker.storage.txn_index import AbortedTxn

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
_COPY_BYTES = 1 << 20
#: Forced to disk in portions: one large flush would hold up every other writer of the file system.
_SYNC_BYTES = 8 << 20

SUFFIXES = (LOG, INDEX, TIME_INDEX, TXN_INDEX)


class CleanedSegment:
    """One output segment. As long as it is a byte for byte copy of its source nothing is written at all.

    Every method may raise OSError.

    Args:
        directory: the partition's.
        base_offset: its name.
        source: the first source's file, a prefix of which the output may still be.
        interval_bytes: see index.interval.bytes.
        pause: told of every byte read and written.
    """

    def __init__(
        self,
        disk: Disk,
        directory: str,
        base_offset: int,
        source: DiskFile,
        interval_bytes: int,
        pause: Callable[[int], None],
    ) -> None:
        self.base_offset = base_offset
        #: Bytes of batches so far.
        self.size = 0
        self._disk = disk
        self._stem = f"{directory}/"
        self._source = source
        self._interval_bytes = interval_bytes
        self._pause = pause
        self._file: DiskFile | None = None
        self._unsynced = 0
        self._offsets = bytearray()
        self._times = bytearray()
        self._txns = bytearray()
        self._since_entry = 0
        self._newest = self._newest_indexed = -1
        self._newest_offset = base_offset

    def _path(self, suffix: str) -> str:
        return f"{self._stem}{offset_name(self.base_offset, suffix)}{CLEANED}"

    def note(self, size: int, last_offset: int, max_timestamp: int) -> None:
        """The next batch, for the indexes. Its time is -1 if it has no records: no look-up must find it."""
        if max_timestamp > self._newest:
            self._newest, self._newest_offset = max_timestamp, last_offset
        if self._since_entry > self._interval_bytes:
            self._offsets += _OFFSET_ENTRY.pack(last_offset - self.base_offset, self.size)
            self._index_time()
            self._since_entry = 0
        self._since_entry += size
        self.size += size

    def _index_time(self) -> None:
        if self._newest > self._newest_indexed:
            self._times += _TIME_ENTRY.pack(self._newest, self._newest_offset - self.base_offset)
            self._newest_indexed = self._newest

    def note_aborted(self, txn: AbortedTxn) -> None:
        """A transaction whose abort marker stays."""
        self._txns += txn_index.encode(txn)

    @property
    def written(self) -> bool:
        """Whether there are files."""
        return self._file is not None

    def begin(self, same_bytes: int) -> DiskFile:
        """Write files after all: the first `same_bytes` of the source first."""
        file = self._disk.open(self._path(LOG), create=True)
        file.truncate(0)
        self._file = file
        for position in range(0, same_bytes, _COPY_BYTES):
            data = self._source.read(position, min(_COPY_BYTES, same_bytes - position))
            self._put(position, data)
            self._pause(len(data))
        return file

    def write(self, position: int, parts: list[Buffer]) -> None:
        """Bytes of batches that were noted."""
        if parts:
            data = parts[0] if len(parts) == 1 else b"".join(parts)
            self._put(position, data)

    def _put(self, position: int, data: Buffer) -> None:
        assert self._file is not None
        self._file.write(position, data)
        self._unsynced += len(data)
        if self._unsynced >= _SYNC_BYTES:
            self._file.sync()
            self._unsynced = 0
        self._pause(len(data))

    def finish(self, modified_ms: int) -> dict[str, int]:
        """Write the indexes and make all of it durable: bytes by suffix."""
        assert self._file is not None
        if self.size:
            self._index_time()
        sizes = {LOG: self.size, INDEX: len(self._offsets), TIME_INDEX: len(self._times)}
        for suffix, content in ((INDEX, self._offsets), (TIME_INDEX, self._times), (TXN_INDEX, self._txns)):
            if suffix == TXN_INDEX and not content:
                self._disk.remove(self._path(suffix))
                continue
            sizes[suffix] = len(content)
            file = self._disk.open(self._path(suffix), create=True)
            file.truncate(0)
            file.write(0, content)
            file.sync()
        self._file.sync()
        # Retention of records without a time goes by the file's.
        self._disk.set_modified_ms(self._path(LOG), modified_ms)
        self._file = None
        return sizes


def discard_cleaned(disk: Disk, directory: str) -> None:
    """Remove what a cleaning that did not finish left behind. Raises OSError."""
    if disk.exists(directory):
        for entry in disk.list_dir(directory):
            if entry.name.endswith(CLEANED):
                disk.remove(f"{directory}/{entry.name}")
