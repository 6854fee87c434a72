"""OffsetDeleteRequest, version 0.

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
    null_field,
    too_many,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class OffsetDeleteRequestPartition(Struct):
    """Part of OffsetDeleteRequest."""

    __slots__ = ("partition_index",)

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(Struct):
    """Part of OffsetDeleteRequest."""

    __slots__ = (
        "name",
        "partitions",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteRequestPartition] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[OffsetDeleteRequestPartition] = [] if partitions is UNSET else partitions


class OffsetDeleteRequest(Message):
    """OffsetDeleteRequest, version 0."""

    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "OffsetDeleteRequest"
    API_KEY = 47
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetDeleteRequestTopic] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.topics: list[OffsetDeleteRequestTopic] = [] if topics is UNSET else topics


def _decode_offset_delete_request_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetDeleteRequestPartition], int]:
    items: list[OffsetDeleteRequestPartition] = []
    for _ in range(count):
        o = OffsetDeleteRequestPartition.__new__(OffsetDeleteRequestPartition)
        items.append(o)
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
    return items, pos


def _encode_offset_delete_request_partition_v0(
    out: bytearray,
    items: Iterable[OffsetDeleteRequestPartition],
) -> None:
    for o in items:
        out += pack_i(o.partition_index)


def _decode_offset_delete_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetDeleteRequestTopic], int]:
    items: list[OffsetDeleteRequestTopic] = []
    for _ in range(count):
        o = OffsetDeleteRequestTopic.__new__(OffsetDeleteRequestTopic)
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
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_offset_delete_request_partition_v0(buf, pos, n)
    return items, pos


def _encode_offset_delete_request_topic_v0(out: bytearray, items: Iterable[OffsetDeleteRequestTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_delete_request_partition_v0(out, o.partitions)


def _decode_offset_delete_request_v0(buf: Buffer, pos: int) -> tuple[OffsetDeleteRequest, int]:
    o = OffsetDeleteRequest.__new__(OffsetDeleteRequest)
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
    o.topics, pos = _decode_offset_delete_request_topic_v0(buf, pos, n)
    return o, pos


def _encode_offset_delete_request_v0(out: bytearray, o: OffsetDeleteRequest) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.topics))
    _encode_offset_delete_request_topic_v0(out, o.topics)


OffsetDeleteRequest.DECODERS = {
    0: _decode_offset_delete_request_v0,
}
OffsetDeleteRequest.ENCODERS = {
    0: _encode_offset_delete_request_v0,
}
