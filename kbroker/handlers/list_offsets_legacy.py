"""ListOffsets (2) version 0: where segments begin, newest first (before KIP-79).

The asker names a time and how many offsets it wants: the end of the log counts as written now, a segment as
written when its file was. Answers as Kafka 3.9 gave them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.list_offsets import EARLIEST, LATEST
from kbroker.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest
    from kbroker.storage.log import Log

VERSIONS = (0, 0)


def handle(services: Services, context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Look up each partition by itself."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[_partition(services, request, topic.name, wanted) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _partition(
    services: Services, request: ListOffsetsRequest, topic: str, wanted: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(partition_index=wanted.partition_index, old_style_offsets=[])
    try:
        partition = services.led_partition(topic, wanted.partition_index)
        offsets = _offsets_before(
            partition.online_log(), wanted.timestamp, wanted.max_num_offsets, services.clock.now_ms()
        )
        if request.replica_id < 0 and any(offset > partition.high_watermark for offset in offsets):
            offsets = [offset for offset in offsets if offset <= partition.high_watermark]
            offsets.insert(0, partition.high_watermark)
        answer.old_style_offsets = offsets
    except ApiError as error:
        answer.error_code = error.code
    return answer


def _offsets_before(log: Log, timestamp: int, count: int, now_ms: int) -> list[int]:
    """At most `count` offsets, the largest first. Raises ApiError."""
    if timestamp < EARLIEST:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    begins = [max(segment.base_offset, log.log_start_offset) for segment in log.segments]
    if log.segments.active.size > 0:
        begins.append(log.log_end_offset)
    if timestamp == LATEST:
        end = len(begins)
    elif timestamp == EARLIEST:
        end = 1
    else:
        end = _written_by(log, timestamp, now_ms, len(begins))
    found = begins[max(end - count, 0) : end] if count > 0 else []
    return sorted(found, reverse=True)


def _written_by(log: Log, timestamp: int, now_ms: int, count: int) -> int:
    """How many of the places were written at `timestamp` or before, seen from the end."""
    if count > len(log.segments) and now_ms <= timestamp:
        return count
    for index in range(len(log.segments) - 1, -1, -1):
        if _modified_ms(log, index, now_ms) <= timestamp:
            return index + 1
    return 0


def _modified_ms(log: Log, index: int, now_ms: int) -> int:
    try:
        return log.directory.disk.modified_ms(log.segments[index].path)
    except FileNotFoundError:
        return now_ms  # a segment without records may not have its file yet
    except OSError:
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from None
