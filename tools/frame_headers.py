"""Headers of requests that a tool sends and of answers it gets; by hand, generated classes are slow."""

from __future__ import annotations

import struct

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import request_header_version, response_header_version
from kbroker.protocol.primitives import Buffer, read_unknown_tags

_FIXED = struct.Struct(">hhi")
_FIXED_AND_LENGTH = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")


def request_header_bytes(api_key: int, api_version: int, correlation_id: int, client_id: str | None) -> bytes:
    """The header of a request that we send.

    Raises:
        KeyError: unknown api key.
    """
    header_version = request_header_version(api_key, api_version)
    if header_version == 0:
        return _FIXED.pack(api_key, api_version, correlation_id)
    raw = b"" if client_id is None else client_id.encode()
    length = -1 if client_id is None else len(raw)
    head = _FIXED_AND_LENGTH.pack(api_key, api_version, correlation_id, length) + raw
    return head + b"\x00" if header_version == 2 else head


def parse_response_header(frame: Buffer, api_key: int, api_version: int) -> tuple[int, int]:
    """Correlation id of a response to our own request, and where its body starts.

    Raises:
        ProtocolError: cut off or malformed.
        KeyError: unknown api key.
    """
    try:
        (correlation_id,) = _CORRELATION.unpack_from(frame)
        pos = _CORRELATION.size
        if response_header_version(api_key, api_version):
            pos = pos + 1 if frame[pos] == 0 else read_unknown_tags(frame, pos)[1]
    except (struct.error, IndexError):
        raise ProtocolError(f"a response of {len(frame)} bytes has no header") from None
    return correlation_id, pos
