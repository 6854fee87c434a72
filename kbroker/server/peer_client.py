"""The port to other nodes over sockets: one connection for each (address, channel), opened when first used.

A connection asks ApiVersions once, then sends what waits, pipelined. When its port refuses, everything that
waits is told at once; new requests wait for the next attempt, which comes after a pause that grows from 20 to
250 ms. Nothing is sent twice: whether a request may be repeated is for its sender to say.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import ChannelFigures, PeerAddress, PeerError, PeerFailure
from kbroker.server import peer_watch
from kbroker.server.peer_connection import PeerConnection
from kbroker.server.peer_socket import ReceiveBuffers
from kbroker.server.peer_watch import PeerWatch

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.protocol.primitives import Message
    from kbroker.server.peer_security import PeerSecurity
    from kbroker.server.runtime import BlockingRunner

#: Largest answer that is taken from a peer.
RESPONSE_BYTES_MAX = 512 * 1024 * 1024


class PeerClient:
    """All connections of this node to others; see `kbroker.broker.peer.Peers`.

    Args:
        client_id: what the peers see in the requests' headers.
        timer: for time-outs and pauses.
        routes: where to connect in place of an address.
        security: how to show oneself there.
        idle_ms: how long connections may be idle; 0 or less: for ever.
    """

    def __init__(
        self,
        client_id: str,
        timer: Timer,
        routes: Mapping[tuple[str, int], tuple[str, int]] | None = None,
        security: Callable[[PeerAddress], PeerSecurity | None] | None = None,
        idle_ms: float = 600_000.0,
    ) -> None:
        self._idle_ms = idle_ms
        self._security = security
        self._routes = routes or {}
        self._loop = asyncio.get_running_loop()
        self._client_id = client_id
        self._timer = timer
        self._buffers = ReceiveBuffers(RESPONSE_BYTES_MAX)
        self._connections: dict[tuple[PeerAddress, str], PeerConnection] = {}
        self._watches: set[PeerWatch] = set()
        self._closed = False
        self._logins: BlockingRunner | None = None
        #: By node and channel: addresses may change.
        self._figures: dict[tuple[int, str], ChannelFigures] = {}

    def send(
        self,
        address: PeerAddress,
        request: Message,
        *,
        timeout_ms: float,
        channel: str,
        version: int | None = None,
    ) -> Deferred[Any]:
        """See `Peers.send`."""
        if self._closed:
            answer: Deferred[Any] = Deferred()
            answer.fail(PeerError(PeerFailure.UNREACHABLE, address, "this node stops"))
            return answer
        connection = self._connections.get((address, channel))
        if connection is None:
            connection = self._connections[address, channel] = PeerConnection(
                self._loop,
                self._timer,
                self._routed(address),
                self._client_id,
                self._buffers,
                None if self._security is None else self._security(address),
                self._run_login,
                self._figures_of(address, channel),
            )
        return connection.send(request, timeout_ms, version)

    def close_channel(self, address: PeerAddress, channel: str) -> None:
        """See `Peers.close_channel`."""
        connection = self._connections.pop((address, channel), None)
        if connection is not None:
            connection.close()

    def watch(
        self,
        address: PeerAddress,
        on_gone: Callable[[], None],
        on_back: Callable[[], None] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> PeerWatch:
        """See `Peers.watch`."""
        watch = PeerWatch(
            self._loop,
            self._timer,
            self._routed(address),
            on_gone,
            on_back,
            on_lost,
            self._watches.discard,
            self._renewal_ms(address),
        )
        if not self._closed:
            self._watches.add(watch)
            watch.begin()
        return watch

    @property
    def figures(self) -> list[ChannelFigures]:
        """See `Peers.figures`."""
        return list(self._figures.values())

    def _figures_of(self, address: PeerAddress, channel: str) -> ChannelFigures:
        found = self._figures.get((address.node_id, channel))
        if found is None:
            found = self._figures[address.node_id, channel] = ChannelFigures(address, channel)
        return found

    def _run_login(self, work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
        if self._logins is None:
            from kbroker.server.runtime import BlockingRunner

            self._logins = BlockingRunner(self._loop, threads=1, name="peer-login")
        self._logins.run(work, done)

    def _renewal_ms(self, address: PeerAddress) -> float:
        secured = self._security is not None and self._security(address) is not None
        # Others are set as this node is, most likely.
        idle_ms = self._idle_ms if self._idle_ms > 0 else math.inf
        return min(peer_watch.RENEWAL_MS_SECURED if secured else peer_watch.RENEWAL_MS, idle_ms * 0.4)

    def _routed(self, address: PeerAddress) -> PeerAddress:
        detour = self._routes.get((address.host, address.port))
        return address if detour is None else address._replace(host=detour[0], port=detour[1])

    async def close(self) -> None:
        """Close all connections; what is under way fails with CLOSED."""
        self._closed = True
        for watch in list(self._watches):
            watch.cancel()
        connections, self._connections = list(self._connections.values()), {}
        for connection in connections:
            connection.close()
        if self._logins is not None:
            # Whom it asks may not answer.
            self._logins.close(wait=False)
        # Transports close in the loop's next turn.
        await asyncio.sleep(0)
