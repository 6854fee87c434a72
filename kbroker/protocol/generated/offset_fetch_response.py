"""OffsetFetchResponse, versions 0 to 10.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iqh = Layout(">iqh").pack
unpack_iqh = Layout(">iqh").unpack_from
pack_iqi = Layout(">iqi").pack
unpack_iqi = Layout(">iqi").unpack_from
pack_iqih = Layout(">iqih").pack
unpack_iqih = Layout(">iqih").unpack_from


class OffsetFetchResponsePartitions(Struct):
    """Part of OffsetFetchResponse."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,  # versions 8 to 10
        committed_offset: int = 0,  # versions 8 to 10
        committed_leader_epoch: int = -1,  # versions 8 to 10
        metadata: str | None = "",  # versions 8 to 10
        error_code: int = 0,  # versions 8 to 10
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class OffsetFetchResponseTopics(Struct):
    """Part of OffsetFetchResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 8 to 9
        topic_id: bytes = ZERO_UUID,  # version 10
        partitions: list[OffsetFetchResponsePartitions] = UNSET,  # versions 8 to 10
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[OffsetFetchResponsePartitions] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class OffsetFetchResponseGroup(Struct):
    """Part of OffsetFetchResponse."""

    __slots__ = (
        "group_id",
        "topics",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",  # versions 8 to 10
        topics: list[OffsetFetchResponseTopics] = UNSET,  # versions 8 to 10
        error_code: int = 0,  # versions 8 to 10
    ) -> None:
        self.group_id = group_id
        self.topics: list[OffsetFetchResponseTopics] = [] if topics is UNSET else topics
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class OffsetFetchResponsePartition(Struct):
    """Part of OffsetFetchResponse."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,  # versions 0 to 7
        committed_offset: int = 0,  # versions 0 to 7
        committed_leader_epoch: int = -1,  # versions 5 to 7
        metadata: str | None = "",  # versions 0 to 7
        error_code: int = 0,  # versions 0 to 7
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class OffsetFetchResponseTopic(Struct):
    """Part of OffsetFetchResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 7
        partitions: list[OffsetFetchResponsePartition] = UNSET,  # versions 0 to 7
    ) -> None:
        self.name = name
        self.partitions: list[OffsetFetchResponsePartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class OffsetFetchResponse(Message):
    """OffsetFetchResponse, versions 0 to 10."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "error_code",
        "groups",
        "unknown_tags",
    )
    NAME = "OffsetFetchResponse"
    API_KEY = 9
    MIN_VERSION = 0
    MAX_VERSION = 10
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 3 to 10
        topics: list[OffsetFetchResponseTopic] = UNSET,  # versions 0 to 7
        error_code: int = 0,  # versions 2 to 7
        groups: list[OffsetFetchResponseGroup] = UNSET,  # versions 8 to 10
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetFetchResponseTopic] = [] if topics is UNSET else topics
        self.error_code = error_code
        self.groups: list[OffsetFetchResponseGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_offset_fetch_response_partitions_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponsePartitions], int]:
    items: list[OffsetFetchResponsePartitions] = []
    for _ in range(count):
        o = OffsetFetchResponsePartitions.__new__(OffsetFetchResponsePartitions)
        items.append(o)
        o.partition_index, o.committed_offset, o.committed_leader_epoch = unpack_iqi(buf, pos)
        pos += 16
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.metadata = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.metadata, pos = read_compact_nullable_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_partitions_v8(
    out: bytearray,
    items: Iterable[OffsetFetchResponsePartitions],
) -> None:
    for o in items:
        out += pack_iqi(o.partition_index, o.committed_offset, o.committed_leader_epoch)
        write_compact_nullable_string(out, o.metadata)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_topics_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseTopics], int]:
    items: list[OffsetFetchResponseTopics] = []
    for _ in range(count):
        o = OffsetFetchResponseTopics.__new__(OffsetFetchResponseTopics)
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
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_fetch_response_partitions_v8(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_topics_v8(
    out: bytearray,
    items: Iterable[OffsetFetchResponseTopics],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_response_partitions_v8(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_topics_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseTopics], int]:
    items: list[OffsetFetchResponseTopics] = []
    for _ in range(count):
        o = OffsetFetchResponseTopics.__new__(OffsetFetchResponseTopics)
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
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_fetch_response_partitions_v8(buf, pos, n)
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_topics_v10(
    out: bytearray,
    items: Iterable[OffsetFetchResponseTopics],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_response_partitions_v8(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_group_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseGroup], int]:
    items: list[OffsetFetchResponseGroup] = []
    for _ in range(count):
        o = OffsetFetchResponseGroup.__new__(OffsetFetchResponseGroup)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
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
        o.topics, pos = _decode_offset_fetch_response_topics_v8(buf, pos, n)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_group_v8(out: bytearray, items: Iterable[OffsetFetchResponseGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_response_topics_v8(out, o.topics)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_group_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseGroup], int]:
    items: list[OffsetFetchResponseGroup] = []
    for _ in range(count):
        o = OffsetFetchResponseGroup.__new__(OffsetFetchResponseGroup)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
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
        o.topics, pos = _decode_offset_fetch_response_topics_v10(buf, pos, n)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_group_v10(
    out: bytearray,
    items: Iterable[OffsetFetchResponseGroup],
) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_response_topics_v10(out, o.topics)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponsePartition], int]:
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        o = OffsetFetchResponsePartition.__new__(OffsetFetchResponsePartition)
        items.append(o)
        o.partition_index, o.committed_offset, n = unpack_iqh(buf, pos)
        pos += 14
        if n < 0:
            o.metadata = None
        else:
            end = pos + n
            o.metadata = str(buf[pos:end], "utf-8")
            pos = end
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.committed_leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_offset_fetch_response_partition_v0(
    out: bytearray,
    items: Iterable[OffsetFetchResponsePartition],
) -> None:
    for o in items:
        raw = b"" if o.metadata is None else o.metadata.encode()
        out += pack_iqh(o.partition_index, o.committed_offset, -1 if o.metadata is None else len(raw))
        out += raw
        out += pack_h(o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_fetch_response_partition_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponsePartition], int]:
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        o = OffsetFetchResponsePartition.__new__(OffsetFetchResponsePartition)
        items.append(o)
        o.partition_index, o.committed_offset, o.committed_leader_epoch, n = unpack_iqih(buf, pos)
        pos += 18
        if n < 0:
            o.metadata = None
        else:
            end = pos + n
            o.metadata = str(buf[pos:end], "utf-8")
            pos = end
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
    return items, pos


def _encode_offset_fetch_response_partition_v5(
    out: bytearray,
    items: Iterable[OffsetFetchResponsePartition],
) -> None:
    for o in items:
        raw = b"" if o.metadata is None else o.metadata.encode()
        out += pack_iqih(
            o.partition_index,
            o.committed_offset,
            o.committed_leader_epoch,
            -1 if o.metadata is None else len(raw),
        )
        out += raw
        out += pack_h(o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_fetch_response_partition_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponsePartition], int]:
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        o = OffsetFetchResponsePartition.__new__(OffsetFetchResponsePartition)
        items.append(o)
        o.partition_index, o.committed_offset, o.committed_leader_epoch = unpack_iqi(buf, pos)
        pos += 16
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.metadata = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.metadata, pos = read_compact_nullable_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_partition_v6(
    out: bytearray,
    items: Iterable[OffsetFetchResponsePartition],
) -> None:
    for o in items:
        out += pack_iqi(o.partition_index, o.committed_offset, o.committed_leader_epoch)
        write_compact_nullable_string(out, o.metadata)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseTopic], int]:
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        o = OffsetFetchResponseTopic.__new__(OffsetFetchResponseTopic)
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
        if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_fetch_response_partition_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_offset_fetch_response_topic_v0(out: bytearray, items: Iterable[OffsetFetchResponseTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_fetch_response_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_fetch_response_topic_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseTopic], int]:
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        o = OffsetFetchResponseTopic.__new__(OffsetFetchResponseTopic)
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
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_fetch_response_partition_v5(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_offset_fetch_response_topic_v5(out: bytearray, items: Iterable[OffsetFetchResponseTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_fetch_response_partition_v5(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_fetch_response_topic_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchResponseTopic], int]:
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        o = OffsetFetchResponseTopic.__new__(OffsetFetchResponseTopic)
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
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_fetch_response_partition_v6(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_response_topic_v6(out: bytearray, items: Iterable[OffsetFetchResponseTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_response_partition_v6(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_response_v0(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_fetch_response_topic_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.error_code = 0
    o.groups = []
    o.unknown_tags = None
    return o, pos


def _encode_offset_fetch_response_v0(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.groups:
        raise not_in_version("groups")
    out += pack_i(len(o.topics))
    _encode_offset_fetch_response_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_fetch_response_v2(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_fetch_response_topic_v0(buf, pos, n)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.throttle_time_ms = 0
    o.groups = []
    o.unknown_tags = None
    return o, pos


def _encode_offset_fetch_response_v2(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.groups:
        raise not_in_version("groups")
    out += pack_i(len(o.topics))
    _encode_offset_fetch_response_topic_v0(out, o.topics)
    out += pack_h(o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_fetch_response_v3(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_fetch_response_topic_v0(buf, pos, n)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.groups = []
    o.unknown_tags = None
    return o, pos


def _encode_offset_fetch_response_v3(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.groups:
        raise not_in_version("groups")
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_offset_fetch_response_topic_v0(out, o.topics)
    out += pack_h(o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_fetch_response_v5(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_fetch_response_topic_v5(buf, pos, n)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.groups = []
    o.unknown_tags = None
    return o, pos


def _encode_offset_fetch_response_v5(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.groups:
        raise not_in_version("groups")
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_offset_fetch_response_topic_v5(out, o.topics)
    out += pack_h(o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_fetch_response_v6(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
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
    o.topics, pos = _decode_offset_fetch_response_topic_v6(buf, pos, n)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.groups = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_response_v6(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.groups:
        raise not_in_version("groups")
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_fetch_response_topic_v6(out, o.topics)
    out += pack_h(o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_fetch_response_v8(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_offset_fetch_response_group_v8(buf, pos, n)
    o.topics = []
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_response_v8(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.topics:
        raise not_in_version("topics")
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_fetch_response_group_v8(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_fetch_response_v10(buf: Buffer, pos: int) -> tuple[OffsetFetchResponse, int]:
    o = OffsetFetchResponse.__new__(OffsetFetchResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_offset_fetch_response_group_v10(buf, pos, n)
    o.topics = []
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_response_v10(out: bytearray, o: OffsetFetchResponse) -> None:
    if o.topics:
        raise not_in_version("topics")
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_fetch_response_group_v10(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


OffsetFetchResponse.DECODERS = {
    0: _decode_offset_fetch_response_v0,
    1: _decode_offset_fetch_response_v0,
    2: _decode_offset_fetch_response_v2,
    3: _decode_offset_fetch_response_v3,
    4: _decode_offset_fetch_response_v3,
    5: _decode_offset_fetch_response_v5,
    6: _decode_offset_fetch_response_v6,
    7: _decode_offset_fetch_response_v6,
    8: _decode_offset_fetch_response_v8,
    9: _decode_offset_fetch_response_v8,
    10: _decode_offset_fetch_response_v10,
}
OffsetFetchResponse.ENCODERS = {
    0: _encode_offset_fetch_response_v0,
    1: _encode_offset_fetch_response_v0,
    2: _encode_offset_fetch_response_v2,
    3: _encode_offset_fetch_response_v3,
    4: _encode_offset_fetch_response_v3,
    5: _encode_offset_fetch_response_v5,
    6: _encode_offset_fetch_response_v6,
    7: _encode_offset_fetch_response_v6,
    8: _encode_offset_fetch_response_v8,
    9: _encode_offset_fetch_response_v8,
    10: _encode_offset_fetch_response_v10,
}
