"""DeleteGroupsRequest, versions 0 to 3.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class DeleteGroupsRequest(Message):
    """DeleteGroupsRequest, versions 0 to 3."""

    __slots__ = (
        "groups_names",
        "unknown_tags",
    )
    NAME = "DeleteGroupsRequest"
    API_KEY = 42
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        groups_names: list[str] = UNSET,
    ) -> None:
        self.groups_names: list[str] = [] if groups_names is UNSET else groups_names
        self.unknown_tags: UnknownTags = None


def _decode_delete_groups_request_v0(buf: Buffer, pos: int) -> tuple[DeleteGroupsRequest, int]:
    o = DeleteGroupsRequest.__new__(DeleteGroupsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("groupsNames")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups_names = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groupsNames")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    o.unknown_tags = None
    return o, pos


def _encode_delete_groups_request_v0(out: bytearray, o: DeleteGroupsRequest) -> None:
    out += pack_i(len(o.groups_names))
    for text in o.groups_names:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_groups_request_v2(buf: Buffer, pos: int) -> tuple[DeleteGroupsRequest, int]:
    o = DeleteGroupsRequest.__new__(DeleteGroupsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groupsNames")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups_names = values = []
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


def _encode_delete_groups_request_v2(out: bytearray, o: DeleteGroupsRequest) -> None:
    n = len(o.groups_names) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.groups_names:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteGroupsRequest.DECODERS = {
    0: _decode_delete_groups_request_v0,
    1: _decode_delete_groups_request_v0,
    2: _decode_delete_groups_request_v2,
    3: _decode_delete_groups_request_v2,
}
DeleteGroupsRequest.ENCODERS = {
    0: _encode_delete_groups_request_v0,
    1: _encode_delete_groups_request_v0,
    2: _encode_delete_groups_request_v2,
    3: _encode_delete_groups_request_v2,
}
