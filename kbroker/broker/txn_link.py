"""Requests about transactions from broker to broker; those to this one do not leave it.

A coordinator sends WriteTxnMarkers to the leaders of partitions; a leader sends AddPartitionsToTxn to the
coordinator of a producer's transactional id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.protocol.primitives import Message


class TxnLink:
    """Sends to brokers by id.

    Args:
        broker_id: this broker.
    """

    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        #: Sends to another broker, fails with ApiError(NETWORK_EXCEPTION); None: there is no other (yet).
        self.remote: Callable[[int, Message], Deferred[Any]] | None = None
        #: What this broker does with each kind of request; `main.py` fills it.
        self.local: Mapping[type[Message], Callable[[Any], Deferred[Any]]] = {}

    def send(self, broker_id: int, request: Message) -> Deferred[Any]:
        """The answer of that broker; fails with ApiError(NETWORK_EXCEPTION) if there is none."""
        if broker_id == self.broker_id:
            return self.local[type(request)](request)
        if self.remote is None:
            return failed(ApiError(ErrorCode.NETWORK_EXCEPTION))
        return self.remote(broker_id, request)
