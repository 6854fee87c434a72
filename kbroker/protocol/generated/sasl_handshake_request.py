"""SaslHandshakeRequest, versions 0 to 1.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    null_field,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class SaslHandshakeRequest(Message):
    """SaslHandshakeRequest, versions 0 to 1."""

    __slots__ = ("mechanism",)
    NAME = "SaslHandshakeRequest"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism


def _decode_sasl_handshake_request_v0(buf: Buffer, pos: int) -> tuple[SaslHandshakeRequest, int]:
    o = SaslHandshakeRequest.__new__(SaslHandshakeRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("mechanism")
    end = pos + n
    o.mechanism = str(buf[pos:end], "utf-8")
    pos = end
    return o, pos


def _encode_sasl_handshake_request_v0(out: bytearray, o: SaslHandshakeRequest) -> None:
    raw = o.mechanism.encode()
    out += pack_h(len(raw))
    out += raw


SaslHandshakeRequest.DECODERS = {
    0: _decode_sasl_handshake_request_v0,
    1: _decode_sasl_handshake_request_v0,
}
SaslHandshakeRequest.ENCODERS = {
    0: _encode_sasl_handshake_request_v0,
    1: _encode_sasl_handshake_request_v0,
}
