"""ShareGroupHeartbeatResponse, versions 0 to 1.

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
    null_field,
    pack_int32s,
    read_compact_nullable_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_iib = Layout(">iib").unpack_from


class TopicPartitions(Struct):
    """Part of ShareGroupHeartbeatResponse."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class Assignment(Struct):
    """Part of ShareGroupHeartbeatResponse."""

    __slots__ = (
        "topic_partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = UNSET,
    ) -> None:
        self.topic_partitions: list[TopicPartitions] = [] if topic_partitions is UNSET else topic_partitions
        self.unknown_tags: UnknownTags = None


class ShareGroupHeartbeatResponse(Message):
    """ShareGroupHeartbeatResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "assignment",
        "unknown_tags",
    )
    NAME = "ShareGroupHeartbeatResponse"
    API_KEY = 76
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
        self.unknown_tags: UnknownTags = None


def _decode_topic_partitions_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = TopicPartitions.__new__(TopicPartitions)
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


def _encode_topic_partitions_v0(out: bytearray, items: Iterable[TopicPartitions]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_assignment_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Assignment], int]:
    items: list[Assignment] = []
    for _ in range(count):
        o = Assignment.__new__(Assignment)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("topicPartitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_partitions, pos = _decode_topic_partitions_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_assignment_v0(out: bytearray, items: Iterable[Assignment]) -> None:
    for o in items:
        n = len(o.topic_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_partitions_v0(out, o.topic_partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_group_heartbeat_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ShareGroupHeartbeatResponse, int]:
    o = ShareGroupHeartbeatResponse.__new__(ShareGroupHeartbeatResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_nullable_string(buf, pos)
    o.member_epoch, o.heartbeat_interval_ms, n = unpack_iib(buf, pos)
    pos += 9
    if n < 0:
        o.assignment = None
    else:
        (o.assignment,), pos = _decode_assignment_v0(buf, pos, 1)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_heartbeat_response_v0(out: bytearray, o: ShareGroupHeartbeatResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    write_compact_nullable_string(out, o.member_id)
    out += pack_ii(o.member_epoch, o.heartbeat_interval_ms)
    if o.assignment is None:
        out.append(255)
    else:
        out.append(1)
        _encode_assignment_v0(out, (o.assignment,))
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupHeartbeatResponse.DECODERS = {
    0: _decode_share_group_heartbeat_response_v0,
    1: _decode_share_group_heartbeat_response_v0,
}
ShareGroupHeartbeatResponse.ENCODERS = {
    0: _encode_share_group_heartbeat_response_v0,
    1: _encode_share_group_heartbeat_response_v0,
}
