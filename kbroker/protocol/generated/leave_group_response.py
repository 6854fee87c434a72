"""LeaveGroupResponse, versions 0 to 5.

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
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from


class MemberResponse(Struct):
    """Part of LeaveGroupResponse."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",  # versions 3 to 5
        group_instance_id: str | None = "",  # versions 3 to 5
        error_code: int = 0,  # versions 3 to 5
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class LeaveGroupResponse(Message):
    """LeaveGroupResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "members",
        "unknown_tags",
    )
    NAME = "LeaveGroupResponse"
    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 5
        error_code: int = 0,
        members: list[MemberResponse] = UNSET,  # versions 3 to 5
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members: list[MemberResponse] = [] if members is UNSET else members
        self.unknown_tags: UnknownTags = None


def _decode_member_response_v3(buf: Buffer, pos: int, count: int) -> tuple[list[MemberResponse], int]:
    items: list[MemberResponse] = []
    for _ in range(count):
        o = MemberResponse.__new__(MemberResponse)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("memberId")
        end = pos + n
        o.member_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.group_instance_id = None
        else:
            end = pos + n
            o.group_instance_id = str(buf[pos:end], "utf-8")
            pos = end
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
    return items, pos


def _encode_member_response_v3(out: bytearray, items: Iterable[MemberResponse]) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
        out += pack_h(-1 if o.group_instance_id is None else len(raw))
        out += raw
        out += pack_h(o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_member_response_v4(buf: Buffer, pos: int, count: int) -> tuple[list[MemberResponse], int]:
    items: list[MemberResponse] = []
    for _ in range(count):
        o = MemberResponse.__new__(MemberResponse)
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
            o.group_instance_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_instance_id, pos = read_compact_nullable_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_member_response_v4(out: bytearray, items: Iterable[MemberResponse]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.group_instance_id)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leave_group_response_v0(buf: Buffer, pos: int) -> tuple[LeaveGroupResponse, int]:
    o = LeaveGroupResponse.__new__(LeaveGroupResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.throttle_time_ms = 0
    o.members = []
    o.unknown_tags = None
    return o, pos


def _encode_leave_group_response_v0(out: bytearray, o: LeaveGroupResponse) -> None:
    if o.members:
        raise not_in_version("members")
    out += pack_h(o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leave_group_response_v1(buf: Buffer, pos: int) -> tuple[LeaveGroupResponse, int]:
    o = LeaveGroupResponse.__new__(LeaveGroupResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.members = []
    o.unknown_tags = None
    return o, pos


def _encode_leave_group_response_v1(out: bytearray, o: LeaveGroupResponse) -> None:
    if o.members:
        raise not_in_version("members")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leave_group_response_v3(buf: Buffer, pos: int) -> tuple[LeaveGroupResponse, int]:
    o = LeaveGroupResponse.__new__(LeaveGroupResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("members")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_response_v3(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_leave_group_response_v3(out: bytearray, o: LeaveGroupResponse) -> None:
    out += pack_ihi(o.throttle_time_ms, o.error_code, len(o.members))
    _encode_member_response_v3(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leave_group_response_v4(buf: Buffer, pos: int) -> tuple[LeaveGroupResponse, int]:
    o = LeaveGroupResponse.__new__(LeaveGroupResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("members")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_response_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leave_group_response_v4(out: bytearray, o: LeaveGroupResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_member_response_v4(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


LeaveGroupResponse.DECODERS = {
    0: _decode_leave_group_response_v0,
    1: _decode_leave_group_response_v1,
    2: _decode_leave_group_response_v1,
    3: _decode_leave_group_response_v3,
    4: _decode_leave_group_response_v4,
    5: _decode_leave_group_response_v4,
}
LeaveGroupResponse.ENCODERS = {
    0: _encode_leave_group_response_v0,
    1: _encode_leave_group_response_v1,
    2: _encode_leave_group_response_v1,
    3: _encode_leave_group_response_v3,
    4: _encode_leave_group_response_v4,
    5: _encode_leave_group_response_v4,
}
