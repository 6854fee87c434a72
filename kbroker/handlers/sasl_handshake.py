"""SaslHandshake (17): which SASL mechanism comes. A listener with SASL answers it in its gate (sasl_gate.py).

v0 bare messages follow; v1 they come in SaslAuthenticate (KIP-152).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.sasl_handshake_response import SaslHandshakeResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest

VERSIONS = (0, 1)


def handle(
    services: Services, context: RequestContext, request: SaslHandshakeRequest
) -> SaslHandshakeResponse:
    """Whoever comes here has no login to begin: there is no SASL, or it is over."""
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
