"""AlterClientQuotasResponse, versions 0 to 1.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class EntityData(Struct):
    """Part of AlterClientQuotasResponse."""

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


class EntryData(Struct):
    """Part of AlterClientQuotasResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "entity",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[EntityData] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity: list[EntityData] = [] if entity is UNSET else entity
        self.unknown_tags: UnknownTags = None


class AlterClientQuotasResponse(Message):
    """AlterClientQuotasResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "entries",
        "unknown_tags",
    )
    NAME = "AlterClientQuotasResponse"
    API_KEY = 49
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        entries: list[EntryData] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries: list[EntryData] = [] if entries is UNSET else entries
        self.unknown_tags: UnknownTags = None


def _decode_entity_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[EntityData], int]:
    items: list[EntityData] = []
    for _ in range(count):
        o = EntityData.__new__(EntityData)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("entityType")
        end = pos + n
        o.entity_type = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.entity_name = None
        else:
            end = pos + n
            o.entity_name = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_entity_data_v0(out: bytearray, items: Iterable[EntityData]) -> None:
    for o in items:
        raw = o.entity_type.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.entity_name is None else o.entity_name.encode()
        out += pack_h(-1 if o.entity_name is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_entity_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[EntityData], int]:
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


def _encode_entity_data_v1(out: bytearray, items: Iterable[EntityData]) -> None:
    for o in items:
        write_compact_string(out, o.entity_type)
        write_compact_nullable_string(out, o.entity_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_entry_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        o = EntryData.__new__(EntryData)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("entity")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.entity, pos = _decode_entity_data_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_entry_data_v0(out: bytearray, items: Iterable[EntryData]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        out += pack_i(len(o.entity))
        _encode_entity_data_v0(out, o.entity)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_entry_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        o = EntryData.__new__(EntryData)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
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
        o.entity, pos = _decode_entity_data_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_entry_data_v1(out: bytearray, items: Iterable[EntryData]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        n = len(o.entity) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_entity_data_v1(out, o.entity)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_client_quotas_response_v0(buf: Buffer, pos: int) -> tuple[AlterClientQuotasResponse, int]:
    o = AlterClientQuotasResponse.__new__(AlterClientQuotasResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("entries")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.entries, pos = _decode_entry_data_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_alter_client_quotas_response_v0(out: bytearray, o: AlterClientQuotasResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.entries))
    _encode_entry_data_v0(out, o.entries)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_alter_client_quotas_response_v1(buf: Buffer, pos: int) -> tuple[AlterClientQuotasResponse, int]:
    o = AlterClientQuotasResponse.__new__(AlterClientQuotasResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("entries")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.entries, pos = _decode_entry_data_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_client_quotas_response_v1(out: bytearray, o: AlterClientQuotasResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.entries) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_entry_data_v1(out, o.entries)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterClientQuotasResponse.DECODERS = {
    0: _decode_alter_client_quotas_response_v0,
    1: _decode_alter_client_quotas_response_v1,
}
AlterClientQuotasResponse.ENCODERS = {
    0: _encode_alter_client_quotas_response_v0,
    1: _encode_alter_client_quotas_response_v1,
}
