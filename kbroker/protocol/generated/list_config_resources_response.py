"""ListConfigResourcesResponse, versions 0 to 1.

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
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class ConfigResource(Struct):
    """Part of ListConfigResourcesResponse."""

    __slots__ = (
        "resource_name",
        "resource_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_name: str = "",
        resource_type: int = 16,  # version 1
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type
        self.unknown_tags: UnknownTags = None


class ListConfigResourcesResponse(Message):
    """ListConfigResourcesResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "config_resources",
        "unknown_tags",
    )
    NAME = "ListConfigResourcesResponse"
    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources: list[ConfigResource] = [] if config_resources is UNSET else config_resources
        self.unknown_tags: UnknownTags = None


def _decode_config_resource_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ConfigResource], int]:
    items: list[ConfigResource] = []
    for _ in range(count):
        o = ConfigResource.__new__(ConfigResource)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.resource_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.resource_name, pos = read_compact_string(buf, pos)
        o.resource_type = 16
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_config_resource_v0(out: bytearray, items: Iterable[ConfigResource]) -> None:
    for o in items:
        write_compact_string(out, o.resource_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_config_resource_v1(buf: Buffer, pos: int, count: int) -> tuple[list[ConfigResource], int]:
    items: list[ConfigResource] = []
    for _ in range(count):
        o = ConfigResource.__new__(ConfigResource)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.resource_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.resource_name, pos = read_compact_string(buf, pos)
        (o.resource_type,) = unpack_b(buf, pos)
        pos += 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_config_resource_v1(out: bytearray, items: Iterable[ConfigResource]) -> None:
    for o in items:
        write_compact_string(out, o.resource_name)
        out += pack_b(o.resource_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_config_resources_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ListConfigResourcesResponse, int]:
    o = ListConfigResourcesResponse.__new__(ListConfigResourcesResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("configResources")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.config_resources, pos = _decode_config_resource_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_config_resources_response_v0(out: bytearray, o: ListConfigResourcesResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.config_resources) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_config_resource_v0(out, o.config_resources)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_config_resources_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[ListConfigResourcesResponse, int]:
    o = ListConfigResourcesResponse.__new__(ListConfigResourcesResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("configResources")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.config_resources, pos = _decode_config_resource_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_config_resources_response_v1(out: bytearray, o: ListConfigResourcesResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.config_resources) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_config_resource_v1(out, o.config_resources)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListConfigResourcesResponse.DECODERS = {
    0: _decode_list_config_resources_response_v0,
    1: _decode_list_config_resources_response_v1,
}
ListConfigResourcesResponse.ENCODERS = {
    0: _encode_list_config_resources_response_v0,
    1: _encode_list_config_resources_response_v1,
}
