"""OffsetForLeaderEpoch (23): where a leader epoch ended, to find out what was truncated.

Versions: 1 the epoch in the answer (KIP-279) · 2 the asker's own epoch (KIP-320) · 3 replica id · 4 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError
from kbroker.protocol.generated.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.offset_for_leader_epoch_request import (
        OffsetForLeaderEpochRequest,
        OffsetForLeaderPartition,
    )

VERSIONS = (0, 4)


def handle(
    services: Services, context: RequestContext, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    """Answer each partition by itself."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_partition(services, topic.topic, wanted) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _partition(services: Services, topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    answer = EpochEndOffset(partition=wanted.partition, leader_epoch=-1, end_offset=-1)
    try:
        log = services.led_partition(topic, wanted.partition).check_leader(wanted.current_leader_epoch)
        answer.leader_epoch, answer.end_offset = log.end_offset_for_epoch(wanted.leader_epoch)
    except ApiError as error:
        answer.error_code = error.code
    return answer
