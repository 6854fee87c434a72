"""The bytes of SaslHandshake and SaslAuthenticate, read and written before there is a dispatcher.

Law of this file: bytes of somebody who has not logged in are looked at no further than these two requests go.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any

from kbroker.errors import ErrorCode, ProtocolError
from kbroker.protocol.api_keys import (
    ApiKey,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kbroker.protocol.primitives import Message, read_unknown_tags

_HEADER, _ANSWER = Struct(">HHih"), Struct(">ii")
#: By API key: its class and its highest version.
_REQUESTS: dict[int, tuple[type[Message], int]] = {
    int(ApiKey.SASL_HANDSHAKE): (SaslHandshakeRequest, 1),
    int(ApiKey.SASL_AUTHENTICATE): (SaslAuthenticateRequest, 2),
}


def read_message(data: bytes) -> tuple[int, int, Any]:
    """Version, correlation id and body of a SaslHandshake or SaslAuthenticate.

    Raises:
        ProtocolError: it is none, or of a version that does not exist.
    """
    if len(data) < _HEADER.size:
        raise ProtocolError("request header is cut short")
    key, version, correlation_id, length = _HEADER.unpack_from(data)
    request, newest = _REQUESTS[key]
    if version > newest:
        raise ProtocolError(f"no API with key {key} and version {version}")
    position = 10 + max(length, 0)
    if position > len(data):
        raise ProtocolError("request header is cut short")
    if request_header_version(key, version) >= 2:
        try:
            _, position = read_unknown_tags(data, position)
        except IndexError:
            raise ProtocolError("request header is cut short") from None
    body, _ = decode_request(request, data, version, position)
    return version, correlation_id, body


def encode_message(message: Message, version: int, correlation_id: int) -> bytes:
    """An answer with its length and header."""
    assert message.API_KEY is not None
    out = bytearray(9 if response_header_version(message.API_KEY, version) >= 1 else 8)
    message.encode_into(out, version)
    _ANSWER.pack_into(out, 0, len(out) - 4, correlation_id)
    return bytes(out)


def failure(wrap: Callable[[Message], bytes] | None, told: str) -> bytes | None:
    """The answer to a login that failed; bare messages end without a word."""
    if wrap is None:
        return None
    return wrap(SaslAuthenticateResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=told))


def illegal_state(data: bytes) -> bytes | None:
    """Kafka's answer to another request during the exchange. Those of no login are not even looked at."""
    key = int.from_bytes(data[:2], "big")
    if len(data) < 8 or key not in (ApiKey.SASL_HANDSHAKE, ApiKey.API_VERSIONS):
        return None
    response = response_class(key)
    version, correlation_id = int.from_bytes(data[2:4], "big"), int.from_bytes(data[4:8], "big", signed=True)
    if version > response.MAX_VERSION:
        return None
    answer: Any = response()
    answer.error_code = ErrorCode.ILLEGAL_SASL_STATE
    return encode_message(answer, version, correlation_id)
