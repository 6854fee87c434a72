"""BrokerRegistrationRequest, versions 0 to 4.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_Hh = Layout(">Hh").pack
unpack_Hh = Layout(">Hh").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class Feature(Struct):
    """Part of BrokerRegistrationRequest."""

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


class Listener(Struct):
    """Part of BrokerRegistrationRequest."""

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


class BrokerRegistrationRequest(Message):
    """BrokerRegistrationRequest, versions 0 to 4."""

    __slots__ = (
        "broker_id",
        "cluster_id",
        "incarnation_id",
        "listeners",
        "features",
        "rack",
        "is_migrating_zk_broker",
        "log_dirs",
        "previous_broker_epoch",
        "unknown_tags",
    )
    NAME = "BrokerRegistrationRequest"
    API_KEY = 62
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: list[Listener] = UNSET,
        features: list[Feature] = UNSET,
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,  # versions 1 to 4
        log_dirs: list[bytes] = UNSET,  # versions 2 to 4
        previous_broker_epoch: int = -1,  # versions 3 to 4
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners: list[Listener] = [] if listeners is UNSET else listeners
        self.features: list[Feature] = [] if features is UNSET else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs: list[bytes] = [] if log_dirs is UNSET else log_dirs
        self.previous_broker_epoch = previous_broker_epoch
        self.unknown_tags: UnknownTags = None


def _decode_feature_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Feature], int]:
    items: list[Feature] = []
    for _ in range(count):
        o = Feature.__new__(Feature)
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


def _encode_feature_v0(out: bytearray, items: Iterable[Feature]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_hh(o.min_supported_version, o.max_supported_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_listener_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Listener], int]:
    items: list[Listener] = []
    for _ in range(count):
        o = Listener.__new__(Listener)
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


def _encode_listener_v0(out: bytearray, items: Iterable[Listener]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_Hh(o.port, o.security_protocol)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_broker_registration_request_v0(buf: Buffer, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    o = BrokerRegistrationRequest.__new__(BrokerRegistrationRequest)
    (o.broker_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.incarnation_id,) = unpack_16s(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("listeners")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.listeners, pos = _decode_listener_v0(buf, pos, n)
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
    o.features, pos = _decode_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    o.is_migrating_zk_broker = False
    o.log_dirs = []
    o.previous_broker_epoch = -1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_broker_registration_request_v0(out: bytearray, o: BrokerRegistrationRequest) -> None:
    if o.is_migrating_zk_broker:
        raise not_in_version("isMigratingZkBroker")
    out += pack_i(o.broker_id)
    write_compact_string(out, o.cluster_id)
    out += pack_16s(o.incarnation_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_broker_registration_request_v1(buf: Buffer, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    o = BrokerRegistrationRequest.__new__(BrokerRegistrationRequest)
    (o.broker_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.incarnation_id,) = unpack_16s(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("listeners")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.listeners, pos = _decode_listener_v0(buf, pos, n)
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
    o.features, pos = _decode_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    (o.is_migrating_zk_broker,) = unpack_o(buf, pos)
    pos += 1
    o.log_dirs = []
    o.previous_broker_epoch = -1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_broker_registration_request_v1(out: bytearray, o: BrokerRegistrationRequest) -> None:
    out += pack_i(o.broker_id)
    write_compact_string(out, o.cluster_id)
    out += pack_16s(o.incarnation_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_o(o.is_migrating_zk_broker)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_broker_registration_request_v2(buf: Buffer, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    o = BrokerRegistrationRequest.__new__(BrokerRegistrationRequest)
    (o.broker_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.incarnation_id,) = unpack_16s(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("listeners")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.listeners, pos = _decode_listener_v0(buf, pos, n)
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
    o.features, pos = _decode_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    (o.is_migrating_zk_broker,) = unpack_o(buf, pos)
    pos += 1
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
    o.previous_broker_epoch = -1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_broker_registration_request_v2(out: bytearray, o: BrokerRegistrationRequest) -> None:
    out += pack_i(o.broker_id)
    write_compact_string(out, o.cluster_id)
    out += pack_16s(o.incarnation_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_o(o.is_migrating_zk_broker)
    n = len(o.log_dirs) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for item in o.log_dirs:
        out += pack_16s(item)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_broker_registration_request_v3(buf: Buffer, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    o = BrokerRegistrationRequest.__new__(BrokerRegistrationRequest)
    (o.broker_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    (o.incarnation_id,) = unpack_16s(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("listeners")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.listeners, pos = _decode_listener_v0(buf, pos, n)
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
    o.features, pos = _decode_feature_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack, pos = read_compact_nullable_string(buf, pos)
    (o.is_migrating_zk_broker,) = unpack_o(buf, pos)
    pos += 1
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
    (o.previous_broker_epoch,) = unpack_q(buf, pos)
    pos += 8
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_broker_registration_request_v3(out: bytearray, o: BrokerRegistrationRequest) -> None:
    out += pack_i(o.broker_id)
    write_compact_string(out, o.cluster_id)
    out += pack_16s(o.incarnation_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    n = len(o.features) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_feature_v0(out, o.features)
    write_compact_nullable_string(out, o.rack)
    out += pack_o(o.is_migrating_zk_broker)
    n = len(o.log_dirs) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for item in o.log_dirs:
        out += pack_16s(item)
    out += pack_q(o.previous_broker_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


BrokerRegistrationRequest.DECODERS = {
    0: _decode_broker_registration_request_v0,
    1: _decode_broker_registration_request_v1,
    2: _decode_broker_registration_request_v2,
    3: _decode_broker_registration_request_v3,
    4: _decode_broker_registration_request_v3,
}
BrokerRegistrationRequest.ENCODERS = {
    0: _encode_broker_registration_request_v0,
    1: _encode_broker_registration_request_v1,
    2: _encode_broker_registration_request_v2,
    3: _encode_broker_registration_request_v3,
    4: _encode_broker_registration_request_v3,
}
