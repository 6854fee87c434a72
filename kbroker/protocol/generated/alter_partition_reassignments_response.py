"""AlterPartitionReassignmentsResponse, versions 0 to 1.

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

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ioh = Layout(">i?h").pack
unpack_ioh = Layout(">i?h").unpack_from


class ReassignablePartitionResponse(Struct):
    """Part of AlterPartitionReassignmentsResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class ReassignableTopicResponse(Struct):
    """Part of AlterPartitionReassignmentsResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[ReassignablePartitionResponse] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AlterPartitionReassignmentsResponse(Message):
    """AlterPartitionReassignmentsResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
        "unknown_tags",
    )
    NAME = "AlterPartitionReassignmentsResponse"
    API_KEY = 45
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,  # version 1
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses: list[ReassignableTopicResponse] = [] if responses is UNSET else responses
        self.unknown_tags: UnknownTags = None


def _decode_reassignable_partition_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReassignablePartitionResponse], int]:
    items: list[ReassignablePartitionResponse] = []
    for _ in range(count):
        o = ReassignablePartitionResponse.__new__(ReassignablePartitionResponse)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
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


def _encode_reassignable_partition_response_v0(
    out: bytearray,
    items: Iterable[ReassignablePartitionResponse],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_reassignable_topic_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReassignableTopicResponse], int]:
    items: list[ReassignableTopicResponse] = []
    for _ in range(count):
        o = ReassignableTopicResponse.__new__(ReassignableTopicResponse)
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
        o.partitions, pos = _decode_reassignable_partition_response_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_reassignable_topic_response_v0(
    out: bytearray,
    items: Iterable[ReassignableTopicResponse],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_reassignable_partition_response_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_partition_reassignments_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterPartitionReassignmentsResponse, int]:
    o = AlterPartitionReassignmentsResponse.__new__(AlterPartitionReassignmentsResponse)
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
        raise null_field("responses")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_reassignable_topic_response_v0(buf, pos, n)
    o.allow_replication_factor_change = True
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_reassignments_response_v0(
    out: bytearray,
    o: AlterPartitionReassignmentsResponse,
) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_reassignable_topic_response_v0(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_alter_partition_reassignments_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[AlterPartitionReassignmentsResponse, int]:
    o = AlterPartitionReassignmentsResponse.__new__(AlterPartitionReassignmentsResponse)
    o.throttle_time_ms, o.allow_replication_factor_change, o.error_code = unpack_ioh(buf, pos)
    pos += 7
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
        raise null_field("responses")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_reassignable_topic_response_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_reassignments_response_v1(
    out: bytearray,
    o: AlterPartitionReassignmentsResponse,
) -> None:
    out += pack_ioh(o.throttle_time_ms, o.allow_replication_factor_change, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_reassignable_topic_response_v0(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterPartitionReassignmentsResponse.DECODERS = {
    0: _decode_alter_partition_reassignments_response_v0,
    1: _decode_alter_partition_reassignments_response_v1,
}
AlterPartitionReassignmentsResponse.ENCODERS = {
    0: _encode_alter_partition_reassignments_response_v0,
    1: _encode_alter_partition_reassignments_response_v1,
}
