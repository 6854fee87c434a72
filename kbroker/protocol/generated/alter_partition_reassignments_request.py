"""AlterPartitionReassignmentsRequest, versions 0 to 1.

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

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_io = Layout(">i?").pack
unpack_io = Layout(">i?").unpack_from


class ReassignablePartition(Struct):
    """Part of AlterPartitionReassignmentsRequest."""

    __slots__ = (
        "partition_index",
        "replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.unknown_tags: UnknownTags = None


class ReassignableTopic(Struct):
    """Part of AlterPartitionReassignmentsRequest."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartition] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[ReassignablePartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AlterPartitionReassignmentsRequest(Message):
    """AlterPartitionReassignmentsRequest, versions 0 to 1."""

    __slots__ = (
        "timeout_ms",
        "allow_replication_factor_change",
        "topics",
        "unknown_tags",
    )
    NAME = "AlterPartitionReassignmentsRequest"
    API_KEY = 45
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,  # version 1
        topics: list[ReassignableTopic] = UNSET,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics: list[ReassignableTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_reassignable_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReassignablePartition], int]:
    items: list[ReassignablePartition] = []
    for _ in range(count):
        o = ReassignablePartition.__new__(ReassignablePartition)
        items.append(o)
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.replicas = None
        else:
            if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.replicas = unpack_int32s(buf, pos, n)
            pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_reassignable_partition_v0(out: bytearray, items: Iterable[ReassignablePartition]) -> None:
    for o in items:
        out += pack_i(o.partition_index)
        if o.replicas is None:
            out.append(0)
        else:
            n = len(o.replicas) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            out += pack_int32s(o.replicas)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_reassignable_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ReassignableTopic], int]:
    items: list[ReassignableTopic] = []
    for _ in range(count):
        o = ReassignableTopic.__new__(ReassignableTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_reassignable_partition_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_reassignable_topic_v0(out: bytearray, items: Iterable[ReassignableTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_reassignable_partition_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_partition_reassignments_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterPartitionReassignmentsRequest, int]:
    o = AlterPartitionReassignmentsRequest.__new__(AlterPartitionReassignmentsRequest)
    (o.timeout_ms,) = unpack_i(buf, pos)
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
    o.topics, pos = _decode_reassignable_topic_v0(buf, pos, n)
    o.allow_replication_factor_change = True
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_reassignments_request_v0(
    out: bytearray,
    o: AlterPartitionReassignmentsRequest,
) -> None:
    if not o.allow_replication_factor_change:
        raise not_in_version("allowReplicationFactorChange")
    out += pack_i(o.timeout_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_reassignable_topic_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_alter_partition_reassignments_request_v1(
    buf: Buffer,
    pos: int,
) -> tuple[AlterPartitionReassignmentsRequest, int]:
    o = AlterPartitionReassignmentsRequest.__new__(AlterPartitionReassignmentsRequest)
    o.timeout_ms, o.allow_replication_factor_change = unpack_io(buf, pos)
    pos += 5
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
    o.topics, pos = _decode_reassignable_topic_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_reassignments_request_v1(
    out: bytearray,
    o: AlterPartitionReassignmentsRequest,
) -> None:
    out += pack_io(o.timeout_ms, o.allow_replication_factor_change)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_reassignable_topic_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterPartitionReassignmentsRequest.DECODERS = {
    0: _decode_alter_partition_reassignments_request_v0,
    1: _decode_alter_partition_reassignments_request_v1,
}
AlterPartitionReassignmentsRequest.ENCODERS = {
    0: _encode_alter_partition_reassignments_request_v0,
    1: _encode_alter_partition_reassignments_request_v1,
}
