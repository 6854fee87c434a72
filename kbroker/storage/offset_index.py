"""The offset index of a segment (.index): every few KB, the last offset of a batch and where it begins."""

from __future__ import annotations

from struct import Struct

from kbroker.storage.index_file import IndexFile
from kbroker.storage.open_files import OpenFiles


class OffsetIndex(IndexFile):
    """Entries (offset relative to the base, file position); both ascend strictly."""

    __slots__ = ("base_offset",)
    layout = Struct(">ii")

    def __init__(self, files: OpenFiles, path: str, base_offset: int, saved_bytes: int | None = None) -> None:
        super().__init__(files, path, saved_bytes)
        self.base_offset = base_offset

    def append(self, last_offset: int, position: int) -> None:
        """A batch that ends with `last_offset` begins at `position`."""
        self.add(last_offset - self.base_offset, position)

    def position_for(self, offset: int) -> int:
        """Where to begin walking to find `offset`: a batch that is not behind it. Raises OSError."""
        found = self.floor(0, offset - self.base_offset)
        return self.entry(found)[1] if found >= 0 else 0

    def position_before(self, position: int) -> int:
        """The begin of the last indexed batch that begins at or before `position`, else 0. Raises OSError."""
        found = self.floor(1, position)
        return self.entry(found)[1] if found >= 0 else 0

    def truncate_to(self, offset: int) -> None:
        """Drop entries of offsets from `offset` on. Raises OSError."""
        self.keep(self.floor(0, offset - 1 - self.base_offset) + 1)

    def fits(self, segment_bytes: int) -> bool:
        """Whether the last entry can be true of a segment of that size. Raises OSError."""
        count = len(self)
        if not count:
            return True
        offset, position = self.entry(count - 1)
        if offset < 0 or not 0 <= position < segment_bytes:
            return False
        if count > 1:
            first_offset, first_position = self.entry(0)
            return first_offset < offset and first_position < position
        return True
