"""The bytes of SaslHandshake and SaslAuthenticate, read and written before there is a dispatcher.

Law of this file: bytes of somebody who has not logged in are looked at no further than these two requests go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kbroker.errors import ErrorCode, ProtocolError
from kbroker.protocol.api_keys import (
    ApiKey,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kbroker.protocol.primitives import Message, read_unknown_tags

#: The highest of each.
_VERSIONS = {ApiKey.SASL_HANDSHAKE: 1, ApiKey.SASL_AUTHENTICATE: 2}


def read_message(data: bytes) -> tuple[int, int, Any]:
    """Version, correlation id and body of a SaslHandshake or SaslAuthenticate.

    Raises:
        ProtocolError: it is none, or of a version that does not exist.
    """
    key, version = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
    if version > _VERSIONS[ApiKey(key)]:
        raise ProtocolError(f"no API with key {key} and version {version}")
    length = int.from_bytes(data[8:10], "big", signed=True)
    position = 10 + max(length, 0)
    if position > len(data):
        raise ProtocolError("request header is cut short")
    if request_header_version(key, version) >= 2:
        try:
            _, position = read_unknown_tags(data, position)
        except IndexError:
            raise ProtocolError("request header is cut short") from None
    body, _ = decode_request(request_class(key), data, version, position)
    return version, int.from_bytes(data[4:8], "big", signed=True), body


def encode_message(message: Message, version: int, correlation_id: int) -> bytes:
    """An answer with its length and header."""
    assert message.API_KEY is not None
    out = bytearray(9 if response_header_version(message.API_KEY, version) >= 1 else 8)
    message.encode_into(out, version)
    out[:8] = (len(out) - 4).to_bytes(4, "big") + correlation_id.to_bytes(4, "big", signed=True)
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
