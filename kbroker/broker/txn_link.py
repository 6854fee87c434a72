"""Requests about transactions from broker to broker; those to this one do not leave it.

A coordinator sends WriteTxnMarkers to the leaders of partitions; a leader sends AddPartitionsToTxn to the
coordinator of a producer's transactional id.

What this broker answers later, it answers in a turn of its own. Later often means: when a follower's fetch
has shown that a record is committed, in the midst of that fetch; who appended to another partition there
and then would do so behind the back of the fetch, which is about to be parked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.protocol.primitives import Message


class TxnLink:
    """Sends to brokers by id.

    Args:
        broker_id: this broker.
    """

    def __init__(self, broker_id: int, timer: Timer) -> None:
        self.broker_id = broker_id
        self._timer = timer
        #: Sends to another broker, fails with ApiError(NETWORK_EXCEPTION); None: there is no other (yet).
        self.remote: Callable[[int, Message], Deferred[Any]] | None = None
        #: What this broker does with each kind of request; `main.py` fills it.
        self.local: Mapping[type[Message], Callable[[Any], Deferred[Any]]] = {}

    def send(self, broker_id: int, request: Message) -> Deferred[Any]:
        """The answer of that broker; fails with ApiError(NETWORK_EXCEPTION) if there is none."""
        if broker_id == self.broker_id:
            return in_own_turn(self.local[type(request)](request), self._timer)
        if self.remote is None:
            return failed(ApiError(ErrorCode.NETWORK_EXCEPTION))
        return self.remote(broker_id, request)


def in_own_turn(source: Deferred[Any], timer: Timer) -> Deferred[Any]:
    """`source`, or if it is not done yet, one that is done in a later turn of the loop than it."""
    if source.done:
        return source
    answer: Deferred[Any] = Deferred()

    def pass_on(done: Deferred[Any]) -> None:
        try:
            answer.resolve(done.result())
        except Exception as error:
            answer.fail(error)

    def wait(done: Deferred[Any]) -> None:
        timer.call_later(0, lambda: pass_on(done))

    source.then(wait)
    return answer
