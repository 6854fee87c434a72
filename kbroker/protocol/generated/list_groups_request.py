"""ListGroupsRequest, versions 0 to 5.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
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


class ListGroupsRequest(Message):
    """ListGroupsRequest, versions 0 to 5."""

    __slots__ = (
        "states_filter",
        "types_filter",
        "unknown_tags",
    )
    NAME = "ListGroupsRequest"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        states_filter: list[str] = UNSET,  # versions 4 to 5
        types_filter: list[str] = UNSET,  # version 5
    ) -> None:
        self.states_filter: list[str] = [] if states_filter is UNSET else states_filter
        self.types_filter: list[str] = [] if types_filter is UNSET else types_filter
        self.unknown_tags: UnknownTags = None


def _decode_list_groups_request_v0(buf: Buffer, pos: int) -> tuple[ListGroupsRequest, int]:
    o = ListGroupsRequest.__new__(ListGroupsRequest)
    o.states_filter = []
    o.types_filter = []
    o.unknown_tags = None
    return o, pos


def _encode_list_groups_request_v0(out: bytearray, o: ListGroupsRequest) -> None:
    if o.states_filter:
        raise not_in_version("statesFilter")
    if o.types_filter:
        raise not_in_version("typesFilter")
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_list_groups_request_v3(buf: Buffer, pos: int) -> tuple[ListGroupsRequest, int]:
    o = ListGroupsRequest.__new__(ListGroupsRequest)
    o.states_filter = []
    o.types_filter = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_groups_request_v3(out: bytearray, o: ListGroupsRequest) -> None:
    if o.states_filter:
        raise not_in_version("statesFilter")
    if o.types_filter:
        raise not_in_version("typesFilter")
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_groups_request_v4(buf: Buffer, pos: int) -> tuple[ListGroupsRequest, int]:
    o = ListGroupsRequest.__new__(ListGroupsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("statesFilter")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.states_filter = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.types_filter = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_groups_request_v4(out: bytearray, o: ListGroupsRequest) -> None:
    if o.types_filter:
        raise not_in_version("typesFilter")
    n = len(o.states_filter) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.states_filter:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_groups_request_v5(buf: Buffer, pos: int) -> tuple[ListGroupsRequest, int]:
    o = ListGroupsRequest.__new__(ListGroupsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("statesFilter")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.states_filter = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("typesFilter")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.types_filter = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_groups_request_v5(out: bytearray, o: ListGroupsRequest) -> None:
    n = len(o.states_filter) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.states_filter:
        write_compact_string(out, text)
    n = len(o.types_filter) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.types_filter:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListGroupsRequest.DECODERS = {
    0: _decode_list_groups_request_v0,
    1: _decode_list_groups_request_v0,
    2: _decode_list_groups_request_v0,
    3: _decode_list_groups_request_v3,
    4: _decode_list_groups_request_v4,
    5: _decode_list_groups_request_v5,
}
ListGroupsRequest.ENCODERS = {
    0: _encode_list_groups_request_v0,
    1: _encode_list_groups_request_v0,
    2: _encode_list_groups_request_v0,
    3: _encode_list_groups_request_v3,
    4: _encode_list_groups_request_v4,
    5: _encode_list_groups_request_v5,
}
