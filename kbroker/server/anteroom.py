"""Where connections are served until they are in: their sockets get a slice of each turn of the event loop.

Whatever the loop itself watches, it serves in one turn as soon as it is ready: a hundred connections that
come at once are accepted, read and closed one after the other, and who is in waits for all of that. Here they
have a poll of their own (epoll, so Linux only). The loop watches that poll, takes one event after the other
from it for as long as a slice lasts (`turns.py`), and sees to all others in between. Who is in and says
something goes over to the loop (`newcomer_transport.py`).
"""

from __future__ import annotations

import asyncio
import errno
import logging
import select
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from kbroker.server.newcomer_transport import NewcomerTransport
from kbroker.server.transport import SocketProtocol
from kbroker.server.turns import Slices

#: While those that were accepted have something to say, one is accepted after so many events of theirs: a
#: login takes about as many, so that no more come in than can be served.
EVENTS_PER_ACCEPT = 4
#: Taken from the system at once; they are handled one by one.
_EVENTS_MAX = 16
#: How long nobody is accepted when there are no descriptors left (asyncio's second).
_ACCEPT_PAUSE_S = 1.0
_NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

_log = logging.getLogger(__name__)


def is_possible() -> bool:
    """Whether this system has what it takes."""
    return hasattr(select, "epoll")


class Anteroom:
    """That of one event loop.

    Args:
        slices: of the loop's turns.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, slices: Slices) -> None:
        self.loop = loop
        self.slices = slices
        self._newcomers, self._knocks = select.epoll(), select.epoll()
        self._watched: dict[int, Callable[[], None]] = {}
        #: Not handled yet: a socket may have been closed since, and its number be that of another.
        self._events: list[tuple[int, int]] = []
        self._moves: set[asyncio.Task[None]] = set()
        self._since_accept = 0
        #: Whether `_serve` will come.
        self._is_asked = False
        for poll in (self._newcomers, self._knocks):
            loop.add_reader(poll.fileno(), self._ready)

    def close(self) -> None:
        """Nobody is served any more."""
        for poll in (self._newcomers, self._knocks):
            self.loop.remove_reader(poll.fileno())
            poll.close()
        self._watched.clear()
        self._events.clear()

    def listen(self, sock: socket.socket, make: Callable[[], SocketProtocol]) -> Listening:
        """Accept from a socket that listens already."""
        return Listening(self, sock, make)

    def watch(self, fd: int, readable: Callable[[], None], *, listens: bool = False) -> None:
        """Call `readable` when there is something to read, again and again."""
        self._watched[fd] = readable
        (self._knocks if listens else self._newcomers).register(fd, select.EPOLLIN)

    def unwatch(self, fd: int, *, listens: bool = False) -> None:
        """Do not any more. More than once is fine."""
        if self._watched.pop(fd, None) is not None:
            (self._knocks if listens else self._newcomers).unregister(fd)

    def move(self, going: Coroutine[Any, Any, None]) -> None:
        """A connection goes over to the loop."""
        task = self.loop.create_task(going)
        self._moves.add(task)
        task.add_done_callback(self._moves.discard)

    def _ready(self) -> None:
        # Not at once: the loop first serves whoever else is ready.
        if not self._is_asked:
            self._is_asked = True
            self.slices.wait(self._serve)

    def _serve(self) -> None:
        """Handle one event."""
        self._is_asked = False
        fd = None if self._newcomers.closed else self._next()
        if fd is None:
            return
        self._is_asked = True
        self.slices.wait(self._serve)
        readable = self._watched.get(fd)
        if readable is not None:
            readable()

    def _next(self) -> int | None:
        if self._since_accept >= EVENTS_PER_ACCEPT:
            self._since_accept = 0
            if (knock := self._knock()) is not None:
                return knock
        if not self._events:
            self._events = self._newcomers.poll(0, _EVENTS_MAX)
            self._events.reverse()
        if self._events:
            self._since_accept += 1
            return self._events.pop()[0]
        return self._knock()

    def _knock(self) -> int | None:
        events = self._knocks.poll(0, 1)
        return events[0][0] if events else None


class Listening:
    """A socket that listens; see `asyncio.Server`, as far as it is needed."""

    def __init__(self, room: Anteroom, sock: socket.socket, make: Callable[[], SocketProtocol]) -> None:
        self._room = room
        self._sock: socket.socket | None = sock
        self._make = make
        self._watch()

    def close(self) -> None:
        """Listen no more."""
        sock, self._sock = self._sock, None
        if sock is not None:
            self._room.unwatch(sock.fileno(), listens=True)
            sock.close()

    def _watch(self) -> None:
        if self._sock is not None:
            self._room.watch(self._sock.fileno(), self._accept, listens=True)

    def _accept(self) -> None:
        if self._sock is None:
            return
        try:
            sock, peer = self._sock.accept()
        except OSError as error:
            if error.errno in _NO_ROOM:
                self._pause(error)
            return  # it has gone meanwhile
        sock.setblocking(False)
        try:
            protocol = self._make()
        except BaseException:
            sock.close()
            raise
        protocol.core.in_anteroom = True
        NewcomerTransport(self._room, sock, peer, protocol).begin()

    def _pause(self, error: OSError) -> None:
        assert self._sock is not None
        self._room.unwatch(self._sock.fileno(), listens=True)
        self._room.loop.call_later(_ACCEPT_PAUSE_S, self._watch)
        _log.warning("no connection can be accepted for a moment: %s", error)
