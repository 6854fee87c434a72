"""DescribeAclsRequest, versions 0 to 3.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_compact_nullable_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_tags,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bb = Layout(">bb").pack
unpack_bb = Layout(">bb").unpack_from
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class DescribeAclsRequest(Message):
    """DescribeAclsRequest, versions 0 to 3."""

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
    NAME = "DescribeAclsRequest"
    API_KEY = 29
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

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


def _decode_describe_acls_request_v0(buf: Buffer, pos: int) -> tuple[DescribeAclsRequest, int]:
    o = DescribeAclsRequest.__new__(DescribeAclsRequest)
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
    return o, pos


def _encode_describe_acls_request_v0(out: bytearray, o: DescribeAclsRequest) -> None:
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


def _decode_describe_acls_request_v1(buf: Buffer, pos: int) -> tuple[DescribeAclsRequest, int]:
    o = DescribeAclsRequest.__new__(DescribeAclsRequest)
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
    return o, pos


def _encode_describe_acls_request_v1(out: bytearray, o: DescribeAclsRequest) -> None:
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


def _decode_describe_acls_request_v2(buf: Buffer, pos: int) -> tuple[DescribeAclsRequest, int]:
    o = DescribeAclsRequest.__new__(DescribeAclsRequest)
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
    return o, pos


def _encode_describe_acls_request_v2(out: bytearray, o: DescribeAclsRequest) -> None:
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


DescribeAclsRequest.DECODERS = {
    0: _decode_describe_acls_request_v0,
    1: _decode_describe_acls_request_v1,
    2: _decode_describe_acls_request_v2,
    3: _decode_describe_acls_request_v2,
}
DescribeAclsRequest.ENCODERS = {
    0: _encode_describe_acls_request_v0,
    1: _encode_describe_acls_request_v1,
    2: _encode_describe_acls_request_v2,
    3: _encode_describe_acls_request_v2,
}
