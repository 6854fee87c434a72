"""DeleteShareGroupOffsets (92): a share group without members forgets topics (KIP-932). v0 only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.share_offsets import ShareOffsets
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.delete_share_group_offsets_response import (
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_share_group_offsets_request import DeleteShareGroupOffsetsRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: DeleteShareGroupOffsetsRequest
) -> Deferred[DeleteShareGroupOffsetsResponse]:
    """Each topic by itself."""
    offsets = ShareOffsets(services)
    offsets.check()
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")

    def answer(found: Any) -> DeleteShareGroupOffsetsResponse:
        return DeleteShareGroupOffsetsResponse(
            responses=[
                DeleteShareGroupOffsetsResponseTopic(
                    topic_name=name,
                    topic_id=topic_id,
                    error_code=0 if error is None else error.code,
                    error_message=None if error is None else error.text,
                )
                for name, topic_id, error in found
            ]
        )

    return offsets.delete(request.group_id, [each.topic_name for each in request.topics]).map(answer)


def error_response(
    request: DeleteShareGroupOffsetsRequest, version: int, code: ErrorCode, message: str | None
) -> DeleteShareGroupOffsetsResponse:
    """No topics."""
    return DeleteShareGroupOffsetsResponse(error_code=code, error_message=ApiError(code, message).text)
