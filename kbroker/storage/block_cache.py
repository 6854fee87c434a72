"""Blocks of index files that were read lately, of all logs together, so that a look-up reads no disk."""

from __future__ import annotations

from collections import OrderedDict

#: 4 MB in blocks of 4 KB; the index of a segment of 1 GB has 512 of them.
_BLOCKS_KEPT = 1024


class BlockCache:
    """The least recently used block gives way.

    Owners are compared by identity: a file that takes another's name is another owner.
    """

    __slots__ = ("_blocks", "_kept")

    def __init__(self, kept: int = _BLOCKS_KEPT) -> None:
        self._blocks: OrderedDict[tuple[object, int], bytes] = OrderedDict()
        self._kept = kept

    def get(self, owner: object, number: int) -> bytes | None:
        """The owner's block of that number, if it is known."""
        key = owner, number
        block = self._blocks.get(key)
        if block is not None:
            self._blocks.move_to_end(key)
        return block

    def put(self, owner: object, number: int, block: bytes) -> None:
        """It was read."""
        self._blocks[owner, number] = block
        if len(self._blocks) > self._kept:
            self._blocks.popitem(last=False)

    def forget(self, owner: object, first: int, end: int) -> None:
        """The owner's blocks from `first` to before `end` have changed, or are gone."""
        for number in range(first, end):
            self._blocks.pop((owner, number), None)

    def __len__(self) -> int:
        return len(self._blocks)
