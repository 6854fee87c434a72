"""CreatePartitions: more partitions for a topic (KIP-195).

v0 first; v1 as v0; v2 flexible; v3 may answer THROTTLING_QUOTA_EXCEEDED (KIP-599).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.auto_topics import topic_rules
from kbroker.controller.topics import create_partitions
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.create_partitions_request import CreatePartitionsRequest

VERSIONS = (0, 3)


def handle(
    services: Services, context: RequestContext, request: CreatePartitionsRequest
) -> Deferred[CreatePartitionsResponse]:
    """Answered when the partitions are committed and those that this broker leads serve."""
    rules = topic_rules(services.config, services.new_uuid)
    mutations = services.mutations(context, strict=context.version >= 3)
    created = services.controller.append_records(
        lambda image: create_partitions(image, request, rules, mutations.charge),
        timeout_ms=request.timeout_ms,
    )
    return created.map(
        lambda results: CreatePartitionsResponse(results=results, throttle_time_ms=mutations.throttle_ms)
    )


def error_response(
    request: CreatePartitionsRequest, version: int, code: ErrorCode, message: str | None
) -> CreatePartitionsResponse:
    """Every topic refused alike."""
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=name, error_code=code, error_message=message) for name in names
        ]
    )
