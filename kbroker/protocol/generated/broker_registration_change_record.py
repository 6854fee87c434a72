"""BrokerRegistrationChangeRecord, versions 0 to 3.

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
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class BrokerRegistrationChangeRecord(Message):
    """BrokerRegistrationChangeRecord, versions 0 to 3."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tags",
    )
    NAME = "BrokerRegistrationChangeRecord"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,  # versions 1 to 3
        log_dirs: list[bytes] = UNSET,  # versions 2 to 3
        cordoned_log_dirs: list[bytes] | None = None,  # version 3
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs: list[bytes] = [] if log_dirs is UNSET else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags: UnknownTags = None


def _decode_broker_registration_change_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[BrokerRegistrationChangeRecord, int]:
    o = BrokerRegistrationChangeRecord.__new__(BrokerRegistrationChangeRecord)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.fenced = 0
    o.in_controlled_shutdown = 0
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_registration_change_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_registration_change_record_v0(
    buf: Buffer,
    pos: int,
    o: BrokerRegistrationChangeRecord,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.fenced,) = unpack_b(buf, pos)
            pos += 1
        elif tag in (1, 2, 3):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_broker_registration_change_record_v0(
    out: bytearray,
    o: BrokerRegistrationChangeRecord,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.fenced != 0:
        part = bytearray()
        part += pack_b(o.fenced)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_broker_registration_change_record_v0(out: bytearray, o: BrokerRegistrationChangeRecord) -> None:
    if o.in_controlled_shutdown != 0:
        raise not_in_version("inControlledShutdown")
    if o.log_dirs:
        raise not_in_version("logDirs")
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags or o.fenced != 0:
        _write_tags_of_broker_registration_change_record_v0(out, o)
    else:
        out.append(0)


def _decode_broker_registration_change_record_v1(
    buf: Buffer,
    pos: int,
) -> tuple[BrokerRegistrationChangeRecord, int]:
    o = BrokerRegistrationChangeRecord.__new__(BrokerRegistrationChangeRecord)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.fenced = 0
    o.in_controlled_shutdown = 0
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_registration_change_record_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_registration_change_record_v1(
    buf: Buffer,
    pos: int,
    o: BrokerRegistrationChangeRecord,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.fenced,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 1:
            (o.in_controlled_shutdown,) = unpack_b(buf, pos)
            pos += 1
        elif tag in (2, 3):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_broker_registration_change_record_v1(
    out: bytearray,
    o: BrokerRegistrationChangeRecord,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.fenced != 0:
        part = bytearray()
        part += pack_b(o.fenced)
        tags.append((0, part))
    if o.in_controlled_shutdown != 0:
        part = bytearray()
        part += pack_b(o.in_controlled_shutdown)
        tags.append((1, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_broker_registration_change_record_v1(out: bytearray, o: BrokerRegistrationChangeRecord) -> None:
    if o.log_dirs:
        raise not_in_version("logDirs")
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags or o.fenced != 0 or o.in_controlled_shutdown != 0:
        _write_tags_of_broker_registration_change_record_v1(out, o)
    else:
        out.append(0)


def _decode_broker_registration_change_record_v2(
    buf: Buffer,
    pos: int,
) -> tuple[BrokerRegistrationChangeRecord, int]:
    o = BrokerRegistrationChangeRecord.__new__(BrokerRegistrationChangeRecord)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.fenced = 0
    o.in_controlled_shutdown = 0
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_registration_change_record_v2(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_registration_change_record_v2(
    buf: Buffer,
    pos: int,
    o: BrokerRegistrationChangeRecord,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.fenced,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 1:
            (o.in_controlled_shutdown,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 2:
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
        elif tag == 3:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_broker_registration_change_record_v2(
    out: bytearray,
    o: BrokerRegistrationChangeRecord,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.fenced != 0:
        part = bytearray()
        part += pack_b(o.fenced)
        tags.append((0, part))
    if o.in_controlled_shutdown != 0:
        part = bytearray()
        part += pack_b(o.in_controlled_shutdown)
        tags.append((1, part))
    if o.log_dirs:
        part = bytearray()
        n = len(o.log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.log_dirs:
            part += pack_16s(item)
        tags.append((2, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_broker_registration_change_record_v2(out: bytearray, o: BrokerRegistrationChangeRecord) -> None:
    if o.cordoned_log_dirs is not None:
        raise not_in_version("cordonedLogDirs")
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags or o.fenced != 0 or o.in_controlled_shutdown != 0 or o.log_dirs:
        _write_tags_of_broker_registration_change_record_v2(out, o)
    else:
        out.append(0)


def _decode_broker_registration_change_record_v3(
    buf: Buffer,
    pos: int,
) -> tuple[BrokerRegistrationChangeRecord, int]:
    o = BrokerRegistrationChangeRecord.__new__(BrokerRegistrationChangeRecord)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.fenced = 0
    o.in_controlled_shutdown = 0
    o.log_dirs = []
    o.cordoned_log_dirs = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_broker_registration_change_record_v3(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_broker_registration_change_record_v3(
    buf: Buffer,
    pos: int,
    o: BrokerRegistrationChangeRecord,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.fenced,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 1:
            (o.in_controlled_shutdown,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 2:
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
        elif tag == 3:
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


def _write_tags_of_broker_registration_change_record_v3(
    out: bytearray,
    o: BrokerRegistrationChangeRecord,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.fenced != 0:
        part = bytearray()
        part += pack_b(o.fenced)
        tags.append((0, part))
    if o.in_controlled_shutdown != 0:
        part = bytearray()
        part += pack_b(o.in_controlled_shutdown)
        tags.append((1, part))
    if o.log_dirs:
        part = bytearray()
        n = len(o.log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.log_dirs:
            part += pack_16s(item)
        tags.append((2, part))
    if o.cordoned_log_dirs is not None:
        part = bytearray()
        n = len(o.cordoned_log_dirs) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.cordoned_log_dirs:
            part += pack_16s(item)
        tags.append((3, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_broker_registration_change_record_v3(out: bytearray, o: BrokerRegistrationChangeRecord) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    if (
        o.unknown_tags
        or o.fenced != 0
        or o.in_controlled_shutdown != 0
        or o.log_dirs
        or o.cordoned_log_dirs is not None
    ):
        _write_tags_of_broker_registration_change_record_v3(out, o)
    else:
        out.append(0)


BrokerRegistrationChangeRecord.DECODERS = {
    0: _decode_broker_registration_change_record_v0,
    1: _decode_broker_registration_change_record_v1,
    2: _decode_broker_registration_change_record_v2,
    3: _decode_broker_registration_change_record_v3,
}
BrokerRegistrationChangeRecord.ENCODERS = {
    0: _encode_broker_registration_change_record_v0,
    1: _encode_broker_registration_change_record_v1,
    2: _encode_broker_registration_change_record_v2,
    3: _encode_broker_registration_change_record_v3,
}
