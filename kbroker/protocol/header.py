"""Request and response headers, read and written without the generated classes: every message has one.

Version 0 has no client id (ControlledShutdown 0 only), version 1 has one, version 2 also a tag section. The
client id keeps its old two-byte length in version 2: any broker can read the header of a newer client.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import FACTS, request_header_version, response_header_version
from kbroker.protocol.primitives import Buffer, read_unknown_tags

_FIXED = struct.Struct(">hhi")
_FIXED_AND_LENGTH = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")


class RequestHeader(NamedTuple):
    """What stands before a request; `body` is the position of the request in the frame."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body: int


def peek_request(frame: Buffer) -> tuple[int, int, int]:
    """Api key, version and correlation id, which no header version moves.

    Raises:
        ProtocolError: the frame is too short.
    """
    try:
        api_key, api_version, correlation_id = _FIXED.unpack_from(frame)
    except struct.error:
        raise ProtocolError(f"a request of {len(frame)} bytes has no header") from None
    return api_key, api_version, correlation_id


def parse_request_header(frame: Buffer) -> RequestHeader:
    """Read the header that the frame's own api key and version call for.

    As in Kafka a client id may be null (any negative length) and need not be UTF-8. A version that the key
    does not have gets the header that it would have: whoever dispatches decides on the version.

    Raises:
        ProtocolError: cut off, malformed, or an unknown api key.
    """
    try:
        api_key, api_version, correlation_id, length = _FIXED_AND_LENGTH.unpack_from(frame)
        header_version = request_header_version(api_key, api_version)
    except struct.error:
        api_key, api_version, correlation_id = peek_request(frame)
        if api_key in FACTS and request_header_version(api_key, api_version) == 0:
            return RequestHeader(api_key, api_version, correlation_id, None, _FIXED.size)
        raise ProtocolError(f"a request header of {len(frame)} bytes is cut off") from None
    except KeyError:
        raise ProtocolError(f"unknown api key {api_key}") from None
    if header_version == 0:
        return RequestHeader(api_key, api_version, correlation_id, None, _FIXED.size)
    pos = _FIXED_AND_LENGTH.size
    client_id = None
    if length >= 0:
        end = pos + length
        if end > len(frame):
            raise ProtocolError(f"a client id of {length} bytes runs past the end")
        client_id = str(frame[pos:end], "utf-8", "replace")
        pos = end
    if header_version == 2:
        pos = _skip_tags(frame, pos)
    return RequestHeader(api_key, api_version, correlation_id, client_id, pos)


def _skip_tags(frame: Buffer, pos: int) -> int:
    try:
        if frame[pos] == 0:
            return pos + 1
        return read_unknown_tags(frame, pos)[1]
    except IndexError:
        raise ProtocolError("a header's tag section is cut off") from None


def request_header_bytes(api_key: int, api_version: int, correlation_id: int, client_id: str | None) -> bytes:
    """The header of a request that we send.

    Raises:
        KeyError: unknown api key.
        ValueError: the client id is too long.
    """
    header_version = request_header_version(api_key, api_version)
    if header_version == 0:
        return _FIXED.pack(api_key, api_version, correlation_id)
    raw = b"" if client_id is None else client_id.encode()
    if len(raw) > 0x7FFF:
        raise ValueError(f"a client id of {len(raw)} bytes is too long")
    length = -1 if client_id is None else len(raw)
    head = _FIXED_AND_LENGTH.pack(api_key, api_version, correlation_id, length) + raw
    return head + b"\x00" if header_version == 2 else head


def response_header_bytes(api_key: int, api_version: int, correlation_id: int) -> bytes:
    """The header of a response.

    Raises:
        KeyError: unknown api key.
    """
    head = _CORRELATION.pack(correlation_id)
    return head + b"\x00" if response_header_version(api_key, api_version) else head


def parse_response_header(frame: Buffer, api_key: int, api_version: int) -> tuple[int, int]:
    """Correlation id of a response to our own request, and where its body starts.

    Raises:
        ProtocolError: cut off or malformed.
        KeyError: unknown api key.
    """
    try:
        (correlation_id,) = _CORRELATION.unpack_from(frame)
    except struct.error:
        raise ProtocolError(f"a response of {len(frame)} bytes has no header") from None
    pos = _CORRELATION.size
    if response_header_version(api_key, api_version):
        pos = _skip_tags(frame, pos)
    return correlation_id, pos
