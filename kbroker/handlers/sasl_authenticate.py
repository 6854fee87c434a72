"""SaslAuthenticate (36): a message of a SASL mechanism. A listener with SASL answers it in its gate.

v0 first (KIP-152); v1 the session's lifetime (KIP-368); v2 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: SaslAuthenticateRequest
) -> SaslAuthenticateResponse:
    """Whoever comes here is not logging in."""
    return SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )
