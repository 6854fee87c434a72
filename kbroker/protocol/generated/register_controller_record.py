"""RegisterControllerRecord, version 0.

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
    ZERO_UUID,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_Hh = Layout(">Hh").pack
unpack_Hh = Layout(">Hh").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i16so = Layout(">i16s?").pack
unpack_i16so = Layout(">i16s?").unpack_from


class ControllerFeature(Struct):
    """Part of RegisterControllerRecord."""

    __slots__ = (
        "name",
        "min_supported_version",
        "max_supported_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tags: UnknownTags = None


class ControllerEndpoint(Struct):
    """Part of RegisterControllerRecord."""

    __slots__ = (
        "name",
        "host",
        "port",
        "security_protocol",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol
        self.unknown_tags: UnknownTags = None


class RegisterControllerRecord(Message):
    """RegisterControllerRecord, version 0."""

    __slots__ = (
        "controller_id",
        "incarnation_id",
        "zk_migration_ready",
        "end_points",
        "features",
        "unknown_tags",
    )
    NAME = "RegisterControllerRecord"
    API_KEY = 27
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = UNSET,
        features: list[ControllerFeature] = UNSET,
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points: list[ControllerEndpoint] = [] if end_points is UNSET else end_points
        self.features: list[ControllerFeature] = [] if features is UNSET else features
        self.unknown_tags: UnknownTags = None


def _decode_controller_feature_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ControllerFeature], int]:
    items: list[ControllerFeature] = []
    for _ in range(count):
        o = ControllerFeature.__new__(ControllerFeature)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.min_supported_version, o.max_supported_version = unpack_hh(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_controller_feature_v0(out: bytearray, items: Iterable[ControllerFeature]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_hh(o.min_supported_version, o.max_supported_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_controller_endpoint_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ControllerEndpoint], int]:
    items: list[ControllerEndpoint] = []
    for _ in range(count):
        o = ControllerEndpoint.__new__(ControllerEndpoint)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        o.port, o.security_protocol = unpack_Hh(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_controller_endpoint_v0(out: bytearray, items: Iterable[ControllerEndpoint]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_Hh(o.port, o.security_protocol)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_register_controller_record_v0(buf: Buffer, pos: int) -> tuple[RegisterControllerRecord, int]:
    o = RegisterControllerRecord.__new__(RegisterControllerRecord)
    o.controller_id, o.incarnation_id, o.zk_migration_ready = unpack_i16so(buf, pos)
    pos += 21
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("endPoints")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.end_points, pos = _decode_controller_endpoint_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("features")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.features, pos = _decode_controller_feature_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_register_controller_record_v0(out: bytearray, o: RegisterControllerRecord) -> None:
    out += pack_i16so(o.controller_id, o.incarnation_id, o.zk_migration_ready)
    n = len(o.end_points) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_controller_endpoint_v0(out, o.end_points)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_controller_feature_v0(out, o.features)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RegisterControllerRecord.DECODERS = {
    0: _decode_register_controller_record_v0,
}
RegisterControllerRecord.ENCODERS = {
    0: _encode_register_controller_record_v0,
}
