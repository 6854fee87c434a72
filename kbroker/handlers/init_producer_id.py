"""InitProducerId: an id for an idempotent producer, an epoch for a transactional one (KIP-98).

v0 first; v1 throttling before the answer; v2 flexible; v3 id and epoch of the caller (KIP-360); v4
PRODUCER_FENCED (KIP-588); v5 TRANSACTION_ABORTABLE (KIP-890). Kafka 4.4 has a version 6 for two-phase commit
(KIP-939), which it does not serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.coordinator.transaction.rules import Producer
from kbroker.coordinator.transaction.transaction_shard import Initialized
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.init_producer_id_response import InitProducerIdResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.init_producer_id_request import InitProducerIdRequest

VERSIONS = (0, 5)

_FENCED_SINCE = 4


def handle(
    services: Services, context: RequestContext, request: InitProducerIdRequest
) -> Deferred[InitProducerIdResponse]:
    """Without a transactional id it does not matter which id and epoch the caller names: it gets a new one.

    But both or neither must be named (KIP-360).
    """
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is None:
        allocated = services.controller.next_producer_id()
        return allocated.map(lambda number: InitProducerIdResponse(producer_id=number, producer_epoch=0))
    if not request.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    expected = None
    if request.producer_id != -1:
        expected = Producer(request.producer_id, request.producer_epoch)
    done = services.txns.coordinator.init_producer_id(
        request.transactional_id, request.transaction_timeout_ms, expected
    )
    return done.map(lambda result: _response(result, context.version))


def _response(result: Initialized, version: int) -> InitProducerIdResponse:
    code = result.code
    if code is ErrorCode.PRODUCER_FENCED and version < _FENCED_SINCE:
        code = ErrorCode.INVALID_PRODUCER_EPOCH
    return InitProducerIdResponse(
        error_code=code, producer_id=result.producer.producer_id, producer_epoch=result.producer.epoch
    )


def error_response(
    request: InitProducerIdRequest, version: int, code: ErrorCode, message: str | None
) -> InitProducerIdResponse:
    """No id."""
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
