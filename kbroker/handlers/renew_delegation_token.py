"""RenewDelegationToken (39): give a token more time (KIP-48).

v0 first; v1 as v0; v2 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.delegation_tokens import renew_token
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.token_requests import NOBODY_MS, check_asker, checked_rules, passed_on
from kbroker.protocol.generated.renew_delegation_token_response import RenewDelegationTokenResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: RenewDelegationTokenRequest
) -> Deferred[RenewDelegationTokenResponse] | RenewDelegationTokenResponse:
    """Answered when it is committed and known here."""
    try:
        check_asker(context)
    except ApiError as error:
        return RenewDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=NOBODY_MS)
    rules = checked_rules(services)
    elsewhere = passed_on(services, context, request)
    if elsewhere is not None:
        return elsewhere
    mac, now_ms, asker = bytes(request.hmac), services.clock.now_ms(), context.principal
    changed = services.controller.append_records(
        lambda image: renew_token(image, rules, now_ms, mac, asker, request.renew_period_ms)
    )
    return changed.map(lambda ends_ms: RenewDelegationTokenResponse(expiry_timestamp_ms=ends_ms))


def error_response(
    request: RenewDelegationTokenRequest, version: int, code: ErrorCode, message: str | None
) -> RenewDelegationTokenResponse:
    """Nothing but the error."""
    return RenewDelegationTokenResponse(error_code=code)
