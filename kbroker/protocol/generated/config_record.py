"""ConfigRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from


class ConfigRecord(Message):
    """ConfigRecord, version 0."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "name",
        "value",
        "unknown_tags",
    )
    NAME = "ConfigRecord"
    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.name = name
        self.value = value
        self.unknown_tags: UnknownTags = None


def _decode_config_record_v0(buf: Buffer, pos: int) -> tuple[ConfigRecord, int]:
    o = ConfigRecord.__new__(ConfigRecord)
    (o.resource_type,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.resource_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.resource_name, pos = read_compact_string(buf, pos)
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
        o.value = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.value, pos = read_compact_nullable_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_config_record_v0(out: bytearray, o: ConfigRecord) -> None:
    out += pack_b(o.resource_type)
    write_compact_string(out, o.resource_name)
    write_compact_string(out, o.name)
    write_compact_nullable_string(out, o.value)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ConfigRecord.DECODERS = {
    0: _decode_config_record_v0,
}
ConfigRecord.ENCODERS = {
    0: _encode_config_record_v0,
}
