"""DescribeTopicPartitionsResponse, version 0.

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
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16so = Layout(">16s?").pack
unpack_16so = Layout(">16s?").unpack_from
unpack_b = Layout(">b").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_h3i = Layout(">h3i").pack
unpack_h3i = Layout(">h3i").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class Cursor(Struct):
    """Part of DescribeTopicPartitionsResponse."""

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


class DescribeTopicPartitionsResponsePartition(Struct):
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "eligible_leader_replicas",
        "last_known_elr",
        "offline_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = UNSET,
        isr_nodes: list[int] = UNSET,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is UNSET else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is UNSET else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas: list[int] = [] if offline_replicas is UNSET else offline_replicas
        self.unknown_tags: UnknownTags = None


class DescribeTopicPartitionsResponseTopic(Struct):
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = UNSET,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions: list[DescribeTopicPartitionsResponsePartition] = (
            [] if partitions is UNSET else partitions
        )
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tags: UnknownTags = None


class DescribeTopicPartitionsResponse(Message):
    """DescribeTopicPartitionsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "next_cursor",
        "unknown_tags",
    )
    NAME = "DescribeTopicPartitionsResponse"
    API_KEY = 75
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = UNSET,
        next_cursor: Cursor | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[DescribeTopicPartitionsResponseTopic] = [] if topics is UNSET else topics
        self.next_cursor = next_cursor
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


def _decode_describe_topic_partitions_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeTopicPartitionsResponsePartition], int]:
    items: list[DescribeTopicPartitionsResponsePartition] = []
    for _ in range(count):
        o = DescribeTopicPartitionsResponsePartition.__new__(DescribeTopicPartitionsResponsePartition)
        items.append(o)
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch = unpack_h3i(buf, pos)
        pos += 14
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("replicaNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replica_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("isrNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.eligible_leader_replicas = None
        else:
            if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.eligible_leader_replicas = unpack_int32s(buf, pos, n)
            pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.last_known_elr = None
        else:
            if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.last_known_elr = unpack_int32s(buf, pos, n)
            pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("offlineReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.offline_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_topic_partitions_response_partition_v0(
    out: bytearray,
    items: Iterable[DescribeTopicPartitionsResponsePartition],
) -> None:
    for o in items:
        out += pack_h3i(o.error_code, o.partition_index, o.leader_id, o.leader_epoch)
        n = len(o.replica_nodes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.replica_nodes)
        n = len(o.isr_nodes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.isr_nodes)
        if o.eligible_leader_replicas is None:
            out.append(0)
        else:
            n = len(o.eligible_leader_replicas) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            out += pack_int32s(o.eligible_leader_replicas)
        if o.last_known_elr is None:
            out.append(0)
        else:
            n = len(o.last_known_elr) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            out += pack_int32s(o.last_known_elr)
        n = len(o.offline_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_topic_partitions_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeTopicPartitionsResponseTopic], int]:
    items: list[DescribeTopicPartitionsResponseTopic] = []
    for _ in range(count):
        o = DescribeTopicPartitionsResponseTopic.__new__(DescribeTopicPartitionsResponseTopic)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_nullable_string(buf, pos)
        o.topic_id, o.is_internal = unpack_16so(buf, pos)
        pos += 17
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
        o.partitions, pos = _decode_describe_topic_partitions_response_partition_v0(buf, pos, n)
        (o.topic_authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_topic_partitions_response_topic_v0(
    out: bytearray,
    items: Iterable[DescribeTopicPartitionsResponseTopic],
) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.name)
        out += pack_16so(o.topic_id, o.is_internal)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_topic_partitions_response_partition_v0(out, o.partitions)
        out += pack_i(o.topic_authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_topic_partitions_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeTopicPartitionsResponse, int]:
    o = DescribeTopicPartitionsResponse.__new__(DescribeTopicPartitionsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_describe_topic_partitions_response_topic_v0(buf, pos, n)
    (n,) = unpack_b(buf, pos)
    pos += 1
    if n < 0:
        o.next_cursor = None
    else:
        (o.next_cursor,), pos = _decode_cursor_v0(buf, pos, 1)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_topic_partitions_response_v0(out: bytearray, o: DescribeTopicPartitionsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_topic_partitions_response_topic_v0(out, o.topics)
    if o.next_cursor is None:
        out.append(255)
    else:
        out.append(1)
        _encode_cursor_v0(out, (o.next_cursor,))
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeTopicPartitionsResponse.DECODERS = {
    0: _decode_describe_topic_partitions_response_v0,
}
DescribeTopicPartitionsResponse.ENCODERS = {
    0: _encode_describe_topic_partitions_response_v0,
}
