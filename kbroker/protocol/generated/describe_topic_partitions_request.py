"""DescribeTopicPartitionsRequest, version 0.

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
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
unpack_ib = Layout(">ib").unpack_from


class Cursor(Struct):
    """Part of DescribeTopicPartitionsRequest."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tags: UnknownTags = None


class TopicRequest(Struct):
    """Part of DescribeTopicPartitionsRequest."""

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


class DescribeTopicPartitionsRequest(Message):
    """DescribeTopicPartitionsRequest, version 0."""

    __slots__ = (
        "topics",
        "response_partition_limit",
        "cursor",
        "unknown_tags",
    )
    NAME = "DescribeTopicPartitionsRequest"
    API_KEY = 75
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        topics: list[TopicRequest] = UNSET,
        response_partition_limit: int = 2000,
        cursor: Cursor | None = None,
    ) -> None:
        self.topics: list[TopicRequest] = [] if topics is UNSET else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor
        self.unknown_tags: UnknownTags = None


def _decode_cursor_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Cursor], int]:
    items: list[Cursor] = []
    for _ in range(count):
        o = Cursor.__new__(Cursor)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_cursor_v0(out: bytearray, items: Iterable[Cursor]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_i(o.partition_index)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_request_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicRequest], int]:
    items: list[TopicRequest] = []
    for _ in range(count):
        o = TopicRequest.__new__(TopicRequest)
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


def _encode_topic_request_v0(out: bytearray, items: Iterable[TopicRequest]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_topic_partitions_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeTopicPartitionsRequest, int]:
    o = DescribeTopicPartitionsRequest.__new__(DescribeTopicPartitionsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_request_v0(buf, pos, n)
    o.response_partition_limit, n = unpack_ib(buf, pos)
    pos += 5
    if n < 0:
        o.cursor = None
    else:
        (o.cursor,), pos = _decode_cursor_v0(buf, pos, 1)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_topic_partitions_request_v0(out: bytearray, o: DescribeTopicPartitionsRequest) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_request_v0(out, o.topics)
    out += pack_i(o.response_partition_limit)
    if o.cursor is None:
        out.append(255)
    else:
        out.append(1)
        _encode_cursor_v0(out, (o.cursor,))
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeTopicPartitionsRequest.DECODERS = {
    0: _decode_describe_topic_partitions_request_v0,
}
DescribeTopicPartitionsRequest.ENCODERS = {
    0: _encode_describe_topic_partitions_request_v0,
}
