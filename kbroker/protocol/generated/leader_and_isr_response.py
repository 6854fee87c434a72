"""LeaderAndIsrResponse, versions 0 to 7.

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
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class LeaderAndIsrTopicError(Struct):
    """Part of LeaderAndIsrResponse."""

    __slots__ = (
        "topic_id",
        "partition_errors",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,  # versions 5 to 7
        partition_errors: list[LeaderAndIsrPartitionError] = UNSET,  # versions 5 to 7
    ) -> None:
        self.topic_id = topic_id
        self.partition_errors: list[LeaderAndIsrPartitionError] = (
            [] if partition_errors is UNSET else partition_errors
        )
        self.unknown_tags: UnknownTags = None


class LeaderAndIsrPartitionError(Struct):
    """Part of LeaderAndIsrResponse."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 0 to 4
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class LeaderAndIsrResponse(Message):
    """LeaderAndIsrResponse, versions 0 to 7."""

    __slots__ = (
        "error_code",
        "partition_errors",
        "topics",
        "unknown_tags",
    )
    NAME = "LeaderAndIsrResponse"
    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 7
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_errors: list[LeaderAndIsrPartitionError] = UNSET,  # versions 0 to 4
        topics: list[LeaderAndIsrTopicError] = UNSET,  # versions 5 to 7
    ) -> None:
        self.error_code = error_code
        self.partition_errors: list[LeaderAndIsrPartitionError] = (
            [] if partition_errors is UNSET else partition_errors
        )
        self.topics: list[LeaderAndIsrTopicError] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_leader_and_isr_topic_error_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrTopicError], int]:
    items: list[LeaderAndIsrTopicError] = []
    for _ in range(count):
        o = LeaderAndIsrTopicError.__new__(LeaderAndIsrTopicError)
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
            raise null_field("partitionErrors")
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_errors, pos = _decode_leader_and_isr_partition_error_v5(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_topic_error_v5(out: bytearray, items: Iterable[LeaderAndIsrTopicError]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partition_errors) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_leader_and_isr_partition_error_v5(out, o.partition_errors)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_partition_error_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionError], int]:
    items: list[LeaderAndIsrPartitionError] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionError.__new__(LeaderAndIsrPartitionError)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_partition_error_v0(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionError],
) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_partition_error_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionError], int]:
    items: list[LeaderAndIsrPartitionError] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionError.__new__(LeaderAndIsrPartitionError)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_partition_error_v4(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionError],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_partition_error_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionError], int]:
    items: list[LeaderAndIsrPartitionError] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionError.__new__(LeaderAndIsrPartitionError)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.topic_name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_partition_error_v5(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionError],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_response_v0(buf: Buffer, pos: int) -> tuple[LeaderAndIsrResponse, int]:
    o = LeaderAndIsrResponse.__new__(LeaderAndIsrResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("partitionErrors")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.partition_errors, pos = _decode_leader_and_isr_partition_error_v0(buf, pos, n)
    o.topics = []
    o.unknown_tags = None
    return o, pos


def _encode_leader_and_isr_response_v0(out: bytearray, o: LeaderAndIsrResponse) -> None:
    if o.topics:
        raise not_in_version("topics")
    out += pack_hi(o.error_code, len(o.partition_errors))
    _encode_leader_and_isr_partition_error_v0(out, o.partition_errors)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leader_and_isr_response_v4(buf: Buffer, pos: int) -> tuple[LeaderAndIsrResponse, int]:
    o = LeaderAndIsrResponse.__new__(LeaderAndIsrResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("partitionErrors")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.partition_errors, pos = _decode_leader_and_isr_partition_error_v4(buf, pos, n)
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_and_isr_response_v4(out: bytearray, o: LeaderAndIsrResponse) -> None:
    if o.topics:
        raise not_in_version("topics")
    out += pack_h(o.error_code)
    n = len(o.partition_errors) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_partition_error_v4(out, o.partition_errors)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_leader_and_isr_response_v5(buf: Buffer, pos: int) -> tuple[LeaderAndIsrResponse, int]:
    o = LeaderAndIsrResponse.__new__(LeaderAndIsrResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
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
    o.topics, pos = _decode_leader_and_isr_topic_error_v5(buf, pos, n)
    o.partition_errors = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_and_isr_response_v5(out: bytearray, o: LeaderAndIsrResponse) -> None:
    if o.partition_errors:
        raise not_in_version("partitionErrors")
    out += pack_h(o.error_code)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_topic_error_v5(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


LeaderAndIsrResponse.DECODERS = {
    0: _decode_leader_and_isr_response_v0,
    1: _decode_leader_and_isr_response_v0,
    2: _decode_leader_and_isr_response_v0,
    3: _decode_leader_and_isr_response_v0,
    4: _decode_leader_and_isr_response_v4,
    5: _decode_leader_and_isr_response_v5,
    6: _decode_leader_and_isr_response_v5,
    7: _decode_leader_and_isr_response_v5,
}
LeaderAndIsrResponse.ENCODERS = {
    0: _encode_leader_and_isr_response_v0,
    1: _encode_leader_and_isr_response_v0,
    2: _encode_leader_and_isr_response_v0,
    3: _encode_leader_and_isr_response_v0,
    4: _encode_leader_and_isr_response_v4,
    5: _encode_leader_and_isr_response_v5,
    6: _encode_leader_and_isr_response_v5,
    7: _encode_leader_and_isr_response_v5,
}
