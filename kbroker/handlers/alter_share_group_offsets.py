"""AlterShareGroupOffsets (91): a share group without members begins elsewhere (KIP-932). v0 only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.share_offsets import ShareOffsets
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.alter_share_group_offsets_response import (
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.alter_share_group_offsets_request import AlterShareGroupOffsetsRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: AlterShareGroupOffsetsRequest
) -> Deferred[AlterShareGroupOffsetsResponse]:
    """The group comes into being if need be."""
    offsets = ShareOffsets(services)
    offsets.check()
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
    wanted = {
        topic.topic_name: {each.partition_index: each.start_offset for each in topic.partitions}
        for topic in request.topics
    }

    def answer(found: Any) -> AlterShareGroupOffsetsResponse:
        return AlterShareGroupOffsetsResponse(
            responses=[
                AlterShareGroupOffsetsResponseTopic(
                    topic_name=name,
                    topic_id=topic_id,
                    partitions=[_partition(index, value) for index, value in partitions],
                )
                for name, topic_id, partitions in found
            ]
        )

    return offsets.alter(request.group_id, wanted).map(answer)


def _partition(index: int, error: ApiError | None) -> AlterShareGroupOffsetsResponsePartition:
    if error is None:
        return AlterShareGroupOffsetsResponsePartition(partition_index=index)
    return AlterShareGroupOffsetsResponsePartition(
        partition_index=index, error_code=error.code, error_message=error.text
    )


def error_response(
    request: AlterShareGroupOffsetsRequest, version: int, code: ErrorCode, message: str | None
) -> AlterShareGroupOffsetsResponse:
    """No topics."""
    return AlterShareGroupOffsetsResponse(error_code=code, error_message=ApiError(code, message).text)
