"""CreateDelegationToken (38): a token to log in with in place of one's own credentials (KIP-48).

v0 first; v1 as v0; v2 flexible; v3 a token for somebody else, who asked for it (KIP-373).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.delegation_tokens import Token, create_token
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.token_requests import check_asker, checked_rules, passed_on, split_principal
from kbroker.protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kbroker.security.acl import Operation, ResourceType
from kbroker.types import uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest

VERSIONS = (0, 3)


def handle(
    services: Services, context: RequestContext, request: CreateDelegationTokenRequest
) -> Deferred[CreateDelegationTokenResponse] | CreateDelegationTokenResponse:
    """Answered when the token is committed and known here."""
    requester = context.principal
    owner = requester
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            return _refused(context, ErrorCode.INVALID_PRINCIPAL_TYPE, requester)
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    try:
        check_asker(context)
        if owner != requester and not services.allows(
            context, Operation.CREATE_TOKENS, ResourceType.USER, owner
        ):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        if any(renewer.principal_type != "User" for renewer in request.renewers):
            raise ApiError(ErrorCode.INVALID_PRINCIPAL_TYPE)
    except ApiError as error:
        return _refused(context, error.code, owner)
    try:
        rules = checked_rules(services)
    except ApiError as error:
        return _name(context, CreateDelegationTokenResponse(error_code=error.code), owner)
    elsewhere = passed_on(services, context, request)
    if elsewhere is not None:
        return elsewhere
    renewers = [f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers]
    token_id = uuid_to_string(services.new_uuid())
    now_ms = services.clock.now_ms()
    created = services.controller.append_records(
        lambda image: create_token(
            image,
            rules,
            now_ms,
            token_id,
            owner=owner,
            requester=requester,
            renewers=renewers,
            lifetime_ms=request.max_lifetime_ms,
        )
    )
    return created.map(lambda token: _answer(context, token))


def _answer(context: RequestContext, token: Token) -> CreateDelegationTokenResponse:
    record = token.record
    response = CreateDelegationTokenResponse(
        issue_timestamp_ms=record.issue_timestamp,
        expiry_timestamp_ms=record.expiration_timestamp,
        max_timestamp_ms=record.max_timestamp,
        token_id=record.token_id,
        hmac=token.mac,
    )
    return _name(context, response, record.owner)


def _refused(context: RequestContext, code: ErrorCode, owner: str) -> CreateDelegationTokenResponse:
    response = CreateDelegationTokenResponse(
        error_code=code, issue_timestamp_ms=-1, expiry_timestamp_ms=-1, max_timestamp_ms=-1
    )
    return _name(context, response, owner)


def _name(
    context: RequestContext, response: CreateDelegationTokenResponse, owner: str
) -> CreateDelegationTokenResponse:
    response.principal_type, response.principal_name = split_principal(owner)
    if context.version >= 3:
        kind, name = split_principal(context.principal)
        response.token_requester_principal_type, response.token_requester_principal_name = kind, name
    return response


def error_response(
    request: CreateDelegationTokenRequest, version: int, code: ErrorCode, message: str | None
) -> CreateDelegationTokenResponse:
    """Nothing but the error."""
    return CreateDelegationTokenResponse(
        error_code=code, issue_timestamp_ms=-1, expiry_timestamp_ms=-1, max_timestamp_ms=-1
    )
