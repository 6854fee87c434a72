"""AddOffsetsToTxn (25): the offsets of a group join a transaction (KIP-98).

v0 first; v1 throttling before the answer; v2 PRODUCER_FENCED (KIP-588); v3 flexible; v4 TRANSACTION_ABORTABLE
(KIP-890).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.auto_topics import GROUP_OFFSETS
from kbroker.coordinator.partitioner import partition_for
from kbroker.coordinator.transaction.rules import Producer
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.add_offsets_to_txn_response import AddOffsetsToTxnResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.add_offsets_to_txn_request import AddOffsetsToTxnRequest

VERSIONS = (0, 4)

_FENCED_SINCE = 2


def handle(
    services: Services, context: RequestContext, request: AddOffsetsToTxnRequest
) -> Deferred[AddOffsetsToTxnResponse]:
    """The partition that keeps the group joins, whether its topic exists yet or not."""
    if not request.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    topic = services.metadata.image.topics.get(GROUP_OFFSETS)
    if topic is not None:
        count = len(topic.partitions)
    else:
        count = services.config.get_int("offsets.topic.num.partitions")
    partition = partition_for(request.group_id, count)
    done = services.txns.coordinator.add_partitions(
        request.transactional_id,
        Producer(request.producer_id, request.producer_epoch),
        {GROUP_OFFSETS: frozenset({partition})},
        0,
    )
    return done.map(lambda code: AddOffsetsToTxnResponse(error_code=_as_told(code, context.version)))


def _as_told(code: ErrorCode, version: int) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED and version < _FENCED_SINCE:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def error_response(
    request: AddOffsetsToTxnRequest, version: int, code: ErrorCode, message: str | None
) -> AddOffsetsToTxnResponse:
    """Just the code."""
    return AddOffsetsToTxnResponse(error_code=code)
