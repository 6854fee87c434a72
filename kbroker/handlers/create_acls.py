"""CreateAcls (30): more access control entries, at the active controller (KIP-140).

v0 first; v1 prefixed names (KIP-290); v2 flexible; v3 users as resources (KIP-373).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.acls import create_acls
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.generated.create_acls_response import AclCreationResult, CreateAclsResponse
from kbroker.protocol.releases import is_before
from kbroker.security.acl import Acl

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.create_acls_request import CreateAclsRequest

VERSIONS = (0, 3)

NO_AUTHORIZER = "No Authorizer is configured."


def handle(
    services: Services, context: RequestContext, request: CreateAclsRequest
) -> CreateAclsResponse | Deferred[CreateAclsResponse]:
    """Each entry by itself; what exists already counts as created. An UNKNOWN part closes the connection."""
    wanted = [
        Acl(
            each.resource_type,
            each.resource_name,
            each.resource_pattern_type,
            each.principal,
            each.host,
            each.operation,
            each.permission_type,
        )
        for each in request.creations
    ]
    if any(0 in (each.resource_type, each.pattern, each.operation, each.permission) for each in wanted):
        raise ProtocolError("an ACL to create has UNKNOWN parts")
    if services.authorizer is None or not services.authorizer.has_acls:
        return error_response(request, context.version, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)

    def answer(results: list[ApiError | None]) -> CreateAclsResponse:
        return CreateAclsResponse(
            results=[
                AclCreationResult(error_message="")
                if each is None
                else AclCreationResult(error_code=each.code, error_message=each.text)
                for each in results
            ]
        )

    # Networks came with 4.4.
    has_networks = not is_before(services.compatibility, (4, 4)) and "zookeeper" not in services.extras
    return services.controller.append_records(
        lambda image: create_acls(image, wanted, services.new_uuid, has_networks=has_networks)
    ).map(answer)


def error_response(
    request: CreateAclsRequest, version: int, code: ErrorCode, message: str | None
) -> CreateAclsResponse:
    """Every entry refused alike."""
    return CreateAclsResponse(
        results=[AclCreationResult(error_code=code, error_message=message) for _ in request.creations]
    )
