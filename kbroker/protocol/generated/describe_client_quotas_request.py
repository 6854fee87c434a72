"""DescribeClientQuotasRequest, versions 0 to 1.

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
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class ComponentData(Struct):
    """Part of DescribeClientQuotasRequest."""

    __slots__ = (
        "entity_type",
        "match_type",
        "match",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match
        self.unknown_tags: UnknownTags = None


class DescribeClientQuotasRequest(Message):
    """DescribeClientQuotasRequest, versions 0 to 1."""

    __slots__ = (
        "components",
        "strict",
        "unknown_tags",
    )
    NAME = "DescribeClientQuotasRequest"
    API_KEY = 48
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        components: list[ComponentData] = UNSET,
        strict: bool = False,
    ) -> None:
        self.components: list[ComponentData] = [] if components is UNSET else components
        self.strict = strict
        self.unknown_tags: UnknownTags = None


def _decode_component_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ComponentData], int]:
    items: list[ComponentData] = []
    for _ in range(count):
        o = ComponentData.__new__(ComponentData)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("entityType")
        end = pos + n
        o.entity_type = str(buf[pos:end], "utf-8")
        pos = end
        o.match_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.match = None
        else:
            end = pos + n
            o.match = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_component_data_v0(out: bytearray, items: Iterable[ComponentData]) -> None:
    for o in items:
        raw = o.entity_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.match is None else o.match.encode()
        out += pack_bh(o.match_type, -1 if o.match is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_component_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[ComponentData], int]:
    items: list[ComponentData] = []
    for _ in range(count):
        o = ComponentData.__new__(ComponentData)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.entity_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.entity_type, pos = read_compact_string(buf, pos)
        (o.match_type,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.match = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.match, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_component_data_v1(out: bytearray, items: Iterable[ComponentData]) -> None:
    for o in items:
        write_compact_string(out, o.entity_type)
        out += pack_b(o.match_type)
        write_compact_nullable_string(out, o.match)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_client_quotas_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeClientQuotasRequest, int]:
    o = DescribeClientQuotasRequest.__new__(DescribeClientQuotasRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("components")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.components, pos = _decode_component_data_v0(buf, pos, n)
    (o.strict,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    return o, pos


def _encode_describe_client_quotas_request_v0(out: bytearray, o: DescribeClientQuotasRequest) -> None:
    out += pack_i(len(o.components))
    _encode_component_data_v0(out, o.components)
    out += pack_o(o.strict)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_client_quotas_request_v1(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeClientQuotasRequest, int]:
    o = DescribeClientQuotasRequest.__new__(DescribeClientQuotasRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("components")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.components, pos = _decode_component_data_v1(buf, pos, n)
    (o.strict,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_client_quotas_request_v1(out: bytearray, o: DescribeClientQuotasRequest) -> None:
    n = len(o.components) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_component_data_v1(out, o.components)
    out += pack_o(o.strict)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeClientQuotasRequest.DECODERS = {
    0: _decode_describe_client_quotas_request_v0,
    1: _decode_describe_client_quotas_request_v1,
}
DescribeClientQuotasRequest.ENCODERS = {
    0: _encode_describe_client_quotas_request_v0,
    1: _encode_describe_client_quotas_request_v1,
}
