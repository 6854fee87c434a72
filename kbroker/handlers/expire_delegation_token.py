"""ExpireDelegationToken (40): let a token end sooner, or at once (KIP-48).

v0 first; v1 as v0; v2 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.delegation_tokens import expire_token
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.token_requests import NOBODY_MS, check_asker, checked_rules, passed_on
from kbroker.protocol.generated.expire_delegation_token_response import ExpireDelegationTokenResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: ExpireDelegationTokenRequest
) -> Deferred[ExpireDelegationTokenResponse] | ExpireDelegationTokenResponse:
    """Answered when it is committed and known here."""
    try:
        check_asker(context)
    except ApiError as error:
        return ExpireDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=NOBODY_MS)
    rules = checked_rules(services)
    elsewhere = passed_on(services, context, request)
    if elsewhere is not None:
        return elsewhere
    mac, now_ms, asker = bytes(request.hmac), services.clock.now_ms(), context.principal
    changed = services.controller.append_records(
        lambda image: expire_token(image, rules, now_ms, mac, asker, request.expiry_time_period_ms)
    )
    return changed.map(lambda ends_ms: ExpireDelegationTokenResponse(expiry_timestamp_ms=ends_ms))


def error_response(
    request: ExpireDelegationTokenRequest, version: int, code: ErrorCode, message: str | None
) -> ExpireDelegationTokenResponse:
    """Nothing but the error."""
    return ExpireDelegationTokenResponse(error_code=code)
