"""AlterPartitionReassignments: other replicas for partitions, or calling that off (KIP-455).

v0 first; v1 may insist on the number of replicas (KIP-860).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.reassignment import Reassignment, ReassignmentOutcome, alter_reassignments
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.alter_partition_reassignments_request import (
        AlterPartitionReassignmentsRequest,
    )

VERSIONS = (0, 1)


def handle(
    services: Services, context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> Deferred[AlterPartitionReassignmentsResponse]:
    """Answered when the reassignments have begun; they end when the new replicas are in sync."""
    items = [
        Reassignment(topic.name, partition.partition_index, partition.replicas)
        for topic in request.topics
        for partition in topic.partitions
    ]
    rules = services.active_chores.rules

    def answer(outcomes: list[ReassignmentOutcome]) -> AlterPartitionReassignmentsResponse:
        return _response(request, outcomes)

    return services.controller.append_records(
        lambda image: alter_reassignments(
            image, items, rules, may_change_factor=request.allow_replication_factor_change
        ),
        timeout_ms=request.timeout_ms,
    ).map(answer)


def _response(
    request: AlterPartitionReassignmentsRequest, outcomes: list[ReassignmentOutcome]
) -> AlterPartitionReassignmentsResponse:
    left = iter(outcomes)
    return AlterPartitionReassignmentsResponse(
        # Where nothing was asked for, Kafka answers with what stands in every field before it is filled.
        allow_replication_factor_change=request.allow_replication_factor_change or not request.topics,
        error_message=None if request.topics else "",
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[_partition(p.partition_index, next(left)) for p in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _partition(index: int, outcome: ReassignmentOutcome) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=index, error_code=outcome.code, error_message=outcome.message
    )


def error_response(
    request: AlterPartitionReassignmentsRequest, version: int, code: ErrorCode, message: str | None
) -> AlterPartitionReassignmentsResponse:
    """Every partition refused alike, beside the error of the whole."""
    outcomes = [ReassignmentOutcome(code, message) for topic in request.topics for _ in topic.partitions]
    response = _response(request, outcomes)
    response.error_code, response.error_message = code, message
    return response
