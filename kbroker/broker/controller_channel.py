"""Requests to the active controller, whichever node that is: over a socket, or within this process.

A request that meets a node which is no controller (any more), or no node at all, is sent again, to whoever
leads by then, until its time is over; like Kafka's channel it may so be carried out twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerAddress, PeerError, PeerFailure, Peers
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.protocol.primitives import Message

#: The pause before the next attempt, doubling; a new leader ends it at once.
PAUSE_MS_MIN, PAUSE_MS_MAX = 20.0, 200.0
#: How long one attempt may take; a leader that is found out to be none ends it at once.
ATTEMPT_MS_MAX = 30_000.0


class _Ask:
    """One request on its way."""

    __slots__ = (
        "alone_since_ms",
        "answer",
        "channel",
        "deadline_ms",
        "pause",
        "pause_ms",
        "request",
        "timeout",
    )

    def __init__(self, request: Message, channel: str, deadline_ms: float) -> None:
        self.request = request
        self.channel = channel
        self.deadline_ms = deadline_ms
        self.answer: Deferred[Any] = Deferred()
        self.pause_ms = PAUSE_MS_MIN
        self.timeout: TimerHandle | None = None
        #: Since when no controller is known.
        self.alone_since_ms: float | None = None
        #: Runs while it waits for its next attempt.
        self.pause: TimerHandle | None = None


class ControllerChannel:
    """See the module.

    Args:
        node_id: this node.
        peers: to the others.
        find: where the active controller is as far as this node knows; None: it does not.
        ask_here: asks this node itself, if it is the controller; the answer, or ApiError.
    """

    def __init__(
        self,
        node_id: int,
        peers: Peers,
        clock: Clock,
        timer: Timer,
        find: Callable[[], PeerAddress | None],
        ask_here: Callable[[Message], Deferred[Any]],
    ) -> None:
        self._node_id = node_id
        self._peers = peers
        self._clock = clock
        self._timer = timer
        self._find = find
        self._ask_here = ask_here
        self._leader: PeerAddress | None = None
        self._channels: dict[str, None] = {}
        self._waiting: dict[_Ask, None] = {}
        self._closed = False
        #: How long a request waits while no controller is known, if its own time is longer; and what its
        #: sender is then told.
        self.patience_ms = math.inf
        self.why_nobody: Callable[[], str | None] = _not_said
        #: The controller that refuses connections, as it is gone and no other one elected.
        self._refusing: PeerAddress | None = None

    def send(self, request: Message, timeout_ms: float, *, channel: str = "controller") -> Deferred[Any]:
        """The controller's answer.

        It fails with ApiError: REQUEST_TIMED_OUT, no controller answered in time; UNSUPPORTED_VERSION, it
        does not know the request; or what this node's own controller raised.

        Args:
            channel: requests of one channel wait for each other at the controller.
        """
        ask = _Ask(request, channel, self._clock.monotonic_ms() + timeout_ms)
        if self._closed:
            ask.answer.fail(ApiError(ErrorCode.NOT_CONTROLLER, "This node stops."))
            return ask.answer
        ask.timeout = self._timer.call_later(timeout_ms, lambda: self._too_late(ask))
        self._channels[channel] = None
        self._attempt(ask)
        return ask.answer

    @property
    def knows_controller(self) -> bool:
        """Whether there is one that can be reached, as far as this node knows."""
        found = self._find()
        return found is not None and found != self._refusing

    def leader_changed(self) -> None:
        """The active controller is another one: what waits goes there now, what is at the old one follows."""
        old, self._leader = self._leader, self._find()
        if old is not None and old != self._leader and old.node_id != self._node_id:
            for channel in self._channels:
                self._peers.close_channel(old, channel)
        if self._leader is not None:
            waiting, self._waiting = self._waiting, {}
            for ask in waiting:
                _stop(ask)
                ask.pause_ms = PAUSE_MS_MIN
                self._attempt(ask)

    def close(self) -> None:
        """Nothing is sent any more; what waits fails."""
        self._closed = True
        waiting, self._waiting = self._waiting, {}
        for ask in waiting:
            self._finish(ask, ApiError(ErrorCode.NOT_CONTROLLER, "This node stops."))

    def _attempt(self, ask: _Ask) -> None:
        if ask.answer.done:
            return
        address = self._leader = self._find()
        if address is None:
            now_ms = self._clock.monotonic_ms()
            if ask.alone_since_ms is None:
                ask.alone_since_ms = now_ms
            if now_ms - ask.alone_since_ms < self.patience_ms:
                self._again_later(ask)
            else:
                self._too_late(ask)
            return
        ask.alone_since_ms = None
        if address.node_id == self._node_id:
            self._ask_here(ask.request).then(lambda done: self._answered(ask, done))
        else:
            left = ask.deadline_ms - self._clock.monotonic_ms()
            self._peers.send(
                address, ask.request, timeout_ms=max(min(left, ATTEMPT_MS_MAX), 1.0), channel=ask.channel
            ).then(lambda done: self._answered(ask, done))

    def _answered(self, ask: _Ask, done: Deferred[Any]) -> None:
        self._refusing = None
        try:
            response = done.result()
        except PeerError as error:
            if error.reason is PeerFailure.REFUSED:
                self._refusing = self._leader
            if error.reason is PeerFailure.UNSUPPORTED_VERSION:
                self._finish(ask, ApiError(ErrorCode.UNSUPPORTED_VERSION, str(error)))
            else:
                self._again_later(ask)
            return
        except ApiError as error:
            if error.code is ErrorCode.NOT_CONTROLLER:
                self._again_later(ask)
            else:
                self._finish(ask, error)
            return
        if getattr(response, "error_code", 0) == ErrorCode.NOT_CONTROLLER:
            self._again_later(ask)
            return
        _stop(ask, for_good=True)
        ask.answer.resolve(response)

    def _again_later(self, ask: _Ask) -> None:
        if ask.answer.done:
            return
        if self._closed:
            self._finish(ask, ApiError(ErrorCode.NOT_CONTROLLER, "This node stops."))
            return
        self._waiting[ask] = None
        ask.pause = self._timer.call_later(ask.pause_ms, lambda: self._pause_over(ask))
        ask.pause_ms = min(ask.pause_ms * 2, PAUSE_MS_MAX)

    def _pause_over(self, ask: _Ask) -> None:
        self._waiting.pop(ask, None)
        self._attempt(ask)

    def _too_late(self, ask: _Ask) -> None:
        self._waiting.pop(ask, None)
        self._finish(ask, ApiError(ErrorCode.REQUEST_TIMED_OUT, self.why_nobody()))

    def _finish(self, ask: _Ask, error: ApiError) -> None:
        _stop(ask, for_good=True)
        ask.answer.fail(error)


def _stop(ask: _Ask, *, for_good: bool = False) -> None:
    """End its pause, and its time-out; forgotten as well, they know the request (a circle)."""
    pause, ask.pause = ask.pause, None
    if pause is not None:
        pause.cancel()
    if for_good:
        timeout, ask.timeout = ask.timeout, None
        if timeout is not None:
            timeout.cancel()


def _not_said() -> str | None:
    return None
