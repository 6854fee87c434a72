"""ClientQuotaRecord, version 0.

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

pack_do = Layout(">d?").pack
unpack_do = Layout(">d?").unpack_from


class EntityData(Struct):
    """Part of ClientQuotaRecord."""

    __slots__ = (
        "entity_type",
        "entity_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name
        self.unknown_tags: UnknownTags = None


class ClientQuotaRecord(Message):
    """ClientQuotaRecord, version 0."""

    __slots__ = (
        "entity",
        "key",
        "value",
        "remove",
        "unknown_tags",
    )
    NAME = "ClientQuotaRecord"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        entity: list[EntityData] = UNSET,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.entity: list[EntityData] = [] if entity is UNSET else entity
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tags: UnknownTags = None


def _decode_entity_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[EntityData], int]:
    items: list[EntityData] = []
    for _ in range(count):
        o = EntityData.__new__(EntityData)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.entity_type = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.entity_type, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.entity_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.entity_name, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_entity_data_v0(out: bytearray, items: Iterable[EntityData]) -> None:
    for o in items:
        write_compact_string(out, o.entity_type)
        write_compact_nullable_string(out, o.entity_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_client_quota_record_v0(buf: Buffer, pos: int) -> tuple[ClientQuotaRecord, int]:
    o = ClientQuotaRecord.__new__(ClientQuotaRecord)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("entity")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.entity, pos = _decode_entity_data_v0(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.key = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.key, pos = read_compact_string(buf, pos)
    o.value, o.remove = unpack_do(buf, pos)
    pos += 9
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_client_quota_record_v0(out: bytearray, o: ClientQuotaRecord) -> None:
    n = len(o.entity) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_entity_data_v0(out, o.entity)
    write_compact_string(out, o.key)
    out += pack_do(o.value, o.remove)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ClientQuotaRecord.DECODERS = {
    0: _decode_client_quota_record_v0,
}
ClientQuotaRecord.ENCODERS = {
    0: _encode_client_quota_record_v0,
}
