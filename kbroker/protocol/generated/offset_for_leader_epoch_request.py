"""OffsetForLeaderEpochRequest, versions 0 to 4.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3i = Layout(">3i").pack
unpack_3i = Layout(">3i").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class OffsetForLeaderPartition(Struct):
    """Part of OffsetForLeaderEpochRequest."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,  # versions 2 to 4
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class OffsetForLeaderTopic(Struct):
    """Part of OffsetForLeaderEpochRequest."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[OffsetForLeaderPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class OffsetForLeaderEpochRequest(Message):
    """OffsetForLeaderEpochRequest, versions 0 to 4."""

    __slots__ = (
        "replica_id",
        "topics",
        "unknown_tags",
    )
    NAME = "OffsetForLeaderEpochRequest"
    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        replica_id: int = -2,  # versions 3 to 4
        topics: list[OffsetForLeaderTopic] = UNSET,
    ) -> None:
        self.replica_id = replica_id
        self.topics: list[OffsetForLeaderTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_offset_for_leader_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderPartition], int]:
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        o = OffsetForLeaderPartition.__new__(OffsetForLeaderPartition)
        items.append(o)
        o.partition, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        o.current_leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_offset_for_leader_partition_v0(out: bytearray, items: Iterable[OffsetForLeaderPartition]) -> None:
    for o in items:
        out += pack_ii(o.partition, o.leader_epoch)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_for_leader_partition_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderPartition], int]:
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        o = OffsetForLeaderPartition.__new__(OffsetForLeaderPartition)
        items.append(o)
        o.partition, o.current_leader_epoch, o.leader_epoch = unpack_3i(buf, pos)
        pos += 12
        o.unknown_tags = None
    return items, pos


def _encode_offset_for_leader_partition_v2(out: bytearray, items: Iterable[OffsetForLeaderPartition]) -> None:
    for o in items:
        out += pack_3i(o.partition, o.current_leader_epoch, o.leader_epoch)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_for_leader_partition_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderPartition], int]:
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        o = OffsetForLeaderPartition.__new__(OffsetForLeaderPartition)
        items.append(o)
        o.partition, o.current_leader_epoch, o.leader_epoch = unpack_3i(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_for_leader_partition_v4(out: bytearray, items: Iterable[OffsetForLeaderPartition]) -> None:
    for o in items:
        out += pack_3i(o.partition, o.current_leader_epoch, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_for_leader_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderTopic], int]:
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        o = OffsetForLeaderTopic.__new__(OffsetForLeaderTopic)
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
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_for_leader_partition_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_offset_for_leader_topic_v0(out: bytearray, items: Iterable[OffsetForLeaderTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_for_leader_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_for_leader_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderTopic], int]:
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        o = OffsetForLeaderTopic.__new__(OffsetForLeaderTopic)
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
        if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_for_leader_partition_v2(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_offset_for_leader_topic_v2(out: bytearray, items: Iterable[OffsetForLeaderTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_for_leader_partition_v2(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_for_leader_topic_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderTopic], int]:
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        o = OffsetForLeaderTopic.__new__(OffsetForLeaderTopic)
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
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_for_leader_partition_v4(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_for_leader_topic_v4(out: bytearray, items: Iterable[OffsetForLeaderTopic]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_for_leader_partition_v4(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_for_leader_epoch_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochRequest, int]:
    o = OffsetForLeaderEpochRequest.__new__(OffsetForLeaderEpochRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_for_leader_topic_v0(buf, pos, n)
    o.replica_id = -2
    o.unknown_tags = None
    return o, pos


def _encode_offset_for_leader_epoch_request_v0(out: bytearray, o: OffsetForLeaderEpochRequest) -> None:
    out += pack_i(len(o.topics))
    _encode_offset_for_leader_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_for_leader_epoch_request_v2(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochRequest, int]:
    o = OffsetForLeaderEpochRequest.__new__(OffsetForLeaderEpochRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_for_leader_topic_v2(buf, pos, n)
    o.replica_id = -2
    o.unknown_tags = None
    return o, pos


def _encode_offset_for_leader_epoch_request_v2(out: bytearray, o: OffsetForLeaderEpochRequest) -> None:
    out += pack_i(len(o.topics))
    _encode_offset_for_leader_topic_v2(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_for_leader_epoch_request_v3(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochRequest, int]:
    o = OffsetForLeaderEpochRequest.__new__(OffsetForLeaderEpochRequest)
    o.replica_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_for_leader_topic_v2(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_offset_for_leader_epoch_request_v3(out: bytearray, o: OffsetForLeaderEpochRequest) -> None:
    out += pack_ii(o.replica_id, len(o.topics))
    _encode_offset_for_leader_topic_v2(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_for_leader_epoch_request_v4(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochRequest, int]:
    o = OffsetForLeaderEpochRequest.__new__(OffsetForLeaderEpochRequest)
    (o.replica_id,) = unpack_i(buf, pos)
    pos += 4
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
    o.topics, pos = _decode_offset_for_leader_topic_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_for_leader_epoch_request_v4(out: bytearray, o: OffsetForLeaderEpochRequest) -> None:
    out += pack_i(o.replica_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_for_leader_topic_v4(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


OffsetForLeaderEpochRequest.DECODERS = {
    0: _decode_offset_for_leader_epoch_request_v0,
    1: _decode_offset_for_leader_epoch_request_v0,
    2: _decode_offset_for_leader_epoch_request_v2,
    3: _decode_offset_for_leader_epoch_request_v3,
    4: _decode_offset_for_leader_epoch_request_v4,
}
OffsetForLeaderEpochRequest.ENCODERS = {
    0: _encode_offset_for_leader_epoch_request_v0,
    1: _encode_offset_for_leader_epoch_request_v0,
    2: _encode_offset_for_leader_epoch_request_v2,
    3: _encode_offset_for_leader_epoch_request_v3,
    4: _encode_offset_for_leader_epoch_request_v4,
}
