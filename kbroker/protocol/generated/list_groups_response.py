"""ListGroupsResponse, versions 0 to 5.

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
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from


class ListedGroup(Struct):
    """Part of ListGroupsResponse."""

    __slots__ = (
        "group_id",
        "protocol_type",
        "group_state",
        "group_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",  # versions 4 to 5
        group_type: str = "",  # version 5
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type
        self.unknown_tags: UnknownTags = None


class ListGroupsResponse(Message):
    """ListGroupsResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "groups",
        "unknown_tags",
    )
    NAME = "ListGroupsResponse"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 5
        error_code: int = 0,
        groups: list[ListedGroup] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups: list[ListedGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_listed_group_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        o = ListedGroup.__new__(ListedGroup)
        items.append(o)
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
            raise null_field("protocolType")
        end = pos + n
        o.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
        o.group_state = ""
        o.group_type = ""
        o.unknown_tags = None
    return items, pos


def _encode_listed_group_v0(out: bytearray, items: Iterable[ListedGroup]) -> None:
    for o in items:
        raw = o.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_listed_group_v3(buf: Buffer, pos: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        o = ListedGroup.__new__(ListedGroup)
        items.append(o)
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
            o.protocol_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_type, pos = read_compact_string(buf, pos)
        o.group_state = ""
        o.group_type = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_listed_group_v3(out: bytearray, items: Iterable[ListedGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.protocol_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_listed_group_v4(buf: Buffer, pos: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        o = ListedGroup.__new__(ListedGroup)
        items.append(o)
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
            o.protocol_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_state = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_state, pos = read_compact_string(buf, pos)
        o.group_type = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_listed_group_v4(out: bytearray, items: Iterable[ListedGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.protocol_type)
        write_compact_string(out, o.group_state)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_listed_group_v5(buf: Buffer, pos: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        o = ListedGroup.__new__(ListedGroup)
        items.append(o)
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
            o.protocol_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.protocol_type, pos = read_compact_string(buf, pos)
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
            o.group_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_type, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_listed_group_v5(out: bytearray, items: Iterable[ListedGroup]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.protocol_type)
        write_compact_string(out, o.group_state)
        write_compact_string(out, o.group_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_groups_response_v0(buf: Buffer, pos: int) -> tuple[ListGroupsResponse, int]:
    o = ListGroupsResponse.__new__(ListGroupsResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("groups")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_listed_group_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_list_groups_response_v0(out: bytearray, o: ListGroupsResponse) -> None:
    out += pack_hi(o.error_code, len(o.groups))
    _encode_listed_group_v0(out, o.groups)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_groups_response_v1(buf: Buffer, pos: int) -> tuple[ListGroupsResponse, int]:
    o = ListGroupsResponse.__new__(ListGroupsResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("groups")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_listed_group_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_list_groups_response_v1(out: bytearray, o: ListGroupsResponse) -> None:
    out += pack_ihi(o.throttle_time_ms, o.error_code, len(o.groups))
    _encode_listed_group_v0(out, o.groups)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_groups_response_v3(buf: Buffer, pos: int) -> tuple[ListGroupsResponse, int]:
    o = ListGroupsResponse.__new__(ListGroupsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_listed_group_v3(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_groups_response_v3(out: bytearray, o: ListGroupsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listed_group_v3(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_groups_response_v4(buf: Buffer, pos: int) -> tuple[ListGroupsResponse, int]:
    o = ListGroupsResponse.__new__(ListGroupsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_listed_group_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_groups_response_v4(out: bytearray, o: ListGroupsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listed_group_v4(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_groups_response_v5(buf: Buffer, pos: int) -> tuple[ListGroupsResponse, int]:
    o = ListGroupsResponse.__new__(ListGroupsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_listed_group_v5(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_groups_response_v5(out: bytearray, o: ListGroupsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listed_group_v5(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListGroupsResponse.DECODERS = {
    0: _decode_list_groups_response_v0,
    1: _decode_list_groups_response_v1,
    2: _decode_list_groups_response_v1,
    3: _decode_list_groups_response_v3,
    4: _decode_list_groups_response_v4,
    5: _decode_list_groups_response_v5,
}
ListGroupsResponse.ENCODERS = {
    0: _encode_list_groups_response_v0,
    1: _encode_list_groups_response_v1,
    2: _encode_list_groups_response_v1,
    3: _encode_list_groups_response_v3,
    4: _encode_list_groups_response_v4,
    5: _encode_list_groups_response_v5,
}
