"""Requests that a connection sends again and again are recognised instead of parsed.

From one to the next only the correlation id and a few numbers change. They have a fixed size, so a request
whose other bytes are the same means the same, read from left to right. Where they lie is found by encoding a
parsed request twice, the second time with all their bits flipped. A few shapes a connection, each by its
length; whoever never repeats himself is looked at ever more rarely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, Generic, Protocol, TypeVar

#: Larger requests, of some 30 partitions, are not remembered.
REQUEST_BYTES_MAX = 1024
#: Lengths that one connection may have; then it begins anew.
SHAPES_MAX = 4
_PATIENCE_MAX = 1024


class Known(Protocol):
    """A request seen before."""

    #: Whether it came again since the last look.
    used: bool


K = TypeVar("K", bound=Known)


class KnownRequests(Generic[K]):
    """What one connection has sent, by length of the frame."""

    __slots__ = ("_patience", "_waits", "by_size")

    def __init__(self) -> None:
        self.by_size: dict[int, K] = {}
        self._patience = 1
        self._waits = 1

    def remember(self, size: int, look: Callable[[], K | None]) -> bool:
        """Remember what `look` makes of a request, unless remembering has not paid so far; whether it did."""
        if size > REQUEST_BYTES_MAX:
            return False
        if self._waits:
            self._waits -= 1
            return False
        known = self.by_size
        paid = any(each.used for each in known.values()) or not known
        self._patience = 1 if paid else min(self._patience * 2, _PATIENCE_MAX)
        self._waits = self._patience
        for each in known.values():
            each.used = False
        found = look()
        if found is None:
            return False
        if len(known) >= SHAPES_MAX and size not in known:
            known.clear()
        known[size] = found
        return True


def differing(body: bytes, flipped: bytes, position: int) -> list[int]:
    """Where two encodings differ, as positions in a frame whose body begins at `position`."""
    return [index for index, (a, b) in enumerate(zip(body, flipped), position) if a != b]


def pattern(frame: bytes, holes: Sequence[tuple[int, str]]) -> tuple[Any, tuple[bytes, ...]]:
    """(unpack, constants): `unpack(data, start)` has at the even places what must be `constants`, at the odd
    ones the correlation id and the numbers at `holes` (position and struct code, "i" or "q").
    """
    layout, last = ">4si", 8
    for start, code in holes:
        layout += f"{start - last}s{code}"
        last = start + (8 if code == "q" else 4)
    unpack = Struct(f"{layout}{len(frame) - last}s").unpack_from
    return unpack, unpack(frame)[::2]
