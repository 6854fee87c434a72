"""ListClientMetricsResourcesResponse, version 0.

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

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class ClientMetricsResource(Struct):
    """Part of ListClientMetricsResourcesResponse."""

    __slots__ = (
        "name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name = name
        self.unknown_tags: UnknownTags = None


class ListClientMetricsResourcesResponse(Message):
    """ListClientMetricsResourcesResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "client_metrics_resources",
        "unknown_tags",
    )
    NAME = "ListClientMetricsResourcesResponse"
    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_metrics_resources: list[ClientMetricsResource] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_metrics_resources: list[ClientMetricsResource] = (
            [] if client_metrics_resources is UNSET else client_metrics_resources
        )
        self.unknown_tags: UnknownTags = None


def _decode_client_metrics_resource_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ClientMetricsResource], int]:
    items: list[ClientMetricsResource] = []
    for _ in range(count):
        o = ClientMetricsResource.__new__(ClientMetricsResource)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_client_metrics_resource_v0(out: bytearray, items: Iterable[ClientMetricsResource]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_client_metrics_resources_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ListClientMetricsResourcesResponse, int]:
    o = ListClientMetricsResourcesResponse.__new__(ListClientMetricsResourcesResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("clientMetricsResources")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.client_metrics_resources, pos = _decode_client_metrics_resource_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_client_metrics_resources_response_v0(
    out: bytearray,
    o: ListClientMetricsResourcesResponse,
) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.client_metrics_resources) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_client_metrics_resource_v0(out, o.client_metrics_resources)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListClientMetricsResourcesResponse.DECODERS = {
    0: _decode_list_client_metrics_resources_response_v0,
}
ListClientMetricsResourcesResponse.ENCODERS = {
    0: _encode_list_client_metrics_resources_response_v0,
}
