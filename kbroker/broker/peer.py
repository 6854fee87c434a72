"""The port to other nodes: requests to a broker or controller by address, and a watch for its end.

`server/peer_client.py` implements it with sockets, the simulator with a seeded network.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.protocol.primitives import Message


#: `PeerAddress.security_protocol` of controllers: that of their listener, which every node knows by itself.
AS_CONTROLLER = -1


class PeerAddress(NamedTuple):
    """Where a node is reached. The id is who should be there; connections are kept by all of it."""

    node_id: int
    host: str
    port: int
    security_protocol: int = 0

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        # Of a bootstrap server only the address is known; its number is ours.
        return f"{host}:{self.port}" if self.node_id < 0 else f"node {self.node_id} at {host}:{self.port}"


class ChannelFigures:
    """What the connections of one channel to one node count."""

    __slots__ = (
        "address",
        "bytes_in",
        "bytes_out",
        "channel",
        "closed",
        "login_failures",
        "logins",
        "opened",
        "relogins",
        "requests",
        "responses",
    )

    def __init__(self, address: PeerAddress, channel: str) -> None:
        self.address = address
        self.channel = channel
        self.opened = self.closed = self.requests = self.responses = self.bytes_in = self.bytes_out = 0
        self.logins = self.login_failures = self.relogins = 0


class PeerFailure(Enum):
    """Why there is no answer."""

    #: Nobody listens on the port: the process is gone, or not there yet. The request was not sent.
    REFUSED = "refuses connections"
    #: The connection ended before the answer: the request may have been carried out.
    CLOSED = "closed the connection"
    #: No answer in time: as CLOSED.
    TIMED_OUT = "does not answer"
    #: The node has no version of this API that we have, or not the one that was demanded. Not sent.
    UNSUPPORTED_VERSION = "does not know the request"
    #: It, or this node, does not take the other one for what it says it is. Not sent.
    NOT_TRUSTED = "and this node do not trust each other"
    #: No way to the host (no route, no such name), or too much is waiting for it already. Not sent.
    UNREACHABLE = "cannot be reached"


class PeerError(Exception):
    """A request has no answer; `reason` says why."""

    def __init__(self, reason: PeerFailure, address: PeerAddress | None = None, detail: str = "") -> None:
        where = "the node" if address is None else str(address)
        super().__init__(f"{where} {reason.value}{f': {detail}' if detail else ''}")
        self.reason = reason


class Watch(Protocol):
    """A watch that goes on until it is cancelled."""

    @property
    def gone(self) -> bool:
        """Whether the node's port refuses connections, after one to it had been there."""
        ...

    def cancel(self) -> None:
        """Stop watching."""
        ...


class Peers(Protocol):
    """All other nodes. Only on the event loop's thread."""

    @property
    def figures(self) -> Collection[ChannelFigures]:
        """Of all channels that were ever used."""
        ...

    def send(
        self,
        address: PeerAddress,
        request: Message,
        *,
        timeout_ms: float,
        channel: str,
        version: int | None = None,
    ) -> Deferred[Any]:
        """The response object, decoded; fails with PeerError.

        Requests of one (address, channel) go out in order, without waiting for answers in between, and are
        answered in order: one that the peer lets wait holds up those behind it, so long polls have channels
        of their own. Bytes fields of the response are views of its frame, not copied. When one request times
        out, its connection is closed, and what waits behind it fails with CLOSED.

        Args:
            timeout_ms: from now on, connecting included.
            channel: requests of different kinds do not wait for each other: "raft", "fetch-N", "controller"…
            version: None is the highest that both sides know.
        """
        ...

    def close_channel(self, address: PeerAddress, channel: str) -> None:
        """Nobody needs that connection any more; what is under way fails with CLOSED."""
        ...

    def watch(
        self,
        address: PeerAddress,
        on_gone: Callable[[], None],
        on_back: Callable[[], None] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> Watch:
        """Hold a connection to the node, and call `on_gone` as soon as it has died and its port refuses.

        A killed process is noticed within milliseconds; a paused one, or one cut off, never (time-outs
        are for those), nor one that has never been reached. `on_lost` is called as soon as the connection has
        died, before it is known whether the port refuses; `on_back` when it accepts again after either.
        """
        ...
