"""CreateAclsResponse, versions 0 to 3.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class AclCreationResult(Struct):
    """Part of CreateAclsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class CreateAclsResponse(Message):
    """CreateAclsResponse, versions 0 to 3."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tags",
    )
    NAME = "CreateAclsResponse"
    API_KEY = 30
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[AclCreationResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_acl_creation_result_v0(buf: Buffer, pos: int, count: int) -> tuple[list[AclCreationResult], int]:
    items: list[AclCreationResult] = []
    for _ in range(count):
        o = AclCreationResult.__new__(AclCreationResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_acl_creation_result_v0(out: bytearray, items: Iterable[AclCreationResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_acl_creation_result_v2(buf: Buffer, pos: int, count: int) -> tuple[list[AclCreationResult], int]:
    items: list[AclCreationResult] = []
    for _ in range(count):
        o = AclCreationResult.__new__(AclCreationResult)
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
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_acl_creation_result_v2(out: bytearray, items: Iterable[AclCreationResult]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_create_acls_response_v0(buf: Buffer, pos: int) -> tuple[CreateAclsResponse, int]:
    o = CreateAclsResponse.__new__(CreateAclsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_acl_creation_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_create_acls_response_v0(out: bytearray, o: CreateAclsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_acl_creation_result_v0(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_acls_response_v2(buf: Buffer, pos: int) -> tuple[CreateAclsResponse, int]:
    o = CreateAclsResponse.__new__(CreateAclsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_acl_creation_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_acls_response_v2(out: bytearray, o: CreateAclsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_acl_creation_result_v2(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


CreateAclsResponse.DECODERS = {
    0: _decode_create_acls_response_v0,
    1: _decode_create_acls_response_v0,
    2: _decode_create_acls_response_v2,
    3: _decode_create_acls_response_v2,
}
CreateAclsResponse.ENCODERS = {
    0: _encode_create_acls_response_v0,
    1: _encode_create_acls_response_v0,
    2: _encode_create_acls_response_v2,
    3: _encode_create_acls_response_v2,
}
