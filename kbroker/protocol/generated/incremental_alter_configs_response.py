"""IncrementalAlterConfigsResponse, versions 0 to 1.

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
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class AlterConfigsResourceResponse(Struct):
    """Part of IncrementalAlterConfigsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.unknown_tags: UnknownTags = None


class IncrementalAlterConfigsResponse(Message):
    """IncrementalAlterConfigsResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "responses",
        "unknown_tags",
    )
    NAME = "IncrementalAlterConfigsResponse"
    API_KEY = 44
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses: list[AlterConfigsResourceResponse] = [] if responses is UNSET else responses
        self.unknown_tags: UnknownTags = None


def _decode_alter_configs_resource_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterConfigsResourceResponse], int]:
    items: list[AlterConfigsResourceResponse] = []
    for _ in range(count):
        o = AlterConfigsResourceResponse.__new__(AlterConfigsResourceResponse)
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
        o.unknown_tags = None
    return items, pos


def _encode_alter_configs_resource_response_v0(
    out: bytearray,
    items: Iterable[AlterConfigsResourceResponse],
) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alter_configs_resource_response_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterConfigsResourceResponse], int]:
    items: list[AlterConfigsResourceResponse] = []
    for _ in range(count):
        o = AlterConfigsResourceResponse.__new__(AlterConfigsResourceResponse)
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
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_configs_resource_response_v1(
    out: bytearray,
    items: Iterable[AlterConfigsResourceResponse],
) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_incremental_alter_configs_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[IncrementalAlterConfigsResponse, int]:
    o = IncrementalAlterConfigsResponse.__new__(IncrementalAlterConfigsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("responses")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_alter_configs_resource_response_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_incremental_alter_configs_response_v0(out: bytearray, o: IncrementalAlterConfigsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.responses))
    _encode_alter_configs_resource_response_v0(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_incremental_alter_configs_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[IncrementalAlterConfigsResponse, int]:
    o = IncrementalAlterConfigsResponse.__new__(IncrementalAlterConfigsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_alter_configs_resource_response_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_incremental_alter_configs_response_v1(out: bytearray, o: IncrementalAlterConfigsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_alter_configs_resource_response_v1(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


IncrementalAlterConfigsResponse.DECODERS = {
    0: _decode_incremental_alter_configs_response_v0,
    1: _decode_incremental_alter_configs_response_v1,
}
IncrementalAlterConfigsResponse.ENCODERS = {
    0: _encode_incremental_alter_configs_response_v0,
    1: _encode_incremental_alter_configs_response_v1,
}
