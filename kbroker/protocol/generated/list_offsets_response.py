"""ListOffsetsResponse, versions 0 to 11.

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
    pack_int64s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int64s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from
pack_ihqq = Layout(">ihqq").pack
unpack_ihqq = Layout(">ihqq").unpack_from
pack_ihqqi = Layout(">ihqqi").pack
unpack_ihqqi = Layout(">ihqqi").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class ListOffsetsPartitionResponse(Struct):
    """Part of ListOffsetsResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "old_style_offsets",
        "timestamp",
        "offset",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        old_style_offsets: list[int] = UNSET,  # version 0
        timestamp: int = -1,  # versions 1 to 11
        offset: int = -1,  # versions 1 to 11
        leader_epoch: int = -1,  # versions 4 to 11
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.old_style_offsets: list[int] = [] if old_style_offsets is UNSET else old_style_offsets
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class ListOffsetsTopicResponse(Struct):
    """Part of ListOffsetsResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[ListOffsetsPartitionResponse] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ListOffsetsResponse(Message):
    """ListOffsetsResponse, versions 0 to 11."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "ListOffsetsResponse"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 11
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 2 to 11
        topics: list[ListOffsetsTopicResponse] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[ListOffsetsTopicResponse] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_list_offsets_partition_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = ListOffsetsPartitionResponse.__new__(ListOffsetsPartitionResponse)
        items.append(o)
        o.partition_index, o.error_code, n = unpack_ihi(buf, pos)
        pos += 10
        if n < 0:
            raise null_field("oldStyleOffsets")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.old_style_offsets = unpack_int64s(buf, pos, n)
        pos += 8 * n
        o.timestamp = -1
        o.offset = -1
        o.leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_partition_response_v0(
    out: bytearray,
    items: Iterable[ListOffsetsPartitionResponse],
) -> None:
    for o in items:
        if o.timestamp != -1:
            raise not_in_version("timestamp")
        if o.offset != -1:
            raise not_in_version("offset")
        if o.leader_epoch != -1:
            raise not_in_version("leaderEpoch")
        out += pack_ihi(o.partition_index, o.error_code, len(o.old_style_offsets))
        out += pack_int64s(o.old_style_offsets)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_partition_response_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = ListOffsetsPartitionResponse.__new__(ListOffsetsPartitionResponse)
        items.append(o)
        o.partition_index, o.error_code, o.timestamp, o.offset = unpack_ihqq(buf, pos)
        pos += 22
        o.old_style_offsets = []
        o.leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_partition_response_v1(
    out: bytearray,
    items: Iterable[ListOffsetsPartitionResponse],
) -> None:
    for o in items:
        if o.old_style_offsets:
            raise not_in_version("oldStyleOffsets")
        if o.leader_epoch != -1:
            raise not_in_version("leaderEpoch")
        out += pack_ihqq(o.partition_index, o.error_code, o.timestamp, o.offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_partition_response_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = ListOffsetsPartitionResponse.__new__(ListOffsetsPartitionResponse)
        items.append(o)
        o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch = unpack_ihqqi(buf, pos)
        pos += 26
        o.old_style_offsets = []
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_partition_response_v4(
    out: bytearray,
    items: Iterable[ListOffsetsPartitionResponse],
) -> None:
    for o in items:
        if o.old_style_offsets:
            raise not_in_version("oldStyleOffsets")
        out += pack_ihqqi(o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_partition_response_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = ListOffsetsPartitionResponse.__new__(ListOffsetsPartitionResponse)
        items.append(o)
        o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch = unpack_ihqqi(buf, pos)
        pos += 26
        o.old_style_offsets = []
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_list_offsets_partition_response_v6(
    out: bytearray,
    items: Iterable[ListOffsetsPartitionResponse],
) -> None:
    for o in items:
        if o.old_style_offsets:
            raise not_in_version("oldStyleOffsets")
        out += pack_ihqqi(o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_offsets_topic_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = ListOffsetsTopicResponse.__new__(ListOffsetsTopicResponse)
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
        if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_list_offsets_partition_response_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_topic_response_v0(out: bytearray, items: Iterable[ListOffsetsTopicResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_list_offsets_partition_response_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_topic_response_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = ListOffsetsTopicResponse.__new__(ListOffsetsTopicResponse)
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
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_list_offsets_partition_response_v1(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_topic_response_v1(out: bytearray, items: Iterable[ListOffsetsTopicResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_list_offsets_partition_response_v1(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_topic_response_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = ListOffsetsTopicResponse.__new__(ListOffsetsTopicResponse)
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
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_list_offsets_partition_response_v4(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_topic_response_v4(out: bytearray, items: Iterable[ListOffsetsTopicResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_list_offsets_partition_response_v4(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_topic_response_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = ListOffsetsTopicResponse.__new__(ListOffsetsTopicResponse)
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
        if n * 27 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_list_offsets_partition_response_v6(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_list_offsets_topic_response_v6(out: bytearray, items: Iterable[ListOffsetsTopicResponse]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_list_offsets_partition_response_v6(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_offsets_response_v0(buf: Buffer, pos: int) -> tuple[ListOffsetsResponse, int]:
    o = ListOffsetsResponse.__new__(ListOffsetsResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_response_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_response_v0(out: bytearray, o: ListOffsetsResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_list_offsets_topic_response_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_response_v1(buf: Buffer, pos: int) -> tuple[ListOffsetsResponse, int]:
    o = ListOffsetsResponse.__new__(ListOffsetsResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_response_v1(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_response_v1(out: bytearray, o: ListOffsetsResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_list_offsets_topic_response_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_response_v2(buf: Buffer, pos: int) -> tuple[ListOffsetsResponse, int]:
    o = ListOffsetsResponse.__new__(ListOffsetsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_response_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_response_v2(out: bytearray, o: ListOffsetsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_list_offsets_topic_response_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_response_v4(buf: Buffer, pos: int) -> tuple[ListOffsetsResponse, int]:
    o = ListOffsetsResponse.__new__(ListOffsetsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_response_v4(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_response_v4(out: bytearray, o: ListOffsetsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_list_offsets_topic_response_v4(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_response_v6(buf: Buffer, pos: int) -> tuple[ListOffsetsResponse, int]:
    o = ListOffsetsResponse.__new__(ListOffsetsResponse)
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
    o.topics, pos = _decode_list_offsets_topic_response_v6(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_offsets_response_v6(out: bytearray, o: ListOffsetsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_list_offsets_topic_response_v6(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListOffsetsResponse.DECODERS = {
    0: _decode_list_offsets_response_v0,
    1: _decode_list_offsets_response_v1,
    2: _decode_list_offsets_response_v2,
    3: _decode_list_offsets_response_v2,
    4: _decode_list_offsets_response_v4,
    5: _decode_list_offsets_response_v4,
    6: _decode_list_offsets_response_v6,
    7: _decode_list_offsets_response_v6,
    8: _decode_list_offsets_response_v6,
    9: _decode_list_offsets_response_v6,
    10: _decode_list_offsets_response_v6,
    11: _decode_list_offsets_response_v6,
}
ListOffsetsResponse.ENCODERS = {
    0: _encode_list_offsets_response_v0,
    1: _encode_list_offsets_response_v1,
    2: _encode_list_offsets_response_v2,
    3: _encode_list_offsets_response_v2,
    4: _encode_list_offsets_response_v4,
    5: _encode_list_offsets_response_v4,
    6: _encode_list_offsets_response_v6,
    7: _encode_list_offsets_response_v6,
    8: _encode_list_offsets_response_v6,
    9: _encode_list_offsets_response_v6,
    10: _encode_list_offsets_response_v6,
    11: _encode_list_offsets_response_v6,
}
