"""The sensors of everybody who has a quota, bounded: who has done nothing for an hour is forgotten.

A sensor belongs to all who share a quota (`Match.sharers`) and measures one kind of quota. There is never
more than one for them, however many connections they have.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

#: Sensors of one kind; the one longest unasked for goes when another one is needed.
SENSORS_MAX = 100_000
IDLE_MS = 3_600_000


class Sensor(Protocol):
    """What is kept."""

    used_ms: float


S = TypeVar("S", bound=Sensor)


class Sensors(Generic[S]):
    """Sensors by who shares them.

    Args:
        make: a new one, for its limit and the time.
    """

    __slots__ = ("_kept", "_limit", "_make")

    def __init__(self, make: Callable[[float, float], S], limit: int = SENSORS_MAX) -> None:
        self._limit = limit
        self._make = make
        self._kept: OrderedDict[tuple[str, str], S] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, sharers: tuple[str, str], limit: float, now_ms: float) -> S:
        """The one of these; a new one has this limit."""
        sensor = self._kept.get(sharers)
        if sensor is None:
            self.forget_idle(now_ms)
            if len(self._kept) >= self._limit:
                self._kept.popitem(last=False)
            sensor = self._kept[sharers] = self._make(limit, now_ms)
        return sensor

    def forget_idle(self, now_ms: float) -> None:
        """Forget, of those asked for longest ago, who has not been used in an hour."""
        kept = self._kept
        for _ in range(len(kept)):
            sharers, sensor = next(iter(kept.items()))
            if now_ms - sensor.used_ms <= IDLE_MS:
                kept.move_to_end(sharers)
                return
            del kept[sharers]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()

    def items(self) -> list[tuple[tuple[str, str], S]]:
        """All, for those who look."""
        return list(self._kept.items())
