"""JoinGroupResponse, versions 0 to 9.

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
    null_value,
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
pack_hih = Layout(">hih").pack
unpack_hih = Layout(">hih").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from
pack_ihih = Layout(">ihih").pack
unpack_ihih = Layout(">ihih").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class JoinGroupResponseMember(Struct):
    """Part of JoinGroupResponse."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,  # versions 5 to 9
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata
        self.unknown_tags: UnknownTags = None


class JoinGroupResponse(Message):
    """JoinGroupResponse, versions 0 to 9."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "generation_id",
        "protocol_type",
        "protocol_name",
        "leader",
        "skip_assignment",
        "member_id",
        "members",
        "unknown_tags",
    )
    NAME = "JoinGroupResponse"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 9
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 2 to 9
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,  # versions 7 to 9
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,  # version 9
        member_id: str = "",
        members: list[JoinGroupResponseMember] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members: list[JoinGroupResponseMember] = [] if members is UNSET else members
        self.unknown_tags: UnknownTags = None


def _decode_join_group_response_member_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[JoinGroupResponseMember], int]:
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        o = JoinGroupResponseMember.__new__(JoinGroupResponseMember)
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
            raise null_field("metadata")
        end = pos + n
        o.metadata = bytes(buf[pos:end])
        pos = end
        o.group_instance_id = None
        o.unknown_tags = None
    return items, pos


def _encode_join_group_response_member_v0(out: bytearray, items: Iterable[JoinGroupResponseMember]) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.metadata))
        out += o.metadata
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_join_group_response_member_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[JoinGroupResponseMember], int]:
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        o = JoinGroupResponseMember.__new__(JoinGroupResponseMember)
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
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("metadata")
        end = pos + n
        o.metadata = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
    return items, pos


def _encode_join_group_response_member_v5(out: bytearray, items: Iterable[JoinGroupResponseMember]) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
        out += pack_h(-1 if o.group_instance_id is None else len(raw))
        out += raw
        out += pack_i(len(o.metadata))
        out += o.metadata
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_join_group_response_member_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[JoinGroupResponseMember], int]:
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        o = JoinGroupResponseMember.__new__(JoinGroupResponseMember)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("metadata")
        end = pos + n
        o.metadata = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_join_group_response_member_v6(out: bytearray, items: Iterable[JoinGroupResponseMember]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.group_instance_id)
        n = len(o.metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.metadata
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_join_group_response_v0(buf: Buffer, pos: int) -> tuple[JoinGroupResponse, int]:
    o = JoinGroupResponse.__new__(JoinGroupResponse)
    o.error_code, o.generation_id, n = unpack_hih(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("protocolName")
    end = pos + n
    o.protocol_name = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("leader")
    end = pos + n
    o.leader = str(buf[pos:end], "utf-8")
    pos = end
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
        raise null_field("members")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_join_group_response_member_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.protocol_type = None
    o.skip_assignment = False
    o.unknown_tags = None
    return o, pos


def _encode_join_group_response_v0(out: bytearray, o: JoinGroupResponse) -> None:
    if o.skip_assignment:
        raise not_in_version("skipAssignment")
    if o.protocol_name is None:
        raise null_value("protocolName")
    raw = o.protocol_name.encode()
    out += pack_hih(o.error_code, o.generation_id, len(raw))
    out += raw
    raw = o.leader.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.members))
    _encode_join_group_response_member_v0(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_join_group_response_v2(buf: Buffer, pos: int) -> tuple[JoinGroupResponse, int]:
    o = JoinGroupResponse.__new__(JoinGroupResponse)
    o.throttle_time_ms, o.error_code, o.generation_id, n = unpack_ihih(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("protocolName")
    end = pos + n
    o.protocol_name = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("leader")
    end = pos + n
    o.leader = str(buf[pos:end], "utf-8")
    pos = end
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
        raise null_field("members")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_join_group_response_member_v0(buf, pos, n)
    o.protocol_type = None
    o.skip_assignment = False
    o.unknown_tags = None
    return o, pos


def _encode_join_group_response_v2(out: bytearray, o: JoinGroupResponse) -> None:
    if o.skip_assignment:
        raise not_in_version("skipAssignment")
    if o.protocol_name is None:
        raise null_value("protocolName")
    raw = o.protocol_name.encode()
    out += pack_ihih(o.throttle_time_ms, o.error_code, o.generation_id, len(raw))
    out += raw
    raw = o.leader.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.members))
    _encode_join_group_response_member_v0(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_join_group_response_v5(buf: Buffer, pos: int) -> tuple[JoinGroupResponse, int]:
    o = JoinGroupResponse.__new__(JoinGroupResponse)
    o.throttle_time_ms, o.error_code, o.generation_id, n = unpack_ihih(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("protocolName")
    end = pos + n
    o.protocol_name = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("leader")
    end = pos + n
    o.leader = str(buf[pos:end], "utf-8")
    pos = end
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
        raise null_field("members")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_join_group_response_member_v5(buf, pos, n)
    o.protocol_type = None
    o.skip_assignment = False
    o.unknown_tags = None
    return o, pos


def _encode_join_group_response_v5(out: bytearray, o: JoinGroupResponse) -> None:
    if o.skip_assignment:
        raise not_in_version("skipAssignment")
    if o.protocol_name is None:
        raise null_value("protocolName")
    raw = o.protocol_name.encode()
    out += pack_ihih(o.throttle_time_ms, o.error_code, o.generation_id, len(raw))
    out += raw
    raw = o.leader.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.members))
    _encode_join_group_response_member_v5(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_join_group_response_v6(buf: Buffer, pos: int) -> tuple[JoinGroupResponse, int]:
    o = JoinGroupResponse.__new__(JoinGroupResponse)
    o.throttle_time_ms, o.error_code, o.generation_id = unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_name, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.leader = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.leader, pos = read_compact_string(buf, pos)
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
        raise null_field("members")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_join_group_response_member_v6(buf, pos, n)
    o.protocol_type = None
    o.skip_assignment = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_join_group_response_v6(out: bytearray, o: JoinGroupResponse) -> None:
    if o.skip_assignment:
        raise not_in_version("skipAssignment")
    if o.protocol_name is None:
        raise null_value("protocolName")
    out += pack_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
    write_compact_string(out, o.protocol_name)
    write_compact_string(out, o.leader)
    write_compact_string(out, o.member_id)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_join_group_response_member_v6(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_join_group_response_v7(buf: Buffer, pos: int) -> tuple[JoinGroupResponse, int]:
    o = JoinGroupResponse.__new__(JoinGroupResponse)
    o.throttle_time_ms, o.error_code, o.generation_id = unpack_ihi(buf, pos)
    pos += 10
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
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.leader = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.leader, pos = read_compact_string(buf, pos)
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
        raise null_field("members")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_join_group_response_member_v6(buf, pos, n)
    o.skip_assignment = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_join_group_response_v7(out: bytearray, o: JoinGroupResponse) -> None:
    if o.skip_assignment:
        raise not_in_version("skipAssignment")
    out += pack_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
    write_compact_nullable_string(out, o.protocol_type)
    write_compact_nullable_string(out, o.protocol_name)
    write_compact_string(out, o.leader)
    write_compact_string(out, o.member_id)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_join_group_response_member_v6(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_join_group_response_v9(buf: Buffer, pos: int) -> tuple[JoinGroupResponse, int]:
    o = JoinGroupResponse.__new__(JoinGroupResponse)
    o.throttle_time_ms, o.error_code, o.generation_id = unpack_ihi(buf, pos)
    pos += 10
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
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.leader = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.leader, pos = read_compact_string(buf, pos)
    (o.skip_assignment,) = unpack_o(buf, pos)
    pos += 1
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
        raise null_field("members")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_join_group_response_member_v6(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_join_group_response_v9(out: bytearray, o: JoinGroupResponse) -> None:
    out += pack_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
    write_compact_nullable_string(out, o.protocol_type)
    write_compact_nullable_string(out, o.protocol_name)
    write_compact_string(out, o.leader)
    out += pack_o(o.skip_assignment)
    write_compact_string(out, o.member_id)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_join_group_response_member_v6(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


JoinGroupResponse.DECODERS = {
    0: _decode_join_group_response_v0,
    1: _decode_join_group_response_v0,
    2: _decode_join_group_response_v2,
    3: _decode_join_group_response_v2,
    4: _decode_join_group_response_v2,
    5: _decode_join_group_response_v5,
    6: _decode_join_group_response_v6,
    7: _decode_join_group_response_v7,
    8: _decode_join_group_response_v7,
    9: _decode_join_group_response_v9,
}
JoinGroupResponse.ENCODERS = {
    0: _encode_join_group_response_v0,
    1: _encode_join_group_response_v0,
    2: _encode_join_group_response_v2,
    3: _encode_join_group_response_v2,
    4: _encode_join_group_response_v2,
    5: _encode_join_group_response_v5,
    6: _encode_join_group_response_v6,
    7: _encode_join_group_response_v7,
    8: _encode_join_group_response_v7,
    9: _encode_join_group_response_v9,
}
