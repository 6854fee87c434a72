"""InitProducerId: an id of its own for an idempotent producer (KIP-98).

v0 first; v1 throttling before the answer; v2 flexible; v3 id and epoch of the caller (KIP-360); v4
PRODUCER_FENCED (KIP-588); v5 TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import no_transactions
from kbroker.protocol.generated.init_producer_id_response import InitProducerIdResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.init_producer_id_request import InitProducerIdRequest

VERSIONS = (0, 5)


def handle(
    services: Services, context: RequestContext, request: InitProducerIdRequest
) -> Deferred[InitProducerIdResponse]:
    """Without a transactional id it does not matter which id and epoch the caller names: it gets a new one.

    But both or neither must be named (KIP-360).
    """
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id == "":
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        raise no_transactions.refusal(services, context, request.transactional_id)
    allocated = services.controller.next_producer_id()
    return allocated.map(lambda number: InitProducerIdResponse(producer_id=number, producer_epoch=0))


def error_response(
    request: InitProducerIdRequest, version: int, code: ErrorCode, message: str | None
) -> InitProducerIdResponse:
    """No id."""
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
