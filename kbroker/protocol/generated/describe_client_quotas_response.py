"""DescribeClientQuotasResponse, versions 0 to 1.

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

pack_d = Layout(">d").pack
unpack_d = Layout(">d").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihh = Layout(">ihh").pack
unpack_ihh = Layout(">ihh").unpack_from


class ValueData(Struct):
    """Part of DescribeClientQuotasResponse."""

    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags: UnknownTags = None


class EntityData(Struct):
    """Part of DescribeClientQuotasResponse."""

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
    """Part of DescribeClientQuotasResponse."""

    __slots__ = (
        "entity",
        "values",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity: list[EntityData] = UNSET,
        values: list[ValueData] = UNSET,
    ) -> None:
        self.entity: list[EntityData] = [] if entity is UNSET else entity
        self.values: list[ValueData] = [] if values is UNSET else values
        self.unknown_tags: UnknownTags = None


class DescribeClientQuotasResponse(Message):
    """DescribeClientQuotasResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "entries",
        "unknown_tags",
    )
    NAME = "DescribeClientQuotasResponse"
    API_KEY = 48
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries: list[EntryData] | None = [] if entries is UNSET else entries
        self.unknown_tags: UnknownTags = None


def _decode_value_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ValueData], int]:
    items: list[ValueData] = []
    for _ in range(count):
        o = ValueData.__new__(ValueData)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("key")
        end = pos + n
        o.key = str(buf[pos:end], "utf-8")
        pos = end
        (o.value,) = unpack_d(buf, pos)
        pos += 8
        o.unknown_tags = None
    return items, pos


def _encode_value_data_v0(out: bytearray, items: Iterable[ValueData]) -> None:
    for o in items:
        raw = o.key.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_d(o.value)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_value_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[ValueData], int]:
    items: list[ValueData] = []
    for _ in range(count):
        o = ValueData.__new__(ValueData)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.key = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.key, pos = read_compact_string(buf, pos)
        (o.value,) = unpack_d(buf, pos)
        pos += 8
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_value_data_v1(out: bytearray, items: Iterable[ValueData]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        out += pack_d(o.value)
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
            raise null_field("values")
        if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.values, pos = _decode_value_data_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_entry_data_v0(out: bytearray, items: Iterable[EntryData]) -> None:
    for o in items:
        out += pack_i(len(o.entity))
        _encode_entity_data_v0(out, o.entity)
        out += pack_i(len(o.values))
        _encode_value_data_v0(out, o.values)
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
            raise null_field("values")
        if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.values, pos = _decode_value_data_v1(buf, pos, n)
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
        n = len(o.values) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_value_data_v1(out, o.values)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_client_quotas_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeClientQuotasResponse, int]:
    o = DescribeClientQuotasResponse.__new__(DescribeClientQuotasResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihh(buf, pos)
    pos += 8
    if n < 0:
        o.error_message = None
    else:
        end = pos + n
        o.error_message = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.entries = None
    else:
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.entries, pos = _decode_entry_data_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_client_quotas_response_v0(out: bytearray, o: DescribeClientQuotasResponse) -> None:
    raw = b"" if o.error_message is None else o.error_message.encode()
    out += pack_ihh(o.throttle_time_ms, o.error_code, -1 if o.error_message is None else len(raw))
    out += raw
    out += pack_i(-1 if o.entries is None else len(o.entries))
    if o.entries:
        _encode_entry_data_v0(out, o.entries)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_client_quotas_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeClientQuotasResponse, int]:
    o = DescribeClientQuotasResponse.__new__(DescribeClientQuotasResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
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
        o.entries = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.entries, pos = _decode_entry_data_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_client_quotas_response_v1(out: bytearray, o: DescribeClientQuotasResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    if o.entries is None:
        out.append(0)
    else:
        n = len(o.entries) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_entry_data_v1(out, o.entries)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeClientQuotasResponse.DECODERS = {
    0: _decode_describe_client_quotas_response_v0,
    1: _decode_describe_client_quotas_response_v1,
}
DescribeClientQuotasResponse.ENCODERS = {
    0: _encode_describe_client_quotas_response_v0,
    1: _encode_describe_client_quotas_response_v1,
}
