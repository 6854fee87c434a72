"""IncrementalAlterConfigsRequest, versions 0 to 1.

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

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class AlterableConfig(Struct):
    """Part of IncrementalAlterConfigsRequest."""

    __slots__ = (
        "name",
        "config_operation",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name = name
        self.config_operation = config_operation
        self.value = value
        self.unknown_tags: UnknownTags = None


class AlterConfigsResource(Struct):
    """Part of IncrementalAlterConfigsRequest."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = UNSET,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs: list[AlterableConfig] = [] if configs is UNSET else configs
        self.unknown_tags: UnknownTags = None


class IncrementalAlterConfigsRequest(Message):
    """IncrementalAlterConfigsRequest, versions 0 to 1."""

    __slots__ = (
        "resources",
        "validate_only",
        "unknown_tags",
    )
    NAME = "IncrementalAlterConfigsRequest"
    API_KEY = 44
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        resources: list[AlterConfigsResource] = UNSET,
        validate_only: bool = False,
    ) -> None:
        self.resources: list[AlterConfigsResource] = [] if resources is UNSET else resources
        self.validate_only = validate_only
        self.unknown_tags: UnknownTags = None


def _decode_alterable_config_v0(buf: Buffer, pos: int, count: int) -> tuple[list[AlterableConfig], int]:
    items: list[AlterableConfig] = []
    for _ in range(count):
        o = AlterableConfig.__new__(AlterableConfig)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.config_operation, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.value = None
        else:
            end = pos + n
            o.value = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_alterable_config_v0(out: bytearray, items: Iterable[AlterableConfig]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.value is None else o.value.encode()
        out += pack_bh(o.config_operation, -1 if o.value is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alterable_config_v1(buf: Buffer, pos: int, count: int) -> tuple[list[AlterableConfig], int]:
    items: list[AlterableConfig] = []
    for _ in range(count):
        o = AlterableConfig.__new__(AlterableConfig)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.config_operation,) = unpack_b(buf, pos)
        pos += 1
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
    return items, pos


def _encode_alterable_config_v1(out: bytearray, items: Iterable[AlterableConfig]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_b(o.config_operation)
        write_compact_nullable_string(out, o.value)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_configs_resource_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterConfigsResource], int]:
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        o = AlterConfigsResource.__new__(AlterConfigsResource)
        items.append(o)
        o.resource_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise null_field("resourceName")
        end = pos + n
        o.resource_name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("configs")
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_alterable_config_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_alter_configs_resource_v0(out: bytearray, items: Iterable[AlterConfigsResource]) -> None:
    for o in items:
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_i(len(o.configs))
        _encode_alterable_config_v0(out, o.configs)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alter_configs_resource_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterConfigsResource], int]:
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        o = AlterConfigsResource.__new__(AlterConfigsResource)
        items.append(o)
        (o.resource_type,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.resource_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.resource_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("configs")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_alterable_config_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_configs_resource_v1(out: bytearray, items: Iterable[AlterConfigsResource]) -> None:
    for o in items:
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        n = len(o.configs) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_alterable_config_v1(out, o.configs)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_incremental_alter_configs_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[IncrementalAlterConfigsRequest, int]:
    o = IncrementalAlterConfigsRequest.__new__(IncrementalAlterConfigsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("resources")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_alter_configs_resource_v0(buf, pos, n)
    (o.validate_only,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    return o, pos


def _encode_incremental_alter_configs_request_v0(out: bytearray, o: IncrementalAlterConfigsRequest) -> None:
    out += pack_i(len(o.resources))
    _encode_alter_configs_resource_v0(out, o.resources)
    out += pack_o(o.validate_only)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_incremental_alter_configs_request_v1(
    buf: Buffer,
    pos: int,
) -> tuple[IncrementalAlterConfigsRequest, int]:
    o = IncrementalAlterConfigsRequest.__new__(IncrementalAlterConfigsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("resources")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resources, pos = _decode_alter_configs_resource_v1(buf, pos, n)
    (o.validate_only,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_incremental_alter_configs_request_v1(out: bytearray, o: IncrementalAlterConfigsRequest) -> None:
    n = len(o.resources) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_alter_configs_resource_v1(out, o.resources)
    out += pack_o(o.validate_only)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


IncrementalAlterConfigsRequest.DECODERS = {
    0: _decode_incremental_alter_configs_request_v0,
    1: _decode_incremental_alter_configs_request_v1,
}
IncrementalAlterConfigsRequest.ENCODERS = {
    0: _encode_incremental_alter_configs_request_v0,
    1: _encode_incremental_alter_configs_request_v1,
}
