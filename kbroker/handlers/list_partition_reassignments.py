"""ListPartitionReassignments: which partitions change their replicas now (KIP-455).

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.decision import Decision
from kbroker.controller.reassignment import OngoingReassignment, ongoing_reassignments
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.list_partition_reassignments_request import (
        ListPartitionReassignmentsRequest,
    )

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: ListPartitionReassignmentsRequest
) -> Deferred[ListPartitionReassignmentsResponse]:
    """As the active controller knows it, once that is committed.

    The request's timeout is not looked at, as in Kafka: there are clients that send 0.
    """
    topics = (
        None
        if request.topics is None
        else [(topic.name, topic.partition_indexes) for topic in request.topics]
    )
    return services.controller.append_records(
        lambda image: Decision(ongoing_reassignments(image, topics))
    ).map(_answer)


def _answer(found: list[tuple[str, list[OngoingReassignment]]]) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(
        error_message=None,
        topics=[
            OngoingTopicReassignment(
                name=name,
                partitions=[
                    OngoingPartitionReassignment(
                        partition_index=ongoing.partition,
                        replicas=list(ongoing.replicas),
                        adding_replicas=list(ongoing.adding),
                        removing_replicas=list(ongoing.removing),
                    )
                    for ongoing in partitions
                ],
            )
            for name, partitions in found
        ],
    )


def error_response(
    request: ListPartitionReassignmentsRequest, version: int, code: ErrorCode, message: str | None
) -> ListPartitionReassignmentsResponse:
    """Nothing but the error."""
    return ListPartitionReassignmentsResponse(error_code=code, error_message=message)
