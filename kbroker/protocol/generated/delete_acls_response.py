"""DeleteAclsResponse, versions 0 to 3.

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
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class DeleteAclsMatchingAcl(Struct):
    """Part of DeleteAclsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,  # versions 1 to 3
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags: UnknownTags = None


class DeleteAclsFilterResult(Struct):
    """Part of DeleteAclsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "matching_acls",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls: list[DeleteAclsMatchingAcl] = [] if matching_acls is UNSET else matching_acls
        self.unknown_tags: UnknownTags = None


class DeleteAclsResponse(Message):
    """DeleteAclsResponse, versions 0 to 3."""

    __slots__ = (
        "throttle_time_ms",
        "filter_results",
        "unknown_tags",
    )
    NAME = "DeleteAclsResponse"
    API_KEY = 31
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results: list[DeleteAclsFilterResult] = [] if filter_results is UNSET else filter_results
        self.unknown_tags: UnknownTags = None


def _decode_delete_acls_matching_acl_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteAclsMatchingAcl], int]:
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        o = DeleteAclsMatchingAcl.__new__(DeleteAclsMatchingAcl)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
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
        o.pattern_type = 3
        o.unknown_tags = None
    return items, pos


def _encode_delete_acls_matching_acl_v0(out: bytearray, items: Iterable[DeleteAclsMatchingAcl]) -> None:
    for o in items:
        if o.pattern_type != 3:
            raise not_in_version("patternType")
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
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


def _decode_delete_acls_matching_acl_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteAclsMatchingAcl], int]:
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        o = DeleteAclsMatchingAcl.__new__(DeleteAclsMatchingAcl)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        o.resource_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise null_field("resourceName")
        end = pos + n
        o.resource_name = str(buf[pos:end], "utf-8")
        pos = end
        o.pattern_type, n = unpack_bh(buf, pos)
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


def _encode_delete_acls_matching_acl_v1(out: bytearray, items: Iterable[DeleteAclsMatchingAcl]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        raw = o.principal.encode()
        out += pack_bh(o.pattern_type, len(raw))
        out += raw
        raw = o.host.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_acls_matching_acl_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteAclsMatchingAcl], int]:
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        o = DeleteAclsMatchingAcl.__new__(DeleteAclsMatchingAcl)
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


def _encode_delete_acls_matching_acl_v2(out: bytearray, items: Iterable[DeleteAclsMatchingAcl]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        out += pack_b(o.pattern_type)
        write_compact_string(out, o.principal)
        write_compact_string(out, o.host)
        out += pack_bb(o.operation, o.permission_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_acls_filter_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteAclsFilterResult], int]:
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        o = DeleteAclsFilterResult.__new__(DeleteAclsFilterResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("matchingAcls")
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.matching_acls, pos = _decode_delete_acls_matching_acl_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_delete_acls_filter_result_v0(out: bytearray, items: Iterable[DeleteAclsFilterResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        out += pack_i(len(o.matching_acls))
        _encode_delete_acls_matching_acl_v0(out, o.matching_acls)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_acls_filter_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteAclsFilterResult], int]:
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        o = DeleteAclsFilterResult.__new__(DeleteAclsFilterResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("matchingAcls")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.matching_acls, pos = _decode_delete_acls_matching_acl_v1(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_delete_acls_filter_result_v1(out: bytearray, items: Iterable[DeleteAclsFilterResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        out += pack_i(len(o.matching_acls))
        _encode_delete_acls_matching_acl_v1(out, o.matching_acls)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_acls_filter_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteAclsFilterResult], int]:
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        o = DeleteAclsFilterResult.__new__(DeleteAclsFilterResult)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("matchingAcls")
        if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.matching_acls, pos = _decode_delete_acls_matching_acl_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_acls_filter_result_v2(out: bytearray, items: Iterable[DeleteAclsFilterResult]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        n = len(o.matching_acls) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_delete_acls_matching_acl_v2(out, o.matching_acls)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_acls_response_v0(buf: Buffer, pos: int) -> tuple[DeleteAclsResponse, int]:
    o = DeleteAclsResponse.__new__(DeleteAclsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("filterResults")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.filter_results, pos = _decode_delete_acls_filter_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_acls_response_v0(out: bytearray, o: DeleteAclsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.filter_results))
    _encode_delete_acls_filter_result_v0(out, o.filter_results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_acls_response_v1(buf: Buffer, pos: int) -> tuple[DeleteAclsResponse, int]:
    o = DeleteAclsResponse.__new__(DeleteAclsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("filterResults")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.filter_results, pos = _decode_delete_acls_filter_result_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_acls_response_v1(out: bytearray, o: DeleteAclsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.filter_results))
    _encode_delete_acls_filter_result_v1(out, o.filter_results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_acls_response_v2(buf: Buffer, pos: int) -> tuple[DeleteAclsResponse, int]:
    o = DeleteAclsResponse.__new__(DeleteAclsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("filterResults")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.filter_results, pos = _decode_delete_acls_filter_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_acls_response_v2(out: bytearray, o: DeleteAclsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.filter_results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_acls_filter_result_v2(out, o.filter_results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteAclsResponse.DECODERS = {
    0: _decode_delete_acls_response_v0,
    1: _decode_delete_acls_response_v1,
    2: _decode_delete_acls_response_v2,
    3: _decode_delete_acls_response_v2,
}
DeleteAclsResponse.ENCODERS = {
    0: _encode_delete_acls_response_v0,
    1: _encode_delete_acls_response_v1,
    2: _encode_delete_acls_response_v2,
    3: _encode_delete_acls_response_v2,
}
