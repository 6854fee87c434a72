"""Blocks of producer ids: no two producers ever share one, across brokers and restarts."""

from __future__ import annotations

from typing import NamedTuple

from kbroker.controller.decision import Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.producer_ids_record import ProducerIdsRecord

#: Ids a block (Kafka's size).
BLOCK_SIZE = 1000
_MAX_LONG = 2**63 - 1


class ProducerIdBlock(NamedTuple):
    """The ids `first` to `first + size - 1`."""

    first: int
    size: int


def allocate_block(image: ClusterImage, broker_id: int, broker_epoch: int) -> Decision[ProducerIdBlock]:
    """The next block, for this broker alone.

    Raises:
        ApiError: STALE_BROKER_EPOCH, an older incarnation asks; UNKNOWN_SERVER_ERROR, all ids are used up.
    """
    broker = image.brokers.get(broker_id)
    if broker is None or broker.epoch != broker_epoch:
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH)
    first = image.next_producer_id
    if first > _MAX_LONG - BLOCK_SIZE:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "Exhausted all producer ids.")
    record = ProducerIdsRecord(
        broker_id=broker_id, broker_epoch=broker_epoch, next_producer_id=first + BLOCK_SIZE
    )
    return Decision(ProducerIdBlock(first, BLOCK_SIZE), [record])
