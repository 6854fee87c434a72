"""FindCoordinatorResponse, versions 0 to 6.

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

pack_hih = Layout(">hih").pack
unpack_hih = Layout(">hih").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihh = Layout(">ihh").pack
unpack_ihh = Layout(">ihh").unpack_from


class Coordinator(Struct):
    """Part of FindCoordinatorResponse."""

    __slots__ = (
        "key",
        "node_id",
        "host",
        "port",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",  # versions 4 to 6
        node_id: int = 0,  # versions 4 to 6
        host: str = "",  # versions 4 to 6
        port: int = 0,  # versions 4 to 6
        error_code: int = 0,  # versions 4 to 6
        error_message: str | None = "",  # versions 4 to 6
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class FindCoordinatorResponse(Message):
    """FindCoordinatorResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "node_id",
        "host",
        "port",
        "coordinators",
        "unknown_tags",
    )
    NAME = "FindCoordinatorResponse"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 6
        error_code: int = 0,  # versions 0 to 3
        error_message: str | None = "",  # versions 1 to 3
        node_id: int = 0,  # versions 0 to 3
        host: str = "",  # versions 0 to 3
        port: int = 0,  # versions 0 to 3
        coordinators: list[Coordinator] = UNSET,  # versions 4 to 6
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators: list[Coordinator] = [] if coordinators is UNSET else coordinators
        self.unknown_tags: UnknownTags = None


def _decode_coordinator_v4(buf: Buffer, pos: int, count: int) -> tuple[list[Coordinator], int]:
    items: list[Coordinator] = []
    for _ in range(count):
        o = Coordinator.__new__(Coordinator)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.key = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.key, pos = read_compact_string(buf, pos)
        (o.node_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        o.port, o.error_code = unpack_ih(buf, pos)
        pos += 6
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


def _encode_coordinator_v4(out: bytearray, items: Iterable[Coordinator]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        out += pack_i(o.node_id)
        write_compact_string(out, o.host)
        out += pack_ih(o.port, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_find_coordinator_response_v0(buf: Buffer, pos: int) -> tuple[FindCoordinatorResponse, int]:
    o = FindCoordinatorResponse.__new__(FindCoordinatorResponse)
    o.error_code, o.node_id, n = unpack_hih(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("host")
    end = pos + n
    o.host = str(buf[pos:end], "utf-8")
    pos = end
    (o.port,) = unpack_i(buf, pos)
    pos += 4
    o.throttle_time_ms = 0
    o.error_message = ""
    o.coordinators = []
    o.unknown_tags = None
    return o, pos


def _encode_find_coordinator_response_v0(out: bytearray, o: FindCoordinatorResponse) -> None:
    if o.coordinators:
        raise not_in_version("coordinators")
    raw = o.host.encode()
    out += pack_hih(o.error_code, o.node_id, len(raw))
    out += raw
    out += pack_i(o.port)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_find_coordinator_response_v1(buf: Buffer, pos: int) -> tuple[FindCoordinatorResponse, int]:
    o = FindCoordinatorResponse.__new__(FindCoordinatorResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihh(buf, pos)
    pos += 8
    if n < 0:
        o.error_message = None
    else:
        end = pos + n
        o.error_message = str(buf[pos:end], "utf-8")
        pos = end
    o.node_id, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("host")
    end = pos + n
    o.host = str(buf[pos:end], "utf-8")
    pos = end
    (o.port,) = unpack_i(buf, pos)
    pos += 4
    o.coordinators = []
    o.unknown_tags = None
    return o, pos


def _encode_find_coordinator_response_v1(out: bytearray, o: FindCoordinatorResponse) -> None:
    if o.coordinators:
        raise not_in_version("coordinators")
    raw = b"" if o.error_message is None else o.error_message.encode()
    out += pack_ihh(o.throttle_time_ms, o.error_code, -1 if o.error_message is None else len(raw))
    out += raw
    raw = o.host.encode()
    out += pack_ih(o.node_id, len(raw))
    out += raw
    out += pack_i(o.port)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_find_coordinator_response_v3(buf: Buffer, pos: int) -> tuple[FindCoordinatorResponse, int]:
    o = FindCoordinatorResponse.__new__(FindCoordinatorResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    (o.node_id,) = unpack_i(buf, pos)
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
    o.coordinators = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_find_coordinator_response_v3(out: bytearray, o: FindCoordinatorResponse) -> None:
    if o.coordinators:
        raise not_in_version("coordinators")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    out += pack_i(o.node_id)
    write_compact_string(out, o.host)
    out += pack_i(o.port)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_find_coordinator_response_v4(buf: Buffer, pos: int) -> tuple[FindCoordinatorResponse, int]:
    o = FindCoordinatorResponse.__new__(FindCoordinatorResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("coordinators")
    if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.coordinators, pos = _decode_coordinator_v4(buf, pos, n)
    o.error_code = 0
    o.error_message = ""
    o.node_id = 0
    o.host = ""
    o.port = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_find_coordinator_response_v4(out: bytearray, o: FindCoordinatorResponse) -> None:
    if o.error_code != 0:
        raise not_in_version("errorCode")
    if o.node_id != 0:
        raise not_in_version("nodeId")
    if o.host != "":
        raise not_in_version("host")
    if o.port != 0:
        raise not_in_version("port")
    out += pack_i(o.throttle_time_ms)
    n = len(o.coordinators) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_coordinator_v4(out, o.coordinators)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


FindCoordinatorResponse.DECODERS = {
    0: _decode_find_coordinator_response_v0,
    1: _decode_find_coordinator_response_v1,
    2: _decode_find_coordinator_response_v1,
    3: _decode_find_coordinator_response_v3,
    4: _decode_find_coordinator_response_v4,
    5: _decode_find_coordinator_response_v4,
    6: _decode_find_coordinator_response_v4,
}
FindCoordinatorResponse.ENCODERS = {
    0: _encode_find_coordinator_response_v0,
    1: _encode_find_coordinator_response_v1,
    2: _encode_find_coordinator_response_v1,
    3: _encode_find_coordinator_response_v3,
    4: _encode_find_coordinator_response_v4,
    5: _encode_find_coordinator_response_v4,
    6: _encode_find_coordinator_response_v4,
}
