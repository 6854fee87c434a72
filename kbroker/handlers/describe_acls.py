"""DescribeAcls (29): the access control entries that a filter finds (KIP-140).

v0 first; v1 pattern types (KIP-290); v2 flexible; v3 users as resources (KIP-373).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode, ProtocolError
from kbroker.protocol.generated.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kbroker.security.acl import Acl, AclFilter, PatternType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_acls_request import DescribeAclsRequest

VERSIONS = (0, 3)

_PATTERNS_SINCE = 1
_NO_AUTHORIZER = "No Authorizer is configured on the broker"


def handle(services: Services, context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """By resource, in no order. An UNKNOWN part closes the connection."""
    wanted = AclFilter(
        request.resource_type_filter,
        request.resource_name_filter,
        # Version 0 knows literal names only.
        request.pattern_type_filter if context.version >= _PATTERNS_SINCE else PatternType.LITERAL,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )
    if wanted.is_unknown:
        raise ProtocolError("the filter of DescribeAcls has UNKNOWN parts")
    if services.authorizer is None or not services.authorizer.has_acls:
        return error_response(request, context.version, ErrorCode.SECURITY_DISABLED, _NO_AUTHORIZER)
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in map(Acl.of, services.metadata.image.acls.values()):
        if wanted.fits(acl):
            key = acl.resource_type, acl.name, acl.pattern
            resource = resources.get(key)
            if resource is None:
                resource = resources[key] = DescribeAclsResource(
                    resource_type=acl.resource_type,
                    resource_name=acl.name,
                    pattern_type=acl.pattern,
                    acls=[],
                )
            resource.acls.append(
                AclDescription(
                    principal=acl.principal,
                    host=acl.host,
                    operation=acl.operation,
                    permission_type=acl.permission,
                )
            )
    return DescribeAclsResponse(error_message="", resources=list(resources.values()))


def error_response(
    request: DescribeAclsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeAclsResponse:
    """Nothing but the error."""
    return DescribeAclsResponse(error_code=code, error_message=message, resources=[])
