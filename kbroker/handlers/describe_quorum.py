"""DescribeQuorum (55): leader, high watermark, voters and observers of the quorum (KIP-595, KIP-836).

v0 first; v1 fetch times; v2 directory ids, messages, endpoints of the nodes (KIP-853).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.handlers.quorum_requests import answer
from kbroker.protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_quorum_request import DescribeQuorumRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: DescribeQuorumRequest
) -> Deferred[DescribeQuorumResponse]:
    """The core's view, without what old versions cannot say."""
    described = answer(services, context, request)
    return described if context.version >= 2 else described.map(_without_directories)


def error_response(
    request: DescribeQuorumRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeQuorumResponse:
    """Nothing but the error."""
    return DescribeQuorumResponse(error_code=code, error_message=message)


def _without_directories(response: DescribeQuorumResponse) -> DescribeQuorumResponse:
    response.nodes = []
    for topic in response.topics:
        for partition in topic.partitions:
            for replica in (*partition.current_voters, *partition.observers):
                replica.replica_directory_id = ZERO_UUID
    return response
