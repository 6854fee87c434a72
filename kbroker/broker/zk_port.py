"""The port to ZooKeeper: what a node asks of it, and what it hears.

Two layers. A `ZkLink` is one session's connection as a client library gives it (server/zk_client.py over
kazoo; tests/sim/zk_model.py in simulations). `ZkClient` (zk_session.py) stands on links, one after the
other: it asks reads again after a lost connection, judges by its own clock how long a session can still be
alive, and begins a new one when it is over. Everything is called on the event loop's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, Protocol

from kbroker.controller.zookeeper.tree import ZkOp


class ZkCode(Enum):
    """Why ZooKeeper, or the way to it, refused."""

    NO_NODE = "there is no such node"
    NODE_EXISTS = "the node exists"
    BAD_VERSION = "the node has another version"
    NOT_EMPTY = "the node has children"
    NO_CHILDREN = "an ephemeral node cannot have children"
    NO_AUTH = "access denied"
    AUTH_FAILED = "ZooKeeper does not accept the login"
    CONNECTION_LOST = "the connection was lost, what became of the request is not known"
    SESSION_OVER = "the session is over"
    OTHER = "an error"


class ZkError(Exception):
    """A request failed. `operation` is the index of the one that a multi failed for."""

    def __init__(self, code: ZkCode, path: str = "", operation: int = -1, text: str = "") -> None:
        super().__init__(f"{path}: {text or code.value}" if path else text or code.value)
        self.code = code
        self.path = path
        self.operation = operation


class WatchEvent(Enum):
    """What a watch tells, once. UNSURE: the connection was lost, look again."""

    CREATED = 1
    DELETED = 2
    CHANGED = 3
    CHILDREN = 4
    UNSURE = 0


class NodeStat(NamedTuple):
    """`czxid` is the transaction that made the node, `owner` the session of an ephemeral one, else 0."""

    czxid: int
    version: int
    owner: int = 0


class ZkNode(NamedTuple):
    """A node as it was read."""

    data: bytes
    stat: NodeStat


class Get(NamedTuple):
    """Read a node -> ZkNode. NO_NODE arms no watch."""

    path: str


class Exists(NamedTuple):
    """-> NodeStat, or None; its watch also tells of the node's making."""

    path: str


class Children(NamedTuple):
    """-> the names of the children."""

    path: str


class Multi(NamedTuple):
    """All of the operations or none of them -> a result for each: the path of a Create, the NodeStat of a
    SetData, else None."""

    operations: tuple[ZkOp, ...]


ZkRequest = Get | Exists | Children | Multi
Watch = Callable[[WatchEvent], None]


class LinkEvents(Protocol):
    """Who hears of a link."""

    def connected(self, session_id: int, timeout_ms: float) -> None:
        """The session lives, with the time-out that the servers have granted."""
        ...

    def disconnected(self) -> None:
        """No server is reached; the link tries on. Watches have been told UNSURE, and requests failed."""
        ...

    def over(self, error: ZkError) -> None:
        """The servers say that the session is no more, or refuse it; nothing comes of this link again."""
        ...


class ZkLink(Protocol):
    """One session."""

    def open(self, events: LinkEvents) -> None:
        """Begin to connect; once."""
        ...

    def submit(
        self, request: ZkRequest, watch: Watch | None, done: Callable[[Any, ZkError | None], None]
    ) -> None:
        """Send a request; `done(value, error)` is called exactly once, later, and in the order of sending.

        A watch is told before the answer of any read that was asked later and already sees the change.
        """
        ...

    def close(self, then: Callable[[], None], *, abrupt: bool = False) -> None:
        """End the session, if it is reached; nothing is told any more but `then()`, when that is done.

        Abrupt, it only stops, as a killed process does: the servers wait for the session's time-out.
        """
        ...
