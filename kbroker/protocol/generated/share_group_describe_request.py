"""ShareGroupDescribeRequest, versions 0 to 1.

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
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class ShareGroupDescribeRequest(Message):
    """ShareGroupDescribeRequest, versions 0 to 1."""

    __slots__ = (
        "group_ids",
        "include_authorized_operations",
        "unknown_tags",
    )
    NAME = "ShareGroupDescribeRequest"
    API_KEY = 77
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_ids: list[str] = UNSET,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is UNSET else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tags: UnknownTags = None


def _decode_share_group_describe_request_v0(buf: Buffer, pos: int) -> tuple[ShareGroupDescribeRequest, int]:
    o = ShareGroupDescribeRequest.__new__(ShareGroupDescribeRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groupIds")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.group_ids = values = []
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


def _encode_share_group_describe_request_v0(out: bytearray, o: ShareGroupDescribeRequest) -> None:
    n = len(o.group_ids) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.group_ids:
        write_compact_string(out, text)
    out += pack_o(o.include_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupDescribeRequest.DECODERS = {
    0: _decode_share_group_describe_request_v0,
    1: _decode_share_group_describe_request_v0,
}
ShareGroupDescribeRequest.ENCODERS = {
    0: _encode_share_group_describe_request_v0,
    1: _encode_share_group_describe_request_v0,
}
