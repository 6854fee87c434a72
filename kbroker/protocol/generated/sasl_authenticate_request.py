"""SaslAuthenticateRequest, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    null_field,
    read_unknown_tags,
    read_uvarint,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class SaslAuthenticateRequest(Message):
    """SaslAuthenticateRequest, versions 0 to 2."""

    __slots__ = (
        "auth_bytes",
        "unknown_tags",
    )
    NAME = "SaslAuthenticateRequest"
    API_KEY = 36
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes
        self.unknown_tags: UnknownTags = None


def _decode_sasl_authenticate_request_v0(buf: Buffer, pos: int) -> tuple[SaslAuthenticateRequest, int]:
    o = SaslAuthenticateRequest.__new__(SaslAuthenticateRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("authBytes")
    end = pos + n
    o.auth_bytes = bytes(buf[pos:end])
    pos = end
    o.unknown_tags = None
    return o, pos


def _encode_sasl_authenticate_request_v0(out: bytearray, o: SaslAuthenticateRequest) -> None:
    out += pack_i(len(o.auth_bytes))
    out += o.auth_bytes
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sasl_authenticate_request_v2(buf: Buffer, pos: int) -> tuple[SaslAuthenticateRequest, int]:
    o = SaslAuthenticateRequest.__new__(SaslAuthenticateRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("authBytes")
    end = pos + n
    o.auth_bytes = bytes(buf[pos:end])
    pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_sasl_authenticate_request_v2(out: bytearray, o: SaslAuthenticateRequest) -> None:
    n = len(o.auth_bytes) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.auth_bytes
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


SaslAuthenticateRequest.DECODERS = {
    0: _decode_sasl_authenticate_request_v0,
    1: _decode_sasl_authenticate_request_v0,
    2: _decode_sasl_authenticate_request_v2,
}
SaslAuthenticateRequest.ENCODERS = {
    0: _encode_sasl_authenticate_request_v0,
    1: _encode_sasl_authenticate_request_v0,
    2: _encode_sasl_authenticate_request_v2,
}
