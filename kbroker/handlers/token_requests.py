"""What the four APIs of delegation tokens share: who may ask, by which secret, and where it is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.controller.delegation_tokens import TokenRules
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

ANONYMOUS = "User:ANONYMOUS"
NOBODY_MS = -1


def token_rules(services: Services) -> TokenRules | None:
    """None: there are no tokens without delegation.token.secret.key."""
    secret = services.config.get_str("delegation.token.secret.key")
    if not secret:
        return None
    setting = services.config.get_int
    return TokenRules(
        setting("delegation.token.max.lifetime.ms"),
        setting("delegation.token.expiry.time.ms"),
        secret.encode(),
    )


def check_asker(context: RequestContext) -> None:
    """A client that is known, and not by a token. Whoever has passed a request on has checked that.

    Raises:
        ApiError: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.
    """
    connection = context.connection
    protocol = connection.security_protocol
    anonymous = protocol == "PLAINTEXT" or (protocol == "SSL" and connection.principal == ANONYMOUS)
    if connection.by_token or anonymous:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def checked_rules(services: Services) -> TokenRules:
    """The rules.

    Raises:
        ApiError: DELEGATION_TOKEN_AUTH_DISABLED, there are no tokens.
    """
    rules = token_rules(services)
    if rules is None:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    return rules


def passed_on(services: Services, context: RequestContext, request: Any) -> Deferred[Any] | None:
    """The controller's answer, if that is elsewhere."""
    if services.controller.active or services.forward is None:
        return None
    return services.forward.request(request, context.version, context.principal, context.client_address)


def split_principal(principal: str) -> tuple[str, str]:
    """Its kind and its name."""
    kind, _, name = principal.partition(":")
    return kind, name
