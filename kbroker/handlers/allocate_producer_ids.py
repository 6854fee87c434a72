"""AllocateProducerIds: a block of ids for one broker's producers (KIP-730).

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.producer_ids import allocate_block
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: AllocateProducerIdsRequest
) -> Deferred[AllocateProducerIdsResponse]:
    """Answered when the block is committed, so that nobody else ever gets it."""
    return services.controller.append_records(
        lambda image: allocate_block(image, request.broker_id, request.broker_epoch)
    ).map(
        lambda block: AllocateProducerIdsResponse(producer_id_start=block.first, producer_id_len=block.size)
    )


def error_response(
    request: AllocateProducerIdsRequest, version: int, code: ErrorCode, message: str | None
) -> AllocateProducerIdsResponse:
    """No block."""
    return AllocateProducerIdsResponse(error_code=code)
