"""ExpireDelegationTokenResponse, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_unknown_tags,
    write_tags,
)

pack_hqi = Layout(">hqi").pack
unpack_hqi = Layout(">hqi").unpack_from


class ExpireDelegationTokenResponse(Message):
    """ExpireDelegationTokenResponse, versions 0 to 2."""

    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
        "unknown_tags",
    )
    NAME = "ExpireDelegationTokenResponse"
    API_KEY = 40
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags: UnknownTags = None


def _decode_expire_delegation_token_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ExpireDelegationTokenResponse, int]:
    o = ExpireDelegationTokenResponse.__new__(ExpireDelegationTokenResponse)
    o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = unpack_hqi(buf, pos)
    pos += 14
    o.unknown_tags = None
    return o, pos


def _encode_expire_delegation_token_response_v0(out: bytearray, o: ExpireDelegationTokenResponse) -> None:
    out += pack_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_expire_delegation_token_response_v2(
    buf: Buffer,
    pos: int,
) -> tuple[ExpireDelegationTokenResponse, int]:
    o = ExpireDelegationTokenResponse.__new__(ExpireDelegationTokenResponse)
    o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = unpack_hqi(buf, pos)
    pos += 14
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_expire_delegation_token_response_v2(out: bytearray, o: ExpireDelegationTokenResponse) -> None:
    out += pack_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ExpireDelegationTokenResponse.DECODERS = {
    0: _decode_expire_delegation_token_response_v0,
    1: _decode_expire_delegation_token_response_v0,
    2: _decode_expire_delegation_token_response_v2,
}
ExpireDelegationTokenResponse.ENCODERS = {
    0: _encode_expire_delegation_token_response_v0,
    1: _encode_expire_delegation_token_response_v0,
    2: _encode_expire_delegation_token_response_v2,
}
