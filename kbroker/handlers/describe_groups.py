"""DescribeGroups: state and members of classic groups.

v1 throttle time; v2 throttling before the answer; v3 authorized operations (KIP-430); v4 group instance ids
(KIP-345); v5 flexible; v6 an error and a message for a group that does not exist (KIP-1043).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.coordinator.group.classic import ClassicGroup, State
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.protocol.generated.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_groups_request import DescribeGroupsRequest

VERSIONS = (0, 6)
#: A group costs 5 µs.
ELEMENTS_MAX = 60_000

_NOT_FOUND_SINCE = 6


def handle(
    services: Services, context: RequestContext, request: DescribeGroupsRequest
) -> DescribeGroupsResponse:
    """One answer for each name, in the order asked."""
    return DescribeGroupsResponse(
        groups=[
            _describe(services, context.version, group_id, request.include_authorized_operations)
            for group_id in request.groups
        ]
    )


def _describe(services: Services, version: int, group_id: str, operations: bool) -> DescribedGroup:
    try:
        group = services.groups.group(group_id)
    except ApiError as error:
        return _refused(group_id, error.code, version)
    if not isinstance(group, ClassicGroup):
        described = DescribedGroup(group_id=group_id, group_state=State.DEAD.value)
        if version >= _NOT_FOUND_SINCE:
            described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            why = "not found" if group is None else "is not a classic group"
            described.error_message = f"Group {group_id} {why}."
        elif operations:
            described.authorized_operations = allowed_operations.GROUP
        return described
    stable = group.state is State.STABLE
    described = DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type_name,
        protocol_data=(group.protocol or "") if stable else "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.protocols.get(group.protocol or "", b"") if stable else b"",
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )
    if operations:
        described.authorized_operations = allowed_operations.GROUP
    return described


def _refused(group_id: str, code: ErrorCode, version: int) -> DescribedGroup:
    return DescribedGroup(group_id=group_id, error_code=code)


def error_response(
    request: DescribeGroupsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeGroupsResponse:
    """Every group refused alike."""
    return DescribeGroupsResponse(groups=[_refused(each, code, version) for each in request.groups])
