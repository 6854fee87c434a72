"""OffsetForLeaderEpochResponse, versions 0 to 4.

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
pack_hiiq = Layout(">hiiq").pack
unpack_hiiq = Layout(">hiiq").unpack_from
pack_hiq = Layout(">hiq").pack
unpack_hiq = Layout(">hiq").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class EpochEndOffset(Struct):
    """Part of OffsetForLeaderEpochResponse."""

    __slots__ = (
        "error_code",
        "partition",
        "leader_epoch",
        "end_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,  # versions 1 to 4
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset
        self.unknown_tags: UnknownTags = None


class OffsetForLeaderTopicResult(Struct):
    """Part of OffsetForLeaderEpochResponse."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[EpochEndOffset] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[EpochEndOffset] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class OffsetForLeaderEpochResponse(Message):
    """OffsetForLeaderEpochResponse, versions 0 to 4."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "OffsetForLeaderEpochResponse"
    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 2 to 4
        topics: list[OffsetForLeaderTopicResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetForLeaderTopicResult] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_epoch_end_offset_v0(buf: Buffer, pos: int, count: int) -> tuple[list[EpochEndOffset], int]:
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = EpochEndOffset.__new__(EpochEndOffset)
        items.append(o)
        o.error_code, o.partition, o.end_offset = unpack_hiq(buf, pos)
        pos += 14
        o.leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_epoch_end_offset_v0(out: bytearray, items: Iterable[EpochEndOffset]) -> None:
    for o in items:
        out += pack_hiq(o.error_code, o.partition, o.end_offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_epoch_end_offset_v1(buf: Buffer, pos: int, count: int) -> tuple[list[EpochEndOffset], int]:
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = EpochEndOffset.__new__(EpochEndOffset)
        items.append(o)
        o.error_code, o.partition, o.leader_epoch, o.end_offset = unpack_hiiq(buf, pos)
        pos += 18
        o.unknown_tags = None
    return items, pos


def _encode_epoch_end_offset_v1(out: bytearray, items: Iterable[EpochEndOffset]) -> None:
    for o in items:
        out += pack_hiiq(o.error_code, o.partition, o.leader_epoch, o.end_offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_epoch_end_offset_v4(buf: Buffer, pos: int, count: int) -> tuple[list[EpochEndOffset], int]:
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = EpochEndOffset.__new__(EpochEndOffset)
        items.append(o)
        o.error_code, o.partition, o.leader_epoch, o.end_offset = unpack_hiiq(buf, pos)
        pos += 18
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_epoch_end_offset_v4(out: bytearray, items: Iterable[EpochEndOffset]) -> None:
    for o in items:
        out += pack_hiiq(o.error_code, o.partition, o.leader_epoch, o.end_offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_for_leader_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderTopicResult], int]:
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        o = OffsetForLeaderTopicResult.__new__(OffsetForLeaderTopicResult)
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
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_epoch_end_offset_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_offset_for_leader_topic_result_v0(
    out: bytearray,
    items: Iterable[OffsetForLeaderTopicResult],
) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_epoch_end_offset_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_for_leader_topic_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderTopicResult], int]:
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        o = OffsetForLeaderTopicResult.__new__(OffsetForLeaderTopicResult)
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
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_epoch_end_offset_v1(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_offset_for_leader_topic_result_v1(
    out: bytearray,
    items: Iterable[OffsetForLeaderTopicResult],
) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_epoch_end_offset_v1(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_offset_for_leader_topic_result_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[OffsetForLeaderTopicResult], int]:
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        o = OffsetForLeaderTopicResult.__new__(OffsetForLeaderTopicResult)
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
        if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_epoch_end_offset_v4(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_offset_for_leader_topic_result_v4(
    out: bytearray,
    items: Iterable[OffsetForLeaderTopicResult],
) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_epoch_end_offset_v4(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_offset_for_leader_epoch_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochResponse, int]:
    o = OffsetForLeaderEpochResponse.__new__(OffsetForLeaderEpochResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_for_leader_topic_result_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_offset_for_leader_epoch_response_v0(out: bytearray, o: OffsetForLeaderEpochResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_offset_for_leader_topic_result_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_for_leader_epoch_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochResponse, int]:
    o = OffsetForLeaderEpochResponse.__new__(OffsetForLeaderEpochResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_for_leader_topic_result_v1(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_offset_for_leader_epoch_response_v1(out: bytearray, o: OffsetForLeaderEpochResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_offset_for_leader_topic_result_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_for_leader_epoch_response_v2(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochResponse, int]:
    o = OffsetForLeaderEpochResponse.__new__(OffsetForLeaderEpochResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_offset_for_leader_topic_result_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_offset_for_leader_epoch_response_v2(out: bytearray, o: OffsetForLeaderEpochResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_offset_for_leader_topic_result_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_for_leader_epoch_response_v4(
    buf: Buffer,
    pos: int,
) -> tuple[OffsetForLeaderEpochResponse, int]:
    o = OffsetForLeaderEpochResponse.__new__(OffsetForLeaderEpochResponse)
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
    o.topics, pos = _decode_offset_for_leader_topic_result_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_offset_for_leader_epoch_response_v4(out: bytearray, o: OffsetForLeaderEpochResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_offset_for_leader_topic_result_v4(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


OffsetForLeaderEpochResponse.DECODERS = {
    0: _decode_offset_for_leader_epoch_response_v0,
    1: _decode_offset_for_leader_epoch_response_v1,
    2: _decode_offset_for_leader_epoch_response_v2,
    3: _decode_offset_for_leader_epoch_response_v2,
    4: _decode_offset_for_leader_epoch_response_v4,
}
OffsetForLeaderEpochResponse.ENCODERS = {
    0: _encode_offset_for_leader_epoch_response_v0,
    1: _encode_offset_for_leader_epoch_response_v1,
    2: _encode_offset_for_leader_epoch_response_v2,
    3: _encode_offset_for_leader_epoch_response_v2,
    4: _encode_offset_for_leader_epoch_response_v4,
}
