"""ElectLeadersRequest, versions 0 to 2.

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
    pack_int32s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bi = Layout(">bi").pack
unpack_bi = Layout(">bi").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class TopicPartitions(Struct):
    """Part of ElectLeadersRequest."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ElectLeadersRequest(Message):
    """ElectLeadersRequest, versions 0 to 2."""

    __slots__ = (
        "election_type",
        "topic_partitions",
        "timeout_ms",
        "unknown_tags",
    )
    NAME = "ElectLeadersRequest"
    API_KEY = 43
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        election_type: int = 0,  # versions 1 to 2
        topic_partitions: list[TopicPartitions] | None = UNSET,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions: list[TopicPartitions] | None = (
            [] if topic_partitions is UNSET else topic_partitions
        )
        self.timeout_ms = timeout_ms
        self.unknown_tags: UnknownTags = None


def _decode_topic_partitions_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = TopicPartitions.__new__(TopicPartitions)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_topic_partitions_v0(out: bytearray, items: Iterable[TopicPartitions]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_topic_partitions_v2(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = TopicPartitions.__new__(TopicPartitions)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_partitions_v2(out: bytearray, items: Iterable[TopicPartitions]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_elect_leaders_request_v0(buf: Buffer, pos: int) -> tuple[ElectLeadersRequest, int]:
    o = ElectLeadersRequest.__new__(ElectLeadersRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topic_partitions = None
    else:
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_partitions, pos = _decode_topic_partitions_v0(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.election_type = 0
    o.unknown_tags = None
    return o, pos


def _encode_elect_leaders_request_v0(out: bytearray, o: ElectLeadersRequest) -> None:
    if o.election_type != 0:
        raise not_in_version("electionType")
    out += pack_i(-1 if o.topic_partitions is None else len(o.topic_partitions))
    if o.topic_partitions:
        _encode_topic_partitions_v0(out, o.topic_partitions)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_elect_leaders_request_v1(buf: Buffer, pos: int) -> tuple[ElectLeadersRequest, int]:
    o = ElectLeadersRequest.__new__(ElectLeadersRequest)
    o.election_type, n = unpack_bi(buf, pos)
    pos += 5
    if n < 0:
        o.topic_partitions = None
    else:
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_partitions, pos = _decode_topic_partitions_v0(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    return o, pos


def _encode_elect_leaders_request_v1(out: bytearray, o: ElectLeadersRequest) -> None:
    out += pack_bi(o.election_type, -1 if o.topic_partitions is None else len(o.topic_partitions))
    if o.topic_partitions:
        _encode_topic_partitions_v0(out, o.topic_partitions)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_elect_leaders_request_v2(buf: Buffer, pos: int) -> tuple[ElectLeadersRequest, int]:
    o = ElectLeadersRequest.__new__(ElectLeadersRequest)
    (o.election_type,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.topic_partitions = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_partitions, pos = _decode_topic_partitions_v2(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_elect_leaders_request_v2(out: bytearray, o: ElectLeadersRequest) -> None:
    out += pack_b(o.election_type)
    if o.topic_partitions is None:
        out.append(0)
    else:
        n = len(o.topic_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_partitions_v2(out, o.topic_partitions)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ElectLeadersRequest.DECODERS = {
    0: _decode_elect_leaders_request_v0,
    1: _decode_elect_leaders_request_v1,
    2: _decode_elect_leaders_request_v2,
}
ElectLeadersRequest.ENCODERS = {
    0: _encode_elect_leaders_request_v0,
    1: _encode_elect_leaders_request_v1,
    2: _encode_elect_leaders_request_v2,
}
