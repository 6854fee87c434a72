"""DeleteTopics: by name or by id.

v0 first; v1 throttle time; v2 as v1; v3 TOPIC_DELETION_DISABLED; v4 flexible; v5 error messages, throttling
error (KIP-599); v6 topic ids (KIP-516).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.topics import TopicRef, delete_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_topics_request import DeleteTopicsRequest

VERSIONS = (0, 6)


def handle(
    services: Services, context: RequestContext, request: DeleteTopicsRequest
) -> Deferred[DeleteTopicsResponse]:
    """Answered when the deletion is committed and the logs of this broker are gone."""
    if not services.config.get_bool("delete.topic.enable"):
        old = context.version < 3
        raise ApiError(ErrorCode.INVALID_REQUEST if old else ErrorCode.TOPIC_DELETION_DISABLED)
    refs = _references(request)
    mutations = services.mutations(context, strict=context.version >= 5)
    deleted = services.controller.append_records(
        lambda image: delete_topics(image, refs, mutations.charge), timeout_ms=request.timeout_ms
    )
    return deleted.map(
        lambda results: DeleteTopicsResponse(responses=results, throttle_time_ms=mutations.throttle_ms)
    )


def error_response(
    request: DeleteTopicsRequest, version: int, code: ErrorCode, message: str | None
) -> DeleteTopicsResponse:
    """Every topic refused alike."""
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(name=ref.name, topic_id=ref.id, error_code=code, error_message=message)
            for ref in dict.fromkeys(_references(request))
        ]
    )


def _references(request: DeleteTopicsRequest) -> list[TopicRef]:
    named = [TopicRef(name, ZERO_UUID) for name in request.topic_names]
    return named + [TopicRef(topic.name, topic.topic_id) for topic in request.topics]
