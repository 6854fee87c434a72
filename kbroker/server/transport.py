"""A connection's socket: drives a `ConnectionCore` from asyncio's (or uvloop's) callbacks.

Reading goes into one buffer that all connections of a loop share, where the loop reads right after asking for
it; what is left of a frame the core copies. Small answers go through the transport. File slices go from the
file to the socket with sendfile, on a duplicate of the descriptor (asyncio and uvloop both refuse to watch
one that a transport owns), with the bytes in front of them under MSG_MORE so that they share a packet.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import cast

from kbroker.server.connection import ConnectionCore
from kbroker.server.frame_handler import Segment
from kbroker.server.turns import Turns
from kbroker.storage.log_reader import FileSlice

#: More than this is read in the next turn: large reads cost more in page faults than they save in calls.
READ_BYTES = 64 * 1024
#: Shorter slices are read and sent like other bytes: sendfile costs three times as much there.
SENDFILE_BYTES_MIN = 16 * 1024
#: Most that one sendfile call moves, so that one fast reader does not hold the loop.
SENDFILE_BYTES_MAX = 4 * 1024 * 1024
#: Unsent answer bytes of one connection before it is not served any more.
WRITE_HIGH_WATER = 256 * 1024
#: The send buffer of the system where a follower is at the other end: what it fetches leaves in one go.
FOLLOWER_BUFFER_BYTES = 2 * 1024 * 1024

_HAS_SENDFILE = hasattr(os, "sendfile")
_MSG_MORE: int = getattr(socket, "MSG_MORE", 0)


class FileGone(OSError):
    """A segment ended before its slice did: the answer cannot be completed."""


class SocketProtocol(asyncio.BufferedProtocol):
    """The driver of one connection.

    Args:
        loop: the running loop.
        core: the connection.
        buffer: where reads go.
        turns: where connections wait to go on.
        on_made: told when the socket is there; may abort it.
        on_lost: told once when the socket is gone.
        encrypted: TLS: bytes have to pass through the transport.
    """

    __slots__ = (
        "_blocked_s",
        "_buffer",
        "_direct",
        "_draining",
        "_eof",
        "_loop",
        "_on_lost",
        "_on_made",
        "_paused",
        "_proceeding",
        "_queue",
        "_target",
        "_transport",
        "_turns",
        "_use_sendfile",
        "_watching",
        "core",
        "last_active",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        core: ConnectionCore,
        buffer: memoryview,
        turns: Turns,
        on_made: Callable[[SocketProtocol, asyncio.Transport], None],
        on_lost: Callable[[SocketProtocol], None],
        encrypted: bool = False,
    ) -> None:
        self.core = core
        self.last_active = loop.time()
        self._loop = loop
        self._buffer = buffer
        self._turns = turns
        self._on_made = on_made
        self._on_lost = on_lost
        self._use_sendfile = _HAS_SENDFILE and not encrypted
        self._transport: asyncio.Transport | None = None
        #: Our duplicate of the socket, from the first sendfile on.
        self._direct: socket.socket | None = None
        self._queue: deque[Segment] | None = None
        #: What the loop reads into, if it is a large frame's own buffer.
        self._target: memoryview | None = None
        #: Since when the peer has not read what was sent; 0: it has.
        self._blocked_s = 0.0
        self._watching = False
        self._draining = False
        self._paused = False
        self._proceeding = False
        self._eof = False

    # -- the loop calls --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is ours."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=WRITE_HIGH_WATER)
        self.core.on_output = self._after
        self.core.send_alone = self._send_alone
        self._on_made(self, self._transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to."""
        if self.core.large is None:
            return self._buffer
        target = self._target = self.core.read_target()
        return self._buffer if target is None else target

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        self.last_active = self._loop.time()
        if self._target is None:
            self.core.feed(self._buffer[:nbytes])
        else:
            self._target = None
            self.core.filled(nbytes)
        self._after()

    def eof_received(self) -> bool:
        """The peer sends no more; what it asked is still answered."""
        self._eof = True
        return self.core.is_busy or bool(self._queue)

    def pause_writing(self) -> None:
        """The peer does not read fast enough."""
        self.core.write_blocked = True
        self._blocked_s = self._blocked_s or self._loop.time()

    def resume_writing(self) -> None:
        """It does again."""
        if self._draining:
            self._draining = False
            assert self._transport is not None
            self._transport.set_write_buffer_limits(high=WRITE_HIGH_WATER)
        if self._queue:
            self._send_queue()
        else:
            self.core.write_blocked = False
        self._note_sent()
        self._after()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self.core.abandon()
        self._queue = None
        if self._direct is not None:
            if self._watching:
                self._loop.remove_writer(self._direct.fileno())
            self._direct.close()
            self._direct = None
        self._transport = None
        self._on_lost(self)

    # -- the anteroom calls --

    @property
    def is_newcomer(self) -> bool:
        """Whether it is not in yet."""
        return self.core.is_newcomer

    def goes_over(self, transport: asyncio.Transport) -> None:
        """Its socket is another transport's from now on."""
        self.core.in_anteroom = False
        self._transport = transport

    def settle(self) -> None:
        """That transport has begun, and knows nothing of what the one before was told."""
        transport = self._transport
        if transport is None:
            return
        if self._paused:
            transport.pause_reading()
        if self._draining and not transport.get_write_buffer_size():
            self.resume_writing()

    # -- the listener calls --

    @property
    def is_idle(self) -> bool:
        """Nothing is under way, or the peer has gone silent after sending its last byte."""
        return self._eof or self.core.muted or not (self.core.is_busy or self._queue)

    def finish(self) -> None:
        """Close once what is being sent has been sent; parked requests get no answer."""
        self.core.close("")
        self._after()

    def abort(self) -> None:
        """Close at once, whatever is unsent."""
        if self._transport is not None:
            self._transport.abort()

    # -- inside --

    def _after(self) -> None:
        """Write what there is, then decide about reading, going on and closing."""
        core, transport = self.core, self._transport
        if transport is None:
            return
        if core.out:
            self._write(transport)
        if core.close_reason is not None or (self._eof and not core.is_busy):
            if not self._queue:
                transport.close()
            return
        if not (self._paused or core.has_kept):
            return
        if core.wants_pause:
            if not self._paused:
                self._paused = True
                transport.pause_reading()
        elif self._paused:
            self._paused = False
            transport.resume_reading()
        if core.may_proceed and not self._proceeding:
            self._proceeding = True
            self._turns.wait(self._proceed)

    def _send_alone(self, answer: bytes) -> None:
        """Write an answer that came by itself; see `_after`."""
        core, transport = self.core, self._transport
        if transport is None:
            return
        if self._queue:
            core.out.append(answer)
            core.out_bytes += len(answer)
            self._after()
            return
        transport.write(answer)
        core.traffic.bytes_out += len(answer)
        if core.has_kept or self._paused or self._eof or core.close_reason is not None:
            self._after()

    def _proceed(self) -> None:
        self._proceeding = False
        self.core.proceed()
        self._after()

    def _write(self, transport: asyncio.Transport) -> None:
        core = self.core
        if not (core.has_files or self._queue):
            transport.write(core.take_bytes())
            return
        out = core.take_output()
        if self._queue is None:
            self._queue = deque(out)
        else:
            self._queue += out
        if not self._watching and not self._draining:
            self._send_queue()

    def _send_queue(self) -> None:
        transport, queue = self._transport, self._queue
        if transport is None or not queue:
            return
        try:
            if not self._use_sendfile:
                self._send_chunks(transport, queue)
            elif transport.get_write_buffer_size() > 0:
                # Bytes written before must leave first: resume_writing tells when they have.
                self._draining = self.core.write_blocked = True
                transport.set_write_buffer_limits(high=0)
            else:
                self._send_directly(transport, queue)
        except OSError as error:
            self.core.close("" if isinstance(error, ConnectionError) else f"cannot send: {error}")
            self._queue = None
            transport.abort()

    def _send_chunks(self, transport: asyncio.Transport, queue: deque[Segment]) -> None:
        self.core.write_blocked = False
        while queue and not self.core.write_blocked:
            head = queue.popleft()
            if isinstance(head, bytes):
                transport.write(head)
                continue
            transport.write(_read_slice(head))
        if queue:
            self.core.write_blocked = True

    def _send_directly(self, transport: asyncio.Transport, queue: deque[Segment]) -> None:
        sock = self._direct
        if sock is None:
            sock = self._direct = _duplicate(transport)
            if self.core.is_follower:
                _widen(sock)
        fd = sock.fileno()
        try:
            while queue:
                head = queue[0]
                if isinstance(head, bytes) or head.length < SENDFILE_BYTES_MIN:
                    _send_small(sock, queue)
                    continue
                file, position, length = head
                sent = os.sendfile(fd, file.fileno(), position, min(length, SENDFILE_BYTES_MAX))
                if sent == length:
                    del queue[0]
                elif sent:
                    queue[0] = FileSlice(file, position + sent, length - sent)
                else:
                    raise FileGone("a segment was cut while it was being sent")
        except (BlockingIOError, InterruptedError):
            self.core.write_blocked = True
            self._blocked_s = self._blocked_s or self._loop.time()
            if not self._watching:
                self._watching = True
                self._loop.add_writer(fd, self._writable)
            return
        self.core.write_blocked = False
        if self._watching:
            self._watching = False
            self._loop.remove_writer(fd)

    def _writable(self) -> None:
        self.last_active = self._loop.time()
        self._send_queue()
        self._note_sent()
        self._after()

    def _note_sent(self) -> None:
        """For the metrics: how long the newest answer took to leave."""
        if self._blocked_s and not self.core.write_blocked:
            if self.core.answered is not None:
                self.core.answered.sent(int((self._loop.time() - self._blocked_s) * 1e6))
            self._blocked_s = 0.0


def _duplicate(transport: asyncio.Transport) -> socket.socket:
    original = transport.get_extra_info("socket")
    duplicate = socket.socket(
        original.family, original.type, original.proto, fileno=os.dup(original.fileno())
    )
    duplicate.setblocking(False)
    return duplicate


def _widen(sock: socket.socket) -> None:
    """Slices wait in the send buffer as references to the page cache: its size costs no memory."""
    if sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < FOLLOWER_BUFFER_BYTES:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, FOLLOWER_BUFFER_BYTES)


def _read_slice(part: FileSlice) -> bytes:
    data = part.read()
    if len(data) != part.length:
        raise FileGone("a segment was cut while it was being sent")
    return data


def _send_small(sock: socket.socket, queue: deque[Segment]) -> None:
    """Send the leading bytes and short slices of `queue` as one; what is not taken goes back to its front."""
    pieces = [_take_small(queue.popleft())]
    while queue and (isinstance(head := queue[0], bytes) or head.length < SENDFILE_BYTES_MIN):
        pieces.append(_take_small(queue.popleft()))
    data = b"".join(pieces)
    sent = 0
    try:
        sent = sock.send(data, _MSG_MORE if queue else 0)
    finally:
        if sent < len(data):
            queue.appendleft(data[sent:])


def _take_small(part: Segment) -> bytes:
    return part if isinstance(part, bytes) else _read_slice(part)
