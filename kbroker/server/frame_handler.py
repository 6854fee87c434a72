"""What stands behind a connection: whoever takes its frames, and in which form answers come.

Dispatch is one, and so are the gates before it, for peers that have not logged in or come too early. Law of
this file: a frame is lent until `finish_batch` returns; what is needed of it for longer is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kbroker.broker.deferred import Deferred
from kbroker.storage.log_reader import FileSlice

if TYPE_CHECKING:
    from kbroker.handlers.context import ConnectionContext
    from kbroker.server.connection import ConnectionCore

Segment: TypeAlias = bytes | FileSlice
#: A complete answer with its length and header; None where the protocol wants none.
Answer: TypeAlias = bytes | list[Segment] | None
#: (connection, data, start, end of a frame without its length) -> answer, or None and nothing has happened.
FastPath: TypeAlias = Callable[[Any, memoryview, int, int], Answer | Deferred[Answer]]


class FrameHandler(Protocol):
    """What connections need from dispatch."""

    def opened(self, connection: ConnectionContext) -> None:
        """A peer is there."""
        ...

    def closed(self, connection: ConnectionContext) -> None:
        """A connection that was `opened` is over."""
        ...

    def request(self, connection: ConnectionCore, frame: memoryview) -> Answer | Deferred[Answer]:
        """Answer one request frame (without its length), now or later.

        `frame` is only valid until `finish_batch` returns.

        Raises:
            ProtocolError: the bytes are no request; the connection closes.
        """
        ...

    def finish_batch(self, connection: ConnectionCore) -> None:
        """All frames that came together were handled: make staged work true before their answers leave."""
        ...


class Parked(Protocol):
    """What everything else on a connection waits for: a `Deferred`, or who will `release` it."""

    def cancel(self) -> object:
        """The connection is gone."""
        ...
