"""The timer port: one thing to ask for a call later, so that nothing below the server needs an event loop."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Protocol

from kbroker.replication.timing_wheel import TimingWheel


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


class WheelTimer:
    """A `Timer` over a timing wheel that keeps one alarm armed: for the wheel's next deadline, and none if
    idle.

    Args:
        monotonic_ms: the time; fractions count.
        arm: the event loop: (delay in ms, callback) -> handle.
    """

    __slots__ = ("_alarm", "_alarm_ms", "_arm", "_monotonic_ms", "_wheel")

    def __init__(
        self,
        monotonic_ms: Callable[[], float],
        arm: Callable[[float, Callable[[], None]], TimerHandle],
    ) -> None:
        self._monotonic_ms = monotonic_ms
        self._arm = arm
        self._wheel = TimingWheel()
        self._alarm: TimerHandle | None = None
        self._alarm_ms = inf

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> TimerHandle:
        """See `Timer.call_later`."""
        now = self._monotonic_ms()
        entry = self._wheel.add(now + max(delay_ms, 0.0), callback)
        self._rearm(now)
        return entry

    def close(self) -> None:
        """Disarm; nothing is called any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._wheel = TimingWheel()

    def _rearm(self, now: float) -> None:
        # An alarm that rings too early (its entry was cancelled) is cheaper than one that is moved all the
        # time.
        deadline = self._wheel.next_deadline_ms()
        if deadline is None or deadline >= self._alarm_ms:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_ms = deadline
        self._alarm = self._arm(max(deadline - now, 0.0), self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._alarm_ms = inf
        try:
            self._wheel.advance(self._monotonic_ms())
        finally:
            # Also when one of them fails: the others are not to wait for the next `call_later`.
            self._rearm(self._monotonic_ms())
