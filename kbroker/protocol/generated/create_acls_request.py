"""CreateAclsRequest, versions 0 to 3.

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


class AclCreation(Struct):
    """Part of CreateAclsRequest."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "resource_pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,  # versions 1 to 3
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags: UnknownTags = None


class CreateAclsRequest(Message):
    """CreateAclsRequest, versions 0 to 3."""

    __slots__ = (
        "creations",
        "unknown_tags",
    )
    NAME = "CreateAclsRequest"
    API_KEY = 30
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        creations: list[AclCreation] = UNSET,
    ) -> None:
        self.creations: list[AclCreation] = [] if creations is UNSET else creations
        self.unknown_tags: UnknownTags = None


def _decode_acl_creation_v0(buf: Buffer, pos: int, count: int) -> tuple[list[AclCreation], int]:
    items: list[AclCreation] = []
    for _ in range(count):
        o = AclCreation.__new__(AclCreation)
        items.append(o)
        o.resource_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise null_field("resourceName")
        end = pos + n
        o.resource_name = str(buf[pos:end], "utf-8")
        pos = end
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
        o.resource_pattern_type = 3
        o.unknown_tags = None
    return items, pos


def _encode_acl_creation_v0(out: bytearray, items: Iterable[AclCreation]) -> None:
    for o in items:
        if o.resource_pattern_type != 3:
            raise not_in_version("resourcePatternType")
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        raw = o.principal.encode()
        out += pack_h(len(raw))
        out += raw
        raw = o.host.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_acl_creation_v1(buf: Buffer, pos: int, count: int) -> tuple[list[AclCreation], int]:
    items: list[AclCreation] = []
    for _ in range(count):
        o = AclCreation.__new__(AclCreation)
        items.append(o)
        o.resource_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise null_field("resourceName")
        end = pos + n
        o.resource_name = str(buf[pos:end], "utf-8")
        pos = end
        o.resource_pattern_type, n = unpack_bh(buf, pos)
        pos += 3
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


def _encode_acl_creation_v1(out: bytearray, items: Iterable[AclCreation]) -> None:
    for o in items:
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        raw = o.principal.encode()
        out += pack_bh(o.resource_pattern_type, len(raw))
        out += raw
        raw = o.host.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_acl_creation_v2(buf: Buffer, pos: int, count: int) -> tuple[list[AclCreation], int]:
    items: list[AclCreation] = []
    for _ in range(count):
        o = AclCreation.__new__(AclCreation)
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
        (o.resource_pattern_type,) = unpack_b(buf, pos)
        pos += 1
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


def _encode_acl_creation_v2(out: bytearray, items: Iterable[AclCreation]) -> None:
    for o in items:
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        out += pack_b(o.resource_pattern_type)
        write_compact_string(out, o.principal)
        write_compact_string(out, o.host)
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_create_acls_request_v0(buf: Buffer, pos: int) -> tuple[CreateAclsRequest, int]:
    o = CreateAclsRequest.__new__(CreateAclsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("creations")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.creations, pos = _decode_acl_creation_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_create_acls_request_v0(out: bytearray, o: CreateAclsRequest) -> None:
    out += pack_i(len(o.creations))
    _encode_acl_creation_v0(out, o.creations)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_acls_request_v1(buf: Buffer, pos: int) -> tuple[CreateAclsRequest, int]:
    o = CreateAclsRequest.__new__(CreateAclsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("creations")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.creations, pos = _decode_acl_creation_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_create_acls_request_v1(out: bytearray, o: CreateAclsRequest) -> None:
    out += pack_i(len(o.creations))
    _encode_acl_creation_v1(out, o.creations)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_acls_request_v2(buf: Buffer, pos: int) -> tuple[CreateAclsRequest, int]:
    o = CreateAclsRequest.__new__(CreateAclsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("creations")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.creations, pos = _decode_acl_creation_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_acls_request_v2(out: bytearray, o: CreateAclsRequest) -> None:
    n = len(o.creations) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_acl_creation_v2(out, o.creations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


CreateAclsRequest.DECODERS = {
    0: _decode_create_acls_request_v0,
    1: _decode_create_acls_request_v1,
    2: _decode_create_acls_request_v2,
    3: _decode_create_acls_request_v2,
}
CreateAclsRequest.ENCODERS = {
    0: _encode_create_acls_request_v0,
    1: _encode_create_acls_request_v1,
    2: _encode_create_acls_request_v2,
    3: _encode_create_acls_request_v2,
}
