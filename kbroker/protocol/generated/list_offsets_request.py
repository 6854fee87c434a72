"""ListOffsetsRequest, versions 0 to 11.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ib = Layout(">ib").pack
unpack_ib = Layout(">ib").unpack_from
pack_ibi = Layout(">ibi").pack
unpack_ibi = Layout(">ibi").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iiq = Layout(">iiq").pack
unpack_iiq = Layout(">iiq").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_iqi = Layout(">iqi").pack
unpack_iqi = Layout(">iqi").unpack_from


class ListOffsetsPartition(Struct):
    """Part of ListOffsetsRequest."""

    __slots__ = (
        "partition_index",
        "current_leader_epoch",
        "timestamp",
        "max_num_offsets",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        current_leader_epoch: int = -1,  # versions 4 to 11
        timestamp: int = 0,
        max_num_offsets: int = 1,  # version 0
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp
        self.max_num_offsets = max_num_offsets
        self.unknown_tags: UnknownTags = None


class ListOffsetsTopic(Struct):
    """Part of ListOffsetsRequest."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartition] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[ListOffsetsPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ListOffsetsRequest(Message):
    """ListOffsetsRequest, versions 0 to 11."""

    __slots__ = (
        "replica_id",
        "isolation_level",
        "topics",
        "timeout_ms",
        "unknown_tags",
    )
    NAME = "ListOffsetsRequest"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 11
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,  # versions 2 to 11
        topics: list[ListOffsetsTopic] = UNSET,
        timeout_ms: int = 0,  # versions 10 to 11
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics: list[ListOffsetsTopic] = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        self.unknown_tags: UnknownTags = None


def _decode_list_offsets_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = ListOffsetsPartition.__new__(ListOffsetsPartition)
        items.append(o)
        o.partition_index, o.timestamp, o.max_num_offsets = unpack_iqi(buf, pos)
        pos += 16
        o.current_leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_partition_v0(out: bytearray, items: Iterable[ListOffsetsPartition]) -> None:
    for o in items:
        out += pack_iqi(o.partition_index, o.timestamp, o.max_num_offsets)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_partition_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = ListOffsetsPartition.__new__(ListOffsetsPartition)
        items.append(o)
        o.partition_index, o.timestamp = unpack_iq(buf, pos)
        pos += 12
        o.current_leader_epoch = -1
        o.max_num_offsets = 1
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_partition_v1(out: bytearray, items: Iterable[ListOffsetsPartition]) -> None:
    for o in items:
        if o.max_num_offsets != 1:
            raise not_in_version("maxNumOffsets")
        out += pack_iq(o.partition_index, o.timestamp)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_partition_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = ListOffsetsPartition.__new__(ListOffsetsPartition)
        items.append(o)
        o.partition_index, o.current_leader_epoch, o.timestamp = unpack_iiq(buf, pos)
        pos += 16
        o.max_num_offsets = 1
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_partition_v4(out: bytearray, items: Iterable[ListOffsetsPartition]) -> None:
    for o in items:
        if o.max_num_offsets != 1:
            raise not_in_version("maxNumOffsets")
        out += pack_iiq(o.partition_index, o.current_leader_epoch, o.timestamp)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_partition_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = ListOffsetsPartition.__new__(ListOffsetsPartition)
        items.append(o)
        o.partition_index, o.current_leader_epoch, o.timestamp = unpack_iiq(buf, pos)
        pos += 16
        o.max_num_offsets = 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_list_offsets_partition_v6(out: bytearray, items: Iterable[ListOffsetsPartition]) -> None:
    for o in items:
        if o.max_num_offsets != 1:
            raise not_in_version("maxNumOffsets")
        out += pack_iiq(o.partition_index, o.current_leader_epoch, o.timestamp)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_offsets_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = ListOffsetsTopic.__new__(ListOffsetsTopic)
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
        o.partitions, pos = _decode_list_offsets_partition_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_topic_v0(out: bytearray, items: Iterable[ListOffsetsTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_list_offsets_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_topic_v1(buf: Buffer, pos: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = ListOffsetsTopic.__new__(ListOffsetsTopic)
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
        if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_list_offsets_partition_v1(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_topic_v1(out: bytearray, items: Iterable[ListOffsetsTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_list_offsets_partition_v1(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_topic_v4(buf: Buffer, pos: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = ListOffsetsTopic.__new__(ListOffsetsTopic)
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
        o.partitions, pos = _decode_list_offsets_partition_v4(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_list_offsets_topic_v4(out: bytearray, items: Iterable[ListOffsetsTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_list_offsets_partition_v4(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_list_offsets_topic_v6(buf: Buffer, pos: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = ListOffsetsTopic.__new__(ListOffsetsTopic)
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
        if n * 17 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_list_offsets_partition_v6(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_list_offsets_topic_v6(out: bytearray, items: Iterable[ListOffsetsTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_list_offsets_partition_v6(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_offsets_request_v0(buf: Buffer, pos: int) -> tuple[ListOffsetsRequest, int]:
    o = ListOffsetsRequest.__new__(ListOffsetsRequest)
    o.replica_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_v0(buf, pos, n)
    o.isolation_level = 0
    o.timeout_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_request_v0(out: bytearray, o: ListOffsetsRequest) -> None:
    if o.isolation_level != 0:
        raise not_in_version("isolationLevel")
    out += pack_ii(o.replica_id, len(o.topics))
    _encode_list_offsets_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_request_v1(buf: Buffer, pos: int) -> tuple[ListOffsetsRequest, int]:
    o = ListOffsetsRequest.__new__(ListOffsetsRequest)
    o.replica_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_v1(buf, pos, n)
    o.isolation_level = 0
    o.timeout_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_request_v1(out: bytearray, o: ListOffsetsRequest) -> None:
    if o.isolation_level != 0:
        raise not_in_version("isolationLevel")
    out += pack_ii(o.replica_id, len(o.topics))
    _encode_list_offsets_topic_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_request_v2(buf: Buffer, pos: int) -> tuple[ListOffsetsRequest, int]:
    o = ListOffsetsRequest.__new__(ListOffsetsRequest)
    o.replica_id, o.isolation_level, n = unpack_ibi(buf, pos)
    pos += 9
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_v1(buf, pos, n)
    o.timeout_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_request_v2(out: bytearray, o: ListOffsetsRequest) -> None:
    out += pack_ibi(o.replica_id, o.isolation_level, len(o.topics))
    _encode_list_offsets_topic_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_request_v4(buf: Buffer, pos: int) -> tuple[ListOffsetsRequest, int]:
    o = ListOffsetsRequest.__new__(ListOffsetsRequest)
    o.replica_id, o.isolation_level, n = unpack_ibi(buf, pos)
    pos += 9
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_list_offsets_topic_v4(buf, pos, n)
    o.timeout_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_offsets_request_v4(out: bytearray, o: ListOffsetsRequest) -> None:
    out += pack_ibi(o.replica_id, o.isolation_level, len(o.topics))
    _encode_list_offsets_topic_v4(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_offsets_request_v6(buf: Buffer, pos: int) -> tuple[ListOffsetsRequest, int]:
    o = ListOffsetsRequest.__new__(ListOffsetsRequest)
    o.replica_id, o.isolation_level = unpack_ib(buf, pos)
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
    o.topics, pos = _decode_list_offsets_topic_v6(buf, pos, n)
    o.timeout_ms = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_offsets_request_v6(out: bytearray, o: ListOffsetsRequest) -> None:
    out += pack_ib(o.replica_id, o.isolation_level)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_list_offsets_topic_v6(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_offsets_request_v10(buf: Buffer, pos: int) -> tuple[ListOffsetsRequest, int]:
    o = ListOffsetsRequest.__new__(ListOffsetsRequest)
    o.replica_id, o.isolation_level = unpack_ib(buf, pos)
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
    o.topics, pos = _decode_list_offsets_topic_v6(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_offsets_request_v10(out: bytearray, o: ListOffsetsRequest) -> None:
    out += pack_ib(o.replica_id, o.isolation_level)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_list_offsets_topic_v6(out, o.topics)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListOffsetsRequest.DECODERS = {
    0: _decode_list_offsets_request_v0,
    1: _decode_list_offsets_request_v1,
    2: _decode_list_offsets_request_v2,
    3: _decode_list_offsets_request_v2,
    4: _decode_list_offsets_request_v4,
    5: _decode_list_offsets_request_v4,
    6: _decode_list_offsets_request_v6,
    7: _decode_list_offsets_request_v6,
    8: _decode_list_offsets_request_v6,
    9: _decode_list_offsets_request_v6,
    10: _decode_list_offsets_request_v10,
    11: _decode_list_offsets_request_v10,
}
ListOffsetsRequest.ENCODERS = {
    0: _encode_list_offsets_request_v0,
    1: _encode_list_offsets_request_v1,
    2: _encode_list_offsets_request_v2,
    3: _encode_list_offsets_request_v2,
    4: _encode_list_offsets_request_v4,
    5: _encode_list_offsets_request_v4,
    6: _encode_list_offsets_request_v6,
    7: _encode_list_offsets_request_v6,
    8: _encode_list_offsets_request_v6,
    9: _encode_list_offsets_request_v6,
    10: _encode_list_offsets_request_v10,
    11: _encode_list_offsets_request_v10,
}
