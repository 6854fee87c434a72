"""DeleteRecords (21): move the start of partitions forward (KIP-107).

Versions: 1 same as 0 · 2 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.generated.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_records_request import DeleteRecordsRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: DeleteRecordsRequest
) -> DeleteRecordsResponse:
    """Delete partition by partition; the answer's low watermark is the new start.

    Of a partition that is named twice the last offset counts.
    """
    wanted: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for each in topic.partitions:
            wanted.setdefault(topic.name, {})[each.partition_index] = each.offset
    topics = [
        DeleteRecordsTopicResult(
            name=name,
            partitions=[_partition(services, name, index, offset) for index, offset in offsets.items()],
        )
        for name, offsets in wanted.items()
    ]
    if any(not answer.error_code for topic in topics for answer in topic.partitions):
        # Before the answer: a crash must not bring the records back.
        services.replicas.logs.checkpoint_log_starts()
    return DeleteRecordsResponse(topics=topics)


def _partition(services: Services, topic: str, index: int, offset: int) -> DeleteRecordsPartitionResult:
    answer = DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
    try:
        partition = services.led_partition(topic, index)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        answer.low_watermark = partition.delete_records(offset)
    except ApiError as error:
        answer.error_code = error.code
    return answer
