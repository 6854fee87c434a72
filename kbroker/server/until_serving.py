"""What comes to listeners that have to be open before this broker can serve: of a cluster in ZooKeeper.

The controller tells a broker of the cluster over the listener of clients. Until it has, a client that asked
would hear that there are no topics, and believe it: so clients wait a moment, and then are let go to another
broker, as they would be if nobody listened here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.handlers.context import ConnectionContext
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.frame_handler import Answer, FrameHandler

_PATIENCE_MS = 1000.0
#: What says which topics, brokers and coordinators there are. Everything else is refused for a moment.
_HELD = frozenset(
    {
        ApiKey.METADATA,
        ApiKey.FIND_COORDINATOR,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    }
)


class UntilServing:
    """A `FrameHandler` before another one, `inside`."""

    def __init__(self, inside: FrameHandler, timer: Timer) -> None:
        self._inside = inside
        self._timer = timer
        self._serves = False
        self._waiting: list[Callable[[], None]] = []

    def serve(self) -> None:
        """Everybody is let in."""
        self._serves = True
        waiting, self._waiting = self._waiting, []
        for go_on in waiting:
            go_on()

    def opened(self, connection: ConnectionContext) -> None:
        """See `FrameHandler`."""
        self._inside.opened(connection)

    def closed(self, connection: ConnectionContext) -> None:
        """See `FrameHandler`."""
        self._inside.closed(connection)

    def finish_batch(self, connection: ConnectionCore) -> None:
        """See `FrameHandler`."""
        self._inside.finish_batch(connection)

    def request(self, connection: ConnectionCore, frame: memoryview) -> Answer | Deferred[Answer]:
        """See `FrameHandler`."""
        if self._serves:
            if connection.handler is self:
                connection.handler = self._inside
            return self._inside.request(connection, frame)
        if int.from_bytes(frame[:2], "big") in _HELD:
            return self._held(connection, bytes(frame))
        return self._inside.request(connection, frame)

    def _held(self, connection: ConnectionCore, frame: bytes) -> Deferred[Answer]:
        answer: Deferred[Answer] = Deferred()

        def go_on() -> None:
            if answer.done:
                return
            try:
                found = self._inside.request(connection, memoryview(frame))
            except ProtocolError as error:
                answer.fail(error)
                return
            answer.become(found)

        def too_late() -> None:
            if not self._serves:
                answer.fail(ProtocolError("this broker does not serve yet"))

        self._timer.call_later(_PATIENCE_MS, too_late)
        self._waiting.append(go_on)
        return answer
