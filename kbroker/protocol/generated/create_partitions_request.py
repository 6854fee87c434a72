"""CreatePartitionsRequest, versions 0 to 3.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_io = Layout(">i?").pack
unpack_io = Layout(">i?").unpack_from


class CreatePartitionsAssignment(Struct):
    """Part of CreatePartitionsRequest."""

    __slots__ = (
        "broker_ids",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        broker_ids: list[int] = UNSET,
    ) -> None:
        self.broker_ids: list[int] = [] if broker_ids is UNSET else broker_ids
        self.unknown_tags: UnknownTags = None


class CreatePartitionsTopic(Struct):
    """Part of CreatePartitionsRequest."""

    __slots__ = (
        "name",
        "count",
        "assignments",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = UNSET,
    ) -> None:
        self.name = name
        self.count = count
        self.assignments: list[CreatePartitionsAssignment] | None = (
            [] if assignments is UNSET else assignments
        )
        self.unknown_tags: UnknownTags = None


class CreatePartitionsRequest(Message):
    """CreatePartitionsRequest, versions 0 to 3."""

    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
        "unknown_tags",
    )
    NAME = "CreatePartitionsRequest"
    API_KEY = 37
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        topics: list[CreatePartitionsTopic] = UNSET,
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatePartitionsTopic] = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tags: UnknownTags = None


def _decode_create_partitions_assignment_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatePartitionsAssignment], int]:
    items: list[CreatePartitionsAssignment] = []
    for _ in range(count):
        o = CreatePartitionsAssignment.__new__(CreatePartitionsAssignment)
        items.append(o)
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("brokerIds")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.broker_ids = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_create_partitions_assignment_v0(
    out: bytearray,
    items: Iterable[CreatePartitionsAssignment],
) -> None:
    for o in items:
        out += pack_i(len(o.broker_ids))
        out += pack_int32s(o.broker_ids)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_create_partitions_assignment_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatePartitionsAssignment], int]:
    items: list[CreatePartitionsAssignment] = []
    for _ in range(count):
        o = CreatePartitionsAssignment.__new__(CreatePartitionsAssignment)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("brokerIds")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.broker_ids = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_create_partitions_assignment_v2(
    out: bytearray,
    items: Iterable[CreatePartitionsAssignment],
) -> None:
    for o in items:
        n = len(o.broker_ids) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.broker_ids)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_create_partitions_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatePartitionsTopic], int]:
    items: list[CreatePartitionsTopic] = []
    for _ in range(count):
        o = CreatePartitionsTopic.__new__(CreatePartitionsTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.count, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            o.assignments = None
        else:
            if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.assignments, pos = _decode_create_partitions_assignment_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_create_partitions_topic_v0(out: bytearray, items: Iterable[CreatePartitionsTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_ii(o.count, -1 if o.assignments is None else len(o.assignments))
        if o.assignments:
            _encode_create_partitions_assignment_v0(out, o.assignments)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_create_partitions_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatePartitionsTopic], int]:
    items: list[CreatePartitionsTopic] = []
    for _ in range(count):
        o = CreatePartitionsTopic.__new__(CreatePartitionsTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.count,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.assignments = None
        else:
            if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.assignments, pos = _decode_create_partitions_assignment_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_create_partitions_topic_v2(out: bytearray, items: Iterable[CreatePartitionsTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_i(o.count)
        if o.assignments is None:
            out.append(0)
        else:
            n = len(o.assignments) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_create_partitions_assignment_v2(out, o.assignments)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_create_partitions_request_v0(buf: Buffer, pos: int) -> tuple[CreatePartitionsRequest, int]:
    o = CreatePartitionsRequest.__new__(CreatePartitionsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_create_partitions_topic_v0(buf, pos, n)
    o.timeout_ms, o.validate_only = unpack_io(buf, pos)
    pos += 5
    o.unknown_tags = None
    return o, pos


def _encode_create_partitions_request_v0(out: bytearray, o: CreatePartitionsRequest) -> None:
    out += pack_i(len(o.topics))
    _encode_create_partitions_topic_v0(out, o.topics)
    out += pack_io(o.timeout_ms, o.validate_only)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_partitions_request_v2(buf: Buffer, pos: int) -> tuple[CreatePartitionsRequest, int]:
    o = CreatePartitionsRequest.__new__(CreatePartitionsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_create_partitions_topic_v2(buf, pos, n)
    o.timeout_ms, o.validate_only = unpack_io(buf, pos)
    pos += 5
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_partitions_request_v2(out: bytearray, o: CreatePartitionsRequest) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_create_partitions_topic_v2(out, o.topics)
    out += pack_io(o.timeout_ms, o.validate_only)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


CreatePartitionsRequest.DECODERS = {
    0: _decode_create_partitions_request_v0,
    1: _decode_create_partitions_request_v0,
    2: _decode_create_partitions_request_v2,
    3: _decode_create_partitions_request_v2,
}
CreatePartitionsRequest.ENCODERS = {
    0: _encode_create_partitions_request_v0,
    1: _encode_create_partitions_request_v0,
    2: _encode_create_partitions_request_v2,
    3: _encode_create_partitions_request_v2,
}
