"""AddPartitionsToTxn (24): partitions join a transaction before they are written to (KIP-98).

v0 first; v1 throttling before the answer; v2 PRODUCER_FENCED (KIP-588); v3 flexible; v4 several transactions,
sent by brokers, and asking without adding (KIP-890); v5 TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.txn_partitions import Codes, topic_results
from kbroker.coordinator.transaction.rules import Producer
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.add_partitions_to_txn_response import AddPartitionsToTxnResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.add_partitions_to_txn_request import AddPartitionsToTxnRequest

VERSIONS = (0, 5)

_FENCED_SINCE, _MANY_SINCE = 2, 4


def handle(
    services: Services, context: RequestContext, request: AddPartitionsToTxnRequest
) -> Deferred[AddPartitionsToTxnResponse]:
    """All partitions of a transaction join, or none."""
    if context.version >= _MANY_SINCE:
        return services.txns.partitions.add_all(request)
    topics = request.v3_and_below_topics
    producer = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
    done = services.txns.partitions.add(request.v3_and_below_transactional_id, producer, topics, 0)

    def answer(codes: Codes) -> AddPartitionsToTxnResponse:
        if context.version < _FENCED_SINCE:
            for place, code in codes.items():
                if code is ErrorCode.PRODUCER_FENCED:
                    codes[place] = ErrorCode.INVALID_PRODUCER_EPOCH
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topic_results(topics, codes))

    return done.map(answer)


def error_response(
    request: AddPartitionsToTxnRequest, version: int, code: ErrorCode, message: str | None
) -> AddPartitionsToTxnResponse:
    """Every partition refused alike."""
    if version >= _MANY_SINCE:
        return AddPartitionsToTxnResponse(error_code=code)
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=topic_results(request.v3_and_below_topics, ApiError(code))
    )
