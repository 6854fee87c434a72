"""A sorted array of fixed-size entries: what `.index` and `.timeindex` have in common.

New entries wait in memory until `save` (on roll, on close, or when they fill some pages): recovery rebuilds
the indexes of everything above the recovery point anyway, so writing them one by one would buy nothing.
"""

from __future__ import annotations

from struct import Struct

from kbroker.storage.disk import Buffer
from kbroker.storage.open_files import NO_DESCRIPTORS, NO_ROOM, OpenFiles

_SAVE_AT_BYTES = 16 * 1024
_BLOCK_BYTES = 4096


class IndexFile:
    """Entries of `layout`; subclasses give them their meaning.

    Args:
        files: opens the file.
        path: where it lies; it need not exist while there is nothing to save.
        saved_bytes: its size now, as listed; None: it does not exist.
    """

    __slots__ = ("_file_bytes", "_files", "_saved", "_tail", "path")
    layout: Struct

    def __init__(self, files: OpenFiles, path: str, saved_bytes: int | None = None) -> None:
        self.path = path
        self._files = files
        self._file_bytes = saved_bytes
        self._saved = (saved_bytes or 0) // self.layout.size
        self._tail = bytearray()

    def __len__(self) -> int:
        """Number of entries."""
        return self._saved + len(self._tail) // self.layout.size

    def entry(self, index: int) -> tuple[int, int]:
        """The entry at `index` from 0. Raises OSError, IndexError."""
        size = self.layout.size
        if index >= self._saved:
            position = (index - self._saved) * size
            if position + size > len(self._tail):
                raise IndexError(index)
            return self.layout.unpack_from(self._tail, position)
        number, within = divmod(index, _BLOCK_BYTES // size)
        block = self._block(number, within + 1)
        if within * size + size > len(block):
            raise IndexError(index)
        return self.layout.unpack_from(block, within * size)

    def floor(self, field: int, target: int) -> int:
        """Index of the last entry whose `field` (0 or 1) is at most `target`; -1 if there is none.

        Raises OSError, IndexError.
        """
        size = self.layout.size
        count, saved = len(self), self._saved
        if count > saved and self.layout.unpack_from(self._tail)[field] <= target:
            return saved + self._last_in(self._tail, count - saved, field, target)
        # The block first, by its first entry. The same few are asked by each search, and so remembered.
        per_block = _BLOCK_BYTES // size
        low, high = 0, -(-saved // per_block)
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle * per_block)[field] <= target:
                low = middle + 1
            else:
                high = middle
        if not low:
            return -1
        start = (low - 1) * per_block
        inside = min(per_block, saved - start)
        block = self._block(low - 1, inside)
        if len(block) < inside * size:
            raise IndexError(start + inside - 1)
        return start + self._last_in(block, inside, field, target)

    def _last_in(self, entries: Buffer, count: int, field: int, target: int) -> int:
        """The last one of these whose `field` is at most `target`; that of the first one is."""
        size, unpack = self.layout.size, self.layout.unpack_from
        low, high = 1, count
        while low < high:
            middle = (low + high) // 2
            if unpack(entries, middle * size)[field] <= target:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def _block(self, number: int, entries: int) -> bytes:
        """The block of that number, with so many entries at least; fewer only if the file was cut."""
        cache, size = self._files.blocks, self.layout.size
        block = cache.get(self, number)
        if block is None or len(block) < entries * size:
            start = number * (_BLOCK_BYTES // size)
            # What the file holds behind the entries is of another time.
            length = min(_BLOCK_BYTES // size, self._saved - start) * size
            block = self._files.get(self.path).read(start * size, length)
            cache.put(self, number, block)
        return block

    def _forget_blocks(self, entries: int) -> None:
        """What lies behind so many entries has changed."""
        per_block = _BLOCK_BYTES // self.layout.size
        self._files.blocks.forget(self, entries // per_block, -(-self._saved // per_block))

    def add(self, first: int, second: int) -> None:
        """Append an entry."""
        self._tail += self.layout.pack(first, second)
        if len(self._tail) >= _SAVE_AT_BYTES:
            try:
                self.save()
            except OSError as error:
                if error.errno not in (*NO_ROOM, *NO_DESCRIPTORS):
                    raise
                # It waits in memory: a log that finds no room for entries finds none for records.

    def save(self) -> None:
        """Write what is only in memory. Raises OSError."""
        if self._tail:
            start = self._saved * self.layout.size
            self._files.get(self.path).write(start, self._tail)
            self._file_bytes = max(self._file_bytes or 0, start + len(self._tail))
            self._saved += len(self._tail) // self.layout.size
            self._tail = bytearray()

    def make(self) -> None:
        """Let the file exist. Raises OSError."""
        if self._file_bytes is None:
            self._files.disk.open(self.path, create=True)
            self._file_bytes = 0

    def close(self) -> None:
        """Write all; the file exists afterwards, and is as long as its entries. Raises OSError."""
        self.save()
        size = self._saved * self.layout.size
        if self._file_bytes is None:
            self._files.get(self.path)
        elif self._file_bytes != size:
            self._files.get(self.path).truncate(size)
        self._file_bytes = size

    def keep(self, count: int) -> None:
        """Drop all entries from the one numbered `count` on. Raises OSError."""
        if count >= len(self):
            return
        size = self.layout.size
        if count >= self._saved:
            del self._tail[(count - self._saved) * size :]
            return
        self._tail.clear()
        self._forget_blocks(count)
        self._saved = count
        self._file_bytes = count * size
        self._files.get(self.path).truncate(count * size)

    def reset(self) -> None:
        """Drop all entries, whatever the file holds; it shrinks when it is closed."""
        self._tail.clear()
        self._forget_blocks(0)
        self._saved = 0
