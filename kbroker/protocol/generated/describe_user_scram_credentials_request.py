"""DescribeUserScramCredentialsRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)


class UserName(Struct):
    """Part of DescribeUserScramCredentialsRequest."""

    __slots__ = (
        "name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name = name
        self.unknown_tags: UnknownTags = None


class DescribeUserScramCredentialsRequest(Message):
    """DescribeUserScramCredentialsRequest, version 0."""

    __slots__ = (
        "users",
        "unknown_tags",
    )
    NAME = "DescribeUserScramCredentialsRequest"
    API_KEY = 50
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        users: list[UserName] | None = UNSET,
    ) -> None:
        self.users: list[UserName] | None = [] if users is UNSET else users
        self.unknown_tags: UnknownTags = None


def _decode_user_name_v0(buf: Buffer, pos: int, count: int) -> tuple[list[UserName], int]:
    items: list[UserName] = []
    for _ in range(count):
        o = UserName.__new__(UserName)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_user_name_v0(out: bytearray, items: Iterable[UserName]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_user_scram_credentials_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeUserScramCredentialsRequest, int]:
    o = DescribeUserScramCredentialsRequest.__new__(DescribeUserScramCredentialsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.users = None
    else:
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.users, pos = _decode_user_name_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_user_scram_credentials_request_v0(
    out: bytearray,
    o: DescribeUserScramCredentialsRequest,
) -> None:
    if o.users is None:
        out.append(0)
    else:
        n = len(o.users) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_user_name_v0(out, o.users)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeUserScramCredentialsRequest.DECODERS = {
    0: _decode_describe_user_scram_credentials_request_v0,
}
DescribeUserScramCredentialsRequest.ENCODERS = {
    0: _encode_describe_user_scram_credentials_request_v0,
}
