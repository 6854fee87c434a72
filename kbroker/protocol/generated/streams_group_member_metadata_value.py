"""StreamsGroupMemberMetadataValue, version 0.

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

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
unpack_b = Layout(">b").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class KeyValue(Struct):
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags: UnknownTags = None


class Endpoint(Struct):
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = (
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class StreamsGroupMemberMetadataValue(Message):
    """StreamsGroupMemberMetadataValue, version 0."""

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "rebalance_timeout_ms",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "unknown_tags",
    )
    NAME = "StreamsGroupMemberMetadataValue"
    API_KEY = 19
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = UNSET,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags: list[KeyValue] = [] if client_tags is UNSET else client_tags
        self.unknown_tags: UnknownTags = None


def _decode_key_value_v0(buf: Buffer, pos: int, count: int) -> tuple[list[KeyValue], int]:
    items: list[KeyValue] = []
    for _ in range(count):
        o = KeyValue.__new__(KeyValue)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.key = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.key, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_key_value_v0(out: bytearray, items: Iterable[KeyValue]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        write_compact_string(out, o.value)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_endpoint_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Endpoint], int]:
    items: list[Endpoint] = []
    for _ in range(count):
        o = Endpoint.__new__(Endpoint)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_H(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_endpoint_v0(out: bytearray, items: Iterable[Endpoint]) -> None:
    for o in items:
        write_compact_string(out, o.host)
        out += pack_H(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_member_metadata_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupMemberMetadataValue, int]:
    o = StreamsGroupMemberMetadataValue.__new__(StreamsGroupMemberMetadataValue)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_host = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_host, pos = read_compact_string(buf, pos)
    o.rebalance_timeout_ms, o.topology_epoch = unpack_ii(buf, pos)
    pos += 8
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.process_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.process_id, pos = read_compact_string(buf, pos)
    (n,) = unpack_b(buf, pos)
    pos += 1
    if n < 0:
        o.user_endpoint = None
    else:
        (o.user_endpoint,), pos = _decode_endpoint_v0(buf, pos, 1)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("clientTags")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.client_tags, pos = _decode_key_value_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_member_metadata_value_v0(
    out: bytearray,
    o: StreamsGroupMemberMetadataValue,
) -> None:
    write_compact_nullable_string(out, o.instance_id)
    write_compact_nullable_string(out, o.rack_id)
    write_compact_string(out, o.client_id)
    write_compact_string(out, o.client_host)
    out += pack_ii(o.rebalance_timeout_ms, o.topology_epoch)
    write_compact_string(out, o.process_id)
    if o.user_endpoint is None:
        out.append(255)
    else:
        out.append(1)
        _encode_endpoint_v0(out, (o.user_endpoint,))
    n = len(o.client_tags) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_key_value_v0(out, o.client_tags)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupMemberMetadataValue.DECODERS = {
    0: _decode_streams_group_member_metadata_value_v0,
}
StreamsGroupMemberMetadataValue.ENCODERS = {
    0: _encode_streams_group_member_metadata_value_v0,
}
