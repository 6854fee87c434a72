"""ControlledShutdownResponse, versions 0 to 3.

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
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class RemainingPartition(Struct):
    """Part of ControlledShutdownResponse."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tags: UnknownTags = None


class ControlledShutdownResponse(Message):
    """ControlledShutdownResponse, versions 0 to 3."""

    __slots__ = (
        "error_code",
        "remaining_partitions",
        "unknown_tags",
    )
    NAME = "ControlledShutdownResponse"
    API_KEY = 7
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        error_code: int = 0,
        remaining_partitions: list[RemainingPartition] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.remaining_partitions: list[RemainingPartition] = (
            [] if remaining_partitions is UNSET else remaining_partitions
        )
        self.unknown_tags: UnknownTags = None


def _decode_remaining_partition_v0(buf: Buffer, pos: int, count: int) -> tuple[list[RemainingPartition], int]:
    items: list[RemainingPartition] = []
    for _ in range(count):
        o = RemainingPartition.__new__(RemainingPartition)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
    return items, pos


def _encode_remaining_partition_v0(out: bytearray, items: Iterable[RemainingPartition]) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(o.partition_index)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_remaining_partition_v3(buf: Buffer, pos: int, count: int) -> tuple[list[RemainingPartition], int]:
    items: list[RemainingPartition] = []
    for _ in range(count):
        o = RemainingPartition.__new__(RemainingPartition)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_remaining_partition_v3(out: bytearray, items: Iterable[RemainingPartition]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_i(o.partition_index)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_controlled_shutdown_response_v0(buf: Buffer, pos: int) -> tuple[ControlledShutdownResponse, int]:
    o = ControlledShutdownResponse.__new__(ControlledShutdownResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("remainingPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.remaining_partitions, pos = _decode_remaining_partition_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_controlled_shutdown_response_v0(out: bytearray, o: ControlledShutdownResponse) -> None:
    out += pack_hi(o.error_code, len(o.remaining_partitions))
    _encode_remaining_partition_v0(out, o.remaining_partitions)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_controlled_shutdown_response_v3(buf: Buffer, pos: int) -> tuple[ControlledShutdownResponse, int]:
    o = ControlledShutdownResponse.__new__(ControlledShutdownResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("remainingPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.remaining_partitions, pos = _decode_remaining_partition_v3(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_controlled_shutdown_response_v3(out: bytearray, o: ControlledShutdownResponse) -> None:
    out += pack_h(o.error_code)
    n = len(o.remaining_partitions) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_remaining_partition_v3(out, o.remaining_partitions)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ControlledShutdownResponse.DECODERS = {
    0: _decode_controlled_shutdown_response_v0,
    1: _decode_controlled_shutdown_response_v0,
    2: _decode_controlled_shutdown_response_v0,
    3: _decode_controlled_shutdown_response_v3,
}
ControlledShutdownResponse.ENCODERS = {
    0: _encode_controlled_shutdown_response_v0,
    1: _encode_controlled_shutdown_response_v0,
    2: _encode_controlled_shutdown_response_v0,
    3: _encode_controlled_shutdown_response_v3,
}
