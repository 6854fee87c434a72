"""DescribeClusterResponse, versions 0 to 2.

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
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class DescribeClusterBroker(Struct):
    """Part of DescribeClusterResponse."""

    __slots__ = (
        "broker_id",
        "host",
        "port",
        "rack",
        "is_fenced",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,  # version 2
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced
        self.unknown_tags: UnknownTags = None


class DescribeClusterResponse(Message):
    """DescribeClusterResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "endpoint_type",
        "cluster_id",
        "controller_id",
        "brokers",
        "cluster_authorized_operations",
        "unknown_tags",
    )
    NAME = "DescribeClusterResponse"
    API_KEY = 60
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,  # versions 1 to 2
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = UNSET,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers: list[DescribeClusterBroker] = [] if brokers is UNSET else brokers
        self.cluster_authorized_operations = cluster_authorized_operations
        self.unknown_tags: UnknownTags = None


def _decode_describe_cluster_broker_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeClusterBroker], int]:
    items: list[DescribeClusterBroker] = []
    for _ in range(count):
        o = DescribeClusterBroker.__new__(DescribeClusterBroker)
        items.append(o)
        (o.broker_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack, pos = read_compact_nullable_string(buf, pos)
        o.is_fenced = False
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_cluster_broker_v0(out: bytearray, items: Iterable[DescribeClusterBroker]) -> None:
    for o in items:
        if o.is_fenced:
            raise not_in_version("isFenced")
        out += pack_i(o.broker_id)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        write_compact_nullable_string(out, o.rack)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_cluster_broker_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeClusterBroker], int]:
    items: list[DescribeClusterBroker] = []
    for _ in range(count):
        o = DescribeClusterBroker.__new__(DescribeClusterBroker)
        items.append(o)
        (o.broker_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack, pos = read_compact_nullable_string(buf, pos)
        (o.is_fenced,) = unpack_o(buf, pos)
        pos += 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_cluster_broker_v2(out: bytearray, items: Iterable[DescribeClusterBroker]) -> None:
    for o in items:
        out += pack_i(o.broker_id)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        write_compact_nullable_string(out, o.rack)
        out += pack_o(o.is_fenced)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_cluster_response_v0(buf: Buffer, pos: int) -> tuple[DescribeClusterResponse, int]:
    o = DescribeClusterResponse.__new__(DescribeClusterResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_describe_cluster_broker_v0(buf, pos, n)
    (o.cluster_authorized_operations,) = unpack_i(buf, pos)
    pos += 4
    o.endpoint_type = 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_cluster_response_v0(out: bytearray, o: DescribeClusterResponse) -> None:
    if o.endpoint_type != 1:
        raise not_in_version("endpointType")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    write_compact_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_cluster_broker_v0(out, o.brokers)
    out += pack_i(o.cluster_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_cluster_response_v1(buf: Buffer, pos: int) -> tuple[DescribeClusterResponse, int]:
    o = DescribeClusterResponse.__new__(DescribeClusterResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    (o.endpoint_type,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_describe_cluster_broker_v0(buf, pos, n)
    (o.cluster_authorized_operations,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_cluster_response_v1(out: bytearray, o: DescribeClusterResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    out += pack_b(o.endpoint_type)
    write_compact_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_cluster_broker_v0(out, o.brokers)
    out += pack_i(o.cluster_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_cluster_response_v2(buf: Buffer, pos: int) -> tuple[DescribeClusterResponse, int]:
    o = DescribeClusterResponse.__new__(DescribeClusterResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    (o.endpoint_type,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_describe_cluster_broker_v2(buf, pos, n)
    (o.cluster_authorized_operations,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_cluster_response_v2(out: bytearray, o: DescribeClusterResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    out += pack_b(o.endpoint_type)
    write_compact_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_cluster_broker_v2(out, o.brokers)
    out += pack_i(o.cluster_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeClusterResponse.DECODERS = {
    0: _decode_describe_cluster_response_v0,
    1: _decode_describe_cluster_response_v1,
    2: _decode_describe_cluster_response_v2,
}
DescribeClusterResponse.ENCODERS = {
    0: _encode_describe_cluster_response_v0,
    1: _encode_describe_cluster_response_v1,
    2: _encode_describe_cluster_response_v2,
}
