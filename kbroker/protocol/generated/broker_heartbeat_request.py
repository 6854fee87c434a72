"""BrokerHeartbeatRequest, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    UnknownTags,
    bad_tag,
    bad_tag_size,
    not_in_version,
    null_field,
    read_tag,
    read_tag_count,
    read_uvarint,
    too_many,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
pack_iqqoo = Layout(">iqq??").pack
unpack_iqqoo = Layout(">iqq??").unpack_from


class BrokerHeartbeatRequest(Message):
    """BrokerHeartbeatRequest, versions 0 to 2."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "current_metadata_offset",
        "want_fence",
        "want_shut_down",
        "offline_log_dirs",
        "cordoned_log_dirs",
        "unknown_tags",
    )
    NAME = "BrokerHeartbeatRequest"
    API_KEY = 63
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[bytes] = UNSET,  # versions 1 to 2
        cordoned_log_dirs: list[bytes] | None = None,  # version 2
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs: list[bytes] = [] if offline_log_dirs is UNSET else offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags: UnknownTags = None


def _decode_broker_heartbeat_request_v0(buf: Buffer, pos: int) -> tuple[BrokerHeartbeatRequest, int]:
    o = BrokerHeartbeatRequest.__new__(BrokerHeartbeatRequest)
    (
        o.broker_id,
        o.broker_epoch,
        o.current_metadata_offset,
        o.want_fence,
        o.want_shut_down,
    ) = unpack_iqqoo(buf, pos)
    pos += 22
    o.offline_log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_heartbeat_request_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_heartbeat_request_v0(buf: Buffer, pos: int, o: BrokerHeartbeatRequest) -> int:
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


def _encode_broker_heartbeat_request_v0(out: bytearray, o: BrokerHeartbeatRequest) -> None:
    if o.offline_log_dirs:
        raise not_in_version("offlineLogDirs")
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_iqqoo(o.broker_id, o.broker_epoch, o.current_metadata_offset, o.want_fence, o.want_shut_down)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_broker_heartbeat_request_v1(buf: Buffer, pos: int) -> tuple[BrokerHeartbeatRequest, int]:
    o = BrokerHeartbeatRequest.__new__(BrokerHeartbeatRequest)
    (
        o.broker_id,
        o.broker_epoch,
        o.current_metadata_offset,
        o.want_fence,
        o.want_shut_down,
    ) = unpack_iqqoo(buf, pos)
    pos += 22
    o.offline_log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_heartbeat_request_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_heartbeat_request_v1(buf: Buffer, pos: int, o: BrokerHeartbeatRequest) -> int:
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
                raise null_field("offlineLogDirs")
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            end = pos + 16 * n
            o.offline_log_dirs = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
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


def _write_tags_of_broker_heartbeat_request_v1(out: bytearray, o: BrokerHeartbeatRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.offline_log_dirs:
        part = bytearray()
        n = len(o.offline_log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.offline_log_dirs:
            part += pack_16s(item)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_broker_heartbeat_request_v1(out: bytearray, o: BrokerHeartbeatRequest) -> None:
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_iqqoo(o.broker_id, o.broker_epoch, o.current_metadata_offset, o.want_fence, o.want_shut_down)
    if o.unknown_tags or o.offline_log_dirs:
        _write_tags_of_broker_heartbeat_request_v1(out, o)
    else:
        out.append(0)


def _decode_broker_heartbeat_request_v2(buf: Buffer, pos: int) -> tuple[BrokerHeartbeatRequest, int]:
    o = BrokerHeartbeatRequest.__new__(BrokerHeartbeatRequest)
    (
        o.broker_id,
        o.broker_epoch,
        o.current_metadata_offset,
        o.want_fence,
        o.want_shut_down,
    ) = unpack_iqqoo(buf, pos)
    pos += 22
    o.offline_log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_heartbeat_request_v2(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_heartbeat_request_v2(buf: Buffer, pos: int, o: BrokerHeartbeatRequest) -> int:
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
                raise null_field("offlineLogDirs")
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            end = pos + 16 * n
            o.offline_log_dirs = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
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


def _write_tags_of_broker_heartbeat_request_v2(out: bytearray, o: BrokerHeartbeatRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.offline_log_dirs:
        part = bytearray()
        n = len(o.offline_log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.offline_log_dirs:
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


def _encode_broker_heartbeat_request_v2(out: bytearray, o: BrokerHeartbeatRequest) -> None:
    out += pack_iqqoo(o.broker_id, o.broker_epoch, o.current_metadata_offset, o.want_fence, o.want_shut_down)
    if o.unknown_tags or o.offline_log_dirs or o.cordoned_log_dirs is not None:
        _write_tags_of_broker_heartbeat_request_v2(out, o)
    else:
        out.append(0)


BrokerHeartbeatRequest.DECODERS = {
    0: _decode_broker_heartbeat_request_v0,
    1: _decode_broker_heartbeat_request_v1,
    2: _decode_broker_heartbeat_request_v2,
}
BrokerHeartbeatRequest.ENCODERS = {
    0: _encode_broker_heartbeat_request_v0,
    1: _encode_broker_heartbeat_request_v1,
    2: _encode_broker_heartbeat_request_v2,
}
