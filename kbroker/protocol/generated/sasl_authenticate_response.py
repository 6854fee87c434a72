"""SaslAuthenticateResponse, versions 0 to 2.

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
    read_compact_nullable_string,
    read_unknown_tags,
    read_uvarint,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class SaslAuthenticateResponse(Message):
    """SaslAuthenticateResponse, versions 0 to 2."""

    __slots__ = (
        "error_code",
        "error_message",
        "auth_bytes",
        "session_lifetime_ms",
        "unknown_tags",
    )
    NAME = "SaslAuthenticateResponse"
    API_KEY = 36
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,  # versions 1 to 2
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
        self.unknown_tags: UnknownTags = None


def _decode_sasl_authenticate_response_v0(buf: Buffer, pos: int) -> tuple[SaslAuthenticateResponse, int]:
    o = SaslAuthenticateResponse.__new__(SaslAuthenticateResponse)
    o.error_code, n = unpack_hh(buf, pos)
    pos += 4
    if n < 0:
        o.error_message = None
    else:
        end = pos + n
        o.error_message = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("authBytes")
    end = pos + n
    o.auth_bytes = bytes(buf[pos:end])
    pos = end
    o.session_lifetime_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_sasl_authenticate_response_v0(out: bytearray, o: SaslAuthenticateResponse) -> None:
    raw = b"" if o.error_message is None else o.error_message.encode()
    out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
    out += raw
    out += pack_i(len(o.auth_bytes))
    out += o.auth_bytes
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sasl_authenticate_response_v1(buf: Buffer, pos: int) -> tuple[SaslAuthenticateResponse, int]:
    o = SaslAuthenticateResponse.__new__(SaslAuthenticateResponse)
    o.error_code, n = unpack_hh(buf, pos)
    pos += 4
    if n < 0:
        o.error_message = None
    else:
        end = pos + n
        o.error_message = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("authBytes")
    end = pos + n
    o.auth_bytes = bytes(buf[pos:end])
    pos = end
    (o.session_lifetime_ms,) = unpack_q(buf, pos)
    pos += 8
    o.unknown_tags = None
    return o, pos


def _encode_sasl_authenticate_response_v1(out: bytearray, o: SaslAuthenticateResponse) -> None:
    raw = b"" if o.error_message is None else o.error_message.encode()
    out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
    out += raw
    out += pack_i(len(o.auth_bytes))
    out += o.auth_bytes
    out += pack_q(o.session_lifetime_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sasl_authenticate_response_v2(buf: Buffer, pos: int) -> tuple[SaslAuthenticateResponse, int]:
    o = SaslAuthenticateResponse.__new__(SaslAuthenticateResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
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
    (o.session_lifetime_ms,) = unpack_q(buf, pos)
    pos += 8
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_sasl_authenticate_response_v2(out: bytearray, o: SaslAuthenticateResponse) -> None:
    out += pack_h(o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.auth_bytes) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.auth_bytes
    out += pack_q(o.session_lifetime_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


SaslAuthenticateResponse.DECODERS = {
    0: _decode_sasl_authenticate_response_v0,
    1: _decode_sasl_authenticate_response_v1,
    2: _decode_sasl_authenticate_response_v2,
}
SaslAuthenticateResponse.ENCODERS = {
    0: _encode_sasl_authenticate_response_v0,
    1: _encode_sasl_authenticate_response_v1,
    2: _encode_sasl_authenticate_response_v2,
}
