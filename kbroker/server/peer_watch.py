"""Watching a node by one idle connection: it dies with the process, then the port refuses another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from kbroker.broker.peer import PeerAddress, PeerFailure
from kbroker.server.peer_socket import connect

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer, TimerHandle

#: A dying process may still accept a moment after the connection died: so many attempts come at once.
_ATTEMPTS_AT_ONCE = 3
_PAUSE_MS_MIN, _PAUSE_MS_MAX = 20.0, 1000.0
#: What it accepted then is no sign of life: a connection has to last so long.
_PROOF_MS = 50.0
#: A new connection takes the place of the old one before the node closes that as idle
#: (connections.max.idle.ms, ten minutes): else the node would be missed for a moment each time.
RENEWAL_MS = 240_000.0
#: Where a handshake or a login is awaited, which never comes (tls_protocol.py, sasl_gate.py).
RENEWAL_MS_SECURED = 10_000.0


class _IdleProtocol(asyncio.Protocol):
    """Says nothing, hears nothing, but the end."""

    def __init__(self, watch: PeerWatch) -> None:
        self._watch = watch
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._watch.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.lost(self)


class PeerWatch:
    """See `kbroker.broker.peer.Peers.watch`.

    Args:
        on_end: told when the watch is cancelled.
        renewal_ms: how old a connection gets.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        timer: Timer,
        address: PeerAddress,
        on_gone: Callable[[], None],
        on_back: Callable[[], None] | None,
        on_lost: Callable[[], None] | None,
        on_end: Callable[[PeerWatch], None],
        renewal_ms: float = RENEWAL_MS,
    ) -> None:
        self._loop = loop
        self._timer = timer
        self._address = address
        self._on_gone = on_gone
        self._on_back = on_back
        self._on_lost = on_lost
        self._on_end = on_end
        self._protocol: _IdleProtocol | None = None
        self._attempt: asyncio.Task[None] | None = None
        self._alarm: TimerHandle | None = None
        self._failures = 0
        self._cancelled = False
        #: Whether it was ever reached; a node that was not may be on its way.
        self._reached = False
        self.gone = False
        #: The connection ended, and no other one has lasted since.
        self._lost = False
        self._proof: TimerHandle | None = None
        self._renewal_ms = renewal_ms
        self._renewal = timer.call_later(renewal_ms, self._renew)

    def begin(self) -> None:
        """Connect, if that has not begun."""
        self._alarm = None
        if not self._cancelled and self._attempt is None and self._protocol is None:
            self._attempt = self._loop.create_task(self._connect())

    def cancel(self) -> None:
        """See `Watch.cancel`."""
        self._cancelled = True
        self._renewal.cancel()
        if self._attempt is not None:
            self._attempt.cancel()
        if self._alarm is not None:
            self._alarm.cancel()
        if self._proof is not None:
            self._proof.cancel()
        if self._protocol is not None and self._protocol.transport is not None:
            self._protocol.transport.abort()
        self._on_end(self)

    def opened(self, protocol: _IdleProtocol) -> None:
        """It accepts."""
        if self._cancelled:
            assert protocol.transport is not None
            protocol.transport.abort()
            return
        self._protocol = protocol

    def lost(self, protocol: _IdleProtocol) -> None:
        """The connection ended; does the port still accept?"""
        if protocol is not self._protocol:
            return
        self._protocol = None
        if self._proof is not None:
            self._proof.cancel()
            self._proof = None
        # A node that only accepts and closes, as it is full, is not lost time after time.
        if not self._failures and not self._cancelled:
            self._lost = True
            if self._on_lost is not None:
                self._on_lost()
        self._again()

    async def _connect(self) -> None:
        problem = await connect(self._loop, self._address, lambda: _IdleProtocol(self))
        self._attempt = None
        if self._cancelled:
            return
        if problem is None:
            if self._protocol is not None:
                self._reached = True
                # A connection that stays is what counts; one that ends again at once is a failure more.
                self._alarm = self._timer.call_later(_PAUSE_MS_MAX, self._calm)
            else:
                self._again()
            self.gone = False
            if self._lost and self._protocol is not None:
                self._proof = self._timer.call_later(_PROOF_MS, self._back)
            return
        self._again()
        if problem[0] is PeerFailure.REFUSED and self._reached and not self.gone:
            self.gone = True
            self._on_gone()

    def _renew(self) -> None:
        self._renewal = self._timer.call_later(self._renewal_ms, self._renew)
        if self._protocol is not None and self._attempt is None:
            self._attempt = self._loop.create_task(self._replace(self._protocol))

    async def _replace(self, old: _IdleProtocol) -> None:
        await connect(self._loop, self._address, lambda: _IdleProtocol(self))
        self._attempt = None
        if self._protocol is None:
            self._again()
        elif self._protocol is not old and old.transport is not None:
            old.transport.abort()

    def _back(self) -> None:
        self._proof = None
        self._lost = False
        if self._on_back is not None:
            self._on_back()

    def _calm(self) -> None:
        self._alarm = None
        self._failures = 0

    def _again(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._cancelled:
            return
        self._failures += 1
        late = self._failures - _ATTEMPTS_AT_ONCE
        if late <= 0 and not self.gone:
            self.begin()
            return
        pause = min(_PAUSE_MS_MIN * 2 ** min(max(late, 0), 10), _PAUSE_MS_MAX)
        self._alarm = self._timer.call_later(pause, self.begin)
