"""ConsumerGroupPartitionMetadataValue, version 0.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class PartitionMetadata(Struct):
    """Part of ConsumerGroupPartitionMetadataValue."""

    __slots__ = (
        "partition",
        "racks",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        racks: list[str] = UNSET,
    ) -> None:
        self.partition = partition
        self.racks: list[str] = [] if racks is UNSET else racks
        self.unknown_tags: UnknownTags = None


class TopicMetadata(Struct):
    """Part of ConsumerGroupPartitionMetadataValue."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "num_partitions",
        "partition_metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata: list[PartitionMetadata] = (
            [] if partition_metadata is UNSET else partition_metadata
        )
        self.unknown_tags: UnknownTags = None


class ConsumerGroupPartitionMetadataValue(Message):
    """ConsumerGroupPartitionMetadataValue, version 0."""

    __slots__ = (
        "topics",
        "unknown_tags",
    )
    NAME = "ConsumerGroupPartitionMetadataValue"
    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        topics: list[TopicMetadata] = UNSET,
    ) -> None:
        self.topics: list[TopicMetadata] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_partition_metadata_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionMetadata], int]:
    items: list[PartitionMetadata] = []
    for _ in range(count):
        o = PartitionMetadata.__new__(PartitionMetadata)
        items.append(o)
        (o.partition,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("racks")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.racks = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_metadata_v0(out: bytearray, items: Iterable[PartitionMetadata]) -> None:
    for o in items:
        out += pack_i(o.partition)
        n = len(o.racks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.racks:
            write_compact_string(out, text)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_metadata_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicMetadata], int]:
    items: list[TopicMetadata] = []
    for _ in range(count):
        o = TopicMetadata.__new__(TopicMetadata)
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
        (o.num_partitions,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitionMetadata")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_metadata, pos = _decode_partition_metadata_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_metadata_v0(out: bytearray, items: Iterable[TopicMetadata]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        write_compact_string(out, o.topic_name)
        out += pack_i(o.num_partitions)
        n = len(o.partition_metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_metadata_v0(out, o.partition_metadata)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_consumer_group_partition_metadata_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
    o = ConsumerGroupPartitionMetadataValue.__new__(ConsumerGroupPartitionMetadataValue)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 23 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_metadata_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_consumer_group_partition_metadata_value_v0(
    out: bytearray,
    o: ConsumerGroupPartitionMetadataValue,
) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_metadata_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ConsumerGroupPartitionMetadataValue.DECODERS = {
    0: _decode_consumer_group_partition_metadata_value_v0,
}
ConsumerGroupPartitionMetadataValue.ENCODERS = {
    0: _encode_consumer_group_partition_metadata_value_v0,
}
