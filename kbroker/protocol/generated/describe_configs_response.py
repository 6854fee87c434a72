"""DescribeConfigsResponse, versions 0 to 4.

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

pack_3o = Layout(">3?").pack
unpack_3o = Layout(">3?").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bh = Layout(">bh").pack
unpack_bh = Layout(">bh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_obo = Layout(">?b?").pack
unpack_obo = Layout(">?b?").unpack_from
pack_oboi = Layout(">?b?i").pack
unpack_oboi = Layout(">?b?i").unpack_from


class DescribeConfigsSynonym(Struct):
    """Part of DescribeConfigsResponse."""

    __slots__ = (
        "name",
        "value",
        "source",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 1 to 4
        value: str | None = "",  # versions 1 to 4
        source: int = 0,  # versions 1 to 4
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.unknown_tags: UnknownTags = None


class DescribeConfigsResourceResult(Struct):
    """Part of DescribeConfigsResponse."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "is_default",
        "config_source",
        "is_sensitive",
        "synonyms",
        "config_type",
        "documentation",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        is_default: bool = False,  # version 0
        config_source: int = -1,  # versions 1 to 4
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = UNSET,  # versions 1 to 4
        config_type: int = 0,  # versions 3 to 4
        documentation: str | None = "",  # versions 3 to 4
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.is_default = is_default
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms: list[DescribeConfigsSynonym] = [] if synonyms is UNSET else synonyms
        self.config_type = config_type
        self.documentation = documentation
        self.unknown_tags: UnknownTags = None


class DescribeConfigsResult(Struct):
    """Part of DescribeConfigsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs: list[DescribeConfigsResourceResult] = [] if configs is UNSET else configs
        self.unknown_tags: UnknownTags = None


class DescribeConfigsResponse(Message):
    """DescribeConfigsResponse, versions 0 to 4."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tags",
    )
    NAME = "DescribeConfigsResponse"
    API_KEY = 32
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[DescribeConfigsResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_describe_configs_synonym_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsSynonym], int]:
    items: list[DescribeConfigsSynonym] = []
    for _ in range(count):
        o = DescribeConfigsSynonym.__new__(DescribeConfigsSynonym)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            end = pos + n
            o.value = str(buf[pos:end], "utf-8")
            pos = end
        (o.source,) = unpack_b(buf, pos)
        pos += 1
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_synonym_v1(out: bytearray, items: Iterable[DescribeConfigsSynonym]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.value is None else o.value.encode()
        out += pack_h(-1 if o.value is None else len(raw))
        out += raw
        out += pack_b(o.source)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_synonym_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsSynonym], int]:
    items: list[DescribeConfigsSynonym] = []
    for _ in range(count):
        o = DescribeConfigsSynonym.__new__(DescribeConfigsSynonym)
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
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_nullable_string(buf, pos)
        (o.source,) = unpack_b(buf, pos)
        pos += 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_configs_synonym_v4(out: bytearray, items: Iterable[DescribeConfigsSynonym]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_nullable_string(out, o.value)
        out += pack_b(o.source)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_configs_resource_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = DescribeConfigsResourceResult.__new__(DescribeConfigsResourceResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            end = pos + n
            o.value = str(buf[pos:end], "utf-8")
            pos = end
        o.read_only, o.is_default, o.is_sensitive = unpack_3o(buf, pos)
        pos += 3
        o.config_source = -1
        o.synonyms = []
        o.config_type = 0
        o.documentation = ""
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_resource_result_v0(
    out: bytearray,
    items: Iterable[DescribeConfigsResourceResult],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.value is None else o.value.encode()
        out += pack_h(-1 if o.value is None else len(raw))
        out += raw
        out += pack_3o(o.read_only, o.is_default, o.is_sensitive)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_resource_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = DescribeConfigsResourceResult.__new__(DescribeConfigsResourceResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            end = pos + n
            o.value = str(buf[pos:end], "utf-8")
            pos = end
        o.read_only, o.config_source, o.is_sensitive, n = unpack_oboi(buf, pos)
        pos += 7
        if n < 0:
            raise null_field("synonyms")
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.synonyms, pos = _decode_describe_configs_synonym_v1(buf, pos, n)
        o.is_default = False
        o.config_type = 0
        o.documentation = ""
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_resource_result_v1(
    out: bytearray,
    items: Iterable[DescribeConfigsResourceResult],
) -> None:
    for o in items:
        if o.is_default:
            raise not_in_version("isDefault")
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.value is None else o.value.encode()
        out += pack_h(-1 if o.value is None else len(raw))
        out += raw
        out += pack_oboi(o.read_only, o.config_source, o.is_sensitive, len(o.synonyms))
        _encode_describe_configs_synonym_v1(out, o.synonyms)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_resource_result_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = DescribeConfigsResourceResult.__new__(DescribeConfigsResourceResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            end = pos + n
            o.value = str(buf[pos:end], "utf-8")
            pos = end
        o.read_only, o.config_source, o.is_sensitive, n = unpack_oboi(buf, pos)
        pos += 7
        if n < 0:
            raise null_field("synonyms")
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.synonyms, pos = _decode_describe_configs_synonym_v1(buf, pos, n)
        o.config_type, n = unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.documentation = None
        else:
            end = pos + n
            o.documentation = str(buf[pos:end], "utf-8")
            pos = end
        o.is_default = False
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_resource_result_v3(
    out: bytearray,
    items: Iterable[DescribeConfigsResourceResult],
) -> None:
    for o in items:
        if o.is_default:
            raise not_in_version("isDefault")
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.value is None else o.value.encode()
        out += pack_h(-1 if o.value is None else len(raw))
        out += raw
        out += pack_oboi(o.read_only, o.config_source, o.is_sensitive, len(o.synonyms))
        _encode_describe_configs_synonym_v1(out, o.synonyms)
        raw = b"" if o.documentation is None else o.documentation.encode()
        out += pack_bh(o.config_type, -1 if o.documentation is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_resource_result_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = DescribeConfigsResourceResult.__new__(DescribeConfigsResourceResult)
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
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_nullable_string(buf, pos)
        o.read_only, o.config_source, o.is_sensitive = unpack_obo(buf, pos)
        pos += 3
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("synonyms")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.synonyms, pos = _decode_describe_configs_synonym_v4(buf, pos, n)
        (o.config_type,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.documentation = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.documentation, pos = read_compact_nullable_string(buf, pos)
        o.is_default = False
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_configs_resource_result_v4(
    out: bytearray,
    items: Iterable[DescribeConfigsResourceResult],
) -> None:
    for o in items:
        if o.is_default:
            raise not_in_version("isDefault")
        write_compact_string(out, o.name)
        write_compact_nullable_string(out, o.value)
        out += pack_obo(o.read_only, o.config_source, o.is_sensitive)
        n = len(o.synonyms) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_configs_synonym_v4(out, o.synonyms)
        out += pack_b(o.config_type)
        write_compact_nullable_string(out, o.documentation)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_configs_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = DescribeConfigsResult.__new__(DescribeConfigsResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
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
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_describe_configs_resource_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_result_v0(out: bytearray, items: Iterable[DescribeConfigsResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_i(len(o.configs))
        _encode_describe_configs_resource_result_v0(out, o.configs)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = DescribeConfigsResult.__new__(DescribeConfigsResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
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
        if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_describe_configs_resource_result_v1(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_result_v1(out: bytearray, items: Iterable[DescribeConfigsResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_i(len(o.configs))
        _encode_describe_configs_resource_result_v1(out, o.configs)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_result_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = DescribeConfigsResult.__new__(DescribeConfigsResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
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
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_describe_configs_resource_result_v3(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_describe_configs_result_v3(out: bytearray, items: Iterable[DescribeConfigsResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        raw = o.resource_name.encode()
        out += pack_bh(o.resource_type, len(raw))
        out += raw
        out += pack_i(len(o.configs))
        _encode_describe_configs_resource_result_v3(out, o.configs)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_configs_result_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = DescribeConfigsResult.__new__(DescribeConfigsResult)
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
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_describe_configs_resource_result_v4(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_configs_result_v4(out: bytearray, items: Iterable[DescribeConfigsResult]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_b(o.resource_type)
        write_compact_string(out, o.resource_name)
        n = len(o.configs) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_configs_resource_result_v4(out, o.configs)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_configs_response_v0(buf: Buffer, pos: int) -> tuple[DescribeConfigsResponse, int]:
    o = DescribeConfigsResponse.__new__(DescribeConfigsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_configs_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_configs_response_v0(out: bytearray, o: DescribeConfigsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_describe_configs_result_v0(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_configs_response_v1(buf: Buffer, pos: int) -> tuple[DescribeConfigsResponse, int]:
    o = DescribeConfigsResponse.__new__(DescribeConfigsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_configs_result_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_configs_response_v1(out: bytearray, o: DescribeConfigsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_describe_configs_result_v1(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_configs_response_v3(buf: Buffer, pos: int) -> tuple[DescribeConfigsResponse, int]:
    o = DescribeConfigsResponse.__new__(DescribeConfigsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_configs_result_v3(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_describe_configs_response_v3(out: bytearray, o: DescribeConfigsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_describe_configs_result_v3(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_configs_response_v4(buf: Buffer, pos: int) -> tuple[DescribeConfigsResponse, int]:
    o = DescribeConfigsResponse.__new__(DescribeConfigsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_configs_result_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_configs_response_v4(out: bytearray, o: DescribeConfigsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_configs_result_v4(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeConfigsResponse.DECODERS = {
    0: _decode_describe_configs_response_v0,
    1: _decode_describe_configs_response_v1,
    2: _decode_describe_configs_response_v1,
    3: _decode_describe_configs_response_v3,
    4: _decode_describe_configs_response_v4,
}
DescribeConfigsResponse.ENCODERS = {
    0: _encode_describe_configs_response_v0,
    1: _encode_describe_configs_response_v1,
    2: _encode_describe_configs_response_v1,
    3: _encode_describe_configs_response_v3,
    4: _encode_describe_configs_response_v4,
}
