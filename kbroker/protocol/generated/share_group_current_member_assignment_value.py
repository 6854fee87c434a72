"""ShareGroupCurrentMemberAssignmentValue, version 0.

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
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_iib = Layout(">iib").pack
unpack_iib = Layout(">iib").unpack_from


class TopicPartitions(Struct):
    """Part of ShareGroupCurrentMemberAssignmentValue."""

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


class ShareGroupCurrentMemberAssignmentValue(Message):
    """ShareGroupCurrentMemberAssignmentValue, version 0."""

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "assigned_partitions",
        "unknown_tags",
    )
    NAME = "ShareGroupCurrentMemberAssignmentValue"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = UNSET,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions: list[TopicPartitions] = (
            [] if assigned_partitions is UNSET else assigned_partitions
        )
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


def _decode_share_group_current_member_assignment_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
    o = ShareGroupCurrentMemberAssignmentValue.__new__(ShareGroupCurrentMemberAssignmentValue)
    o.member_epoch, o.previous_member_epoch, o.state = unpack_iib(buf, pos)
    pos += 9
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("assignedPartitions")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.assigned_partitions, pos = _decode_topic_partitions_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_current_member_assignment_value_v0(
    out: bytearray,
    o: ShareGroupCurrentMemberAssignmentValue,
) -> None:
    out += pack_iib(o.member_epoch, o.previous_member_epoch, o.state)
    n = len(o.assigned_partitions) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_partitions_v0(out, o.assigned_partitions)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupCurrentMemberAssignmentValue.DECODERS = {
    0: _decode_share_group_current_member_assignment_value_v0,
}
ShareGroupCurrentMemberAssignmentValue.ENCODERS = {
    0: _encode_share_group_current_member_assignment_value_v0,
}
