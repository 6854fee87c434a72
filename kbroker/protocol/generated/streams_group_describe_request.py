"""StreamsGroupDescribeRequest, versions 0 to 1.

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

pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_oo = Layout(">??").pack
unpack_oo = Layout(">??").unpack_from


class StreamsGroupDescribeRequest(Message):
    """StreamsGroupDescribeRequest, versions 0 to 1."""

    __slots__ = (
        "group_ids",
        "include_authorized_operations",
        "include_topology_description",
        "unknown_tags",
    )
    NAME = "StreamsGroupDescribeRequest"
    API_KEY = 89
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_ids: list[str] = UNSET,
        include_authorized_operations: bool = False,
        include_topology_description: bool = False,  # version 1
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is UNSET else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.include_topology_description = include_topology_description
        self.unknown_tags: UnknownTags = None


def _decode_streams_group_describe_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupDescribeRequest, int]:
    o = StreamsGroupDescribeRequest.__new__(StreamsGroupDescribeRequest)
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
    o.include_topology_description = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_describe_request_v0(out: bytearray, o: StreamsGroupDescribeRequest) -> None:
    if o.include_topology_description:
        raise not_in_version("includeTopologyDescription")
    n = len(o.group_ids) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.group_ids:
        write_compact_string(out, text)
    out += pack_o(o.include_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_streams_group_describe_request_v1(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupDescribeRequest, int]:
    o = StreamsGroupDescribeRequest.__new__(StreamsGroupDescribeRequest)
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
    o.include_authorized_operations, o.include_topology_description = unpack_oo(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_describe_request_v1(out: bytearray, o: StreamsGroupDescribeRequest) -> None:
    n = len(o.group_ids) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.group_ids:
        write_compact_string(out, text)
    out += pack_oo(o.include_authorized_operations, o.include_topology_description)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupDescribeRequest.DECODERS = {
    0: _decode_streams_group_describe_request_v0,
    1: _decode_streams_group_describe_request_v1,
}
StreamsGroupDescribeRequest.ENCODERS = {
    0: _encode_streams_group_describe_request_v0,
    1: _encode_streams_group_describe_request_v1,
}
