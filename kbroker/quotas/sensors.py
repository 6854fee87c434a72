"""The rates of everybody who has a quota, bounded: who has done nothing for an hour is forgotten.

A sensor belongs to all who share a quota (`Match.sharers`) and measures one kind of quota. There is never
more than one for them, however many connections they have.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

#: Sensors of one kind; the one longest unused goes when another one is needed.
SENSORS_MAX = 100_000
IDLE_MS = 3_600_000

S = TypeVar("S")


class Sensors(Generic[S]):
    """Sensors by who shares them.

    Args:
        make: a new one, for the time.
    """

    __slots__ = ("_kept", "_make", "limit")

    def __init__(self, make: Callable[[float], S], limit: int = SENSORS_MAX) -> None:
        self.limit = limit
        self._make = make
        #: [sensor, when it was asked for], the longest unused first.
        self._kept: OrderedDict[tuple[str, str], list[object]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, sharers: tuple[str, str], now_ms: float) -> S:
        """The one of these."""
        kept = self._kept
        entry = kept.get(sharers)
        if entry is None:
            while kept and (len(kept) >= self.limit or self._is_stale(now_ms)):
                kept.popitem(last=False)
            entry = kept[sharers] = [self._make(now_ms), now_ms]
        else:
            entry[1] = now_ms
            kept.move_to_end(sharers)
        return entry[0]  # type: ignore[return-value]

    def forget_idle(self, now_ms: float) -> None:
        """Forget who has not been asked for in an hour."""
        while self._kept and self._is_stale(now_ms):
            self._kept.popitem(last=False)

    def items(self) -> list[tuple[tuple[str, str], S]]:
        """All, for those who look."""
        return [(sharers, entry[0]) for sharers, entry in self._kept.items()]  # type: ignore[misc]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()

    def _is_stale(self, now_ms: float) -> bool:
        oldest: float = next(iter(self._kept.values()))[1]  # type: ignore[assignment]
        return now_ms - oldest > IDLE_MS
