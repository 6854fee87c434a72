"""Listening sockets: accept within limits, close what is idle, say one line about what goes wrong.

No task and no timer per connection: 5,000 idle ones cost their transports and slots, and one sweep.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kbroker.handlers.api_table import OWN_CLIENT
from kbroker.handlers.context import BROKER, ConnectionContext
from kbroker.metrics.traffic import ListenerStats
from kbroker.plain import made, plain
from kbroker.quotas.connections import UNLIMITED, ConnectionRates
from kbroker.quotas.windows import Windows
from kbroker.server.binding import BACKLOG, bind_sockets
from kbroker.server.connection import ConnectionCore
from kbroker.server.large_frame import FrameBuffers
from kbroker.server.quiet_log import QuietLog
from kbroker.server.transport import READ_BYTES, SocketProtocol
from kbroker.server.turns import Slices, Turns

if TYPE_CHECKING:
    from kbroker.server.anteroom import Anteroom, Listening
    from kbroker.server.frame_handler import FrameHandler
    from kbroker.server.listener_security import ListenerSecurity

_log = logging.getLogger(__name__)
#: How long closing waits for answers that are on their way.
_CLOSE_GRACE_S = 0.1


def _without_limits(listener: str) -> tuple[int, float]:
    return 2**31 - 1, UNLIMITED


@plain(kw_only=True)
class ServerLimits:
    """What one node allows its connections; the names are Kafka's, the unit comes last."""

    request_bytes_max: int = 100 * 1024 * 1024
    #: Of each socket; -1 leaves it to the system.
    send_buffer_bytes: int = 102_400
    idle_ms_max: int = 600_000
    connections_max: int = 2**31 - 1
    connections_max_per_ip: int = 2**31 - 1
    connections_max_per_ip_overrides: Mapping[str, int] = made(default_factory=dict)
    #: Connections a second.
    creation_rate: float = UNLIMITED
    #: Of one listener: connections, and connections a second.
    listener_limits: Callable[[str], tuple[int, float]] = _without_limits
    #: Brokers come in there: the limits for all listeners together do not keep them out.
    protected_listener: str = ""


@plain(frozen=True)
class Bound:
    """A listener that listens."""

    name: str
    host: str
    port: int


class SocketServer:
    """All listeners and connections of one node.

    Args:
        handler: dispatch.
        limits: see there; may be replaced while running.
        traffic: where the connections of each listener are counted.
    """

    def __init__(
        self, handler: FrameHandler, limits: ServerLimits, traffic: dict[str, ListenerStats] | None = None
    ) -> None:
        self.limits = limits
        self._handler = handler
        self._loop = asyncio.get_running_loop()
        self._traffic = {} if traffic is None else traffic
        self._servers: list[asyncio.Server | Listening] = []
        #: For those who have to log in, or to shake hands.
        self._anteroom: Anteroom | None = None
        self._connections: dict[SocketProtocol, str] = {}
        self._per_ip: dict[str, int] = {}
        self._per_listener: dict[str, int] = {}
        self._rates = ConnectionRates(Windows())
        #: Connections a second that an address may open; None: any number.
        self.address_rate: Callable[[str], float | None] = lambda _: None
        self._serial = 0
        self._sweep: asyncio.TimerHandle | None = None
        self._quiet = QuietLog(_log, self._loop.time)
        # A proactor reads ahead into the buffer, so that each connection needs its own there.
        shares = sys.platform != "win32" or isinstance(self._loop, asyncio.SelectorEventLoop)
        self._frame_buffers = FrameBuffers()
        self._turns = Turns(self._loop.call_soon, time.perf_counter)
        self._shared = memoryview(bytearray(READ_BYTES)) if shares else None

    def use_windows(self, windows: Windows) -> None:
        """Measure rates of connections by these."""
        self._rates = ConnectionRates(windows)

    @property
    def connection_count(self) -> int:
        """Open connections."""
        return len(self._connections)

    async def listen(self, name: str, host: str, port: int, protocol: str = "PLAINTEXT") -> Bound:
        """Listen on `host` (empty: all interfaces), `port` (0: any free one).

        Raises:
            ConfigError: the address cannot be used; the text names it and says why.
        """
        sockets = bind_sockets(name, host, port)
        bound = Bound(name, host, sockets[0].getsockname()[1])
        await self.listen_on(name, sockets, protocol)
        return bound

    async def listen_on(
        self,
        name: str,
        sockets: Sequence[socket.socket],
        protocol: str = "PLAINTEXT",
        role: str = BROKER,
        handler: FrameHandler | None = None,
        security: ListenerSecurity | None = None,
    ) -> None:
        """Accept from sockets that `bind_sockets` made.

        Args:
            role: the kind of listener.
            handler: for its requests, if they are not for the one of all others.
            security: of a listener that is not PLAINTEXT.
        """
        self._traffic.setdefault(name, ListenerStats())

        def make() -> SocketProtocol:
            return self._accept(name, protocol, role, handler or self._handler, security)

        anteroom = None if security is None else self._open_anteroom()
        for sock in sockets:
            if anteroom is not None:
                self._servers.append(anteroom.listen(sock, make))
            else:
                self._servers.append(await self._loop.create_server(make, sock=sock, backlog=BACKLOG))

    def _open_anteroom(self) -> Anteroom | None:
        from kbroker.server import anteroom

        if self._anteroom is None and anteroom.is_possible():
            self._anteroom = anteroom.Anteroom(self._loop, Slices(self._loop.call_soon, time.perf_counter))
        return self._anteroom

    def stop_listening(self) -> None:
        """Accept nobody any more; connections stay."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    async def close(self, *, abort: bool = False) -> None:
        """Stop listening and close every connection, after a moment for answers that are being sent.

        Args:
            abort: without that moment.
        """
        self.stop_listening()
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        deadline = self._loop.time() + _CLOSE_GRACE_S
        for protocol in () if abort else list(self._connections):
            protocol.finish()
        while self._connections and self._loop.time() < deadline and not abort:
            await asyncio.sleep(0.002)
        for protocol in list(self._connections):
            protocol.abort()
        while self._connections:
            await asyncio.sleep(0)
        if self._anteroom is not None:
            self._anteroom.close()
            self._anteroom = None

    def disconnect_clients(self, seconds: float) -> int:
        """Close what clients have open, one after the other; how many that are. Our nodes and tools stay."""
        chosen = [each for each in self._connections if each.core.context.client_software_name != OWN_CLIENT]
        for position, each in enumerate(chosen):
            self._loop.call_later(seconds * position / len(chosen), each.finish)
        return len(chosen)

    # -- connections --

    def _accept(
        self,
        name: str,
        security_protocol: str,
        role: str,
        handler: FrameHandler,
        security: ListenerSecurity | None,
    ) -> SocketProtocol:
        context = ConnectionContext(
            "", "", listener_name=name, security_protocol=security_protocol, role=role
        )
        core = ConnectionCore(context, handler, self.limits.request_bytes_max, self._frame_buffers)
        core.traffic = self._traffic[name]
        buffer = self._shared if self._shared is not None else memoryview(bytearray(READ_BYTES))
        if security is not None:
            security.guard(core, handler)
            if security.encrypted:
                from kbroker.server.tls_protocol import TlsProtocol

                return TlsProtocol(
                    self._loop,
                    core,
                    buffer,
                    self._turns,
                    self._made,
                    self._lost,
                    security.context(),
                    security.shaken,
                    security.newcomers,
                    security.early,
                    security.run_handshake,
                )
        return SocketProtocol(self._loop, core, buffer, self._turns, self._made, self._lost)

    def _made(self, protocol: SocketProtocol, transport: asyncio.Transport) -> None:
        context = protocol.core.context
        sock: socket.socket = transport.get_extra_info("socket")
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio forgets it for sockets that were made without naming the protocol.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.limits.send_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.limits.send_buffer_bytes)
        peer, local = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        address, context.client_port = (peer[0], peer[1]) if peer else ("unknown", 0)
        if local and sock.family != getattr(socket, "AF_UNIX", None):
            context.local_address, context.local_port = local[0], local[1]
        context.client_address = address = address.removeprefix("::ffff:")
        self._serial += 1
        context.connection_id = (
            f"{context.local_address}:{context.local_port}-{address}:{context.client_port}-{self._serial}"
        )
        self._connections[protocol] = address
        protocol.core.traffic.opened += 1
        protocol.core.handler.opened(context)
        self._per_ip[address] = self._per_ip.get(address, 0) + 1
        self._per_listener[context.listener_name] = self._per_listener.get(context.listener_name, 0) + 1
        problem = self._too_many(context)
        if problem is not None:
            self._refuse(protocol, problem)
            return
        self._slow_down(protocol)
        if self._sweep is None:
            self._schedule_sweep()

    def _too_many(self, context: ConnectionContext) -> str | None:
        """Why there is no room for a connection; None: there is."""
        limits, name = self.limits, context.listener_name
        own = limits.connections_max_per_ip_overrides.get(
            context.client_address, limits.connections_max_per_ip
        )
        if self._per_ip[context.client_address] > own:
            return f"more than {own} connections from this address"
        listener_max, _ = limits.listener_limits(name)
        if self._per_listener[name] > listener_max:
            return f"more than {listener_max} connections to {name}"
        if len(self._connections) > limits.connections_max and not (
            name == limits.protected_listener and self._make_room(name)
        ):
            return f"more than {limits.connections_max} connections"
        return None

    def _make_room(self, protected: str) -> bool:
        """Close the client that has been silent for longest; whether the newcomer may stay (if there is none,
        all are brokers).
        """
        others = [each for each in self._connections if each.core.context.listener_name != protected]
        if others:
            self._refuse(min(others, key=lambda each: each.last_active), "a broker needs the room")
        return bool(others) or len(self._per_listener) == 1

    def _slow_down(self, protocol: SocketProtocol) -> None:
        """Serve a connection only when its turn comes; close it then if its address opens too many."""
        limits, context = self.limits, protocol.core.context
        name, now_ms = context.listener_name, self._loop.time() * 1000
        admission = self._rates.admit_address(
            context.client_address, self.address_rate(context.client_address), now_ms
        )
        delay_ms = admission.delay_ms
        if not admission.is_refused:
            delay_ms = self._rates.admit(name, limits.listener_limits(name)[1], now_ms)
            waits_ms = self._rates.admit("", limits.creation_rate, now_ms)
            if name != limits.protected_listener:
                delay_ms = max(delay_ms, waits_ms)
        if not delay_ms:
            return
        protocol.core.muted = True
        if admission.is_refused:
            why = "too many new connections from this address"
            self._loop.call_later(delay_ms / 1000, self._refuse, protocol, why)
        else:
            self._loop.call_later(delay_ms / 1000, protocol.core.unmute)

    def _refuse(self, protocol: SocketProtocol, why: str) -> None:
        protocol.core.traffic.refused += 1
        protocol.core.close(why)
        protocol.abort()

    def _lost(self, protocol: SocketProtocol) -> None:
        address = self._connections.pop(protocol, None)
        if address is None:
            return
        protocol.core.traffic.closed += 1
        protocol.core.handler.closed(protocol.core.context)
        left = self._per_ip[address] - 1
        if left:
            self._per_ip[address] = left
        else:
            del self._per_ip[address]
        self._per_listener[protocol.core.context.listener_name] -= 1
        reason = protocol.core.close_reason
        if reason:
            context = protocol.core.context
            self._quiet.info("closed %s:%d: %s", context.client_address, context.client_port, reason)

    # -- idle connections --

    def _schedule_sweep(self) -> None:
        idle_ms = self.limits.idle_ms_max
        if idle_ms > 0:
            self._sweep = self._loop.call_later(max(idle_ms / 4000, 0.05), self._close_idle)

    def _close_idle(self) -> None:
        self._sweep = None
        oldest = self._loop.time() - self.limits.idle_ms_max / 1000
        for protocol in list(self._connections):
            if protocol.last_active < oldest and protocol.is_idle:
                protocol.core.traffic.expired += 1
                protocol.core.close("")
                protocol.abort()
        if self._connections:
            self._schedule_sweep()
