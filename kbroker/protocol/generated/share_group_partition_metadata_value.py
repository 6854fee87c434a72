"""ShareGroupPartitionMetadataValue, version 0.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from


class TopicInfo(Struct):
    """Part of ShareGroupPartitionMetadataValue."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.unknown_tags: UnknownTags = None


class TopicPartitionsInfo(Struct):
    """Part of ShareGroupPartitionMetadataValue."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ShareGroupPartitionMetadataValue(Message):
    """ShareGroupPartitionMetadataValue, version 0."""

    __slots__ = (
        "initialized_topics",
        "deleting_topics",
        "unknown_tags",
    )
    NAME = "ShareGroupPartitionMetadataValue"
    API_KEY = 9
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        initialized_topics: list[TopicPartitionsInfo] = UNSET,
        deleting_topics: list[TopicInfo] = UNSET,
    ) -> None:
        self.initialized_topics: list[TopicPartitionsInfo] = (
            [] if initialized_topics is UNSET else initialized_topics
        )
        self.deleting_topics: list[TopicInfo] = [] if deleting_topics is UNSET else deleting_topics
        self.unknown_tags: UnknownTags = None


def _decode_topic_info_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicInfo], int]:
    items: list[TopicInfo] = []
    for _ in range(count):
        o = TopicInfo.__new__(TopicInfo)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_info_v0(out: bytearray, items: Iterable[TopicInfo]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        write_compact_string(out, o.topic_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_partitions_info_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicPartitionsInfo], int]:
    items: list[TopicPartitionsInfo] = []
    for _ in range(count):
        o = TopicPartitionsInfo.__new__(TopicPartitionsInfo)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
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


def _encode_topic_partitions_info_v0(out: bytearray, items: Iterable[TopicPartitionsInfo]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_group_partition_metadata_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ShareGroupPartitionMetadataValue, int]:
    o = ShareGroupPartitionMetadataValue.__new__(ShareGroupPartitionMetadataValue)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("initializedTopics")
    if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.initialized_topics, pos = _decode_topic_partitions_info_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("deletingTopics")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.deleting_topics, pos = _decode_topic_info_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_partition_metadata_value_v0(
    out: bytearray,
    o: ShareGroupPartitionMetadataValue,
) -> None:
    n = len(o.initialized_topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_partitions_info_v0(out, o.initialized_topics)
    n = len(o.deleting_topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_info_v0(out, o.deleting_topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupPartitionMetadataValue.DECODERS = {
    0: _decode_share_group_partition_metadata_value_v0,
}
ShareGroupPartitionMetadataValue.ENCODERS = {
    0: _encode_share_group_partition_metadata_value_v0,
}
