"""DescribeDelegationTokenResponse, versions 0 to 3.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    not_in_version,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3q = Layout(">3q").pack
unpack_3q = Layout(">3q").unpack_from
pack_3qh = Layout(">3qh").pack
unpack_3qh = Layout(">3qh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class DescribedDelegationTokenRenewer(Struct):
    """Part of DescribeDelegationTokenResponse."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tags: UnknownTags = None


class DescribedDelegationToken(Struct):
    """Part of DescribeDelegationTokenResponse."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp",
        "expiry_timestamp",
        "max_timestamp",
        "token_id",
        "hmac",
        "renewers",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",  # version 3
        token_requester_principal_name: str = "",  # version 3
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = UNSET,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers: list[DescribedDelegationTokenRenewer] = [] if renewers is UNSET else renewers
        self.unknown_tags: UnknownTags = None


class DescribeDelegationTokenResponse(Message):
    """DescribeDelegationTokenResponse, versions 0 to 3."""

    __slots__ = (
        "error_code",
        "tokens",
        "throttle_time_ms",
        "unknown_tags",
    )
    NAME = "DescribeDelegationTokenResponse"
    API_KEY = 41
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = UNSET,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens: list[DescribedDelegationToken] = [] if tokens is UNSET else tokens
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags: UnknownTags = None


def _decode_described_delegation_token_renewer_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedDelegationTokenRenewer], int]:
    items: list[DescribedDelegationTokenRenewer] = []
    for _ in range(count):
        o = DescribedDelegationTokenRenewer.__new__(DescribedDelegationTokenRenewer)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("principalType")
        end = pos + n
        o.principal_type = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("principalName")
        end = pos + n
        o.principal_name = str(buf[pos:end], "utf-8")
        pos = end
        o.unknown_tags = None
    return items, pos


def _encode_described_delegation_token_renewer_v0(
    out: bytearray,
    items: Iterable[DescribedDelegationTokenRenewer],
) -> None:
    for o in items:
        raw = o.principal_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.principal_name.encode()
        out += pack_h(len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_delegation_token_renewer_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedDelegationTokenRenewer], int]:
    items: list[DescribedDelegationTokenRenewer] = []
    for _ in range(count):
        o = DescribedDelegationTokenRenewer.__new__(DescribedDelegationTokenRenewer)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_name, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_delegation_token_renewer_v2(
    out: bytearray,
    items: Iterable[DescribedDelegationTokenRenewer],
) -> None:
    for o in items:
        write_compact_string(out, o.principal_type)
        write_compact_string(out, o.principal_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_delegation_token_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedDelegationToken], int]:
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        o = DescribedDelegationToken.__new__(DescribedDelegationToken)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("principalType")
        end = pos + n
        o.principal_type = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("principalName")
        end = pos + n
        o.principal_name = str(buf[pos:end], "utf-8")
        pos = end
        o.issue_timestamp, o.expiry_timestamp, o.max_timestamp, n = unpack_3qh(buf, pos)
        pos += 26
        if n < 0:
            raise null_field("tokenId")
        end = pos + n
        o.token_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("hmac")
        end = pos + n
        o.hmac = bytes(buf[pos:end])
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("renewers")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.renewers, pos = _decode_described_delegation_token_renewer_v0(buf, pos, n)
        o.token_requester_principal_type = ""
        o.token_requester_principal_name = ""
        o.unknown_tags = None
    return items, pos


def _encode_described_delegation_token_v0(out: bytearray, items: Iterable[DescribedDelegationToken]) -> None:
    for o in items:
        if o.token_requester_principal_type != "":
            raise not_in_version("tokenRequesterPrincipalType")
        if o.token_requester_principal_name != "":
            raise not_in_version("tokenRequesterPrincipalName")
        raw = o.principal_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.principal_name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.token_id.encode()
        out += pack_3qh(o.issue_timestamp, o.expiry_timestamp, o.max_timestamp, len(raw))
        out += raw
        out += pack_i(len(o.hmac))
        out += o.hmac
        out += pack_i(len(o.renewers))
        _encode_described_delegation_token_renewer_v0(out, o.renewers)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_delegation_token_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedDelegationToken], int]:
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        o = DescribedDelegationToken.__new__(DescribedDelegationToken)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_name, pos = read_compact_string(buf, pos)
        o.issue_timestamp, o.expiry_timestamp, o.max_timestamp = unpack_3q(buf, pos)
        pos += 24
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.token_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.token_id, pos = read_compact_string(buf, pos)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("renewers")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.renewers, pos = _decode_described_delegation_token_renewer_v2(buf, pos, n)
        o.token_requester_principal_type = ""
        o.token_requester_principal_name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_delegation_token_v2(out: bytearray, items: Iterable[DescribedDelegationToken]) -> None:
    for o in items:
        if o.token_requester_principal_type != "":
            raise not_in_version("tokenRequesterPrincipalType")
        if o.token_requester_principal_name != "":
            raise not_in_version("tokenRequesterPrincipalName")
        write_compact_string(out, o.principal_type)
        write_compact_string(out, o.principal_name)
        out += pack_3q(o.issue_timestamp, o.expiry_timestamp, o.max_timestamp)
        write_compact_string(out, o.token_id)
        n = len(o.hmac) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.hmac
        n = len(o.renewers) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_described_delegation_token_renewer_v2(out, o.renewers)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_delegation_token_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedDelegationToken], int]:
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        o = DescribedDelegationToken.__new__(DescribedDelegationToken)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_name, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.token_requester_principal_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.token_requester_principal_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.token_requester_principal_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.token_requester_principal_name, pos = read_compact_string(buf, pos)
        o.issue_timestamp, o.expiry_timestamp, o.max_timestamp = unpack_3q(buf, pos)
        pos += 24
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.token_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.token_id, pos = read_compact_string(buf, pos)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("renewers")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.renewers, pos = _decode_described_delegation_token_renewer_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_delegation_token_v3(out: bytearray, items: Iterable[DescribedDelegationToken]) -> None:
    for o in items:
        write_compact_string(out, o.principal_type)
        write_compact_string(out, o.principal_name)
        write_compact_string(out, o.token_requester_principal_type)
        write_compact_string(out, o.token_requester_principal_name)
        out += pack_3q(o.issue_timestamp, o.expiry_timestamp, o.max_timestamp)
        write_compact_string(out, o.token_id)
        n = len(o.hmac) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.hmac
        n = len(o.renewers) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_described_delegation_token_renewer_v2(out, o.renewers)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_delegation_token_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeDelegationTokenResponse, int]:
    o = DescribeDelegationTokenResponse.__new__(DescribeDelegationTokenResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("tokens")
    if n * 38 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.tokens, pos = _decode_described_delegation_token_v0(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    return o, pos


def _encode_describe_delegation_token_response_v0(out: bytearray, o: DescribeDelegationTokenResponse) -> None:
    out += pack_hi(o.error_code, len(o.tokens))
    _encode_described_delegation_token_v0(out, o.tokens)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_delegation_token_response_v2(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeDelegationTokenResponse, int]:
    o = DescribeDelegationTokenResponse.__new__(DescribeDelegationTokenResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("tokens")
    if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.tokens, pos = _decode_described_delegation_token_v2(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_delegation_token_response_v2(out: bytearray, o: DescribeDelegationTokenResponse) -> None:
    out += pack_h(o.error_code)
    n = len(o.tokens) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_delegation_token_v2(out, o.tokens)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_delegation_token_response_v3(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeDelegationTokenResponse, int]:
    o = DescribeDelegationTokenResponse.__new__(DescribeDelegationTokenResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("tokens")
    if n * 32 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.tokens, pos = _decode_described_delegation_token_v3(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_delegation_token_response_v3(out: bytearray, o: DescribeDelegationTokenResponse) -> None:
    out += pack_h(o.error_code)
    n = len(o.tokens) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_delegation_token_v3(out, o.tokens)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeDelegationTokenResponse.DECODERS = {
    0: _decode_describe_delegation_token_response_v0,
    1: _decode_describe_delegation_token_response_v0,
    2: _decode_describe_delegation_token_response_v2,
    3: _decode_describe_delegation_token_response_v3,
}
DescribeDelegationTokenResponse.ENCODERS = {
    0: _encode_describe_delegation_token_response_v0,
    1: _encode_describe_delegation_token_response_v0,
    2: _encode_describe_delegation_token_response_v2,
    3: _encode_describe_delegation_token_response_v3,
}
