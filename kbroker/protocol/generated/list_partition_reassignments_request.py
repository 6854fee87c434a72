"""ListPartitionReassignmentsRequest, version 0.

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


class ListPartitionReassignmentsTopics(Struct):
    """Part of ListPartitionReassignmentsRequest."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = UNSET,
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is UNSET else partition_indexes
        self.unknown_tags: UnknownTags = None


class ListPartitionReassignmentsRequest(Message):
    """ListPartitionReassignmentsRequest, version 0."""

    __slots__ = (
        "timeout_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "ListPartitionReassignmentsRequest"
    API_KEY = 46
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics
        self.unknown_tags: UnknownTags = None


def _decode_list_partition_reassignments_topics_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListPartitionReassignmentsTopics], int]:
    items: list[ListPartitionReassignmentsTopics] = []
    for _ in range(count):
        o = ListPartitionReassignmentsTopics.__new__(ListPartitionReassignmentsTopics)
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
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_list_partition_reassignments_topics_v0(
    out: bytearray,
    items: Iterable[ListPartitionReassignmentsTopics],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_indexes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_partition_reassignments_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ListPartitionReassignmentsRequest, int]:
    o = ListPartitionReassignmentsRequest.__new__(ListPartitionReassignmentsRequest)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
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
        o.topics, pos = _decode_list_partition_reassignments_topics_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_partition_reassignments_request_v0(
    out: bytearray,
    o: ListPartitionReassignmentsRequest,
) -> None:
    out += pack_i(o.timeout_ms)
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_list_partition_reassignments_topics_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListPartitionReassignmentsRequest.DECODERS = {
    0: _decode_list_partition_reassignments_request_v0,
}
ListPartitionReassignmentsRequest.ENCODERS = {
    0: _encode_list_partition_reassignments_request_v0,
}
