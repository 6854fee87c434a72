"""OffsetFetchRequest, versions 0 to 10.

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
    null_value,
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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class OffsetFetchRequestTopics(Struct):
    """Part of OffsetFetchRequest."""

    __slots__ = (
        "name",
        "topic_id",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 8 to 9
        topic_id: bytes = ZERO_UUID,  # version 10
        partition_indexes: list[int] = UNSET,  # versions 8 to 10
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes: list[int] = [] if partition_indexes is UNSET else partition_indexes
        self.unknown_tags: UnknownTags = None


class OffsetFetchRequestGroup(Struct):
    """Part of OffsetFetchRequest."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",  # versions 8 to 10
        member_id: str | None = None,  # versions 9 to 10
        member_epoch: int = -1,  # versions 9 to 10
        topics: list[OffsetFetchRequestTopics] | None = UNSET,  # versions 8 to 10
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics: list[OffsetFetchRequestTopics] | None = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class OffsetFetchRequestTopic(Struct):
    """Part of OffsetFetchRequest."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 7
        partition_indexes: list[int] = UNSET,  # versions 0 to 7
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is UNSET else partition_indexes
        self.unknown_tags: UnknownTags = None


class OffsetFetchRequest(Message):
    """OffsetFetchRequest, versions 0 to 10."""

    __slots__ = (
        "group_id",
        "topics",
        "groups",
        "require_stable",
        "unknown_tags",
    )
    NAME = "OffsetFetchRequest"
    API_KEY = 9
    MIN_VERSION = 0
    MAX_VERSION = 10
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        group_id: str = "",  # versions 0 to 7
        topics: list[OffsetFetchRequestTopic] | None = UNSET,  # versions 0 to 7
        groups: list[OffsetFetchRequestGroup] = UNSET,  # versions 8 to 10
        require_stable: bool = False,  # versions 7 to 10
    ) -> None:
        self.group_id = group_id
        self.topics: list[OffsetFetchRequestTopic] | None = [] if topics is UNSET else topics
        self.groups: list[OffsetFetchRequestGroup] = [] if groups is UNSET else groups
        self.require_stable = require_stable
        self.unknown_tags: UnknownTags = None


def _decode_offset_fetch_request_topics_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestTopics], int]:
    items: list[OffsetFetchRequestTopics] = []
    for _ in range(count):
        o = OffsetFetchRequestTopics.__new__(OffsetFetchRequestTopics)
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
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_request_topics_v8(out: bytearray, items: Iterable[OffsetFetchRequestTopics]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_indexes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_request_topics_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestTopics], int]:
    items: list[OffsetFetchRequestTopics] = []
    for _ in range(count):
        o = OffsetFetchRequestTopics.__new__(OffsetFetchRequestTopics)
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
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_request_topics_v10(
    out: bytearray,
    items: Iterable[OffsetFetchRequestTopics],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partition_indexes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_request_group_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestGroup], int]:
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        o = OffsetFetchRequestGroup.__new__(OffsetFetchRequestGroup)
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
            o.topics = None
        else:
            if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.topics, pos = _decode_offset_fetch_request_topics_v8(buf, pos, n)
        o.member_id = None
        o.member_epoch = -1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_request_group_v8(out: bytearray, items: Iterable[OffsetFetchRequestGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_offset_fetch_request_topics_v8(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_request_group_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestGroup], int]:
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        o = OffsetFetchRequestGroup.__new__(OffsetFetchRequestGroup)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.member_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.member_id, pos = read_compact_nullable_string(buf, pos)
        (o.member_epoch,) = unpack_i(buf, pos)
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
            o.topics, pos = _decode_offset_fetch_request_topics_v8(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_request_group_v9(out: bytearray, items: Iterable[OffsetFetchRequestGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        write_compact_nullable_string(out, o.member_id)
        out += pack_i(o.member_epoch)
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_offset_fetch_request_topics_v8(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_request_group_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestGroup], int]:
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        o = OffsetFetchRequestGroup.__new__(OffsetFetchRequestGroup)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.member_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.member_id, pos = read_compact_nullable_string(buf, pos)
        (o.member_epoch,) = unpack_i(buf, pos)
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
            if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.topics, pos = _decode_offset_fetch_request_topics_v10(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_fetch_request_group_v10(out: bytearray, items: Iterable[OffsetFetchRequestGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        write_compact_nullable_string(out, o.member_id)
        out += pack_i(o.member_epoch)
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_offset_fetch_request_topics_v10(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestTopic], int]:
    items: list[OffsetFetchRequestTopic] = []
    for _ in range(count):
        o = OffsetFetchRequestTopic.__new__(OffsetFetchRequestTopic)
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
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_offset_fetch_request_topic_v0(out: bytearray, items: Iterable[OffsetFetchRequestTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_indexes))
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_fetch_request_topic_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetFetchRequestTopic], int]:
    items: list[OffsetFetchRequestTopic] = []
    for _ in range(count):
        o = OffsetFetchRequestTopic.__new__(OffsetFetchRequestTopic)
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


def _encode_offset_fetch_request_topic_v6(out: bytearray, items: Iterable[OffsetFetchRequestTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_indexes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_fetch_request_v0(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_fetch_request_topic_v0(buf, pos, n)
    o.groups = []
    o.require_stable = False
    o.unknown_tags = None
    return o, pos


def _encode_offset_fetch_request_v0(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.groups:
        raise not_in_version("groups")
    if o.require_stable:
        raise not_in_version("requireStable")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    if o.topics is None:
        raise null_value("topics")
    out += pack_i(len(o.topics))
    _encode_offset_fetch_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_fetch_request_v2(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_offset_fetch_request_topic_v0(buf, pos, n)
    o.groups = []
    o.require_stable = False
    o.unknown_tags = None
    return o, pos


def _encode_offset_fetch_request_v2(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.groups:
        raise not_in_version("groups")
    if o.require_stable:
        raise not_in_version("requireStable")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(-1 if o.topics is None else len(o.topics))
    if o.topics:
        _encode_offset_fetch_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_fetch_request_v6(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
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
        o.topics = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_offset_fetch_request_topic_v6(buf, pos, n)
    o.groups = []
    o.require_stable = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_request_v6(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.groups:
        raise not_in_version("groups")
    if o.require_stable:
        raise not_in_version("requireStable")
    write_compact_string(out, o.group_id)
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_request_topic_v6(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_fetch_request_v7(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
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
        o.topics = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_offset_fetch_request_topic_v6(buf, pos, n)
    (o.require_stable,) = unpack_o(buf, pos)
    pos += 1
    o.groups = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_request_v7(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.groups:
        raise not_in_version("groups")
    write_compact_string(out, o.group_id)
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_offset_fetch_request_topic_v6(out, o.topics)
    out += pack_o(o.require_stable)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_fetch_request_v8(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_offset_fetch_request_group_v8(buf, pos, n)
    (o.require_stable,) = unpack_o(buf, pos)
    pos += 1
    o.group_id = ""
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_request_v8(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.group_id != "":
        raise not_in_version("groupId")
    if o.topics is None or o.topics:
        raise not_in_version("topics")
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_fetch_request_group_v8(out, o.groups)
    out += pack_o(o.require_stable)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_fetch_request_v9(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_offset_fetch_request_group_v9(buf, pos, n)
    (o.require_stable,) = unpack_o(buf, pos)
    pos += 1
    o.group_id = ""
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_request_v9(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.group_id != "":
        raise not_in_version("groupId")
    if o.topics is None or o.topics:
        raise not_in_version("topics")
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_fetch_request_group_v9(out, o.groups)
    out += pack_o(o.require_stable)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_offset_fetch_request_v10(buf: Buffer, pos: int) -> tuple[OffsetFetchRequest, int]:
    o = OffsetFetchRequest.__new__(OffsetFetchRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_offset_fetch_request_group_v10(buf, pos, n)
    (o.require_stable,) = unpack_o(buf, pos)
    pos += 1
    o.group_id = ""
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_fetch_request_v10(out: bytearray, o: OffsetFetchRequest) -> None:
    if o.group_id != "":
        raise not_in_version("groupId")
    if o.topics is None or o.topics:
        raise not_in_version("topics")
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_fetch_request_group_v10(out, o.groups)
    out += pack_o(o.require_stable)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


OffsetFetchRequest.DECODERS = {
    0: _decode_offset_fetch_request_v0,
    1: _decode_offset_fetch_request_v0,
    2: _decode_offset_fetch_request_v2,
    3: _decode_offset_fetch_request_v2,
    4: _decode_offset_fetch_request_v2,
    5: _decode_offset_fetch_request_v2,
    6: _decode_offset_fetch_request_v6,
    7: _decode_offset_fetch_request_v7,
    8: _decode_offset_fetch_request_v8,
    9: _decode_offset_fetch_request_v9,
    10: _decode_offset_fetch_request_v10,
}
OffsetFetchRequest.ENCODERS = {
    0: _encode_offset_fetch_request_v0,
    1: _encode_offset_fetch_request_v0,
    2: _encode_offset_fetch_request_v2,
    3: _encode_offset_fetch_request_v2,
    4: _encode_offset_fetch_request_v2,
    5: _encode_offset_fetch_request_v2,
    6: _encode_offset_fetch_request_v6,
    7: _encode_offset_fetch_request_v7,
    8: _encode_offset_fetch_request_v8,
    9: _encode_offset_fetch_request_v9,
    10: _encode_offset_fetch_request_v10,
}
