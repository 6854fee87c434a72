"""DescribeDelegationToken (41): the tokens that the asker has to do with, or may see (KIP-48).

v0 first; v1 as v0; v2 flexible; v3 who asked for a token (KIP-373).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.token_requests import check_asker, checked_rules, split_principal
from kbroker.protocol.generated.describe_delegation_token_response import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenResponse,
)
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_delegation_token_request import DescribeDelegationTokenRequest

VERSIONS = (0, 3)


def handle(
    services: Services, context: RequestContext, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    """Tokens that the owners asked for own or may renew; None: all, an empty list: none."""
    try:
        check_asker(context)
        rules = checked_rules(services)
    except ApiError as error:
        return DescribeDelegationTokenResponse(error_code=error.code)
    owners = None
    if request.owners is not None:
        owners = {f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners}
    found = [
        _described(record, rules.mac(record.token_id), context.version)
        for _, record in sorted(services.metadata.image.tokens.items())
        if (owners is None or not owners.isdisjoint((record.owner, *record.renewers)))
        and _may_see(services, context, record)
    ]
    return DescribeDelegationTokenResponse(tokens=found)


def _may_see(services: Services, context: RequestContext, record: Any) -> bool:
    asker = context.principal
    return (
        asker in (record.owner, record.requester)
        or asker in record.renewers
        or services.allows(context, Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, record.token_id)
        or services.allows(context, Operation.DESCRIBE_TOKENS, ResourceType.USER, record.owner)
    )


def _described(record: Any, mac: bytes, version: int) -> DescribedDelegationToken:
    kind, name = split_principal(record.owner)
    token = DescribedDelegationToken(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=record.issue_timestamp,
        expiry_timestamp=record.expiration_timestamp,
        max_timestamp=record.max_timestamp,
        token_id=record.token_id,
        hmac=mac,
    )
    if version >= 3:
        kind, name = split_principal(record.requester)
        token.token_requester_principal_type, token.token_requester_principal_name = kind, name
    for renewer in record.renewers:
        kind, name = split_principal(renewer)
        token.renewers.append(DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name))
    return token


def error_response(
    request: DescribeDelegationTokenRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeDelegationTokenResponse:
    """Nothing but the error."""
    return DescribeDelegationTokenResponse(error_code=code)
