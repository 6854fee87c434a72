"""RegisterBrokerRecord, versions 0 to 4.

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
    bad_tag,
    bad_tag_size,
    not_in_version,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
pack_Hh = Layout(">Hh").pack
unpack_Hh = Layout(">Hh").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i16sq = Layout(">i16sq").pack
unpack_i16sq = Layout(">i16sq").unpack_from
pack_io16sq = Layout(">i?16sq").pack
unpack_io16sq = Layout(">i?16sq").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_oo = Layout(">??").pack
unpack_oo = Layout(">??").unpack_from


class BrokerFeature(Struct):
    """Part of RegisterBrokerRecord."""

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


class BrokerEndpoint(Struct):
    """Part of RegisterBrokerRecord."""

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


class RegisterBrokerRecord(Message):
    """RegisterBrokerRecord, versions 0 to 4."""

    __slots__ = (
        "broker_id",
        "is_migrating_zk_broker",
        "incarnation_id",
        "broker_epoch",
        "end_points",
        "features",
        "rack",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tags",
    )
    NAME = "RegisterBrokerRecord"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,  # versions 2 to 4
        incarnation_id: bytes = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = UNSET,
        features: list[BrokerFeature] = UNSET,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,  # versions 1 to 4
        log_dirs: list[bytes] = UNSET,  # versions 3 to 4
        cordoned_log_dirs: list[bytes] | None = None,  # version 4
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points: list[BrokerEndpoint] = [] if end_points is UNSET else end_points
        self.features: list[BrokerFeature] = [] if features is UNSET else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs: list[bytes] = [] if log_dirs is UNSET else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags: UnknownTags = None


def _decode_broker_feature_v0(buf: Buffer, pos: int, count: int) -> tuple[list[BrokerFeature], int]:
    items: list[BrokerFeature] = []
    for _ in range(count):
        o = BrokerFeature.__new__(BrokerFeature)
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


def _encode_broker_feature_v0(out: bytearray, items: Iterable[BrokerFeature]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_hh(o.min_supported_version, o.max_supported_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_broker_endpoint_v0(buf: Buffer, pos: int, count: int) -> tuple[list[BrokerEndpoint], int]:
    items: list[BrokerEndpoint] = []
    for _ in range(count):
        o = BrokerEndpoint.__new__(BrokerEndpoint)
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


def _encode_broker_endpoint_v0(out: bytearray, items: Iterable[BrokerEndpoint]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_Hh(o.port, o.security_protocol)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_register_broker_record_v0(buf: Buffer, pos: int) -> tuple[RegisterBrokerRecord, int]:
    o = RegisterBrokerRecord.__new__(RegisterBrokerRecord)
    o.broker_id, o.incarnation_id, o.broker_epoch = unpack_i16sq(buf, pos)
    pos += 28
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
    o.end_points, pos = _decode_broker_endpoint_v0(buf, pos, n)
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
    o.features, pos = _decode_broker_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    (o.fenced,) = unpack_o(buf, pos)
    pos += 1
    o.is_migrating_zk_broker = False
    o.in_controlled_shutdown = False
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_register_broker_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_register_broker_record_v0(buf: Buffer, pos: int, o: RegisterBrokerRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag in (0, 1):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_register_broker_record_v0(out: bytearray, o: RegisterBrokerRecord) -> None:
    if o.is_migrating_zk_broker:
        raise not_in_version("isMigratingZkBroker")
    if o.in_controlled_shutdown:
        raise not_in_version("inControlledShutdown")
    if o.log_dirs:
        raise not_in_version("logDirs")
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_i16sq(o.broker_id, o.incarnation_id, o.broker_epoch)
    n = len(o.end_points) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_endpoint_v0(out, o.end_points)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_o(o.fenced)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_register_broker_record_v1(buf: Buffer, pos: int) -> tuple[RegisterBrokerRecord, int]:
    o = RegisterBrokerRecord.__new__(RegisterBrokerRecord)
    o.broker_id, o.incarnation_id, o.broker_epoch = unpack_i16sq(buf, pos)
    pos += 28
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
    o.end_points, pos = _decode_broker_endpoint_v0(buf, pos, n)
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
    o.features, pos = _decode_broker_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    o.fenced, o.in_controlled_shutdown = unpack_oo(buf, pos)
    pos += 2
    o.is_migrating_zk_broker = False
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_register_broker_record_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_register_broker_record_v1(buf: Buffer, pos: int, o: RegisterBrokerRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag in (0, 1):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_register_broker_record_v1(out: bytearray, o: RegisterBrokerRecord) -> None:
    if o.is_migrating_zk_broker:
        raise not_in_version("isMigratingZkBroker")
    if o.log_dirs:
        raise not_in_version("logDirs")
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_i16sq(o.broker_id, o.incarnation_id, o.broker_epoch)
    n = len(o.end_points) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_endpoint_v0(out, o.end_points)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_oo(o.fenced, o.in_controlled_shutdown)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_register_broker_record_v2(buf: Buffer, pos: int) -> tuple[RegisterBrokerRecord, int]:
    o = RegisterBrokerRecord.__new__(RegisterBrokerRecord)
    o.broker_id, o.is_migrating_zk_broker, o.incarnation_id, o.broker_epoch = unpack_io16sq(buf, pos)
    pos += 29
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
    o.end_points, pos = _decode_broker_endpoint_v0(buf, pos, n)
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
    o.features, pos = _decode_broker_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    o.fenced, o.in_controlled_shutdown = unpack_oo(buf, pos)
    pos += 2
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_register_broker_record_v2(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_register_broker_record_v2(buf: Buffer, pos: int, o: RegisterBrokerRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag in (0, 1):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_register_broker_record_v2(out: bytearray, o: RegisterBrokerRecord) -> None:
    if o.log_dirs:
        raise not_in_version("logDirs")
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_io16sq(o.broker_id, o.is_migrating_zk_broker, o.incarnation_id, o.broker_epoch)
    n = len(o.end_points) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_endpoint_v0(out, o.end_points)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_oo(o.fenced, o.in_controlled_shutdown)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_register_broker_record_v3(buf: Buffer, pos: int) -> tuple[RegisterBrokerRecord, int]:
    o = RegisterBrokerRecord.__new__(RegisterBrokerRecord)
    o.broker_id, o.is_migrating_zk_broker, o.incarnation_id, o.broker_epoch = unpack_io16sq(buf, pos)
    pos += 29
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
    o.end_points, pos = _decode_broker_endpoint_v0(buf, pos, n)
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
    o.features, pos = _decode_broker_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    o.fenced, o.in_controlled_shutdown = unpack_oo(buf, pos)
    pos += 2
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_register_broker_record_v3(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_register_broker_record_v3(buf: Buffer, pos: int, o: RegisterBrokerRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                raise null_field("logDirs")
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            end = pos + 16 * n
            o.log_dirs = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
            pos = end
        elif tag == 1:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_register_broker_record_v3(out: bytearray, o: RegisterBrokerRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.log_dirs:
        part = bytearray()
        n = len(o.log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.log_dirs:
            part += pack_16s(item)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_register_broker_record_v3(out: bytearray, o: RegisterBrokerRecord) -> None:
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_io16sq(o.broker_id, o.is_migrating_zk_broker, o.incarnation_id, o.broker_epoch)
    n = len(o.end_points) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_endpoint_v0(out, o.end_points)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_oo(o.fenced, o.in_controlled_shutdown)
    if o.unknown_tags or o.log_dirs:
        _write_tags_of_register_broker_record_v3(out, o)
    else:
        out.append(0)


def _decode_register_broker_record_v4(buf: Buffer, pos: int) -> tuple[RegisterBrokerRecord, int]:
    o = RegisterBrokerRecord.__new__(RegisterBrokerRecord)
    o.broker_id, o.is_migrating_zk_broker, o.incarnation_id, o.broker_epoch = unpack_io16sq(buf, pos)
    pos += 29
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
    o.end_points, pos = _decode_broker_endpoint_v0(buf, pos, n)
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
    o.features, pos = _decode_broker_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    o.fenced, o.in_controlled_shutdown = unpack_oo(buf, pos)
    pos += 2
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_register_broker_record_v4(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_register_broker_record_v4(buf: Buffer, pos: int, o: RegisterBrokerRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                raise null_field("logDirs")
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            end = pos + 16 * n
            o.log_dirs = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
            pos = end
        elif tag == 1:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.cordoned_log_dirs = None
            else:
                if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                end = pos + 16 * n
                o.cordoned_log_dirs = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
                pos = end
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_register_broker_record_v4(out: bytearray, o: RegisterBrokerRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.log_dirs:
        part = bytearray()
        n = len(o.log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.log_dirs:
            part += pack_16s(item)
        tags.append((0, part))
    if o.cordoned_log_dirs is not None:
        part = bytearray()
        n = len(o.cordoned_log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.cordoned_log_dirs:
            part += pack_16s(item)
        tags.append((1, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_register_broker_record_v4(out: bytearray, o: RegisterBrokerRecord) -> None:
    out += pack_io16sq(o.broker_id, o.is_migrating_zk_broker, o.incarnation_id, o.broker_epoch)
    n = len(o.end_points) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_endpoint_v0(out, o.end_points)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_broker_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_oo(o.fenced, o.in_controlled_shutdown)
    if o.unknown_tags or o.log_dirs or o.cordoned_log_dirs is not None:
        _write_tags_of_register_broker_record_v4(out, o)
    else:
        out.append(0)


RegisterBrokerRecord.DECODERS = {
    0: _decode_register_broker_record_v0,
    1: _decode_register_broker_record_v1,
    2: _decode_register_broker_record_v2,
    3: _decode_register_broker_record_v3,
    4: _decode_register_broker_record_v4,
}
RegisterBrokerRecord.ENCODERS = {
    0: _encode_register_broker_record_v0,
    1: _encode_register_broker_record_v1,
    2: _encode_register_broker_record_v2,
    3: _encode_register_broker_record_v3,
    4: _encode_register_broker_record_v4,
}
