"""The time index of a segment (.timeindex): how the largest timestamp so far grew, and at which offset."""

from __future__ import annotations

from struct import Struct

from kbroker.storage.index_file import IndexFile
from kbroker.storage.open_files import OpenFiles

NO_TIMESTAMP = -1


class TimeIndex(IndexFile):
    """Entries (timestamp in ms, offset relative to the base): no record up to the offset is younger."""

    __slots__ = ("base_offset", "last_timestamp")
    layout = Struct(">qi")

    def __init__(self, files: OpenFiles, path: str, base_offset: int, saved_bytes: int | None = None) -> None:
        super().__init__(files, path, saved_bytes)
        self.base_offset = base_offset
        #: Timestamp of the last entry; read when first asked for, None until then.
        self.last_timestamp: int | None = None if saved_bytes else NO_TIMESTAMP

    def last(self) -> tuple[int, int]:
        """(timestamp, offset) of the last entry; (-1, base offset) if there is none. Raises OSError."""
        count = len(self)
        if not count:
            self.last_timestamp = NO_TIMESTAMP
            return NO_TIMESTAMP, self.base_offset
        timestamp, relative = self.entry(count - 1)
        self.last_timestamp = timestamp
        return timestamp, self.base_offset + relative

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Add an entry if the time is larger than the last one's. Raises OSError."""
        last = self.last_timestamp
        if last is None:
            last = self.last()[0]
        if timestamp > last:
            self.add(timestamp, offset - self.base_offset)
            self.last_timestamp = timestamp

    def offset_before(self, timestamp: int) -> int:
        """No record before this offset has a time of `timestamp` or later. Raises OSError."""
        found = self.floor(0, timestamp - 1)
        return self.base_offset + self.entry(found)[1] if found >= 0 else self.base_offset

    def truncate_to(self, offset: int) -> None:
        """Drop entries of offsets from `offset` on. Raises OSError."""
        self.keep(self.floor(1, offset - 1 - self.base_offset) + 1)
        self.last()

    def reset(self) -> None:
        super().reset()
        self.last_timestamp = NO_TIMESTAMP

    def ascends(self) -> bool:
        """Whether all entries are in order; reads the whole file. Raises OSError."""
        last_timestamp, last_offset = NO_TIMESTAMP, 0
        for index in range(len(self)):
            timestamp, offset = self.entry(index)
            if timestamp <= last_timestamp or offset < last_offset:
                return False
            last_timestamp, last_offset = timestamp, offset
        return True

    def fits(self) -> bool:
        """Whether the entries can be true. Raises OSError."""
        count = len(self)
        if not count:
            return True
        timestamp, offset = self.entry(count - 1)
        if offset < 0 or timestamp < 0:
            return False
        if count > 1:
            first_timestamp, first_offset = self.entry(0)
            return first_timestamp < timestamp and first_offset <= offset
        return True
