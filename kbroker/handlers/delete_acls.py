"""DeleteAcls (31): what filters find among the access control entries goes (KIP-140).

v0 first; v1 pattern types (KIP-290); v2 flexible; v3 users as resources (KIP-373).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.acls import delete_acls
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.create_acls import NO_AUTHORIZER
from kbroker.protocol.generated.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kbroker.security.acl import Acl, AclFilter

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_acls_request import DeleteAclsRequest

VERSIONS = (0, 3)
#: A filter looks at every entry.
ELEMENTS_MAX = 1_000


def handle(
    services: Services, context: RequestContext, request: DeleteAclsRequest
) -> DeleteAclsResponse | Deferred[DeleteAclsResponse]:
    """Each filter with what it found, or refused. An UNKNOWN part closes the connection."""
    filters = [
        AclFilter(
            each.resource_type_filter,
            each.resource_name_filter,
            each.pattern_type_filter,
            each.principal_filter,
            each.host_filter,
            each.operation,
            each.permission_type,
        )
        for each in request.filters
    ]
    if any(each.is_unknown for each in filters):
        raise ProtocolError("a filter of DeleteAcls has UNKNOWN parts")
    if services.authorizer is None or not services.authorizer.has_acls:
        return error_response(request, context.version, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)

    return services.controller.append_records(lambda image: delete_acls(image, filters)).map(_answer)


def _answer(results: list[list[Acl] | ApiError]) -> DeleteAclsResponse:
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(error_code=each.code, error_message=each.text)
            if isinstance(each, ApiError)
            else DeleteAclsFilterResult(error_message=None, matching_acls=[_deleted(acl) for acl in each])
            for each in results
        ]
    )


def _deleted(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=acl.pattern,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def error_response(
    request: DeleteAclsRequest, version: int, code: ErrorCode, message: str | None
) -> DeleteAclsResponse:
    """Every filter refused alike."""
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(error_code=code, error_message=message, matching_acls=[])
            for _ in request.filters
        ]
    )
