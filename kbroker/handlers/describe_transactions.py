"""DescribeTransactions (65): what the coordinator knows of transactional ids (KIP-664).

Versions: 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_transactions_request import DescribeTransactionsRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    """Answer each id by itself."""
    return DescribeTransactionsResponse(
        transaction_states=[_describe(services, each) for each in request.transactional_ids]
    )


def _describe(services: Services, transactional_id: str) -> TransactionState:
    answer = TransactionState(transactional_id=transactional_id)
    try:
        if not transactional_id:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        txn = services.txns.coordinator.describe(transactional_id)
    except ApiError as error:
        answer.error_code = error.code
        return answer
    answer.transaction_state = txn.state.label
    answer.transaction_timeout_ms = txn.timeout_ms
    answer.transaction_start_time_ms = txn.start_ms
    answer.producer_id, answer.producer_epoch = txn.producer_id, txn.producer_epoch
    answer.topics = [
        TopicData(topic=topic, partitions=sorted(indexes)) for topic, indexes in txn.partitions.items()
    ]
    return answer


def error_response(
    request: DescribeTransactionsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeTransactionsResponse:
    """Every id refused alike."""
    return DescribeTransactionsResponse(
        transaction_states=[
            TransactionState(error_code=code, transactional_id=each) for each in request.transactional_ids
        ]
    )
