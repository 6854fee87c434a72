"""One segment of a log: a file of batches back to back, and its three indexes.

A segment knows nothing of neighbours, producers or high watermarks. Its law: `size` bytes of the file are
whole batches in offset order; an index entry is added when more than `index.interval.bytes` came since the
last one. Indexes are believed once `index_check.py` has found them true, and built anew if they are not.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kbroker.protocol.batch_header import HEADER
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    BatchHeader,
    CorruptBatch,
    parse_batch_header,
)
from kbroker.protocol.sealed_batch import is_sealed
from kbroker.storage import txn_index
from kbroker.storage.batch_walk import WALK_BYTES, WalkedBatch, walk
from kbroker.storage.disk import DiskFile
from kbroker.storage.file_names import INDEX, LOG, TIME_INDEX, TXN_INDEX, offset_name
from kbroker.storage.index_check import entry_holds, indexes_hold
from kbroker.storage.log_encryption import open_data
from kbroker.storage.offset_index import OffsetIndex
from kbroker.storage.open_files import NO_DESCRIPTORS, NO_ROOM, OpenFiles
from kbroker.storage.time_index import NO_TIMESTAMP, TimeIndex
from kbroker.storage.txn_index import AbortedTxn

logger = logging.getLogger(__name__)

#: Reads of fewer bytes are filled to the last batch that fits.
#: Of its own: a read was measured to be 4 % slower with the shared one.
_HEADER = Struct(HEADER.format)
_EXACT_BELOW_BYTES = 64 * 1024
#: A walk from an index entry that passes more than both of these did not begin at the nearest one.
_THIN_BATCHES = 64
_THIN_BYTES = 4 << 20


class TimestampOffset(NamedTuple):
    """A record's time (ms) and offset, and the leader epoch it was written in."""

    timestamp: int
    offset: int
    leader_epoch: int


class Segment:
    """A segment on disk. Every method that reads or writes may raise OSError.

    Args:
        files: opens its files.
        directory: the partition's directory.
        base_offset: the offset in its name.
        sizes: bytes of its files by suffix, as listed; empty for a new segment.
    """

    __slots__ = (
        "_aborted",
        "_first_timestamp",
        "_indexes_trusted",
        "_rebuilt",
        "_time_index_checked",
        "_txn_bytes",
        "base_offset",
        "bytes_since_index_entry",
        "created_ms",
        "directory",
        "files",
        "max_timestamp",
        "max_timestamp_offset",
        "offset_index",
        "path",
        "size",
        "time_index",
    )

    def __init__(
        self, files: OpenFiles, directory: str, base_offset: int, sizes: dict[str, int], created_ms: int = 0
    ) -> None:
        self.files = files
        self.directory = directory
        self.base_offset = base_offset
        self.path = self._name(LOG)
        #: Bytes written.
        self.size = sizes.get(LOG, 0)
        self.created_ms = created_ms
        self.bytes_since_index_entry = 0
        self.offset_index = OffsetIndex(files, self._name(INDEX), base_offset, sizes.get(INDEX))
        self.time_index = TimeIndex(files, self._name(TIME_INDEX), base_offset, sizes.get(TIME_INDEX))
        #: Largest record time and its batch's last offset; None until read from the time index.
        self.max_timestamp: int | None = None if self.size else NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self._txn_bytes = sizes.get(TXN_INDEX, 0)
        self._aborted: list[AbortedTxn] | None = None if self._txn_bytes else []
        self._first_timestamp: int | None = None
        # Missing or misshapen index files are found by their sizes; their content is checked on first use.
        self._indexes_trusted = self._time_index_checked = self._rebuilt = self.size == 0

    def _name(self, suffix: str) -> str:
        return f"{self.directory}/{offset_name(self.base_offset, suffix)}"

    @property
    def paths(self) -> list[str]:
        """Its files, as far as they may exist."""
        return [self.path, self.offset_index.path, self.time_index.path, self._name(TXN_INDEX)]

    def file(self) -> DiskFile:
        """The log file, open."""
        return self.files.get(self.path)

    # -- growing ---------------------------------------------------------------------------------------------

    def note_batch(
        self, position: int, size: int, last_offset: int, max_timestamp: int, interval_bytes: int
    ) -> None:
        """Count a batch in that lies, or is about to lie, at `position`."""
        newest = self.load_max_timestamp()
        if max_timestamp > newest:
            self.max_timestamp = newest = max_timestamp
            self.max_timestamp_offset = last_offset
        if self.bytes_since_index_entry > interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(newest, self.max_timestamp_offset)
            self.bytes_since_index_entry = 0
        self.bytes_since_index_entry += size

    def load_max_timestamp(self) -> int:
        """The largest record time, from the last entry of the time index; -1 if unknown."""
        if self.max_timestamp is None:
            self.trust_indexes()
            self.max_timestamp, self.max_timestamp_offset = self.time_index.last()
        return self.max_timestamp

    def largest_timestamp(self) -> int:
        """For retention: the largest record time, or when the file was last written if there is none."""
        known = self.load_max_timestamp()
        return known if known >= 0 else self.files.disk.modified_ms(self.path)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return self.size == 0

    @property
    def known_first_timestamp(self) -> int | None:
        """As `first_timestamp`, without reading: None if it is not known yet."""
        return self._first_timestamp

    def first_timestamp(self) -> int | None:
        """The first batch's largest timestamp, the ground of rolling by time; None while empty."""
        if self._first_timestamp is None and self.size:
            for batch in self.walk(0):
                self._first_timestamp = batch.max_timestamp
                break
        return self._first_timestamp

    def set_first_timestamp(self, timestamp: int) -> None:
        """The first batch was just appended."""
        self._first_timestamp = timestamp

    def make_indexes(self) -> None:
        """Let the index files exist, empty as they may be."""
        self.offset_index.make()
        self.time_index.make()

    def is_index_full(self, index_bytes: int) -> bool:
        """Whether Kafka's preallocated indexes could take no more entries."""
        return (
            len(self.offset_index) >= index_bytes // self.offset_index.layout.size
            or len(self.time_index) >= index_bytes // self.time_index.layout.size - 1
        )

    def add_aborted(self, txn: AbortedTxn) -> None:
        """Append to the transaction index."""
        self.aborted_txns().append(txn)
        try:
            self._save_aborted()
        except OSError as error:
            if error.errno not in (*NO_ROOM, *NO_DESCRIPTORS):
                raise
            # Known in memory; written with the next one, or when the segment is sealed.

    def _save_aborted(self) -> None:
        new = (self._aborted or [])[self._txn_bytes // txn_index.ENTRY_SIZE :]
        if new:
            data = b"".join(map(txn_index.encode, new))
            self.files.get(self._name(TXN_INDEX)).write(self._txn_bytes, data)
            self._txn_bytes += len(data)

    def aborted_txns(self) -> list[AbortedTxn]:
        """The transaction index. Raises ValueError if it is damaged."""
        if self._aborted is None:
            data = self.files.get(self._name(TXN_INDEX)).read(0, self._txn_bytes)
            self._aborted = txn_index.decode_all(data, self.base_offset)
        return self._aborted

    def seal(self) -> None:
        """No more appends, or a clean stop: the last time entry, indexes written and cut to size."""
        if self.size:
            self.time_index.maybe_append(self.load_max_timestamp(), self.max_timestamp_offset)
        self.offset_index.close()
        self.time_index.close()
        self._save_aborted()

    def sync(self) -> None:
        """fsync all files (not the directory)."""
        for path in self.paths:
            if self.files.disk.exists(path):
                self.files.get(path).sync()

    # -- finding ---------------------------------------------------------------------------------------------

    def walk(self, position: int, end: int | None = None) -> Iterator[WalkedBatch]:
        """The batches from the one at `position` on, by their headers alone."""
        return walk(self.file(), position, self.size if end is None else end)

    def locate(self, offset: int) -> WalkedBatch | None:
        """The batch that holds `offset`, or the first one behind it; None if all lie before.

        Raises:
            CorruptBatch: the segment is damaged before `offset`.
        """
        self.trust_indexes()
        start = position = self._indexed_start(0, offset - self.base_offset)
        for passed, batch in enumerate(self.walk(start)):
            if batch.last_offset >= offset:
                if passed > _THIN_BATCHES and position - start > _THIN_BYTES:
                    self._thicken(start, position)
                return batch
            position = batch.position + batch.size
        if position < self.size:
            raise CorruptBatch(
                f"{self.path} is damaged at byte {position}: no batch begins there "
                "(`kbroker-admin logs verify` tells more)"
            )
        return None

    def _indexed_start(self, field: int, target: int) -> int:
        """Where to begin a walk: the position in the last entry whose `field` is at most `target`.

        If that entry is not true, all is indexed anew first.
        """
        index = self.offset_index.floor(field, target)
        if index < 0:
            return 0
        relative, position = self.offset_index.entry(index)
        if entry_holds(self, relative, position):
            return position
        self._rebuild("an entry of its offset index names no batch")
        index = self.offset_index.floor(field, target)
        return self.offset_index.entry(index)[1] if index >= 0 else 0

    def _thicken(self, start: int, end: int) -> None:
        """An index was cut: it is right, but of little help."""
        if not self._rebuilt:
            self._rebuild(f"its offset index has no entry for bytes {start} to {end}")

    def boundary_before(self, position: int, limit: int) -> tuple[int, int]:
        """(end position, next offset) of the last batch at or behind `position` that ends at or before
        `limit`.

        (position, -1) if the batch at `position` ends behind `limit`.
        """
        self.trust_indexes()
        start = max(self._indexed_start(1, limit), position)
        if start > position and limit - position >= _EXACT_BELOW_BYTES:
            # Good enough without a walk: an indexed batch begins within some KB of the limit.
            return start, self.header_at(start).base_offset
        found = position, -1
        for batch in self.walk(start):
            if batch.position + batch.size > limit:
                if found[1] < 0 and batch.position > position:
                    # The indexed batch itself does not fit: what ends here is the batch before it.
                    return batch.position, batch.base_offset
                break
            found = batch.position + batch.size, batch.last_offset + 1
        return found

    def last_batch_end(self) -> tuple[int, int]:
        """(position, offset) behind the last whole batch."""
        position, end = 0, self.base_offset
        if self.size:
            start = 0
            if self.size > WALK_BYTES:
                self.trust_indexes()
                start = self.offset_index.position_before(self.size)
            for batch in self.walk(start):
                position, end = batch.position + batch.size, batch.last_offset + 1
        return position, end

    def header_at(self, position: int) -> BatchHeader:
        """The header of the batch at `position`."""
        data = self.file().read(position, BATCH_OVERHEAD)
        return BatchHeader._make((*_HEADER.unpack(data), position))

    def read_batch(self, batch: WalkedBatch) -> tuple[bytes, BatchHeader]:
        """The batch's bytes and header, opened if it is sealed. Raises ApiError, see `open_all`."""
        data = self.file().read(batch.position, batch.size)
        header = parse_batch_header(data)
        if is_sealed(header):
            data = open_data(self.files, data)
            header = parse_batch_header(data)
        return data, header

    def find_timestamp(self, timestamp: int, start_offset: int, end_offset: int) -> WalkedBatch | None:
        """The first batch that may have a record within [start, end) that is not older than that (ms)."""
        self.trust_indexes()
        if not self._time_index_checked:
            self._time_index_checked = True
            if not self.time_index.ascends():
                self._rebuild("its time index is not in order")
        start = max(self.time_index.offset_before(timestamp), start_offset)
        first = self.locate(start)
        for batch in self.walk(first.position) if first is not None else ():
            if batch.base_offset >= end_offset:
                return None
            if batch.max_timestamp >= timestamp and batch.last_offset >= start_offset:
                return batch
        return None

    # -- cutting ---------------------------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch that holds `offset` and all behind it; how many bytes went."""
        batch = self.locate(offset)
        if batch is None:
            return 0
        removed = self.size - batch.position
        self.file().truncate(batch.position)
        self.size = batch.position
        self.forget_from(offset)
        return removed

    def forget_from(self, offset: int) -> None:
        """The file is cut: nothing from `offset` on is in the segment, whatever was counted in."""
        self._cut_indexes(offset)
        if not self.size:
            self._first_timestamp = None
        self._find_max_timestamp()

    def _cut_indexes(self, offset: int) -> None:
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        if self._txn_bytes or self._aborted:
            self._truncate_aborted(offset)
        self.bytes_since_index_entry = 0

    def _find_max_timestamp(self) -> None:
        """After a cut: what the time index still tells, and the batches that it does not cover."""
        self.max_timestamp, self.max_timestamp_offset = self.time_index.last()
        for batch in self.walk(self.offset_index.position_for(self.max_timestamp_offset)):
            if batch.max_timestamp > self.max_timestamp:
                self.max_timestamp, self.max_timestamp_offset = batch.max_timestamp, batch.last_offset

    def _truncate_aborted(self, offset: int) -> None:
        kept = [txn for txn in self.aborted_txns() if txn.last_offset < offset]
        self._aborted = kept
        if self._txn_bytes > len(kept) * txn_index.ENTRY_SIZE:
            self._txn_bytes = len(kept) * txn_index.ENTRY_SIZE
            self.files.get(self._name(TXN_INDEX)).truncate(self._txn_bytes)

    # -- rebuilding ------------------------------------------------------------------------------------------

    def reset_indexes(self) -> None:
        """Empty all indexes, to be rebuilt by `note_batch` and `add_aborted` for every batch."""
        self.offset_index.reset()
        self.time_index.reset()
        self.reset_txn_index()
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = self.base_offset
        self.bytes_since_index_entry = 0
        self._indexes_trusted = self._time_index_checked = self._rebuilt = True

    def reset_txn_index(self) -> None:
        """Empty the transaction index."""
        if self._txn_bytes:
            self.files.get(self._name(TXN_INDEX)).truncate(0)
        self._txn_bytes = 0
        self._aborted = []

    def trust_indexes(self) -> None:
        """On first use: rebuild offset and time index if they cannot be true (missing, cut, zeroed)."""
        if self._indexes_trusted:
            return
        self._indexes_trusted = True
        if not indexes_hold(self):
            self._rebuild("an index is missing, damaged or of another segment")

    def place_of(self, offset: int) -> int | None:
        """The position where the batches below `offset` end, if indexes tell so that are true; else None."""
        if not self._indexes_trusted and not indexes_hold(self):
            return None
        try:
            self.aborted_txns()
        except ValueError:
            return None
        try:
            batch = self.locate(offset)
        except CorruptBatch:
            batch = None  # no whole batch follows
        if batch is not None:
            return batch.position if batch.base_offset >= offset else None
        position, end = self.last_batch_end()
        return position if end == offset else None

    def go_on_at(self, offset: int) -> None:
        """Keep what the indexes tell of batches below `offset`, where it was sealed; the rest is read."""
        self._cut_indexes(offset)
        self.max_timestamp, self.max_timestamp_offset = self.time_index.last()

    def _rebuild(self, reason: str) -> None:
        logger.warning("building the indexes of %s anew: %s", self.path, reason)
        self.rebuild_indexes()

    def rebuild_indexes(self, interval_bytes: int = 4096) -> None:
        """Offset and time index anew from the batch headers."""
        self._indexes_trusted = self._time_index_checked = self._rebuilt = True
        self.offset_index.reset()
        self.time_index.reset()
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = self.base_offset
        self.bytes_since_index_entry = 0
        for batch in self.walk(0):
            self.note_batch(
                batch.position, batch.size, batch.last_offset, batch.max_timestamp, interval_bytes
            )
        self.bytes_since_index_entry = 0
        self.time_index.maybe_append(self.max_timestamp, self.max_timestamp_offset)
        self.offset_index.close()
        self.time_index.close()
