"""DescribeShareGroupOffsetsRequest, versions 0 to 1.

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
    null_field,
    pack_int32s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)


class DescribeShareGroupOffsetsRequestTopic(Struct):
    """Part of DescribeShareGroupOffsetsRequest."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DescribeShareGroupOffsetsRequestGroup(Struct):
    """Part of DescribeShareGroupOffsetsRequest."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = UNSET,
    ) -> None:
        self.group_id = group_id
        self.topics: list[DescribeShareGroupOffsetsRequestTopic] | None = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class DescribeShareGroupOffsetsRequest(Message):
    """DescribeShareGroupOffsetsRequest, versions 0 to 1."""

    __slots__ = (
        "groups",
        "unknown_tags",
    )
    NAME = "DescribeShareGroupOffsetsRequest"
    API_KEY = 90
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = UNSET,
    ) -> None:
        self.groups: list[DescribeShareGroupOffsetsRequestGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_describe_share_group_offsets_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsRequestTopic], int]:
    items: list[DescribeShareGroupOffsetsRequestTopic] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsRequestTopic.__new__(DescribeShareGroupOffsetsRequestTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_request_topic_v0(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsRequestTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_request_group_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsRequestGroup], int]:
    items: list[DescribeShareGroupOffsetsRequestGroup] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsRequestGroup.__new__(DescribeShareGroupOffsetsRequestGroup)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.topics = None
        else:
            if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.topics, pos = _decode_describe_share_group_offsets_request_topic_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_request_group_v0(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsRequestGroup],
) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_describe_share_group_offsets_request_topic_v0(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeShareGroupOffsetsRequest, int]:
    o = DescribeShareGroupOffsetsRequest.__new__(DescribeShareGroupOffsetsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_describe_share_group_offsets_request_group_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_share_group_offsets_request_v0(
    out: bytearray,
    o: DescribeShareGroupOffsetsRequest,
) -> None:
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_share_group_offsets_request_group_v0(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeShareGroupOffsetsRequest.DECODERS = {
    0: _decode_describe_share_group_offsets_request_v0,
    1: _decode_describe_share_group_offsets_request_v0,
}
DescribeShareGroupOffsetsRequest.ENCODERS = {
    0: _encode_describe_share_group_offsets_request_v0,
    1: _encode_describe_share_group_offsets_request_v0,
}
