"""DescribeGroupsRequest, versions 0 to 6.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
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
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class DescribeGroupsRequest(Message):
    """DescribeGroupsRequest, versions 0 to 6."""

    __slots__ = (
        "groups",
        "include_authorized_operations",
        "unknown_tags",
    )
    NAME = "DescribeGroupsRequest"
    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 5

    def __init__(
        self,
        *,
        groups: list[str] = UNSET,
        include_authorized_operations: bool = False,  # versions 3 to 6
    ) -> None:
        self.groups: list[str] = [] if groups is UNSET else groups
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tags: UnknownTags = None


def _decode_describe_groups_request_v0(buf: Buffer, pos: int) -> tuple[DescribeGroupsRequest, int]:
    o = DescribeGroupsRequest.__new__(DescribeGroupsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("groups")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groups")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    o.include_authorized_operations = False
    o.unknown_tags = None
    return o, pos


def _encode_describe_groups_request_v0(out: bytearray, o: DescribeGroupsRequest) -> None:
    if o.include_authorized_operations:
        raise not_in_version("includeAuthorizedOperations")
    out += pack_i(len(o.groups))
    for text in o.groups:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_groups_request_v3(buf: Buffer, pos: int) -> tuple[DescribeGroupsRequest, int]:
    o = DescribeGroupsRequest.__new__(DescribeGroupsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("groups")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groups")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    (o.include_authorized_operations,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    return o, pos


def _encode_describe_groups_request_v3(out: bytearray, o: DescribeGroupsRequest) -> None:
    out += pack_i(len(o.groups))
    for text in o.groups:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    out += pack_o(o.include_authorized_operations)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_groups_request_v5(buf: Buffer, pos: int) -> tuple[DescribeGroupsRequest, int]:
    o = DescribeGroupsRequest.__new__(DescribeGroupsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    (o.include_authorized_operations,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_groups_request_v5(out: bytearray, o: DescribeGroupsRequest) -> None:
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.groups:
        write_compact_string(out, text)
    out += pack_o(o.include_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeGroupsRequest.DECODERS = {
    0: _decode_describe_groups_request_v0,
    1: _decode_describe_groups_request_v0,
    2: _decode_describe_groups_request_v0,
    3: _decode_describe_groups_request_v3,
    4: _decode_describe_groups_request_v3,
    5: _decode_describe_groups_request_v5,
    6: _decode_describe_groups_request_v5,
}
DescribeGroupsRequest.ENCODERS = {
    0: _encode_describe_groups_request_v0,
    1: _encode_describe_groups_request_v0,
    2: _encode_describe_groups_request_v0,
    3: _encode_describe_groups_request_v3,
    4: _encode_describe_groups_request_v3,
    5: _encode_describe_groups_request_v5,
    6: _encode_describe_groups_request_v5,
}
