"""AssignReplicasToDirsRequest, version 0.

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
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class PartitionData(Struct):
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = (
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tags: UnknownTags = None


class TopicData(Struct):
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DirectoryData(Struct):
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = (
        "id",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        topics: list[TopicData] = UNSET,
    ) -> None:
        self.id = id
        self.topics: list[TopicData] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class AssignReplicasToDirsRequest(Message):
    """AssignReplicasToDirsRequest, version 0."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "directories",
        "unknown_tags",
    )
    NAME = "AssignReplicasToDirsRequest"
    API_KEY = 73
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[DirectoryData] = UNSET,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories: list[DirectoryData] = [] if directories is UNSET else directories
        self.unknown_tags: UnknownTags = None


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_i(o.partition_index)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
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
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v0(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_directory_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[DirectoryData], int]:
    items: list[DirectoryData] = []
    for _ in range(count):
        o = DirectoryData.__new__(DirectoryData)
        items.append(o)
        (o.id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("topics")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_topic_data_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_directory_data_v0(out: bytearray, items: Iterable[DirectoryData]) -> None:
    for o in items:
        out += pack_16s(o.id)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_data_v0(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_assign_replicas_to_dirs_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AssignReplicasToDirsRequest, int]:
    o = AssignReplicasToDirsRequest.__new__(AssignReplicasToDirsRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("directories")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.directories, pos = _decode_directory_data_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_assign_replicas_to_dirs_request_v0(out: bytearray, o: AssignReplicasToDirsRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.directories) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_directory_data_v0(out, o.directories)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AssignReplicasToDirsRequest.DECODERS = {
    0: _decode_assign_replicas_to_dirs_request_v0,
}
AssignReplicasToDirsRequest.ENCODERS = {
    0: _encode_assign_replicas_to_dirs_request_v0,
}
