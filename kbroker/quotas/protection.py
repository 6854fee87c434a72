"""When a broker has too much to do: producers are delayed, then refused, until it has recovered.

Pure: figures go in, a level comes out. Beyond the first threshold of any figure producers are delayed, beyond
the second they are refused. A level is left when every figure has been clearly better (a tenth) for a while.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

#: How much better than its threshold a figure has to be before the level is left, and for how long.
MARGIN = 0.1
CALM_MS = 5_000


class Level(IntEnum):
    """What producers get."""

    OPEN = 0
    DELAYED = 1
    REFUSED = 2


class Threshold(NamedTuple):
    """Of one figure.

    Attributes:
        delay: from here producers are delayed; None: never.
        refuse: from here they are refused; None: never.
        is_low_bad: a figure that should not be low, as free bytes.
    """

    delay: float | None
    refuse: float | None
    is_low_bad: bool = False

    def level(self, value: float, margin: float = 0.0) -> Level:
        """The level that a value alone asks for; with a margin the thresholds are stricter."""
        if self._is_beyond(value, self.refuse, margin):
            return Level.REFUSED
        return Level.DELAYED if self._is_beyond(value, self.delay, margin) else Level.OPEN

    def _is_beyond(self, value: float, threshold: float | None, margin: float) -> bool:
        if threshold is None:
            return False
        if self.is_low_bad:
            return value < threshold * (1 + margin)
        return value > threshold * (1 - margin)


class Protection:
    """The level now, and why.

    Args:
        thresholds: by the name of the figure.
    """

    def __init__(self, thresholds: Mapping[str, Threshold]) -> None:
        self.thresholds = dict(thresholds)
        self.level = Level.OPEN
        #: The figures that hold the level up.
        self.reasons: list[str] = []
        self.figures: dict[str, float] = {}
        self._calm_since_ms: float | None = None

    def look(self, figures: Mapping[str, float], now_ms: float) -> bool:
        """Take the newest figures; whether the level has changed."""
        self.figures = dict(figures)
        known = {name: value for name, value in figures.items() if name in self.thresholds}
        wanted = max(
            [self.thresholds[name].level(value) for name, value in known.items()], default=Level.OPEN
        )
        held = {name: self.thresholds[name].level(value, MARGIN) for name, value in known.items()}
        before = self.level
        if wanted > self.level:
            self.level = wanted
            self._calm_since_ms = None
        elif max(held.values(), default=Level.OPEN) >= self.level:
            self._calm_since_ms = None
        elif self._calm_since_ms is None:
            self._calm_since_ms = now_ms
        elif now_ms - self._calm_since_ms >= CALM_MS:
            self.level = max(held.values(), default=Level.OPEN)
            self._calm_since_ms = None
        self.reasons = [name for name, level in held.items() if level] if self.level else []
        return self.level != before
