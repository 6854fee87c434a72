"""SyncGroupRequest, versions 0 to 5.

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
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class SyncGroupRequestAssignment(Struct):
    """Part of SyncGroupRequest."""

    __slots__ = (
        "member_id",
        "assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment
        self.unknown_tags: UnknownTags = None


class SyncGroupRequest(Message):
    """SyncGroupRequest, versions 0 to 5."""

    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocol_name",
        "assignments",
        "unknown_tags",
    )
    NAME = "SyncGroupRequest"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,  # versions 3 to 5
        protocol_type: str | None = None,  # version 5
        protocol_name: str | None = None,  # version 5
        assignments: list[SyncGroupRequestAssignment] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments: list[SyncGroupRequestAssignment] = [] if assignments is UNSET else assignments
        self.unknown_tags: UnknownTags = None


def _decode_sync_group_request_assignment_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[SyncGroupRequestAssignment], int]:
    items: list[SyncGroupRequestAssignment] = []
    for _ in range(count):
        o = SyncGroupRequestAssignment.__new__(SyncGroupRequestAssignment)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("memberId")
        end = pos + n
        o.member_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("assignment")
        end = pos + n
        o.assignment = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
    return items, pos


def _encode_sync_group_request_assignment_v0(
    out: bytearray,
    items: Iterable[SyncGroupRequestAssignment],
) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.assignment))
        out += o.assignment
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_sync_group_request_assignment_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[SyncGroupRequestAssignment], int]:
    items: list[SyncGroupRequestAssignment] = []
    for _ in range(count):
        o = SyncGroupRequestAssignment.__new__(SyncGroupRequestAssignment)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.member_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.member_id, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("assignment")
        end = pos + n
        o.assignment = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_sync_group_request_assignment_v4(
    out: bytearray,
    items: Iterable[SyncGroupRequestAssignment],
) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        n = len(o.assignment) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.assignment
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_sync_group_request_v0(buf: Buffer, pos: int) -> tuple[SyncGroupRequest, int]:
    o = SyncGroupRequest.__new__(SyncGroupRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.generation_id, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("assignments")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.assignments, pos = _decode_sync_group_request_assignment_v0(buf, pos, n)
    o.group_instance_id = None
    o.protocol_type = None
    o.protocol_name = None
    o.unknown_tags = None
    return o, pos


def _encode_sync_group_request_v0(out: bytearray, o: SyncGroupRequest) -> None:
    if o.group_instance_id is not None:
        raise not_in_version("groupInstanceId")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_ih(o.generation_id, len(raw))
    out += raw
    out += pack_i(len(o.assignments))
    _encode_sync_group_request_assignment_v0(out, o.assignments)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sync_group_request_v3(buf: Buffer, pos: int) -> tuple[SyncGroupRequest, int]:
    o = SyncGroupRequest.__new__(SyncGroupRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.generation_id, n = unpack_ih(buf, pos)
    pos += 6
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
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("assignments")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.assignments, pos = _decode_sync_group_request_assignment_v0(buf, pos, n)
    o.protocol_type = None
    o.protocol_name = None
    o.unknown_tags = None
    return o, pos


def _encode_sync_group_request_v3(out: bytearray, o: SyncGroupRequest) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_ih(o.generation_id, len(raw))
    out += raw
    raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
    out += pack_h(-1 if o.group_instance_id is None else len(raw))
    out += raw
    out += pack_i(len(o.assignments))
    _encode_sync_group_request_assignment_v0(out, o.assignments)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sync_group_request_v4(buf: Buffer, pos: int) -> tuple[SyncGroupRequest, int]:
    o = SyncGroupRequest.__new__(SyncGroupRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    (o.generation_id,) = unpack_i(buf, pos)
    pos += 4
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
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("assignments")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.assignments, pos = _decode_sync_group_request_assignment_v4(buf, pos, n)
    o.protocol_type = None
    o.protocol_name = None
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_sync_group_request_v4(out: bytearray, o: SyncGroupRequest) -> None:
    write_compact_string(out, o.group_id)
    out += pack_i(o.generation_id)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    n = len(o.assignments) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_sync_group_request_assignment_v4(out, o.assignments)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_sync_group_request_v5(buf: Buffer, pos: int) -> tuple[SyncGroupRequest, int]:
    o = SyncGroupRequest.__new__(SyncGroupRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    (o.generation_id,) = unpack_i(buf, pos)
    pos += 4
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
        o.protocol_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_type, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_name, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("assignments")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.assignments, pos = _decode_sync_group_request_assignment_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_sync_group_request_v5(out: bytearray, o: SyncGroupRequest) -> None:
    write_compact_string(out, o.group_id)
    out += pack_i(o.generation_id)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    write_compact_nullable_string(out, o.protocol_type)
    write_compact_nullable_string(out, o.protocol_name)
    n = len(o.assignments) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_sync_group_request_assignment_v4(out, o.assignments)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


SyncGroupRequest.DECODERS = {
    0: _decode_sync_group_request_v0,
    1: _decode_sync_group_request_v0,
    2: _decode_sync_group_request_v0,
    3: _decode_sync_group_request_v3,
    4: _decode_sync_group_request_v4,
    5: _decode_sync_group_request_v5,
}
SyncGroupRequest.ENCODERS = {
    0: _encode_sync_group_request_v0,
    1: _encode_sync_group_request_v0,
    2: _encode_sync_group_request_v0,
    3: _encode_sync_group_request_v3,
    4: _encode_sync_group_request_v4,
    5: _encode_sync_group_request_v5,
}
