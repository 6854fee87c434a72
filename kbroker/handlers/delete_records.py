"""DeleteRecords (21): move the start of partitions forward (KIP-107).

Versions: 1 same as 0 · 2 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.generated.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kbroker.replication.delayed_produce import DelayedProduce

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_records_request import DeleteRecordsRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: DeleteRecordsRequest
) -> DeleteRecordsResponse | Deferred[DeleteRecordsResponse]:
    """Delete partition by partition; answered when every replica that is alive has followed.

    The answer's low watermark is the lowest start of them. Of a partition that is named twice the last offset
    counts.
    """
    wanted: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for each in topic.partitions:
            wanted.setdefault(topic.name, {})[each.partition_index] = each.offset
    deleted: list[_Deleted] = []
    topics = [
        DeleteRecordsTopicResult(
            name=name,
            partitions=[
                _partition(services, name, index, offset, deleted) for index, offset in offsets.items()
            ],
        )
        for name, offsets in wanted.items()
    ]
    if deleted:
        # Before the answer: a crash must not bring the records back.
        services.replicas.logs.checkpoint_log_starts()
    response = DeleteRecordsResponse(topics=topics)
    waiting = [each for each in deleted if each.partition.low_watermark < each.offset]
    return _when_followed(services, request, response, waiting) if waiting else response


class _Deleted(NamedTuple):
    """A partition whose leader has deleted."""

    partition: Partition
    offset: int
    answer: DeleteRecordsPartitionResult


def _partition(
    services: Services, topic: str, index: int, offset: int, deleted: list[_Deleted]
) -> DeleteRecordsPartitionResult:
    answer = DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
    try:
        partition = services.led_partition(topic, index)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        deleted.append(_Deleted(partition, partition.delete_records(offset), answer))
        answer.low_watermark = partition.low_watermark
    except ApiError as error:
        answer.error_code = error.code
    return answer


def _when_followed(
    services: Services,
    request: DeleteRecordsRequest,
    response: DeleteRecordsResponse,
    waiting: list[_Deleted],
) -> Deferred[DeleteRecordsResponse]:
    """The answer, when the replicas of all of these have followed, or when the time is over."""
    later: Deferred[DeleteRecordsResponse] = Deferred()

    def finish(errors: list[ErrorCode]) -> None:
        timeout.cancel()
        for each, code in zip(waiting, errors):
            each.answer.error_code = code
            if code is ErrorCode.NONE:
                each.answer.low_watermark = each.partition.low_watermark
        later.resolve(response)

    # Waits for offsets like a Produce with acks=all.
    delayed = DelayedProduce(len(waiting), finish)
    timeout = services.timer.call_later(max(request.timeout_ms, 0), delayed.expire)
    later.on_cancel = timeout.cancel
    for position, each in enumerate(waiting):
        each.partition.when_deleted(each.offset).then(
            lambda done, at=position: delayed.settle(at, _outcome(done))  # type: ignore[misc]
        )
    return later


def _outcome(done: Deferred[None]) -> ErrorCode:
    try:
        done.result()
    except ApiError as error:
        return error.code
    return ErrorCode.NONE
