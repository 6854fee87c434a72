"""ShareGroupDescribeResponse, versions 0 to 1.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class TopicPartitions(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class Assignment(Struct):
    """Part of ShareGroupDescribeResponse."""

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


class Member(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = (
        "member_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = UNSET,
        assignment: Assignment = UNSET,
    ) -> None:
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names: list[str] = (
            [] if subscribed_topic_names is UNSET else subscribed_topic_names
        )
        self.assignment: Assignment = Assignment() if assignment is UNSET else assignment
        self.unknown_tags: UnknownTags = None


class DescribedGroup(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "assignor_name",
        "members",
        "authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = UNSET,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members: list[Member] = [] if members is UNSET else members
        self.authorized_operations = authorized_operations
        self.unknown_tags: UnknownTags = None


class ShareGroupDescribeResponse(Message):
    """ShareGroupDescribeResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )
    NAME = "ShareGroupDescribeResponse"
    API_KEY = 77
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribedGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_topic_partitions_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = TopicPartitions.__new__(TopicPartitions)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
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
        write_compact_string(out, o.topic_name)
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
        if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
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


def _decode_member_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Member], int]:
    items: list[Member] = []
    for _ in range(count):
        o = Member.__new__(Member)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.member_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.member_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack_id, pos = read_compact_nullable_string(buf, pos)
        (o.member_epoch,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.client_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.client_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.client_host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.client_host, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("subscribedTopicNames")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subscribed_topic_names = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        (o.assignment,), pos = _decode_assignment_v0(buf, pos, 1)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_member_v0(out: bytearray, items: Iterable[Member]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.rack_id)
        out += pack_i(o.member_epoch)
        write_compact_string(out, o.client_id)
        write_compact_string(out, o.client_host)
        n = len(o.subscribed_topic_names) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.subscribed_topic_names:
            write_compact_string(out, text)
        _encode_assignment_v0(out, (o.assignment,))
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_group_v0(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
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
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_state = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_state, pos = read_compact_string(buf, pos)
        o.group_epoch, o.assignment_epoch = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.assignor_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.assignor_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("members")
        if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_member_v0(buf, pos, n)
        (o.authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_group_v0(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.group_state)
        out += pack_ii(o.group_epoch, o.assignment_epoch)
        write_compact_string(out, o.assignor_name)
        n = len(o.members) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_member_v0(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_group_describe_response_v0(buf: Buffer, pos: int) -> tuple[ShareGroupDescribeResponse, int]:
    o = ShareGroupDescribeResponse.__new__(ShareGroupDescribeResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_describe_response_v0(out: bytearray, o: ShareGroupDescribeResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_group_v0(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupDescribeResponse.DECODERS = {
    0: _decode_share_group_describe_response_v0,
    1: _decode_share_group_describe_response_v0,
}
ShareGroupDescribeResponse.ENCODERS = {
    0: _encode_share_group_describe_response_v0,
    1: _encode_share_group_describe_response_v0,
}
