"""ListPartitionReassignmentsResponse, version 0.

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

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class OngoingPartitionReassignment(Struct):
    """Part of ListPartitionReassignmentsResponse."""

    __slots__ = (
        "partition_index",
        "replicas",
        "adding_replicas",
        "removing_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] = UNSET,
        adding_replicas: list[int] = UNSET,
        removing_replicas: list[int] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.replicas: list[int] = [] if replicas is UNSET else replicas
        self.adding_replicas: list[int] = [] if adding_replicas is UNSET else adding_replicas
        self.removing_replicas: list[int] = [] if removing_replicas is UNSET else removing_replicas
        self.unknown_tags: UnknownTags = None


class OngoingTopicReassignment(Struct):
    """Part of ListPartitionReassignmentsResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[OngoingPartitionReassignment] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ListPartitionReassignmentsResponse(Message):
    """ListPartitionReassignmentsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "topics",
        "unknown_tags",
    )
    NAME = "ListPartitionReassignmentsResponse"
    API_KEY = 46
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics: list[OngoingTopicReassignment] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_ongoing_partition_reassignment_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OngoingPartitionReassignment], int]:
    items: list[OngoingPartitionReassignment] = []
    for _ in range(count):
        o = OngoingPartitionReassignment.__new__(OngoingPartitionReassignment)
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
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("addingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.adding_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("removingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.removing_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_ongoing_partition_reassignment_v0(
    out: bytearray,
    items: Iterable[OngoingPartitionReassignment],
) -> None:
    for o in items:
        out += pack_i(o.partition_index)
        n = len(o.replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.replicas)
        n = len(o.adding_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.adding_replicas)
        n = len(o.removing_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.removing_replicas)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_ongoing_topic_reassignment_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OngoingTopicReassignment], int]:
    items: list[OngoingTopicReassignment] = []
    for _ in range(count):
        o = OngoingTopicReassignment.__new__(OngoingTopicReassignment)
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
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_ongoing_partition_reassignment_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_ongoing_topic_reassignment_v0(out: bytearray, items: Iterable[OngoingTopicReassignment]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_ongoing_partition_reassignment_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_partition_reassignments_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ListPartitionReassignmentsResponse, int]:
    o = ListPartitionReassignmentsResponse.__new__(ListPartitionReassignmentsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
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
    o.topics, pos = _decode_ongoing_topic_reassignment_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_partition_reassignments_response_v0(
    out: bytearray,
    o: ListPartitionReassignmentsResponse,
) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_ongoing_topic_reassignment_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListPartitionReassignmentsResponse.DECODERS = {
    0: _decode_list_partition_reassignments_response_v0,
}
ListPartitionReassignmentsResponse.ENCODERS = {
    0: _encode_list_partition_reassignments_response_v0,
}
