"""Sessions with ZooKeeper, one after the other, and how long this node may believe in one.

A client library says that a session is over when a server says so: one that is cut off hears nothing. So the
session is also judged here. A server ends it no sooner than its time-out after the last request that it
heard, and an answered request was heard after it was sent; when the newest answered one was sent a whole
time-out ago, the session counts as over, whoever is reached. To have answers to count, a small read goes out
every sixth part of the time-out.

What a session is over means: all that is under way fails with SESSION_OVER, watches are forgotten, those who
listen are told `session_over` before anything else, and a new link is opened.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_port import (
    Children,
    Exists,
    Get,
    Multi,
    NodeStat,
    Watch,
    WatchEvent,
    ZkCode,
    ZkError,
    ZkLink,
    ZkNode,
    ZkRequest,
)

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.controller.zookeeper.tree import ZkOp

_log = logging.getLogger(__name__)

#: Proofs of life in a session's time-out.
_PROOFS = 6
#: Between the end of a session and the next link.
_PAUSE_MS = 100.0
_SILENCE = "no answer for as long as its time-out"


class SessionListener(Protocol):
    """Who lives by a session."""

    def session_began(self, session_id: int) -> None:
        """A session, the first or a new one, is there."""
        ...

    def session_over(self) -> None:
        """It has to count as over: what this node held by it may be another's."""
        ...


class _Asked:
    """A request that is not answered yet."""

    __slots__ = ("answer", "request", "sent_ms", "watch")

    def __init__(self, request: ZkRequest, watch: Watch | None) -> None:
        self.request = request
        self.watch = watch
        self.answer: Deferred[Any] = Deferred()
        self.sent_ms = 0.0


class ZkClient:
    """See the module.

    Args:
        open_link: makes the link of a new session.
        session_ms: zookeeper.session.timeout.ms, as it is asked for.
    """

    def __init__(
        self, open_link: Callable[[], ZkLink], clock: Clock, timer: Timer, session_ms: float
    ) -> None:
        self._open_link = open_link
        self._clock = clock
        self._timer = timer
        self._asked_session_ms = self._session_ms = session_ms
        self._link: ZkLink | None = None
        #: Counts links: what an earlier one still says is not heard.
        self._life = 0
        self.session_id = 0
        self.connected = False
        self._proof_ms = 0.0
        self._alarm: TimerHandle | None = None
        self._proving = False
        self._under_way: dict[int, _Asked] = {}
        self._next_number = 0
        self._held: list[_Asked] = []
        self._listeners: list[SessionListener] = []
        self._closed = False
        #: Whether the chroot is there, when the newest session began.
        self.root_exists = False
        #: So many nodes are asked for at once by who reads all (zookeeper.max.in.flight.requests).
        self.at_once = 500
        #: Why no session comes about, if ZooKeeper said so; None as long as it is only not reached.
        self.refusal: ZkError | None = None

    def listen(self, listener: SessionListener) -> None:
        """Tell of sessions from now on; before `start`."""
        self._listeners.append(listener)

    def start(self) -> None:
        """Open the first link."""
        self._begin()

    def close(self, *, abrupt: bool = False) -> Deferred[None]:
        """End the session; ephemerals go at once where a server is reached, but not after an abrupt end (see
        `ZkLink`). Nobody is told any more. Resolved when it is done.
        """
        done: Deferred[None] = Deferred()
        self._closed = True
        self._disarm()
        self._life += 1
        if self._link is None:
            done.resolve(None)
        else:
            self._link.close(lambda: done.resolve(None), abrupt=abrupt)
        self._fail_all()
        return done

    @property
    def live(self) -> bool:
        """Whether no server can have ended the session yet, by this node's clock."""
        return self.session_id != 0 and self._clock.monotonic_ms() < self._proof_ms + self._session_ms

    # -- requests --------------------------------------------------------------------------------------------

    def get(self, path: str, watch: Watch | None = None) -> Deferred[ZkNode]:
        """A node; NO_NODE."""
        return self._ask(Get(path), watch)

    def exists(self, path: str, watch: Watch | None = None) -> Deferred[NodeStat | None]:
        """Whether there is a node; the watch is armed in any case."""
        return self._ask(Exists(path), watch)

    def children(self, path: str, watch: Watch | None = None) -> Deferred[list[str]]:
        """The children's names; NO_NODE."""
        return self._ask(Children(path), watch)

    def multi(self, operations: Sequence[ZkOp]) -> Deferred[list[Any]]:
        """Write, all or nothing. CONNECTION_LOST: whether it was written, who asked has to read."""
        return self._ask(Multi(tuple(operations)), None)

    def _ask(self, request: ZkRequest, watch: Watch | None) -> Deferred[Any]:
        asked = _Asked(request, watch)
        if self._closed or self.session_id == 0 or self._late():
            # Never from within the request: who asks is in the middle of something.
            self._timer.call_later(0, lambda: self._refuse(asked, ZkCode.SESSION_OVER))
        elif self.connected:
            self._send(asked)
        elif isinstance(request, Multi):
            # It was not sent, but it may be old when a server is reached again.
            self._timer.call_later(0, lambda: self._refuse(asked, ZkCode.CONNECTION_LOST))
        else:
            self._held.append(asked)
        return asked.answer

    def _refuse(self, asked: _Asked, code: ZkCode) -> None:
        if self._late():
            self._session_is_over(_SILENCE)
        asked.answer.fail(ZkError(code))

    def _send(self, asked: _Asked) -> None:
        assert self._link is not None
        number = self._next_number
        self._next_number += 1
        self._under_way[number] = asked
        asked.sent_ms = self._clock.monotonic_ms()
        life, watch = self._life, asked.watch
        on_event = None if watch is None else lambda event: self._watched(life, watch, event)
        self._link.submit(
            asked.request, on_event, lambda value, error: self._answered(life, number, value, error)
        )

    def _answered(self, life: int, number: int, value: Any, error: ZkError | None) -> None:
        if life != self._life:
            return
        asked = self._under_way.pop(number)
        lost = error is not None and error.code in (ZkCode.CONNECTION_LOST, ZkCode.SESSION_OVER)
        if self._late():
            # A process that was stopped wakes among answers of long ago.
            self._under_way[number] = asked
            self._session_is_over(_SILENCE)
            return
        if not lost:
            self._proof_ms = max(self._proof_ms, asked.sent_ms)
        if error is None:
            asked.answer.resolve(value)
        elif not lost or isinstance(asked.request, Multi):
            asked.answer.fail(error)
        elif self.connected:
            self._send(asked)
        else:
            self._held.append(asked)

    def _watched(self, life: int, watch: Watch, event: WatchEvent) -> None:
        if life == self._life and not self._closed:
            watch(event)

    # -- LinkEvents ------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._closed:
            return
        self._life += 1
        self._link = self._open_link()
        self._session_ms = self._asked_session_ms
        self._link.open(_Events(self, self._life))

    def link_connected(self, life: int, session_id: int, timeout_ms: float) -> None:
        """From `_Events`."""
        if life != self._life or self._closed:
            return
        goes_on = self.session_id != 0
        if goes_on and self._late():
            self._session_is_over(_SILENCE)
            return
        self.connected = True
        self._session_ms = min(timeout_ms, self._asked_session_ms)
        held, self._held = self._held, []
        for asked in held:
            self._send(asked)
        if goes_on:
            self._prove()
        elif not self._proving:
            # Only an answer says from when on the server counts.
            self._proving = True
            first = _Asked(Exists("/"), None)
            first.answer.then(lambda done: self._confirmed(session_id, done))
            self._send(first)

    def _confirmed(self, session_id: int, done: Deferred[Any]) -> None:
        self._proving = False
        if not done.succeeded:
            return
        self.root_exists = done.result() is not None
        if self._clock.monotonic_ms() >= self._proof_ms + self._session_ms:
            self._session_is_over(_SILENCE)
            return
        self.session_id, self.refusal = session_id, None
        self._prove()
        for listener in self._listeners:
            listener.session_began(session_id)

    def link_disconnected(self, life: int) -> None:
        """From `_Events`."""
        if life == self._life:
            self.connected = False

    def link_over(self, life: int, error: ZkError) -> None:
        """From `_Events`."""
        if life != self._life or self._closed:
            return
        self.refusal = error if error.code is not ZkCode.SESSION_OVER else None
        self._session_is_over("the servers say so" if self.refusal is None else str(error))

    # -- the session's end -----------------------------------------------------------------------------------

    def _late(self) -> bool:
        return self.session_id != 0 and not self.live

    def _prove(self) -> None:
        """Ask something small, and look again in a while."""
        self._disarm()
        if self._late():
            self._session_is_over(_SILENCE)
            return
        if self.connected and not self._proving:
            self._proving = True
            proof = _Asked(Exists("/"), None)
            proof.answer.then(self._proved)
            self._send(proof)
        left = self._proof_ms + self._session_ms - self._clock.monotonic_ms()
        self._alarm = self._timer.call_later(max(1.0, min(self._session_ms / _PROOFS, left)), self._prove)

    def _proved(self, done: Deferred[Any]) -> None:
        self._proving = False

    def _session_is_over(self, why: str) -> None:
        had_one, self.session_id = self.session_id != 0, 0
        self.connected = self._proving = False
        self._life += 1
        self._disarm()
        if had_one:
            _log.warning("the session with ZooKeeper is over: %s", why)
        link, self._link = self._link, None
        if link is not None:
            link.close(_nothing)
        if had_one:
            # First of all: nobody may act on an answer that says his request failed, and still believe.
            for listener in self._listeners:
                listener.session_over()
        self._fail_all()
        if not self._closed:
            self._timer.call_later(_PAUSE_MS, self._begin)

    def _fail_all(self) -> None:
        self.session_id, self.connected = 0, False
        under_way, self._under_way = self._under_way, {}
        held, self._held = self._held, []
        for asked in [*under_way.values(), *held]:
            asked.answer.fail(ZkError(ZkCode.SESSION_OVER))

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _nothing() -> None:
    """A link is closed that nobody uses any more."""


class _Events:
    """What one link says, with the number of its life."""

    __slots__ = ("_client", "_life")

    def __init__(self, client: ZkClient, life: int) -> None:
        self._client = client
        self._life = life

    def connected(self, session_id: int, timeout_ms: float) -> None:
        self._client.link_connected(self._life, session_id, timeout_ms)

    def disconnected(self) -> None:
        self._client.link_disconnected(self._life)

    def over(self, error: ZkError) -> None:
        self._client.link_over(self._life, error)
