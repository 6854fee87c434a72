"""GroupMetadataValue, versions 0 to 4.

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

pack_3i = Layout(">3i").pack
unpack_3i = Layout(">3i").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from
pack_qi = Layout(">qi").pack
unpack_qi = Layout(">qi").unpack_from


class MemberMetadata(Struct):
    """Part of GroupMetadataValue."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
        "assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,  # versions 3 to 4
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,  # versions 1 to 4
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment
        self.unknown_tags: UnknownTags = None


class GroupMetadataValue(Message):
    """GroupMetadataValue, versions 0 to 4."""

    __slots__ = (
        "protocol_type",
        "generation",
        "protocol",
        "leader",
        "current_state_timestamp",
        "members",
        "unknown_tags",
    )
    NAME = "GroupMetadataValue"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,  # versions 2 to 4
        members: list[MemberMetadata] = UNSET,
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members: list[MemberMetadata] = [] if members is UNSET else members
        self.unknown_tags: UnknownTags = None


def _decode_member_metadata_v0(buf: Buffer, pos: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = MemberMetadata.__new__(MemberMetadata)
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
        o.session_timeout, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("subscription")
        end = pos + n
        o.subscription = bytes(buf[pos:end])
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("assignment")
        end = pos + n
        o.assignment = bytes(buf[pos:end])
        pos = end
        o.group_instance_id = None
        o.rebalance_timeout = -1
        o.unknown_tags = None
    return items, pos


def _encode_member_metadata_v0(out: bytearray, items: Iterable[MemberMetadata]) -> None:
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
        out += pack_ii(o.session_timeout, len(o.subscription))
        out += o.subscription
        out += pack_i(len(o.assignment))
        out += o.assignment
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_member_metadata_v1(buf: Buffer, pos: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = MemberMetadata.__new__(MemberMetadata)
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
        o.rebalance_timeout, o.session_timeout, n = unpack_3i(buf, pos)
        pos += 12
        if n < 0:
            raise null_field("subscription")
        end = pos + n
        o.subscription = bytes(buf[pos:end])
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("assignment")
        end = pos + n
        o.assignment = bytes(buf[pos:end])
        pos = end
        o.group_instance_id = None
        o.unknown_tags = None
    return items, pos


def _encode_member_metadata_v1(out: bytearray, items: Iterable[MemberMetadata]) -> None:
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
        out += pack_3i(o.rebalance_timeout, o.session_timeout, len(o.subscription))
        out += o.subscription
        out += pack_i(len(o.assignment))
        out += o.assignment
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_member_metadata_v3(buf: Buffer, pos: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = MemberMetadata.__new__(MemberMetadata)
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
        o.rebalance_timeout, o.session_timeout, n = unpack_3i(buf, pos)
        pos += 12
        if n < 0:
            raise null_field("subscription")
        end = pos + n
        o.subscription = bytes(buf[pos:end])
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


def _encode_member_metadata_v3(out: bytearray, items: Iterable[MemberMetadata]) -> None:
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
        out += pack_3i(o.rebalance_timeout, o.session_timeout, len(o.subscription))
        out += o.subscription
        out += pack_i(len(o.assignment))
        out += o.assignment
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_member_metadata_v4(buf: Buffer, pos: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = MemberMetadata.__new__(MemberMetadata)
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
        o.rebalance_timeout, o.session_timeout = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("subscription")
        end = pos + n
        o.subscription = bytes(buf[pos:end])
        pos = end
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


def _encode_member_metadata_v4(out: bytearray, items: Iterable[MemberMetadata]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        write_compact_nullable_string(out, o.group_instance_id)
        write_compact_string(out, o.client_id)
        write_compact_string(out, o.client_host)
        out += pack_ii(o.rebalance_timeout, o.session_timeout)
        n = len(o.subscription) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.subscription
        n = len(o.assignment) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.assignment
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_group_metadata_value_v0(buf: Buffer, pos: int) -> tuple[GroupMetadataValue, int]:
    o = GroupMetadataValue.__new__(GroupMetadataValue)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    o.generation, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        end = pos + n
        o.protocol = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        end = pos + n
        o.leader = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("members")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_metadata_v0(buf, pos, n)
    o.current_state_timestamp = -1
    o.unknown_tags = None
    return o, pos


def _encode_group_metadata_value_v0(out: bytearray, o: GroupMetadataValue) -> None:
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    raw = b"" if o.protocol is None else o.protocol.encode()
    out += pack_ih(o.generation, -1 if o.protocol is None else len(raw))
    out += raw
    raw = b"" if o.leader is None else o.leader.encode()
    out += pack_h(-1 if o.leader is None else len(raw))
    out += raw
    out += pack_i(len(o.members))
    _encode_member_metadata_v0(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_group_metadata_value_v1(buf: Buffer, pos: int) -> tuple[GroupMetadataValue, int]:
    o = GroupMetadataValue.__new__(GroupMetadataValue)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    o.generation, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        end = pos + n
        o.protocol = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        end = pos + n
        o.leader = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("members")
    if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_metadata_v1(buf, pos, n)
    o.current_state_timestamp = -1
    o.unknown_tags = None
    return o, pos


def _encode_group_metadata_value_v1(out: bytearray, o: GroupMetadataValue) -> None:
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    raw = b"" if o.protocol is None else o.protocol.encode()
    out += pack_ih(o.generation, -1 if o.protocol is None else len(raw))
    out += raw
    raw = b"" if o.leader is None else o.leader.encode()
    out += pack_h(-1 if o.leader is None else len(raw))
    out += raw
    out += pack_i(len(o.members))
    _encode_member_metadata_v1(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_group_metadata_value_v2(buf: Buffer, pos: int) -> tuple[GroupMetadataValue, int]:
    o = GroupMetadataValue.__new__(GroupMetadataValue)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    o.generation, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        end = pos + n
        o.protocol = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        end = pos + n
        o.leader = str(buf[pos:end], "utf-8")
        pos = end
    o.current_state_timestamp, n = unpack_qi(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("members")
    if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_metadata_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_group_metadata_value_v2(out: bytearray, o: GroupMetadataValue) -> None:
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    raw = b"" if o.protocol is None else o.protocol.encode()
    out += pack_ih(o.generation, -1 if o.protocol is None else len(raw))
    out += raw
    raw = b"" if o.leader is None else o.leader.encode()
    out += pack_h(-1 if o.leader is None else len(raw))
    out += raw
    out += pack_qi(o.current_state_timestamp, len(o.members))
    _encode_member_metadata_v1(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_group_metadata_value_v3(buf: Buffer, pos: int) -> tuple[GroupMetadataValue, int]:
    o = GroupMetadataValue.__new__(GroupMetadataValue)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    o.generation, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        end = pos + n
        o.protocol = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        end = pos + n
        o.leader = str(buf[pos:end], "utf-8")
        pos = end
    o.current_state_timestamp, n = unpack_qi(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("members")
    if n * 24 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_metadata_v3(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_group_metadata_value_v3(out: bytearray, o: GroupMetadataValue) -> None:
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    raw = b"" if o.protocol is None else o.protocol.encode()
    out += pack_ih(o.generation, -1 if o.protocol is None else len(raw))
    out += raw
    raw = b"" if o.leader is None else o.leader.encode()
    out += pack_h(-1 if o.leader is None else len(raw))
    out += raw
    out += pack_qi(o.current_state_timestamp, len(o.members))
    _encode_member_metadata_v3(out, o.members)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_group_metadata_value_v4(buf: Buffer, pos: int) -> tuple[GroupMetadataValue, int]:
    o = GroupMetadataValue.__new__(GroupMetadataValue)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_type, pos = read_compact_string(buf, pos)
    (o.generation,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.leader = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.leader, pos = read_compact_nullable_string(buf, pos)
    (o.current_state_timestamp,) = unpack_q(buf, pos)
    pos += 8
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("members")
    if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.members, pos = _decode_member_metadata_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_group_metadata_value_v4(out: bytearray, o: GroupMetadataValue) -> None:
    write_compact_string(out, o.protocol_type)
    out += pack_i(o.generation)
    write_compact_nullable_string(out, o.protocol)
    write_compact_nullable_string(out, o.leader)
    out += pack_q(o.current_state_timestamp)
    n = len(o.members) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_member_metadata_v4(out, o.members)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


GroupMetadataValue.DECODERS = {
    0: _decode_group_metadata_value_v0,
    1: _decode_group_metadata_value_v1,
    2: _decode_group_metadata_value_v2,
    3: _decode_group_metadata_value_v3,
    4: _decode_group_metadata_value_v4,
}
GroupMetadataValue.ENCODERS = {
    0: _encode_group_metadata_value_v0,
    1: _encode_group_metadata_value_v1,
    2: _encode_group_metadata_value_v2,
    3: _encode_group_metadata_value_v3,
    4: _encode_group_metadata_value_v4,
}
