"""StreamsGroupTopologyDescriptionUpdate (93): members tell their topology for people to read (KIP-1331).

v0 first. Kafka keeps descriptions only with a plugin, a Java class; without one it answers as here, and never
asks members for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.streams_group_topology_description_update_response import (
    StreamsGroupTopologyDescriptionUpdateResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.streams_group_topology_description_update_request import (
        StreamsGroupTopologyDescriptionUpdateRequest,
    )

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    """Always refused."""
    services.groups.streams_rules.check()
    return StreamsGroupTopologyDescriptionUpdateResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        error_message="The broker has no streams group topology description plugin configured.",
    )


def error_response(
    request: StreamsGroupTopologyDescriptionUpdateRequest, version: int, code: ErrorCode, message: str | None
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    """The code alone."""
    return StreamsGroupTopologyDescriptionUpdateResponse(error_code=code, error_message=message)
