"""DescribeQuorum (55): leader, high watermark, voters and observers of the quorum (KIP-595, KIP-836).

v0 first; v1 fetch times; v2 directory ids, messages, endpoints of the nodes (KIP-853).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.handlers.quorum_requests import answer
from kbroker.protocol.generated.describe_quorum_response import DescribeQuorumResponse

if TYPE_CHECKING:
    from kbroker.errors import ErrorCode
    from kbroker.protocol.generated.describe_quorum_request import DescribeQuorumRequest

VERSIONS = (0, 2)

handle = answer


def error_response(
    request: DescribeQuorumRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeQuorumResponse:
    """Nothing but the error."""
    return DescribeQuorumResponse(error_code=code, error_message=message)
