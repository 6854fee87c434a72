"""OffsetCommitResponse, versions 0 to 10.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class OffsetCommitResponsePartition(Struct):
    """Part of OffsetCommitResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class OffsetCommitResponseTopic(Struct):
    """Part of OffsetCommitResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 9
        topic_id: bytes = ZERO_UUID,  # version 10
        partitions: list[OffsetCommitResponsePartition] = UNSET,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[OffsetCommitResponsePartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class OffsetCommitResponse(Message):
    """OffsetCommitResponse, versions 0 to 10."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "OffsetCommitResponse"
    API_KEY = 8
    MIN_VERSION = 0
    MAX_VERSION = 10
    FLEXIBLE_SINCE = 8

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 3 to 10
        topics: list[OffsetCommitResponseTopic] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetCommitResponseTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_offset_commit_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetCommitResponsePartition], int]:
    items: list[OffsetCommitResponsePartition] = []
    for _ in range(count):
        o = OffsetCommitResponsePartition.__new__(OffsetCommitResponsePartition)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_offset_commit_response_partition_v0(
    out: bytearray,
    items: Iterable[OffsetCommitResponsePartition],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_commit_response_partition_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetCommitResponsePartition], int]:
    items: list[OffsetCommitResponsePartition] = []
    for _ in range(count):
        o = OffsetCommitResponsePartition.__new__(OffsetCommitResponsePartition)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_commit_response_partition_v8(
    out: bytearray,
    items: Iterable[OffsetCommitResponsePartition],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_commit_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetCommitResponseTopic], int]:
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        o = OffsetCommitResponseTopic.__new__(OffsetCommitResponseTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_commit_response_partition_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_offset_commit_response_topic_v0(
    out: bytearray,
    items: Iterable[OffsetCommitResponseTopic],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_commit_response_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_commit_response_topic_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetCommitResponseTopic], int]:
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        o = OffsetCommitResponseTopic.__new__(OffsetCommitResponseTopic)
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
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_commit_response_partition_v8(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_commit_response_topic_v8(
    out: bytearray,
    items: Iterable[OffsetCommitResponseTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_commit_response_partition_v8(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_commit_response_topic_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetCommitResponseTopic], int]:
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        o = OffsetCommitResponseTopic.__new__(OffsetCommitResponseTopic)
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
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_commit_response_partition_v8(buf, pos, n)
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_commit_response_topic_v10(
    out: bytearray,
    items: Iterable[OffsetCommitResponseTopic],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_commit_response_partition_v8(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_commit_response_v0(buf: Buffer, pos: int) -> tuple[OffsetCommitResponse, int]:
    o = OffsetCommitResponse.__new__(OffsetCommitResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_commit_response_topic_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_offset_commit_response_v0(out: bytearray, o: OffsetCommitResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_offset_commit_response_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_commit_response_v3(buf: Buffer, pos: int) -> tuple[OffsetCommitResponse, int]:
    o = OffsetCommitResponse.__new__(OffsetCommitResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_commit_response_topic_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_offset_commit_response_v3(out: bytearray, o: OffsetCommitResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_offset_commit_response_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_commit_response_v8(buf: Buffer, pos: int) -> tuple[OffsetCommitResponse, int]:
    o = OffsetCommitResponse.__new__(OffsetCommitResponse)
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
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_commit_response_topic_v8(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_commit_response_v8(out: bytearray, o: OffsetCommitResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_commit_response_topic_v8(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_commit_response_v10(buf: Buffer, pos: int) -> tuple[OffsetCommitResponse, int]:
    o = OffsetCommitResponse.__new__(OffsetCommitResponse)
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
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_commit_response_topic_v10(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_commit_response_v10(out: bytearray, o: OffsetCommitResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_commit_response_topic_v10(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


OffsetCommitResponse.DECODERS = {
    0: _decode_offset_commit_response_v0,
    1: _decode_offset_commit_response_v0,
    2: _decode_offset_commit_response_v0,
    3: _decode_offset_commit_response_v3,
    4: _decode_offset_commit_response_v3,
    5: _decode_offset_commit_response_v3,
    6: _decode_offset_commit_response_v3,
    7: _decode_offset_commit_response_v3,
    8: _decode_offset_commit_response_v8,
    9: _decode_offset_commit_response_v8,
    10: _decode_offset_commit_response_v10,
}
OffsetCommitResponse.ENCODERS = {
    0: _encode_offset_commit_response_v0,
    1: _encode_offset_commit_response_v0,
    2: _encode_offset_commit_response_v0,
    3: _encode_offset_commit_response_v3,
    4: _encode_offset_commit_response_v3,
    5: _encode_offset_commit_response_v3,
    6: _encode_offset_commit_response_v3,
    7: _encode_offset_commit_response_v3,
    8: _encode_offset_commit_response_v8,
    9: _encode_offset_commit_response_v8,
    10: _encode_offset_commit_response_v10,
}
