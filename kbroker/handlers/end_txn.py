"""EndTxn (26): commit or abort (KIP-98).

v0 first; v1 throttling before the answer; v2 PRODUCER_FENCED (KIP-588); v3 flexible; v4 TRANSACTION_ABORTABLE
(KIP-890); v5 the producer goes on with a new epoch, which the answer names (transaction version 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.coordinator.transaction.rules import Producer
from kbroker.coordinator.transaction.state import EPOCH_BUMPS_SINCE
from kbroker.coordinator.transaction.transaction_shard import Ended
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.end_txn_response import EndTxnResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.end_txn_request import EndTxnRequest

VERSIONS = (0, 5)

_FENCED_SINCE, _BUMPS_SINCE = 2, 5


def handle(services: Services, context: RequestContext, request: EndTxnRequest) -> Deferred[EndTxnResponse]:
    """Answered once the decision is committed; the markers follow."""
    if not request.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    done = services.txns.coordinator.end(
        request.transactional_id,
        Producer(request.producer_id, request.producer_epoch),
        request.committed,
        EPOCH_BUMPS_SINCE if context.version >= _BUMPS_SINCE else 0,
    )
    return done.map(lambda result: _response(result, context.version))


def _response(result: Ended, version: int) -> EndTxnResponse:
    code = result.code
    if code is ErrorCode.PRODUCER_FENCED and version < _FENCED_SINCE:
        code = ErrorCode.INVALID_PRODUCER_EPOCH
    response = EndTxnResponse(error_code=code)
    if version >= _BUMPS_SINCE:
        response.producer_id, response.producer_epoch = result.producer
    return response


def error_response(
    request: EndTxnRequest, version: int, code: ErrorCode, message: str | None
) -> EndTxnResponse:
    """Just the code."""
    return EndTxnResponse(error_code=code)
