"""DescribeDelegationTokenRequest, versions 0 to 3.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class DescribeDelegationTokenOwner(Struct):
    """Part of DescribeDelegationTokenRequest."""

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


class DescribeDelegationTokenRequest(Message):
    """DescribeDelegationTokenRequest, versions 0 to 3."""

    __slots__ = (
        "owners",
        "unknown_tags",
    )
    NAME = "DescribeDelegationTokenRequest"
    API_KEY = 41
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        owners: list[DescribeDelegationTokenOwner] | None = UNSET,
    ) -> None:
        self.owners: list[DescribeDelegationTokenOwner] | None = [] if owners is UNSET else owners
        self.unknown_tags: UnknownTags = None


def _decode_describe_delegation_token_owner_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeDelegationTokenOwner], int]:
    items: list[DescribeDelegationTokenOwner] = []
    for _ in range(count):
        o = DescribeDelegationTokenOwner.__new__(DescribeDelegationTokenOwner)
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


def _encode_describe_delegation_token_owner_v0(
    out: bytearray,
    items: Iterable[DescribeDelegationTokenOwner],
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


def _decode_describe_delegation_token_owner_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeDelegationTokenOwner], int]:
    items: list[DescribeDelegationTokenOwner] = []
    for _ in range(count):
        o = DescribeDelegationTokenOwner.__new__(DescribeDelegationTokenOwner)
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


def _encode_describe_delegation_token_owner_v2(
    out: bytearray,
    items: Iterable[DescribeDelegationTokenOwner],
) -> None:
    for o in items:
        write_compact_string(out, o.principal_type)
        write_compact_string(out, o.principal_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_delegation_token_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeDelegationTokenRequest, int]:
    o = DescribeDelegationTokenRequest.__new__(DescribeDelegationTokenRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.owners = None
    else:
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.owners, pos = _decode_describe_delegation_token_owner_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_delegation_token_request_v0(out: bytearray, o: DescribeDelegationTokenRequest) -> None:
    out += pack_i(-1 if o.owners is None else len(o.owners))
    if o.owners:
        _encode_describe_delegation_token_owner_v0(out, o.owners)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_delegation_token_request_v2(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeDelegationTokenRequest, int]:
    o = DescribeDelegationTokenRequest.__new__(DescribeDelegationTokenRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.owners = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.owners, pos = _decode_describe_delegation_token_owner_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_delegation_token_request_v2(out: bytearray, o: DescribeDelegationTokenRequest) -> None:
    if o.owners is None:
        out.append(0)
    else:
        n = len(o.owners) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_delegation_token_owner_v2(out, o.owners)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeDelegationTokenRequest.DECODERS = {
    0: _decode_describe_delegation_token_request_v0,
    1: _decode_describe_delegation_token_request_v0,
    2: _decode_describe_delegation_token_request_v2,
    3: _decode_describe_delegation_token_request_v2,
}
DescribeDelegationTokenRequest.ENCODERS = {
    0: _encode_describe_delegation_token_request_v0,
    1: _encode_describe_delegation_token_request_v0,
    2: _encode_describe_delegation_token_request_v2,
    3: _encode_describe_delegation_token_request_v2,
}
