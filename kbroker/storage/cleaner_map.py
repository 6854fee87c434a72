"""What the cleaner knows after reading the dirty section: the last offset of each key, and which records are
out of date.

Two structures, both bounded by the budget they are given in bytes:
- `OffsetMap` answers for keys: is there a later record? The records below the dirty section ask it.
- `Verdicts` answers for offsets of the dirty section itself. A record is marked the moment a later one with
  its key is met, so that the second reading of that section looks at no key, and copies a batch without marks
  untouched.
"""

from __future__ import annotations

import mmap
from hashlib import blake2b
from typing import Final

_DIGEST_BYTES: Final = 16
#: One key costs this many bytes: digest and offset, as in Kafka.
SLOT_BYTES: Final = _DIGEST_BYTES + 8
_EMPTY = bytes(_DIGEST_BYTES)

#: Verdicts on a record of the dirty section. A tombstone stays until its horizon has passed.
KEEP: Final = 0
DROP: Final = 1
TOMBSTONE: Final = 2

_PAGE_OFFSETS = 1024
_PAGE_SHIFT = 10
#: A page with what the interpreter needs around it.
_PAGE_COST = _PAGE_OFFSETS + 160
#: Marks may take this share of the memory that the map has.
_VERDICTS_SHARE = 8
_BATCH_SPAN_MAX = 1 << 16


class OffsetMap:
    """Key -> last offset, in a hash table of fixed size; a key is known by 128 bits of its BLAKE2 digest.

    Args:
        memory_bytes: what the table may take. Pages of it that are not used cost nothing.
        load_factor: the share of slots that may be filled.
    """

    __slots__ = ("_digests", "_offsets", "_slots", "capacity", "entries", "latest_offset")

    def __init__(self, memory_bytes: int, load_factor: float) -> None:
        slots = _prime_up_to(max(memory_bytes // SLOT_BYTES, 5))
        self._slots = slots
        self._digests = mmap.mmap(-1, slots * _DIGEST_BYTES)
        self._offsets = memoryview(mmap.mmap(-1, slots * 8)).cast("q")
        #: How many keys it takes.
        self.capacity = max(min(int(slots * load_factor), slots - 1), 1)
        self.entries = 0
        #: The last offset that was looked at; -1 if none.
        self.latest_offset = -1

    @property
    def is_full(self) -> bool:
        """Whether another key would be too much."""
        return self.entries >= self.capacity

    def put(self, key: bytes, offset: int) -> int:
        """Note the key's last offset; the one noted before, -1 if there was none."""
        digest = blake2b(key, digest_size=16).digest()
        slots, digests = self._slots, self._digests
        slot = hash(digest) % slots
        found = digests[slot * 16 : slot * 16 + 16]
        if found != digest and found != _EMPTY:
            slot, found = self._probe(digest, slot)
        offsets = self._offsets
        if found == digest:
            previous = offsets[slot]
            offsets[slot] = offset
            return previous
        digests[slot * 16 : slot * 16 + 16] = digest
        offsets[slot] = offset
        self.entries += 1
        return -1

    def get(self, key: bytes) -> int:
        """The key's last offset, -1 if it was not seen."""
        digest = blake2b(key, digest_size=16).digest()
        slot = hash(digest) % self._slots
        found = self._digests[slot * 16 : slot * 16 + 16]
        if found == _EMPTY:
            return -1
        if found != digest:
            slot, found = self._probe(digest, slot)
        return self._offsets[slot] if found == digest else -1

    def _probe(self, digest: bytes, slot: int) -> tuple[int, bytes]:
        """Go on from a slot that another key has; the number of slots is prime, so every step visits all."""
        slots, digests = self._slots, self._digests
        step = 1 + int.from_bytes(digest[:4], "little") % (slots - 1)
        while True:
            slot = (slot + step) % slots
            found = digests[slot * 16 : slot * 16 + 16]
            if found in (digest, _EMPTY):
                return slot, found


class Verdicts:
    """One byte for each offset of the dirty section, in pages that exist only where there is something to
    say.

    Args:
        memory_bytes: the map's; the pages take at most an eighth of it more.
    """

    __slots__ = ("_pages", "_pages_max")

    def __init__(self, memory_bytes: int) -> None:
        self._pages: dict[int, bytearray] = {}
        self._pages_max = max(memory_bytes // _VERDICTS_SHARE // _PAGE_COST, 4)

    @property
    def is_full(self) -> bool:
        """Whether another mark might be too much."""
        return len(self._pages) >= self._pages_max

    def mark(self, offset: int, verdict: int) -> None:
        """Say what becomes of the record at `offset`."""
        page = self._pages.get(offset >> _PAGE_SHIFT)
        if page is None:
            page = self._pages[offset >> _PAGE_SHIFT] = bytearray(_PAGE_OFFSETS)
        page[offset & (_PAGE_OFFSETS - 1)] = verdict

    def of(self, offset: int) -> int:
        """The verdict on one record."""
        page = self._pages.get(offset >> _PAGE_SHIFT)
        return KEEP if page is None else page[offset & (_PAGE_OFFSETS - 1)]

    def of_batch(self, base_offset: int, last_offset: int) -> bytes | None:
        """The verdicts on the offsets of a batch; None if all are to be kept, or if they are too many."""
        pages = self._pages
        first, last = base_offset >> _PAGE_SHIFT, last_offset >> _PAGE_SHIFT
        start = base_offset & (_PAGE_OFFSETS - 1)
        if first == last:
            page = pages.get(first)
            if page is None:
                return None
            found = bytes(page[start : start + last_offset - base_offset + 1])
        else:
            count = last_offset - base_offset + 1
            if count > _BATCH_SPAN_MAX:
                return None
            empty = bytes(_PAGE_OFFSETS)
            whole = b"".join(pages.get(number, empty) for number in range(first, last + 1))
            found = whole[start : start + count]
        return found if found.count(KEEP) < len(found) else None


def batch_is_wide(base_offset: int, last_offset: int) -> bool:
    """Whether a batch spans so many offsets that `Verdicts.of_batch` does not answer for it."""
    return last_offset - base_offset >= _BATCH_SPAN_MAX


def _prime_up_to(number: int) -> int:
    """The largest prime that is not above `number` (at least 2)."""
    while True:
        if number < 4 or (number % 2 and all(number % d for d in range(3, int(number**0.5) + 1, 2))):
            return number
        number -= 1
