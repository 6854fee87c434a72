"""The clock port: everything that needs time gets one of these, or the time itself."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Where the time comes from; the simulator brings its own."""

    def now_ms(self) -> int:
        """Wall-clock milliseconds since 1970, as Kafka stamps records."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds that never run backwards, for time-outs."""
        ...
