"""DescribeConfigsRequest, versions 0 to 4.

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
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_oo = Layout(">??").pack
unpack_oo = Layout(">??").unpack_from


class DescribeConfigsResource(Struct):
    """Part of DescribeConfigsRequest."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "configuration_keys",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = UNSET,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys: list[str] | None = [] if configuration_keys is UNSET else configuration_keys
        self.unknown_tags: UnknownTags = None


class DescribeConfigsRequest(Message):
    """DescribeConfigsRequest, versions 0 to 4."""

    __slots__ = (
        "resources",
        "include_synonyms",
        "include_documentation",
        "unknown_tags",
    )
    NAME = "DescribeConfigsRequest"
    API_KEY = 32
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        resources: list[DescribeConfigsResource] = UNSET,
        include_synonyms: bool = False,  # versions 1 to 4
        include_documentation: bool = False,  # versions 3 to 4
    ) -> None:
        self.resources: list[DescribeConfigsResource] = [] if resources is UNSET else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
        self.unknown_tags: UnknownTags = None


def _decode_describe_configs_resource_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResource], int]:
    items: list[DescribeConfigsResource] = []
    for _ in range(count):
        o = DescribeConfigsResource.__new__(DescribeConfigsResource)
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
            o.configuration_keys = None
        else:
            if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.configuration_keys = values = []
            for _ in range(n):
                (n,) = unpack_h(buf, pos)
                pos += 2
                if n < 0:
                    raise null_field("configurationKeys")
                end = pos + n
                values.append(str(buf[pos:end], "utf-8"))
                pos = end
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_resource_v0(out: bytearray, items: Iterable[DescribeConfigsResource]) -> None:
    for o in items:
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_i(-1 if o.configuration_keys is None else len(o.configuration_keys))
        if o.configuration_keys:
            for text in o.configuration_keys:
                raw = text.encode()
                out += pack_h(len(raw))
                out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_resource_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResource], int]:
    items: list[DescribeConfigsResource] = []
    for _ in range(count):
        o = DescribeConfigsResource.__new__(DescribeConfigsResource)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.configuration_keys = None
        else:
            if n > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.configuration_keys = values = []
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
    return items, pos


def _encode_describe_configs_resource_v4(out: bytearray, items: Iterable[DescribeConfigsResource]) -> None:
    for o in items:
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        if o.configuration_keys is None:
            out.append(0)
        else:
            n = len(o.configuration_keys) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            for text in o.configuration_keys:
                write_compact_string(out, text)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_configs_request_v0(buf: Buffer, pos: int) -> tuple[DescribeConfigsRequest, int]:
    o = DescribeConfigsRequest.__new__(DescribeConfigsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("resources")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_configs_resource_v0(buf, pos, n)
    o.include_synonyms = False
    o.include_documentation = False
    o.unknown_tags = None
    return o, pos


def _encode_describe_configs_request_v0(out: bytearray, o: DescribeConfigsRequest) -> None:
    if o.include_synonyms:
        raise not_in_version("includeSynonyms")
    if o.include_documentation:
        raise not_in_version("includeDocumentation")
    out += pack_i(len(o.resources))
    _encode_describe_configs_resource_v0(out, o.resources)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_configs_request_v1(buf: Buffer, pos: int) -> tuple[DescribeConfigsRequest, int]:
    o = DescribeConfigsRequest.__new__(DescribeConfigsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("resources")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_configs_resource_v0(buf, pos, n)
    (o.include_synonyms,) = unpack_o(buf, pos)
    pos += 1
    o.include_documentation = False
    o.unknown_tags = None
    return o, pos


def _encode_describe_configs_request_v1(out: bytearray, o: DescribeConfigsRequest) -> None:
    if o.include_documentation:
        raise not_in_version("includeDocumentation")
    out += pack_i(len(o.resources))
    _encode_describe_configs_resource_v0(out, o.resources)
    out += pack_o(o.include_synonyms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_configs_request_v3(buf: Buffer, pos: int) -> tuple[DescribeConfigsRequest, int]:
    o = DescribeConfigsRequest.__new__(DescribeConfigsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("resources")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_configs_resource_v0(buf, pos, n)
    o.include_synonyms, o.include_documentation = unpack_oo(buf, pos)
    pos += 2
    o.unknown_tags = None
    return o, pos


def _encode_describe_configs_request_v3(out: bytearray, o: DescribeConfigsRequest) -> None:
    out += pack_i(len(o.resources))
    _encode_describe_configs_resource_v0(out, o.resources)
    out += pack_oo(o.include_synonyms, o.include_documentation)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_configs_request_v4(buf: Buffer, pos: int) -> tuple[DescribeConfigsRequest, int]:
    o = DescribeConfigsRequest.__new__(DescribeConfigsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("resources")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_describe_configs_resource_v4(buf, pos, n)
    o.include_synonyms, o.include_documentation = unpack_oo(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_configs_request_v4(out: bytearray, o: DescribeConfigsRequest) -> None:
    n = len(o.resources) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_configs_resource_v4(out, o.resources)
    out += pack_oo(o.include_synonyms, o.include_documentation)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeConfigsRequest.DECODERS = {
    0: _decode_describe_configs_request_v0,
    1: _decode_describe_configs_request_v1,
    2: _decode_describe_configs_request_v1,
    3: _decode_describe_configs_request_v3,
    4: _decode_describe_configs_request_v4,
}
DescribeConfigsRequest.ENCODERS = {
    0: _encode_describe_configs_request_v0,
    1: _encode_describe_configs_request_v1,
    2: _encode_describe_configs_request_v1,
    3: _encode_describe_configs_request_v3,
    4: _encode_describe_configs_request_v4,
}
