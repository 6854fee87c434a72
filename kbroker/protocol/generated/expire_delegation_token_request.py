"""ExpireDelegationTokenRequest, versions 0 to 2.

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
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class ExpireDelegationTokenRequest(Message):
    """ExpireDelegationTokenRequest, versions 0 to 2."""

    __slots__ = (
        "hmac",
        "expiry_time_period_ms",
        "unknown_tags",
    )
    NAME = "ExpireDelegationTokenRequest"
    API_KEY = 40
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
        self.unknown_tags: UnknownTags = None


def _decode_expire_delegation_token_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ExpireDelegationTokenRequest, int]:
    o = ExpireDelegationTokenRequest.__new__(ExpireDelegationTokenRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("hmac")
    end = pos + n
    o.hmac = bytes(buf[pos:end])
    pos = end
    (o.expiry_time_period_ms,) = unpack_q(buf, pos)
    pos += 8
    o.unknown_tags = None
    return o, pos


def _encode_expire_delegation_token_request_v0(out: bytearray, o: ExpireDelegationTokenRequest) -> None:
    out += pack_i(len(o.hmac))
    out += o.hmac
    out += pack_q(o.expiry_time_period_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_expire_delegation_token_request_v2(
    buf: Buffer,
    pos: int,
) -> tuple[ExpireDelegationTokenRequest, int]:
    o = ExpireDelegationTokenRequest.__new__(ExpireDelegationTokenRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("hmac")
    end = pos + n
    o.hmac = bytes(buf[pos:end])
    pos = end
    (o.expiry_time_period_ms,) = unpack_q(buf, pos)
    pos += 8
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_expire_delegation_token_request_v2(out: bytearray, o: ExpireDelegationTokenRequest) -> None:
    n = len(o.hmac) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.hmac
    out += pack_q(o.expiry_time_period_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ExpireDelegationTokenRequest.DECODERS = {
    0: _decode_expire_delegation_token_request_v0,
    1: _decode_expire_delegation_token_request_v0,
    2: _decode_expire_delegation_token_request_v2,
}
ExpireDelegationTokenRequest.ENCODERS = {
    0: _encode_expire_delegation_token_request_v0,
    1: _encode_expire_delegation_token_request_v0,
    2: _encode_expire_delegation_token_request_v2,
}
