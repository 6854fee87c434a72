"""The client's end of a socket: connects, cuts frames, and keeps the bytes of an answer in one place.

A frame that did not come whole in one read gets a buffer of its size, which the rest is read into directly.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
import socket
import sys
from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Any, cast

from kbroker.broker.peer import PeerAddress, PeerFailure

if TYPE_CHECKING:
    import ssl

_SIZE = Struct(">i")
#: More than this is read in the next turn, or into the frame's own buffer.
READ_BYTES = 64 * 1024
#: Largest buffer that is kept for the next frame.
SPARE_BYTES_MAX = 4 * 1024 * 1024
#: The system wakes us when so much of a frame is there, or its rest: one wake-up a packet costs the peer, who
#: does it while it sends, as much as us. Linux wakes in any case when the window is full.
WAKE_BYTES = 256 * 1024
_HAS_LOW_WATER = sys.platform == "linux"
#: How long one attempt may take. A first packet that was lost would be sent again after 1 s; a new attempt
#: does the same, and finds out sooner when a cut network is whole again.
CONNECT_MS_MAX = 1500
#: What an address may say beside one that refuses: the machine has no way to that kind of address.
_NO_WAY = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.ENETUNREACH})
_ERRNO = re.compile(r"\[Errno (\d+)\]")


class ReceiveBuffers:
    """What all connections of one loop share: where they read to, and a spare buffer for large frames."""

    __slots__ = ("_spare", "frame_bytes_max", "shared")

    def __init__(self, frame_bytes_max: int) -> None:
        self.frame_bytes_max = frame_bytes_max
        self.shared = memoryview(bytearray(READ_BYTES))
        self._spare: bytearray | None = None

    def take(self, size: int) -> bytearray:
        """A buffer of at least `size` bytes. The system gives memory only for what is written to it."""
        spare = self._spare
        if spare is not None and len(spare) >= size:
            self._spare = None
            # A bytearray that somebody still has a view of does not change its size.
            with contextlib.suppress(BufferError):
                spare.append(spare.pop())
                return spare
        return bytearray(size)

    def give(self, buffer: bytearray) -> None:
        """The frame in `buffer` was handled: it serves a later one, if nobody looks into it any more then."""
        if len(buffer) <= SPARE_BYTES_MAX:
            self._spare = buffer


class PeerSocket(asyncio.BufferedProtocol):
    """One connection's bytes.

    Args:
        buffers: shared.
        on_open: told when it is connected.
        on_frame: told of each frame, without its length; valid as long as somebody holds a view of it.
        on_lost: told once when it is gone.
    """

    __slots__ = (
        "_buffers",
        "_filled",
        "_frame",
        "_on_frame",
        "_on_lost",
        "_on_open",
        "_partial",
        "_plain",
        "_view",
        "_wakes_at",
        "transport",
    )

    def __init__(
        self,
        buffers: ReceiveBuffers,
        on_open: Callable[[PeerSocket], None],
        on_frame: Callable[[memoryview], None],
        on_lost: Callable[[PeerSocket, Exception | None], None],
    ) -> None:
        self.transport: asyncio.Transport | None = None
        self._buffers = buffers
        self._on_open = on_open
        self._on_frame = on_frame
        self._on_lost = on_lost
        #: Bytes of a length that is not whole yet.
        self._partial = b""
        #: The buffer of a frame that is coming in, what belongs to the frame of it, and how much is there.
        self._frame: bytearray | None = None
        self._view: memoryview | None = None
        self._filled = 0
        #: The socket, where what is read from it is what comes: TLS keeps what is no whole record yet.
        self._plain: socket.socket | None = None
        self._wakes_at = 1

    @property
    def unsent_bytes(self) -> int:
        """Written and not taken by the system yet."""
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self.transport = cast("asyncio.Transport", transport)
        sock: socket.socket = transport.get_extra_info("socket")
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if _HAS_LOW_WATER and transport.get_extra_info("ssl_object") is None:
                self._plain = sock
        self._on_open(self)

    def write(self, data: bytes | bytearray) -> None:
        """Send; nothing happens when the connection is gone."""
        if self.transport is not None:
            try:  # noqa: SIM105 - costs nothing
                self.transport.write(data)
            except RuntimeError:
                pass  # uvloop has closed it; who waits is told by a time-out

    def abort(self) -> None:
        """Close at once; no frame is given any more."""
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to."""
        return self._buffers.shared if self._view is None else self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        if self._view is None:
            self._cut(self._buffers.shared[:nbytes])
            return
        self._filled += nbytes
        self._wake_for(len(self._view) - self._filled)
        if self._filled == len(self._view):
            self._finish_frame()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self.transport = self._plain = None
        self._frame = self._view = None
        self._on_lost(self, exc)

    def _finish_frame(self) -> None:
        view, buffer = self._view, self._frame
        assert view is not None
        assert buffer is not None
        self._frame = self._view = None
        self._on_frame(view)
        view.release()
        self._buffers.give(buffer)

    def _cut(self, data: memoryview) -> None:
        """Take the frames out of what was read to the shared buffer; a frame is copied once."""
        position, total = 0, len(data)
        if self._partial:
            head = self._partial + bytes(data[: 4 - len(self._partial)])
            position = len(head) - len(self._partial)
            self._partial = b""
            if len(head) < 4:
                self._partial = head
                return
            position = self._take(_SIZE.unpack(head)[0], data, position)
        while total - position >= 4 and self.transport is not None:
            position = self._take(_SIZE.unpack_from(data, position)[0], data, position + 4)
        if position < total and self.transport is not None:
            self._partial = bytes(data[position:])

    def _take(self, size: int, data: memoryview, start: int) -> int:
        """One frame that begins at `start`; where the next one does."""
        if not 4 <= size <= self._buffers.frame_bytes_max:
            self.abort()
            return len(data)
        end = start + size
        if end <= len(data):
            self._on_frame(memoryview(bytes(data[start:end])))
            return end
        self._frame = self._buffers.take(size)
        self._view = memoryview(self._frame)[:size]
        self._filled = len(data) - start
        self._view[: self._filled] = data[start:]
        self._wake_for(size - self._filled)
        return len(data)

    def _wake_for(self, left: int) -> None:
        """So much of the frame is still to come."""
        size = min(left, WAKE_BYTES) if left >= READ_BYTES else 1
        if size != self._wakes_at and self._plain is not None:
            self._wakes_at = size
            self._plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)


async def connect(
    loop: asyncio.AbstractEventLoop,
    address: PeerAddress,
    make: Callable[[], asyncio.BaseProtocol],
    tls: ssl.SSLContext | None = None,
) -> tuple[PeerFailure, str] | None:
    """One attempt; why it failed, or None. What `make` gives has a `transport` while it is connected."""
    more: dict[str, Any] = {} if tls is None else {"ssl": tls, "server_hostname": address.host}
    made: list[asyncio.BaseProtocol] = []

    def noted() -> asyncio.BaseProtocol:
        made.append(make())
        return made[-1]

    try:
        async with asyncio.timeout(CONNECT_MS_MAX / 1000):
            await loop.create_connection(noted, address.host, address.port, **more)
    except TimeoutError as error:
        for each in made:
            if getattr(each, "transport", None) is not None:
                # On a busy machine it may be connected, and in use, just when the time is over: then it is
                # closed without a word to it.
                each.connection_lost(error)
        return PeerFailure.TIMED_OUT, f"no connection within {CONNECT_MS_MAX} ms"
    except OSError as error:
        text = error.strerror or str(error)
        if hasattr(error, "verify_message") or hasattr(error, "library"):
            # It is ssl.SSLError, which is not imported here: plain nodes have no TLS.
            return PeerFailure.NOT_TRUSTED, f"TLS: {getattr(error, 'verify_message', '') or text}"
        return (PeerFailure.REFUSED if _is_refused(error) else PeerFailure.UNREACHABLE), text
    return None


def _is_refused(error: OSError) -> bool:
    """A name with several addresses gives one error without a number; the numbers are in its text."""
    numbers = [error.errno] if error.errno is not None else [int(n) for n in _ERRNO.findall(str(error))]
    return errno.ECONNREFUSED in numbers and _NO_WAY.issuperset(set(numbers) - {errno.ECONNREFUSED})
