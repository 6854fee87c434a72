"""LeaveGroupRequest, versions 0 to 5.

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
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class MemberIdentity(Struct):
    """Part of LeaveGroupRequest."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "reason",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",  # versions 3 to 5
        group_instance_id: str | None = None,  # versions 3 to 5
        reason: str | None = None,  # version 5
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason
        self.unknown_tags: UnknownTags = None


class LeaveGroupRequest(Message):
    """LeaveGroupRequest, versions 0 to 5."""

    __slots__ = (
        "group_id",
        "member_id",
        "members",
        "unknown_tags",
    )
    NAME = "LeaveGroupRequest"
    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",  # versions 0 to 2
        members: list[MemberIdentity] = UNSET,  # versions 3 to 5
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members: list[MemberIdentity] = [] if members is UNSET else members
        self.unknown_tags: UnknownTags = None


def _decode_member_identity_v3(buf: Buffer, pos: int, count: int) -> tuple[list[MemberIdentity], int]:
    items: list[MemberIdentity] = []
    for _ in range(count):
        o = MemberIdentity.__new__(MemberIdentity)
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
        o.reason = None
        o.unknown_tags = None
    return items, pos


def _encode_member_identity_v3(out: bytearray, items: Iterable[MemberIdentity]) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
        out += pack_h(-1 if o.group_instance_id is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_member_identity_v4(buf: Buffer, pos: int, count: int) -> tuple[list[MemberIdentity], int]:
    items: list[MemberIdentity] = []
    for _ in range(count):
        o = MemberIdentity.__new__(MemberIdentity)
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
        o.reason = None
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_member_identity_v4(out: bytearray, items: Iterable[MemberIdentity]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.group_instance_id)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_member_identity_v5(buf: Buffer, pos: int, count: int) -> tuple[list[MemberIdentity], int]:
    items: list[MemberIdentity] = []
    for _ in range(count):
        o = MemberIdentity.__new__(MemberIdentity)
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
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.reason = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.reason, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_member_identity_v5(out: bytearray, items: Iterable[MemberIdentity]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.group_instance_id)
        write_compact_nullable_string(out, o.reason)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leave_group_request_v0(buf: Buffer, pos: int) -> tuple[LeaveGroupRequest, int]:
    o = LeaveGroupRequest.__new__(LeaveGroupRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    o.members = []
    o.unknown_tags = None
    return o, pos


def _encode_leave_group_request_v0(out: bytearray, o: LeaveGroupRequest) -> None:
    if o.members:
        raise not_in_version("members")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_h(len(raw))
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leave_group_request_v3(buf: Buffer, pos: int) -> tuple[LeaveGroupRequest, int]:
    o = LeaveGroupRequest.__new__(LeaveGroupRequest)
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
        raise null_field("members")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_identity_v3(buf, pos, n)
    o.member_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_leave_group_request_v3(out: bytearray, o: LeaveGroupRequest) -> None:
    if o.member_id != "":
        raise not_in_version("memberId")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.members))
    _encode_member_identity_v3(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leave_group_request_v4(buf: Buffer, pos: int) -> tuple[LeaveGroupRequest, int]:
    o = LeaveGroupRequest.__new__(LeaveGroupRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("members")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_identity_v4(buf, pos, n)
    o.member_id = ""
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leave_group_request_v4(out: bytearray, o: LeaveGroupRequest) -> None:
    if o.member_id != "":
        raise not_in_version("memberId")
    write_compact_string(out, o.group_id)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_member_identity_v4(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_leave_group_request_v5(buf: Buffer, pos: int) -> tuple[LeaveGroupRequest, int]:
    o = LeaveGroupRequest.__new__(LeaveGroupRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("members")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_identity_v5(buf, pos, n)
    o.member_id = ""
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leave_group_request_v5(out: bytearray, o: LeaveGroupRequest) -> None:
    if o.member_id != "":
        raise not_in_version("memberId")
    write_compact_string(out, o.group_id)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_member_identity_v5(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


LeaveGroupRequest.DECODERS = {
    0: _decode_leave_group_request_v0,
    1: _decode_leave_group_request_v0,
    2: _decode_leave_group_request_v0,
    3: _decode_leave_group_request_v3,
    4: _decode_leave_group_request_v4,
    5: _decode_leave_group_request_v5,
}
LeaveGroupRequest.ENCODERS = {
    0: _encode_leave_group_request_v0,
    1: _encode_leave_group_request_v0,
    2: _encode_leave_group_request_v0,
    3: _encode_leave_group_request_v3,
    4: _encode_leave_group_request_v4,
    5: _encode_leave_group_request_v5,
}
