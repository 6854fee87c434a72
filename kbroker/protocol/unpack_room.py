"""Memory that large payloads are unpacked into.

A `bytes` or `bytearray` of megabytes is filled, copied and given back while no other thread may run, and
whoever sends a bomb would have all others wait for that. What is mapped costs nothing until it is written, is
written by the libraries or piece by piece, and is given back without anybody waiting.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TypeAlias

#: Up to this size plain bytes are cheaper.
SMALL_MAX = 1024 * 1024
#: With large pages it takes a fifth of the time to fill.
_LARGE_PAGES: int | None = getattr(mmap, "MADV_HUGEPAGE", None)

#: Small ones are bytes.
Unpacked: TypeAlias = bytes | memoryview


def room(size: int) -> memoryview:
    """So many bytes to write to, all of them 0."""
    if size <= SMALL_MAX:
        return memoryview(bytearray(size))
    memory = mmap.mmap(-1, size)
    if _LARGE_PAGES is not None:
        with suppress(OSError):  # a kernel without them
            memory.madvise(_LARGE_PAGES)
    return memoryview(memory)


def filled(space: memoryview, size: int) -> Unpacked:
    """The first bytes of a `room`."""
    if size <= SMALL_MAX:
        return bytes(space[:size])
    return space[:size].toreadonly()
