"""SaslHandshakeResponse, versions 0 to 1.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    null_field,
    too_many,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from


class SaslHandshakeResponse(Message):
    """SaslHandshakeResponse, versions 0 to 1."""

    __slots__ = (
        "error_code",
        "mechanisms",
    )
    NAME = "SaslHandshakeResponse"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: list[str] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.mechanisms: list[str] = [] if mechanisms is UNSET else mechanisms


def _decode_sasl_handshake_response_v0(buf: Buffer, pos: int) -> tuple[SaslHandshakeResponse, int]:
    o = SaslHandshakeResponse.__new__(SaslHandshakeResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("mechanisms")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.mechanisms = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("mechanisms")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    return o, pos


def _encode_sasl_handshake_response_v0(out: bytearray, o: SaslHandshakeResponse) -> None:
    out += pack_hi(o.error_code, len(o.mechanisms))
    for text in o.mechanisms:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw


SaslHandshakeResponse.DECODERS = {
    0: _decode_sasl_handshake_response_v0,
    1: _decode_sasl_handshake_response_v0,
}
SaslHandshakeResponse.ENCODERS = {
    0: _encode_sasl_handshake_response_v0,
    1: _encode_sasl_handshake_response_v0,
}
