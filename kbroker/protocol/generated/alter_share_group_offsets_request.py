"""AlterShareGroupOffsetsRequest, version 0.

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

pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class AlterShareGroupOffsetsRequestPartition(Struct):
    """Part of AlterShareGroupOffsetsRequest."""

    __slots__ = (
        "partition_index",
        "start_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.unknown_tags: UnknownTags = None


class AlterShareGroupOffsetsRequestTopic(Struct):
    """Part of AlterShareGroupOffsetsRequest."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[AlterShareGroupOffsetsRequestPartition] = UNSET,
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[AlterShareGroupOffsetsRequestPartition] = (
            [] if partitions is UNSET else partitions
        )
        self.unknown_tags: UnknownTags = None


class AlterShareGroupOffsetsRequest(Message):
    """AlterShareGroupOffsetsRequest, version 0."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tags",
    )
    NAME = "AlterShareGroupOffsetsRequest"
    API_KEY = 91
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[AlterShareGroupOffsetsRequestTopic] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.topics: list[AlterShareGroupOffsetsRequestTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_alter_share_group_offsets_request_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterShareGroupOffsetsRequestPartition], int]:
    items: list[AlterShareGroupOffsetsRequestPartition] = []
    for _ in range(count):
        o = AlterShareGroupOffsetsRequestPartition.__new__(AlterShareGroupOffsetsRequestPartition)
        items.append(o)
        o.partition_index, o.start_offset = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_share_group_offsets_request_partition_v0(
    out: bytearray,
    items: Iterable[AlterShareGroupOffsetsRequestPartition],
) -> None:
    for o in items:
        out += pack_iq(o.partition_index, o.start_offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_share_group_offsets_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterShareGroupOffsetsRequestTopic], int]:
    items: list[AlterShareGroupOffsetsRequestTopic] = []
    for _ in range(count):
        o = AlterShareGroupOffsetsRequestTopic.__new__(AlterShareGroupOffsetsRequestTopic)
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
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_alter_share_group_offsets_request_partition_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_share_group_offsets_request_topic_v0(
    out: bytearray,
    items: Iterable[AlterShareGroupOffsetsRequestTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_alter_share_group_offsets_request_partition_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_share_group_offsets_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterShareGroupOffsetsRequest, int]:
    o = AlterShareGroupOffsetsRequest.__new__(AlterShareGroupOffsetsRequest)
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
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_alter_share_group_offsets_request_topic_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_share_group_offsets_request_v0(out: bytearray, o: AlterShareGroupOffsetsRequest) -> None:
    write_compact_string(out, o.group_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_alter_share_group_offsets_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterShareGroupOffsetsRequest.DECODERS = {
    0: _decode_alter_share_group_offsets_request_v0,
}
AlterShareGroupOffsetsRequest.ENCODERS = {
    0: _encode_alter_share_group_offsets_request_v0,
}
