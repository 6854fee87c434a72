"""DeleteGroups: forget empty groups and their offsets (KIP-229).

v1 throttling before the answer; v2 flexible; v3 a message for each group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.gather import failed, gather
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_groups_request import DeleteGroupsRequest

VERSIONS = (0, 3)
#: A group costs 15 µs, more than most things that can be asked for.
ELEMENTS_MAX = 30_000
_SHARE = "share"


def handle(
    services: Services, context: RequestContext, request: DeleteGroupsRequest
) -> Deferred[DeleteGroupsResponse]:
    """One answer for each name; a name given twice is deleted once."""
    names = list(dict.fromkeys(request.groups_names))

    def answer(deleted: list[ErrorCode | ApiError]) -> DeleteGroupsResponse:
        return _response(names, [each.code if isinstance(each, ApiError) else each for each in deleted])

    return gather([_delete(services, name) for name in names]).map(answer)


def _delete(services: Services, name: str) -> Deferred[ErrorCode]:
    try:
        group = services.groups.group(name)
        if group is not None and group.TYPE == _SHARE:
            from kbroker.broker.share_groups import share_groups

            return share_groups(services).delete_group(name)
        return services.groups.delete_group(name)
    except ApiError as error:
        return failed(error.with_traceback(None))


def _response(names: list[str], codes: list[ErrorCode]) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[DeletableGroupResult(group_id=name, error_code=code) for name, code in zip(names, codes)]
    )


def error_response(
    request: DeleteGroupsRequest, version: int, code: ErrorCode, message: str | None
) -> DeleteGroupsResponse:
    """Every group refused alike."""
    return _response(request.groups_names, [code] * len(request.groups_names))
