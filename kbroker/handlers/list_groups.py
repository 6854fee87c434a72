"""ListGroups: the groups that this broker coordinates.

v1 throttle time; v2 throttling before the answer; v3 flexible; v4 states, and a filter by them (KIP-518); v5
types, and a filter by them (KIP-848).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.protocol.generated.list_groups_response import ListedGroup, ListGroupsResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.list_groups_request import ListGroupsRequest

VERSIONS = (0, 5)


def handle(services: Services, context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """Filters take any case; an unknown state or type fits no group. COORDINATOR_LOAD_IN_PROGRESS for the
    whole.
    """
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state,
                group_type=group.type,
            )
            for group in services.groups.list_groups()
            if (not states or group.state.lower() in states) and (not types or group.type in types)
        ]
    )


def error_response(
    request: ListGroupsRequest, version: int, code: ErrorCode, message: str | None
) -> ListGroupsResponse:
    """No groups."""
    return ListGroupsResponse(error_code=code)
