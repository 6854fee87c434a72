"""DescribeGroupsResponse, versions 0 to 6.

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
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class DescribedGroupMember(Struct):
    """Part of DescribeGroupsResponse."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "member_metadata",
        "member_assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,  # versions 4 to 6
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment
        self.unknown_tags: UnknownTags = None


class DescribedGroup(Struct):
    """Part of DescribeGroupsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "protocol_type",
        "protocol_data",
        "members",
        "authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,  # version 6
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = UNSET,
        authorized_operations: int = -2147483648,  # versions 3 to 6
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members: list[DescribedGroupMember] = [] if members is UNSET else members
        self.authorized_operations = authorized_operations
        self.unknown_tags: UnknownTags = None


class DescribeGroupsResponse(Message):
    """DescribeGroupsResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )
    NAME = "DescribeGroupsResponse"
    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 5

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 6
        groups: list[DescribedGroup] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribedGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_described_group_member_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedGroupMember], int]:
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        o = DescribedGroupMember.__new__(DescribedGroupMember)
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
            raise null_field("clientId")
        end = pos + n
        o.client_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("clientHost")
        end = pos + n
        o.client_host = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("memberMetadata")
        end = pos + n
        o.member_metadata = bytes(buf[pos:end])
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("memberAssignment")
        end = pos + n
        o.member_assignment = bytes(buf[pos:end])
        pos = end
        o.group_instance_id = None
        o.unknown_tags = None
    return items, pos


def _encode_described_group_member_v0(out: bytearray, items: Iterable[DescribedGroupMember]) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.client_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.client_host.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.member_metadata))
        out += o.member_metadata
        out += pack_i(len(o.member_assignment))
        out += o.member_assignment
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_group_member_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedGroupMember], int]:
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        o = DescribedGroupMember.__new__(DescribedGroupMember)
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
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("clientId")
        end = pos + n
        o.client_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("clientHost")
        end = pos + n
        o.client_host = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("memberMetadata")
        end = pos + n
        o.member_metadata = bytes(buf[pos:end])
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("memberAssignment")
        end = pos + n
        o.member_assignment = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
    return items, pos


def _encode_described_group_member_v4(out: bytearray, items: Iterable[DescribedGroupMember]) -> None:
    for o in items:
        raw = o.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
        out += pack_h(-1 if o.group_instance_id is None else len(raw))
        out += raw
        raw = o.client_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.client_host.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.member_metadata))
        out += o.member_metadata
        out += pack_i(len(o.member_assignment))
        out += o.member_assignment
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_group_member_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribedGroupMember], int]:
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        o = DescribedGroupMember.__new__(DescribedGroupMember)
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
            raise null_field("memberMetadata")
        end = pos + n
        o.member_metadata = bytes(buf[pos:end])
        pos = end
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("memberAssignment")
        end = pos + n
        o.member_assignment = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_group_member_v5(out: bytearray, items: Iterable[DescribedGroupMember]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.group_instance_id)
        write_compact_string(out, o.client_id)
        write_compact_string(out, o.client_host)
        n = len(o.member_metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.member_metadata
        n = len(o.member_assignment) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.member_assignment
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_group_v0(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("groupId")
        end = pos + n
        o.group_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groupState")
        end = pos + n
        o.group_state = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("protocolType")
        end = pos + n
        o.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("protocolData")
        end = pos + n
        o.protocol_data = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("members")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_described_group_member_v0(buf, pos, n)
        o.error_message = None
        o.authorized_operations = -2147483648
        o.unknown_tags = None
    return items, pos


def _encode_described_group_v0(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        if o.error_message is not None:
            raise not_in_version("errorMessage")
        if o.authorized_operations != -2147483648:
            raise not_in_version("authorizedOperations")
        raw = o.group_id.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        raw = o.group_state.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_data.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.members))
        _encode_described_group_member_v0(out, o.members)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_group_v3(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("groupId")
        end = pos + n
        o.group_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groupState")
        end = pos + n
        o.group_state = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("protocolType")
        end = pos + n
        o.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("protocolData")
        end = pos + n
        o.protocol_data = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("members")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_described_group_member_v0(buf, pos, n)
        (o.authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.error_message = None
        o.unknown_tags = None
    return items, pos


def _encode_described_group_v3(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        if o.error_message is not None:
            raise not_in_version("errorMessage")
        raw = o.group_id.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        raw = o.group_state.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_data.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.members))
        _encode_described_group_member_v0(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_group_v4(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("groupId")
        end = pos + n
        o.group_id = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groupState")
        end = pos + n
        o.group_state = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("protocolType")
        end = pos + n
        o.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("protocolData")
        end = pos + n
        o.protocol_data = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("members")
        if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_described_group_member_v4(buf, pos, n)
        (o.authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.error_message = None
        o.unknown_tags = None
    return items, pos


def _encode_described_group_v4(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        if o.error_message is not None:
            raise not_in_version("errorMessage")
        raw = o.group_id.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        raw = o.group_state.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_data.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.members))
        _encode_described_group_member_v4(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_described_group_v5(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
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
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.protocol_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.protocol_data = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_data, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("members")
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_described_group_member_v5(buf, pos, n)
        (o.authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.error_message = None
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_group_v5(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        if o.error_message is not None:
            raise not_in_version("errorMessage")
        out += pack_h(o.error_code)
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.group_state)
        write_compact_string(out, o.protocol_type)
        write_compact_string(out, o.protocol_data)
        n = len(o.members) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_described_group_member_v5(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_group_v6(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
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
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.protocol_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.protocol_data = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_data, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("members")
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_described_group_member_v5(buf, pos, n)
        (o.authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_group_v6(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.group_state)
        write_compact_string(out, o.protocol_type)
        write_compact_string(out, o.protocol_data)
        n = len(o.members) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_described_group_member_v5(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_groups_response_v0(buf: Buffer, pos: int) -> tuple[DescribeGroupsResponse, int]:
    o = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("groups")
    if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_describe_groups_response_v0(out: bytearray, o: DescribeGroupsResponse) -> None:
    out += pack_i(len(o.groups))
    _encode_described_group_v0(out, o.groups)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_groups_response_v1(buf: Buffer, pos: int) -> tuple[DescribeGroupsResponse, int]:
    o = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("groups")
    if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_groups_response_v1(out: bytearray, o: DescribeGroupsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.groups))
    _encode_described_group_v0(out, o.groups)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_groups_response_v3(buf: Buffer, pos: int) -> tuple[DescribeGroupsResponse, int]:
    o = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("groups")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v3(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_groups_response_v3(out: bytearray, o: DescribeGroupsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.groups))
    _encode_described_group_v3(out, o.groups)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_groups_response_v4(buf: Buffer, pos: int) -> tuple[DescribeGroupsResponse, int]:
    o = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("groups")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v4(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_groups_response_v4(out: bytearray, o: DescribeGroupsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.groups))
    _encode_described_group_v4(out, o.groups)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_groups_response_v5(buf: Buffer, pos: int) -> tuple[DescribeGroupsResponse, int]:
    o = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
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
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v5(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_groups_response_v5(out: bytearray, o: DescribeGroupsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_group_v5(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_groups_response_v6(buf: Buffer, pos: int) -> tuple[DescribeGroupsResponse, int]:
    o = DescribeGroupsResponse.__new__(DescribeGroupsResponse)
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
    if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v6(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_groups_response_v6(out: bytearray, o: DescribeGroupsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_group_v6(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeGroupsResponse.DECODERS = {
    0: _decode_describe_groups_response_v0,
    1: _decode_describe_groups_response_v1,
    2: _decode_describe_groups_response_v1,
    3: _decode_describe_groups_response_v3,
    4: _decode_describe_groups_response_v4,
    5: _decode_describe_groups_response_v5,
    6: _decode_describe_groups_response_v6,
}
DescribeGroupsResponse.ENCODERS = {
    0: _encode_describe_groups_response_v0,
    1: _encode_describe_groups_response_v1,
    2: _encode_describe_groups_response_v1,
    3: _encode_describe_groups_response_v3,
    4: _encode_describe_groups_response_v4,
    5: _encode_describe_groups_response_v5,
    6: _encode_describe_groups_response_v6,
}
