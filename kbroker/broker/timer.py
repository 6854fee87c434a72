"""The timer port: one thing to ask for a call later, so that nothing below the server needs an event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class TimerHandle(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None:
        """Forget the call; harmless when it has been made or cancelled already."""
        ...


class Timer(Protocol):
    """Calls back on the event loop's thread; the simulator brings a virtual one."""

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> TimerHandle:
        """Call `callback()` once, `delay_ms` milliseconds from now (never from inside this call)."""
        ...
