"""DeleteRecordsRequest, versions 0 to 2.

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
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class DeleteRecordsPartition(Struct):
    """Part of DeleteRecordsRequest."""

    __slots__ = (
        "partition_index",
        "offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset
        self.unknown_tags: UnknownTags = None


class DeleteRecordsTopic(Struct):
    """Part of DeleteRecordsRequest."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartition] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[DeleteRecordsPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DeleteRecordsRequest(Message):
    """DeleteRecordsRequest, versions 0 to 2."""

    __slots__ = (
        "topics",
        "timeout_ms",
        "unknown_tags",
    )
    NAME = "DeleteRecordsRequest"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        topics: list[DeleteRecordsTopic] = UNSET,
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteRecordsTopic] = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        self.unknown_tags: UnknownTags = None


def _decode_delete_records_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsPartition], int]:
    items: list[DeleteRecordsPartition] = []
    for _ in range(count):
        o = DeleteRecordsPartition.__new__(DeleteRecordsPartition)
        items.append(o)
        o.partition_index, o.offset = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
    return items, pos


def _encode_delete_records_partition_v0(out: bytearray, items: Iterable[DeleteRecordsPartition]) -> None:
    for o in items:
        out += pack_iq(o.partition_index, o.offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_records_partition_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsPartition], int]:
    items: list[DeleteRecordsPartition] = []
    for _ in range(count):
        o = DeleteRecordsPartition.__new__(DeleteRecordsPartition)
        items.append(o)
        o.partition_index, o.offset = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_records_partition_v2(out: bytearray, items: Iterable[DeleteRecordsPartition]) -> None:
    for o in items:
        out += pack_iq(o.partition_index, o.offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_records_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsTopic], int]:
    items: list[DeleteRecordsTopic] = []
    for _ in range(count):
        o = DeleteRecordsTopic.__new__(DeleteRecordsTopic)
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
        o.partitions, pos = _decode_delete_records_partition_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_delete_records_topic_v0(out: bytearray, items: Iterable[DeleteRecordsTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_delete_records_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_records_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsTopic], int]:
    items: list[DeleteRecordsTopic] = []
    for _ in range(count):
        o = DeleteRecordsTopic.__new__(DeleteRecordsTopic)
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
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_delete_records_partition_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_records_topic_v2(out: bytearray, items: Iterable[DeleteRecordsTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_delete_records_partition_v2(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_records_request_v0(buf: Buffer, pos: int) -> tuple[DeleteRecordsRequest, int]:
    o = DeleteRecordsRequest.__new__(DeleteRecordsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_delete_records_topic_v0(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    return o, pos


def _encode_delete_records_request_v0(out: bytearray, o: DeleteRecordsRequest) -> None:
    out += pack_i(len(o.topics))
    _encode_delete_records_topic_v0(out, o.topics)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_records_request_v2(buf: Buffer, pos: int) -> tuple[DeleteRecordsRequest, int]:
    o = DeleteRecordsRequest.__new__(DeleteRecordsRequest)
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
    o.topics, pos = _decode_delete_records_topic_v2(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_records_request_v2(out: bytearray, o: DeleteRecordsRequest) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_records_topic_v2(out, o.topics)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteRecordsRequest.DECODERS = {
    0: _decode_delete_records_request_v0,
    1: _decode_delete_records_request_v0,
    2: _decode_delete_records_request_v2,
}
DeleteRecordsRequest.ENCODERS = {
    0: _encode_delete_records_request_v0,
    1: _encode_delete_records_request_v0,
    2: _encode_delete_records_request_v2,
}
