"""AccessControlEntryRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_16sb = Layout(">16sb").pack
unpack_16sb = Layout(">16sb").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bb = Layout(">bb").pack
unpack_bb = Layout(">bb").unpack_from


class AccessControlEntryRecord(Message):
    """AccessControlEntryRecord, version 0."""

    __slots__ = (
        "id",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )
    NAME = "AccessControlEntryRecord"
    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags: UnknownTags = None


def _decode_access_control_entry_record_v0(buf: Buffer, pos: int) -> tuple[AccessControlEntryRecord, int]:
    o = AccessControlEntryRecord.__new__(AccessControlEntryRecord)
    o.id, o.resource_type = unpack_16sb(buf, pos)
    pos += 17
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.resource_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.resource_name, pos = read_compact_string(buf, pos)
    (o.pattern_type,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.principal = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.principal, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.host = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.host, pos = read_compact_string(buf, pos)
    o.operation, o.permission_type = unpack_bb(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_access_control_entry_record_v0(out: bytearray, o: AccessControlEntryRecord) -> None:
    out += pack_16sb(o.id, o.resource_type)
    write_compact_string(out, o.resource_name)
    out += pack_b(o.pattern_type)
    write_compact_string(out, o.principal)
    write_compact_string(out, o.host)
    out += pack_bb(o.operation, o.permission_type)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AccessControlEntryRecord.DECODERS = {
    0: _decode_access_control_entry_record_v0,
}
AccessControlEntryRecord.ENCODERS = {
    0: _encode_access_control_entry_record_v0,
}
