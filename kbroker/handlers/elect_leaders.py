"""ElectLeaders: preferred or unclean leaders for partitions, or for all (KIP-183, KIP-460).

v0 preferred leaders only; v1 the type of the election; v2 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.elections import ElectionOutcome, elect_leaders
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.elect_leaders_request import ElectLeadersRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: ElectLeadersRequest
) -> ElectLeadersResponse | Deferred[ElectLeadersResponse]:
    """Answered when the new leaders are committed."""
    asked = request.topic_partitions
    if asked is not None and not asked:
        return ElectLeadersResponse()  # Whatever the time-out.
    topics = None if asked is None else [(topic.topic, topic.partitions) for topic in asked]
    rules = services.active_chores.rules
    return services.controller.append_records(
        lambda image: elect_leaders(image, rules, request.election_type, topics),
        timeout_ms=request.timeout_ms,
    ).map(_answer)


def _answer(results: list[tuple[str, list[ElectionOutcome]]]) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=name,
                partition_result=[
                    PartitionResult(partition_id=o.partition, error_code=o.code, error_message=o.message)
                    for o in outcomes
                ],
            )
            for name, outcomes in results
        ]
    )


def error_response(
    request: ElectLeadersRequest, version: int, code: ErrorCode, message: str | None
) -> ElectLeadersResponse:
    """Every partition refused alike, beside the error of the whole, which v0 has no field for."""
    results = [
        (topic.topic, [ElectionOutcome(index, code, message) for index in topic.partitions])
        for topic in request.topic_partitions or ()
    ]
    response = _answer(results)
    if version >= 1:
        response.error_code = code
    return response
