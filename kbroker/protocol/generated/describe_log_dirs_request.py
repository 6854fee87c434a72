"""DescribeLogDirsRequest, versions 0 to 5.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class DescribableLogDirTopic(Struct):
    """Part of DescribeLogDirsRequest."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DescribeLogDirsRequest(Message):
    """DescribeLogDirsRequest, versions 0 to 5."""

    __slots__ = (
        "topics",
        "unknown_tags",
    )
    NAME = "DescribeLogDirsRequest"
    API_KEY = 35
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        topics: list[DescribableLogDirTopic] | None = UNSET,
    ) -> None:
        self.topics: list[DescribableLogDirTopic] | None = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_describable_log_dir_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribableLogDirTopic], int]:
    items: list[DescribableLogDirTopic] = []
    for _ in range(count):
        o = DescribableLogDirTopic.__new__(DescribableLogDirTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_describable_log_dir_topic_v0(out: bytearray, items: Iterable[DescribableLogDirTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describable_log_dir_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribableLogDirTopic], int]:
    items: list[DescribableLogDirTopic] = []
    for _ in range(count):
        o = DescribableLogDirTopic.__new__(DescribableLogDirTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
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


def _encode_describable_log_dir_topic_v2(out: bytearray, items: Iterable[DescribableLogDirTopic]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_log_dirs_request_v0(buf: Buffer, pos: int) -> tuple[DescribeLogDirsRequest, int]:
    o = DescribeLogDirsRequest.__new__(DescribeLogDirsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_describable_log_dir_topic_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_log_dirs_request_v0(out: bytearray, o: DescribeLogDirsRequest) -> None:
    out += pack_i(-1 if o.topics is None else len(o.topics))
    if o.topics:
        _encode_describable_log_dir_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_log_dirs_request_v2(buf: Buffer, pos: int) -> tuple[DescribeLogDirsRequest, int]:
    o = DescribeLogDirsRequest.__new__(DescribeLogDirsRequest)
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
        o.topics, pos = _decode_describable_log_dir_topic_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_log_dirs_request_v2(out: bytearray, o: DescribeLogDirsRequest) -> None:
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describable_log_dir_topic_v2(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeLogDirsRequest.DECODERS = {
    0: _decode_describe_log_dirs_request_v0,
    1: _decode_describe_log_dirs_request_v0,
    2: _decode_describe_log_dirs_request_v2,
    3: _decode_describe_log_dirs_request_v2,
    4: _decode_describe_log_dirs_request_v2,
    5: _decode_describe_log_dirs_request_v2,
}
DescribeLogDirsRequest.ENCODERS = {
    0: _encode_describe_log_dirs_request_v0,
    1: _encode_describe_log_dirs_request_v0,
    2: _encode_describe_log_dirs_request_v2,
    3: _encode_describe_log_dirs_request_v2,
    4: _encode_describe_log_dirs_request_v2,
    5: _encode_describe_log_dirs_request_v2,
}
