"""DescribeAclsResponse, versions 0 to 3.

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

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bb = Layout(">bb").pack
unpack_bb = Layout(">bb").unpack_from
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_bi = Layout(">bi").pack
unpack_bi = Layout(">bi").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihh = Layout(">ihh").pack
unpack_ihh = Layout(">ihh").unpack_from


class AclDescription(Struct):
    """Part of DescribeAclsResponse."""

    __slots__ = (
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags: UnknownTags = None


class DescribeAclsResource(Struct):
    """Part of DescribeAclsResponse."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "pattern_type",
        "acls",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,  # versions 1 to 3
        acls: list[AclDescription] = UNSET,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls: list[AclDescription] = [] if acls is UNSET else acls
        self.unknown_tags: UnknownTags = None


class DescribeAclsResponse(Message):
    """DescribeAclsResponse, versions 0 to 3."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "resources",
        "unknown_tags",
    )
    NAME = "DescribeAclsResponse"
    API_KEY = 29
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources: list[DescribeAclsResource] = [] if resources is UNSET else resources
        self.unknown_tags: UnknownTags = None


def _decode_acl_description_v0(buf: Buffer, pos: int, count: int) -> tuple[list[AclDescription], int]:
    items: list[AclDescription] = []
    for _ in range(count):
        o = AclDescription.__new__(AclDescription)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("principal")
        end = pos + n
        o.principal = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("host")
        end = pos + n
        o.host = str(buf[pos:end], "utf-8")
        pos = end
        o.operation, o.permission_type = unpack_bb(buf, pos)
        pos += 2
        o.unknown_tags = None
    return items, pos


def _encode_acl_description_v0(out: bytearray, items: Iterable[AclDescription]) -> None:
    for o in items:
        raw = o.principal.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.host.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_acl_description_v2(buf: Buffer, pos: int, count: int) -> tuple[list[AclDescription], int]:
    items: list[AclDescription] = []
    for _ in range(count):
        o = AclDescription.__new__(AclDescription)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.principal = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.principal, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        o.operation, o.permission_type = unpack_bb(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_acl_description_v2(out: bytearray, items: Iterable[AclDescription]) -> None:
    for o in items:
        write_compact_string(out, o.principal)
        write_compact_string(out, o.host)
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_acls_resource_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeAclsResource], int]:
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        o = DescribeAclsResource.__new__(DescribeAclsResource)
        items.append(o)
        o.resource_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise null_field("resourceName")
        end = pos + n
        o.resource_name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("acls")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acls, pos = _decode_acl_description_v0(buf, pos, n)
        o.pattern_type = 3
        o.unknown_tags = None
    return items, pos


def _encode_describe_acls_resource_v0(out: bytearray, items: Iterable[DescribeAclsResource]) -> None:
    for o in items:
        if o.pattern_type != 3:
            raise not_in_version("patternType")
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_i(len(o.acls))
        _encode_acl_description_v0(out, o.acls)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_acls_resource_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeAclsResource], int]:
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        o = DescribeAclsResource.__new__(DescribeAclsResource)
        items.append(o)
        o.resource_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise null_field("resourceName")
        end = pos + n
        o.resource_name = str(buf[pos:end], "utf-8")
        pos = end
        o.pattern_type, n = unpack_bi(buf, pos)
        pos += 5
        if n < 0:
            raise null_field("acls")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acls, pos = _decode_acl_description_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_describe_acls_resource_v1(out: bytearray, items: Iterable[DescribeAclsResource]) -> None:
    for o in items:
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_bi(o.pattern_type, len(o.acls))
        _encode_acl_description_v0(out, o.acls)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_acls_resource_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeAclsResource], int]:
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        o = DescribeAclsResource.__new__(DescribeAclsResource)
        items.append(o)
        (o.resource_type,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.resource_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.resource_name, pos = read_compact_string(buf, pos)
        (o.pattern_type,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("acls")
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acls, pos = _decode_acl_description_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_acls_resource_v2(out: bytearray, items: Iterable[DescribeAclsResource]) -> None:
    for o in items:
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        out += pack_b(o.pattern_type)
        n = len(o.acls) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acl_description_v2(out, o.acls)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_acls_response_v0(buf: Buffer, pos: int) -> tuple[DescribeAclsResponse, int]:
    o = DescribeAclsResponse.__new__(DescribeAclsResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihh(buf, pos)
    pos += 8
    if n < 0:
        o.error_message = None
    else:
        end = pos + n
        o.error_message = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("resources")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_acls_resource_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_acls_response_v0(out: bytearray, o: DescribeAclsResponse) -> None:
    raw = b"" if o.error_message is None else o.error_message.encode()
    out += pack_ihh(o.throttle_time_ms, o.error_code, -1 if o.error_message is None else len(raw))
    out += raw
    out += pack_i(len(o.resources))
    _encode_describe_acls_resource_v0(out, o.resources)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_acls_response_v1(buf: Buffer, pos: int) -> tuple[DescribeAclsResponse, int]:
    o = DescribeAclsResponse.__new__(DescribeAclsResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihh(buf, pos)
    pos += 8
    if n < 0:
        o.error_message = None
    else:
        end = pos + n
        o.error_message = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("resources")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_acls_resource_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_acls_response_v1(out: bytearray, o: DescribeAclsResponse) -> None:
    raw = b"" if o.error_message is None else o.error_message.encode()
    out += pack_ihh(o.throttle_time_ms, o.error_code, -1 if o.error_message is None else len(raw))
    out += raw
    out += pack_i(len(o.resources))
    _encode_describe_acls_resource_v1(out, o.resources)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_acls_response_v2(buf: Buffer, pos: int) -> tuple[DescribeAclsResponse, int]:
    o = DescribeAclsResponse.__new__(DescribeAclsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("resources")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_acls_resource_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_acls_response_v2(out: bytearray, o: DescribeAclsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.resources) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_acls_resource_v2(out, o.resources)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeAclsResponse.DECODERS = {
    0: _decode_describe_acls_response_v0,
    1: _decode_describe_acls_response_v1,
    2: _decode_describe_acls_response_v2,
    3: _decode_describe_acls_response_v2,
}
DescribeAclsResponse.ENCODERS = {
    0: _encode_describe_acls_response_v0,
    1: _encode_describe_acls_response_v1,
    2: _encode_describe_acls_response_v2,
    3: _encode_describe_acls_response_v2,
}
