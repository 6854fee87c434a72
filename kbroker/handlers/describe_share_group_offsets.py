"""DescribeShareGroupOffsets (90): where share groups are in partitions (KIP-932).

v0 first; v1 the lag (KIP-1226).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import gather
from kbroker.broker.share_offsets import ShareOffsets
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.describe_share_group_offsets_response import (
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_share_group_offsets_request import (
        DescribeShareGroupOffsetsRequest,
    )

VERSIONS = (0, 1)


def handle(
    services: Services, context: RequestContext, request: DescribeShareGroupOffsetsRequest
) -> Deferred[DescribeShareGroupOffsetsResponse]:
    """Each group by itself."""
    offsets = ShareOffsets(services)
    offsets.check()
    parts = [_group(offsets, each) for each in request.groups]

    def answer(values: list[Any]) -> DescribeShareGroupOffsetsResponse:
        return DescribeShareGroupOffsetsResponse(
            groups=[
                _refused(group.group_id, value) if isinstance(value, ApiError) else value
                for group, value in zip(request.groups, values)
            ]
        )

    return gather(parts).map(answer)


def _group(offsets: ShareOffsets, wanted: Any) -> Deferred[DescribeShareGroupOffsetsResponseGroup]:
    topics = None
    if wanted.topics is not None:
        topics = [(each.topic_name, each.partitions) for each in wanted.topics]

    def answer(found: Any) -> DescribeShareGroupOffsetsResponseGroup:
        return DescribeShareGroupOffsetsResponseGroup(
            group_id=wanted.group_id,
            topics=[
                DescribeShareGroupOffsetsResponseTopic(
                    topic_name=name,
                    topic_id=topic_id,
                    partitions=[_partition(index, value) for index, value in partitions],
                )
                for name, topic_id, partitions in found
            ],
        )

    return offsets.describe(wanted.group_id, topics).map(answer)


def _partition(index: int, value: Any) -> DescribeShareGroupOffsetsResponsePartition:
    if isinstance(value, ApiError):
        return DescribeShareGroupOffsetsResponsePartition(
            partition_index=index, start_offset=-1, error_code=value.code, error_message=value.text
        )
    start, leader_epoch, lag = value
    return DescribeShareGroupOffsetsResponsePartition(
        partition_index=index, start_offset=start, leader_epoch=leader_epoch, lag=lag
    )


def _refused(group_id: str, error: ApiError) -> DescribeShareGroupOffsetsResponseGroup:
    return DescribeShareGroupOffsetsResponseGroup(
        group_id=group_id, error_code=error.code, error_message=error.text
    )


def error_response(
    request: DescribeShareGroupOffsetsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeShareGroupOffsetsResponse:
    """Every group refused alike."""
    return DescribeShareGroupOffsetsResponse(
        groups=[_refused(each.group_id, ApiError(code, message)) for each in request.groups]
    )
