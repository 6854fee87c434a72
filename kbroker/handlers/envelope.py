"""Envelope: a client's request that a broker passes on to the controller, together with who the client is.

v0 (KIP-590).
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.broker.forwarding import IN_ENVELOPE, decode_principal
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.context import CONTROLLER
from kbroker.plain import replace
from kbroker.protocol.generated.envelope_response import EnvelopeResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.envelope_request import EnvelopeRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: EnvelopeRequest
) -> Deferred[EnvelopeResponse]:
    """Answer what is inside as if the client had sent it here.

    That this node is not the controller (any more) is told to the broker, not to the client.
    """
    answer: Deferred[EnvelopeResponse] = Deferred()
    answer_frame = services.answer_frame
    if not services.controller.active or answer_frame is None:
        answer.resolve(EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER))
        return answer
    try:
        principal = decode_principal(request.request_principal)
        client_address = str(ip_address(bytes(request.client_host_address)))
    except ApiError as error:
        answer.resolve(EnvelopeResponse(error_code=error.code))
        return answer
    except (ProtocolError, ValueError):
        answer.resolve(EnvelopeResponse(error_code=ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE))
        return answer
    frame = bytes(request.request_data)
    if int.from_bytes(frame[:2], "big") not in IN_ENVELOPE:
        answer.resolve(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return answer
    connection = replace(
        context.connection,
        # Also where controllers are brokers (ZooKeeper): it is not passed on a second time.
        role=CONTROLLER,
        principal=principal,
        client_address=client_address,
        client_port=0,
        # What depends on the client's listener was checked by who passes it on.
        security_protocol="",
        used=set(),
        meter=None,
        trusted=False,
    )

    def give(done: Deferred[bytes]) -> None:
        try:
            answer.resolve(EnvelopeResponse(response_data=done.result()))
        except ApiError as error:
            answer.resolve(EnvelopeResponse(error_code=error.code))
        except ProtocolError:
            answer.resolve(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))

    answer_frame(frame, connection).then(give)
    return answer


def error_response(
    request: EnvelopeRequest, version: int, code: ErrorCode, message: str | None
) -> EnvelopeResponse:
    """Nothing but the error."""
    return EnvelopeResponse(error_code=code)
