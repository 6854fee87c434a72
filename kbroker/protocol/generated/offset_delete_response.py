"""OffsetDeleteResponse, version 0.

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
pack_hii = Layout(">hii").pack
unpack_hii = Layout(">hii").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class OffsetDeleteResponsePartition(Struct):
    """Part of OffsetDeleteResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(Struct):
    """Part of OffsetDeleteResponse."""

    __slots__ = (
        "name",
        "partitions",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteResponsePartition] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[OffsetDeleteResponsePartition] = [] if partitions is UNSET else partitions


class OffsetDeleteResponse(Message):
    """OffsetDeleteResponse, version 0."""

    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    NAME = "OffsetDeleteResponse"
    API_KEY = 47
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetDeleteResponseTopic] = [] if topics is UNSET else topics


def _decode_offset_delete_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetDeleteResponsePartition], int]:
    items: list[OffsetDeleteResponsePartition] = []
    for _ in range(count):
        o = OffsetDeleteResponsePartition.__new__(OffsetDeleteResponsePartition)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
    return items, pos


def _encode_offset_delete_response_partition_v0(
    out: bytearray,
    items: Iterable[OffsetDeleteResponsePartition],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)


def _decode_offset_delete_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetDeleteResponseTopic], int]:
    items: list[OffsetDeleteResponseTopic] = []
    for _ in range(count):
        o = OffsetDeleteResponseTopic.__new__(OffsetDeleteResponseTopic)
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
        o.partitions, pos = _decode_offset_delete_response_partition_v0(buf, pos, n)
    return items, pos


def _encode_offset_delete_response_topic_v0(
    out: bytearray,
    items: Iterable[OffsetDeleteResponseTopic],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_offset_delete_response_partition_v0(out, o.partitions)


def _decode_offset_delete_response_v0(buf: Buffer, pos: int) -> tuple[OffsetDeleteResponse, int]:
    o = OffsetDeleteResponse.__new__(OffsetDeleteResponse)
    o.error_code, o.throttle_time_ms, n = unpack_hii(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_delete_response_topic_v0(buf, pos, n)
    return o, pos


def _encode_offset_delete_response_v0(out: bytearray, o: OffsetDeleteResponse) -> None:
    out += pack_hii(o.error_code, o.throttle_time_ms, len(o.topics))
    _encode_offset_delete_response_topic_v0(out, o.topics)


OffsetDeleteResponse.DECODERS = {
    0: _decode_offset_delete_response_v0,
}
OffsetDeleteResponse.ENCODERS = {
    0: _encode_offset_delete_response_v0,
}
