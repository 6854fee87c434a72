"""A connection's socket while it is in the anteroom, and how it goes over to the event loop.

Sends at once what the system takes. For what it does not take, and for whoever is in and speaks, the loop's
own transport takes over; so nothing here waits for a socket that can be written to.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, cast

from kbroker.server.transport import WRITE_HIGH_WATER, SocketProtocol

if TYPE_CHECKING:
    from kbroker.server.anteroom import Anteroom


class NewcomerTransport:
    """See above; as far as `SocketProtocol` and `TlsTransport` need a transport.

    Args:
        sock: does not block.
        peer: its address.
    """

    __slots__ = (
        "_fd",
        "_is_aborted",
        "_is_closing",
        "_is_moving",
        "_is_paused",
        "_is_watched",
        "_peer",
        "_protocol",
        "_rest",
        "_room",
        "_sock",
        "_write_high",
    )

    def __init__(self, room: Anteroom, sock: socket.socket, peer: Any, protocol: SocketProtocol) -> None:
        self._room = room
        self._sock = sock
        self._fd = sock.fileno()
        self._peer = peer
        self._protocol = protocol
        #: For the loop's transport to send.
        self._rest = bytearray()
        self._write_high = WRITE_HIGH_WATER
        self._is_watched = self._is_paused = self._is_moving = False
        self._is_closing = self._is_aborted = False

    def begin(self) -> None:
        """Tell the protocol, and read from now on."""
        try:
            self._protocol.connection_made(cast("asyncio.Transport", self))
        except BaseException:
            self.abort()
            raise
        self._watch()

    # -- what a transport can do -----------------------------------------------------------------------------

    def get_extra_info(self, name: str) -> Any:
        """`socket`, `peername` or `sockname`."""
        if name == "socket":
            return self._sock
        return self._peer if name == "peername" else self._sock.getsockname()

    def set_write_buffer_limits(self, high: int) -> None:
        """See `asyncio.WriteTransport`."""
        self._write_high = high

    def get_write_buffer_size(self) -> int:
        """See `asyncio.WriteTransport`."""
        return len(self._rest)

    def is_closing(self) -> bool:
        """See `asyncio.BaseTransport`."""
        return self._is_closing

    def pause_reading(self) -> None:
        """See `asyncio.ReadTransport`."""
        self._is_paused = True
        self._unwatch()

    def resume_reading(self) -> None:
        """See `asyncio.ReadTransport`."""
        self._is_paused = False
        self._watch()

    def write(self, data: bytes) -> None:
        """Send."""
        if self._is_closing and not self._is_moving:
            return
        if self._is_moving:
            self._rest += data
            return
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self.abort()
            return
        if sent < len(data):
            self._rest += data[sent:]
            self._move()

    def close(self) -> None:
        """Close when everything is sent."""
        if self._is_closing:
            return
        self._is_closing = True
        self._unwatch()
        if not self._is_moving:
            # Not at once, as asyncio does not either; and closing takes as long as reading.
            self._room.slices.wait(self._lose)

    def abort(self) -> None:
        """Close at once."""
        self._is_aborted = True
        self.close()

    # -- the anteroom calls ----------------------------------------------------------------------------------

    def _readable(self) -> None:
        protocol = self._protocol
        was_in = not protocol.is_newcomer
        try:
            count = self._sock.recv_into(protocol.get_buffer(-1))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.abort()
            return
        try:
            if not count:
                self._unwatch()
                if not protocol.eof_received() and not self._is_closing:
                    self._is_closing = True
                    self._lose()
                return
            protocol.buffer_updated(count)
        except BaseException:
            self.abort()
            raise
        if was_in and not (self._is_paused or self._is_closing):
            self._move()

    def _watch(self) -> None:
        if not (self._is_watched or self._is_paused or self._is_moving or self._is_closing):
            self._is_watched = True
            self._room.watch(self._fd, self._readable)

    def _unwatch(self) -> None:
        if self._is_watched:
            self._is_watched = False
            self._room.unwatch(self._fd)

    def _lose(self) -> None:
        self._sock.close()
        self._protocol.connection_lost(None)

    # -- going over ------------------------------------------------------------------------------------------

    def _move(self) -> None:
        if not self._is_moving:
            self._is_moving = True
            self._unwatch()
            self._room.move(self._go_over())

    async def _go_over(self) -> None:
        try:
            await self._room.loop.connect_accepted_socket(lambda: _Arrival(self), self._sock)
        except (OSError, RuntimeError):  # uvloop has both for a transport that is gone
            # It was never there.
            self._is_closing = True
            self._lose()

    def arrived(self, transport: asyncio.Transport) -> None:
        """The loop's transport has the socket."""
        protocol, loop = self._protocol, self._room.loop
        transport.set_protocol(protocol)
        if self._is_aborted:
            loop.call_soon(transport.abort)
            return
        transport.set_write_buffer_limits(high=self._write_high)
        protocol.goes_over(transport)
        if self._rest:
            transport.write(self._rest)
            self._rest = bytearray()
        # Not now: uvloop begins to read after this call, whatever it is told in it.
        loop.call_soon(transport.close if self._is_closing else protocol.settle)


class _Arrival(asyncio.BufferedProtocol):
    """What the loop's transport is made with: it needs a protocol that has not begun."""

    def __init__(self, newcomer: NewcomerTransport) -> None:
        self._newcomer = newcomer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand the transport on."""
        self._newcomer.arrived(cast("asyncio.Transport", transport))
