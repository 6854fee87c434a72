"""AlterClientQuotasRequest, versions 0 to 1.

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

pack_do = Layout(">d?").pack
unpack_do = Layout(">d?").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class OpData(Struct):
    """Part of AlterClientQuotasRequest."""

    __slots__ = (
        "key",
        "value",
        "remove",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tags: UnknownTags = None


class EntityData(Struct):
    """Part of AlterClientQuotasRequest."""

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
    """Part of AlterClientQuotasRequest."""

    __slots__ = (
        "entity",
        "ops",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity: list[EntityData] = UNSET,
        ops: list[OpData] = UNSET,
    ) -> None:
        self.entity: list[EntityData] = [] if entity is UNSET else entity
        self.ops: list[OpData] = [] if ops is UNSET else ops
        self.unknown_tags: UnknownTags = None


class AlterClientQuotasRequest(Message):
    """AlterClientQuotasRequest, versions 0 to 1."""

    __slots__ = (
        "entries",
        "validate_only",
        "unknown_tags",
    )
    NAME = "AlterClientQuotasRequest"
    API_KEY = 49
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        entries: list[EntryData] = UNSET,
        validate_only: bool = False,
    ) -> None:
        self.entries: list[EntryData] = [] if entries is UNSET else entries
        self.validate_only = validate_only
        self.unknown_tags: UnknownTags = None


def _decode_op_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[OpData], int]:
    items: list[OpData] = []
    for _ in range(count):
        o = OpData.__new__(OpData)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("key")
        end = pos + n
        o.key = str(buf[pos:end], "utf-8")
        pos = end
        o.value, o.remove = unpack_do(buf, pos)
        pos += 9
        o.unknown_tags = None
    return items, pos


def _encode_op_data_v0(out: bytearray, items: Iterable[OpData]) -> None:
    for o in items:
        raw = o.key.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_do(o.value, o.remove)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_op_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[OpData], int]:
    items: list[OpData] = []
    for _ in range(count):
        o = OpData.__new__(OpData)
        items.append(o)
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
    return items, pos


def _encode_op_data_v1(out: bytearray, items: Iterable[OpData]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        out += pack_do(o.value, o.remove)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


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
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("entity")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.entity, pos = _decode_entity_data_v0(buf, pos, n)
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("ops")
        if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.ops, pos = _decode_op_data_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_entry_data_v0(out: bytearray, items: Iterable[EntryData]) -> None:
    for o in items:
        out += pack_i(len(o.entity))
        _encode_entity_data_v0(out, o.entity)
        out += pack_i(len(o.ops))
        _encode_op_data_v0(out, o.ops)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_entry_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        o = EntryData.__new__(EntryData)
        items.append(o)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("ops")
        if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.ops, pos = _decode_op_data_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_entry_data_v1(out: bytearray, items: Iterable[EntryData]) -> None:
    for o in items:
        n = len(o.entity) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_entity_data_v1(out, o.entity)
        n = len(o.ops) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_op_data_v1(out, o.ops)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_client_quotas_request_v0(buf: Buffer, pos: int) -> tuple[AlterClientQuotasRequest, int]:
    o = AlterClientQuotasRequest.__new__(AlterClientQuotasRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("entries")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.entries, pos = _decode_entry_data_v0(buf, pos, n)
    (o.validate_only,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    return o, pos


def _encode_alter_client_quotas_request_v0(out: bytearray, o: AlterClientQuotasRequest) -> None:
    out += pack_i(len(o.entries))
    _encode_entry_data_v0(out, o.entries)
    out += pack_o(o.validate_only)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_alter_client_quotas_request_v1(buf: Buffer, pos: int) -> tuple[AlterClientQuotasRequest, int]:
    o = AlterClientQuotasRequest.__new__(AlterClientQuotasRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("entries")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.entries, pos = _decode_entry_data_v1(buf, pos, n)
    (o.validate_only,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_client_quotas_request_v1(out: bytearray, o: AlterClientQuotasRequest) -> None:
    n = len(o.entries) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_entry_data_v1(out, o.entries)
    out += pack_o(o.validate_only)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterClientQuotasRequest.DECODERS = {
    0: _decode_alter_client_quotas_request_v0,
    1: _decode_alter_client_quotas_request_v1,
}
AlterClientQuotasRequest.ENCODERS = {
    0: _encode_alter_client_quotas_request_v0,
    1: _encode_alter_client_quotas_request_v1,
}
