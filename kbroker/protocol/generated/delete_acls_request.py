"""DeleteAclsRequest, versions 0 to 3.

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
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bb = Layout(">bb").pack
unpack_bb = Layout(">bb").unpack_from
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class DeleteAclsFilter(Struct):
    """Part of DeleteAclsRequest."""

    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,  # versions 1 to 3
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags: UnknownTags = None


class DeleteAclsRequest(Message):
    """DeleteAclsRequest, versions 0 to 3."""

    __slots__ = (
        "filters",
        "unknown_tags",
    )
    NAME = "DeleteAclsRequest"
    API_KEY = 31
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        filters: list[DeleteAclsFilter] = UNSET,
    ) -> None:
        self.filters: list[DeleteAclsFilter] = [] if filters is UNSET else filters
        self.unknown_tags: UnknownTags = None


def _decode_delete_acls_filter_v0(buf: Buffer, pos: int, count: int) -> tuple[list[DeleteAclsFilter], int]:
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        o = DeleteAclsFilter.__new__(DeleteAclsFilter)
        items.append(o)
        o.resource_type_filter, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.resource_name_filter = None
        else:
            end = pos + n
            o.resource_name_filter = str(buf[pos:end], "utf-8")
            pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.principal_filter = None
        else:
            end = pos + n
            o.principal_filter = str(buf[pos:end], "utf-8")
            pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.host_filter = None
        else:
            end = pos + n
            o.host_filter = str(buf[pos:end], "utf-8")
            pos = end
        o.operation, o.permission_type = unpack_bb(buf, pos)
        pos += 2
        o.pattern_type_filter = 3
        o.unknown_tags = None
    return items, pos


def _encode_delete_acls_filter_v0(out: bytearray, items: Iterable[DeleteAclsFilter]) -> None:
    for o in items:
        if o.pattern_type_filter != 3:
            raise not_in_version("patternTypeFilter")
        raw = b"" if o.resource_name_filter is None else o.resource_name_filter.encode()
        out += pack_bh(o.resource_type_filter, -1 if o.resource_name_filter is None else len(raw))
        out += raw
        raw = b"" if o.principal_filter is None else o.principal_filter.encode()
        out += pack_h(-1 if o.principal_filter is None else len(raw))
        out += raw
        raw = b"" if o.host_filter is None else o.host_filter.encode()
        out += pack_h(-1 if o.host_filter is None else len(raw))
        out += raw
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_acls_filter_v1(buf: Buffer, pos: int, count: int) -> tuple[list[DeleteAclsFilter], int]:
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        o = DeleteAclsFilter.__new__(DeleteAclsFilter)
        items.append(o)
        o.resource_type_filter, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.resource_name_filter = None
        else:
            end = pos + n
            o.resource_name_filter = str(buf[pos:end], "utf-8")
            pos = end
        o.pattern_type_filter, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.principal_filter = None
        else:
            end = pos + n
            o.principal_filter = str(buf[pos:end], "utf-8")
            pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.host_filter = None
        else:
            end = pos + n
            o.host_filter = str(buf[pos:end], "utf-8")
            pos = end
        o.operation, o.permission_type = unpack_bb(buf, pos)
        pos += 2
        o.unknown_tags = None
    return items, pos


def _encode_delete_acls_filter_v1(out: bytearray, items: Iterable[DeleteAclsFilter]) -> None:
    for o in items:
        raw = b"" if o.resource_name_filter is None else o.resource_name_filter.encode()
        out += pack_bh(o.resource_type_filter, -1 if o.resource_name_filter is None else len(raw))
        out += raw
        raw = b"" if o.principal_filter is None else o.principal_filter.encode()
        out += pack_bh(o.pattern_type_filter, -1 if o.principal_filter is None else len(raw))
        out += raw
        raw = b"" if o.host_filter is None else o.host_filter.encode()
        out += pack_h(-1 if o.host_filter is None else len(raw))
        out += raw
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_acls_filter_v2(buf: Buffer, pos: int, count: int) -> tuple[list[DeleteAclsFilter], int]:
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        o = DeleteAclsFilter.__new__(DeleteAclsFilter)
        items.append(o)
        (o.resource_type_filter,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.resource_name_filter = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.resource_name_filter, pos = read_compact_nullable_string(buf, pos)
        (o.pattern_type_filter,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal_filter = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal_filter, pos = read_compact_nullable_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host_filter = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host_filter, pos = read_compact_nullable_string(buf, pos)
        o.operation, o.permission_type = unpack_bb(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_acls_filter_v2(out: bytearray, items: Iterable[DeleteAclsFilter]) -> None:
    for o in items:
        out += pack_b(o.resource_type_filter)
        write_compact_nullable_string(out, o.resource_name_filter)
        out += pack_b(o.pattern_type_filter)
        write_compact_nullable_string(out, o.principal_filter)
        write_compact_nullable_string(out, o.host_filter)
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_acls_request_v0(buf: Buffer, pos: int) -> tuple[DeleteAclsRequest, int]:
    o = DeleteAclsRequest.__new__(DeleteAclsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("filters")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.filters, pos = _decode_delete_acls_filter_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_acls_request_v0(out: bytearray, o: DeleteAclsRequest) -> None:
    out += pack_i(len(o.filters))
    _encode_delete_acls_filter_v0(out, o.filters)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_acls_request_v1(buf: Buffer, pos: int) -> tuple[DeleteAclsRequest, int]:
    o = DeleteAclsRequest.__new__(DeleteAclsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("filters")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.filters, pos = _decode_delete_acls_filter_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_acls_request_v1(out: bytearray, o: DeleteAclsRequest) -> None:
    out += pack_i(len(o.filters))
    _encode_delete_acls_filter_v1(out, o.filters)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_acls_request_v2(buf: Buffer, pos: int) -> tuple[DeleteAclsRequest, int]:
    o = DeleteAclsRequest.__new__(DeleteAclsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("filters")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.filters, pos = _decode_delete_acls_filter_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_acls_request_v2(out: bytearray, o: DeleteAclsRequest) -> None:
    n = len(o.filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_acls_filter_v2(out, o.filters)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteAclsRequest.DECODERS = {
    0: _decode_delete_acls_request_v0,
    1: _decode_delete_acls_request_v1,
    2: _decode_delete_acls_request_v2,
    3: _decode_delete_acls_request_v2,
}
DeleteAclsRequest.ENCODERS = {
    0: _encode_delete_acls_request_v0,
    1: _encode_delete_acls_request_v1,
    2: _encode_delete_acls_request_v2,
    3: _encode_delete_acls_request_v2,
}
