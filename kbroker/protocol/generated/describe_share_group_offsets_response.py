"""DescribeShareGroupOffsetsResponse, versions 0 to 1.

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
    ZERO_UUID,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iqih = Layout(">iqih").pack
unpack_iqih = Layout(">iqih").unpack_from
pack_iqiqh = Layout(">iqiqh").pack
unpack_iqiqh = Layout(">iqiqh").unpack_from


class DescribeShareGroupOffsetsResponsePartition(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = (
        "partition_index",
        "start_offset",
        "leader_epoch",
        "lag",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,  # version 1
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class DescribeShareGroupOffsetsResponseTopic(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = UNSET,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions: list[DescribeShareGroupOffsetsResponsePartition] = (
            [] if partitions is UNSET else partitions
        )
        self.unknown_tags: UnknownTags = None


class DescribeShareGroupOffsetsResponseGroup(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = (
        "group_id",
        "topics",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = UNSET,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics: list[DescribeShareGroupOffsetsResponseTopic] = [] if topics is UNSET else topics
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class DescribeShareGroupOffsetsResponse(Message):
    """DescribeShareGroupOffsetsResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )
    NAME = "DescribeShareGroupOffsetsResponse"
    API_KEY = 90
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribeShareGroupOffsetsResponseGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_describe_share_group_offsets_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsResponsePartition], int]:
    items: list[DescribeShareGroupOffsetsResponsePartition] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsResponsePartition.__new__(DescribeShareGroupOffsetsResponsePartition)
        items.append(o)
        o.partition_index, o.start_offset, o.leader_epoch, o.error_code = unpack_iqih(buf, pos)
        pos += 18
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.lag = -1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_response_partition_v0(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsResponsePartition],
) -> None:
    for o in items:
        out += pack_iqih(o.partition_index, o.start_offset, o.leader_epoch, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_response_partition_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsResponsePartition], int]:
    items: list[DescribeShareGroupOffsetsResponsePartition] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsResponsePartition.__new__(DescribeShareGroupOffsetsResponsePartition)
        items.append(o)
        o.partition_index, o.start_offset, o.leader_epoch, o.lag, o.error_code = unpack_iqiqh(buf, pos)
        pos += 26
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_response_partition_v1(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsResponsePartition],
) -> None:
    for o in items:
        out += pack_iqiqh(o.partition_index, o.start_offset, o.leader_epoch, o.lag, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsResponseTopic], int]:
    items: list[DescribeShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsResponseTopic.__new__(DescribeShareGroupOffsetsResponseTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_describe_share_group_offsets_response_partition_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_response_topic_v0(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsResponseTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_share_group_offsets_response_partition_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_response_topic_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsResponseTopic], int]:
    items: list[DescribeShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsResponseTopic.__new__(DescribeShareGroupOffsetsResponseTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_describe_share_group_offsets_response_partition_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_response_topic_v1(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsResponseTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_share_group_offsets_response_partition_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_response_group_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsResponseGroup], int]:
    items: list[DescribeShareGroupOffsetsResponseGroup] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsResponseGroup.__new__(DescribeShareGroupOffsetsResponseGroup)
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
            raise null_field("topics")
        if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_describe_share_group_offsets_response_topic_v0(buf, pos, n)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_response_group_v0(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsResponseGroup],
) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_share_group_offsets_response_topic_v0(out, o.topics)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_response_group_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeShareGroupOffsetsResponseGroup], int]:
    items: list[DescribeShareGroupOffsetsResponseGroup] = []
    for _ in range(count):
        o = DescribeShareGroupOffsetsResponseGroup.__new__(DescribeShareGroupOffsetsResponseGroup)
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
            raise null_field("topics")
        if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_describe_share_group_offsets_response_topic_v1(buf, pos, n)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_share_group_offsets_response_group_v1(
    out: bytearray,
    items: Iterable[DescribeShareGroupOffsetsResponseGroup],
) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_share_group_offsets_response_topic_v1(out, o.topics)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_share_group_offsets_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    o = DescribeShareGroupOffsetsResponse.__new__(DescribeShareGroupOffsetsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_describe_share_group_offsets_response_group_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_share_group_offsets_response_v0(
    out: bytearray,
    o: DescribeShareGroupOffsetsResponse,
) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_share_group_offsets_response_group_v0(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_share_group_offsets_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    o = DescribeShareGroupOffsetsResponse.__new__(DescribeShareGroupOffsetsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_describe_share_group_offsets_response_group_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_share_group_offsets_response_v1(
    out: bytearray,
    o: DescribeShareGroupOffsetsResponse,
) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_share_group_offsets_response_group_v1(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeShareGroupOffsetsResponse.DECODERS = {
    0: _decode_describe_share_group_offsets_response_v0,
    1: _decode_describe_share_group_offsets_response_v1,
}
DescribeShareGroupOffsetsResponse.ENCODERS = {
    0: _encode_describe_share_group_offsets_response_v0,
    1: _encode_describe_share_group_offsets_response_v1,
}
