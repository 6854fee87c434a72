"""ApiVersionsResponse, versions 0 to 5.

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
    bad_tag_size,
    not_in_version,
    null_field,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3h = Layout(">3h").pack
unpack_3h = Layout(">3h").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class FinalizedFeatureKey(Struct):
    """Part of ApiVersionsResponse."""

    __slots__ = (
        "name",
        "max_version_level",
        "min_version_level",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 3 to 5
        max_version_level: int = 0,  # versions 3 to 5
        min_version_level: int = 0,  # versions 3 to 5
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level
        self.unknown_tags: UnknownTags = None


class SupportedFeatureKey(Struct):
    """Part of ApiVersionsResponse."""

    __slots__ = (
        "name",
        "min_version",
        "max_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 3 to 5
        min_version: int = 0,  # versions 3 to 5
        max_version: int = 0,  # versions 3 to 5
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tags: UnknownTags = None


class ApiVersion(Struct):
    """Part of ApiVersionsResponse."""

    __slots__ = (
        "api_key",
        "min_version",
        "max_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tags: UnknownTags = None


class ApiVersionsResponse(Message):
    """ApiVersionsResponse, versions 0 to 5."""

    __slots__ = (
        "error_code",
        "api_keys",
        "throttle_time_ms",
        "supported_features",
        "finalized_features_epoch",
        "finalized_features",
        "zk_migration_ready",
        "unknown_tags",
    )
    NAME = "ApiVersionsResponse"
    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: list[ApiVersion] = UNSET,
        throttle_time_ms: int = 0,  # versions 1 to 5
        supported_features: list[SupportedFeatureKey] = UNSET,  # versions 3 to 5
        finalized_features_epoch: int = -1,  # versions 3 to 5
        finalized_features: list[FinalizedFeatureKey] = UNSET,  # versions 3 to 5
        zk_migration_ready: bool = False,  # versions 3 to 5
    ) -> None:
        self.error_code = error_code
        self.api_keys: list[ApiVersion] = [] if api_keys is UNSET else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features: list[SupportedFeatureKey] = (
            [] if supported_features is UNSET else supported_features
        )
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features: list[FinalizedFeatureKey] = (
            [] if finalized_features is UNSET else finalized_features
        )
        self.zk_migration_ready = zk_migration_ready
        self.unknown_tags: UnknownTags = None


def _decode_finalized_feature_key_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FinalizedFeatureKey], int]:
    items: list[FinalizedFeatureKey] = []
    for _ in range(count):
        o = FinalizedFeatureKey.__new__(FinalizedFeatureKey)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.max_version_level, o.min_version_level = unpack_hh(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_finalized_feature_key_v3(out: bytearray, items: Iterable[FinalizedFeatureKey]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_hh(o.max_version_level, o.min_version_level)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_supported_feature_key_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[SupportedFeatureKey], int]:
    items: list[SupportedFeatureKey] = []
    for _ in range(count):
        o = SupportedFeatureKey.__new__(SupportedFeatureKey)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.min_version, o.max_version = unpack_hh(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_supported_feature_key_v3(out: bytearray, items: Iterable[SupportedFeatureKey]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_hh(o.min_version, o.max_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_api_version_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ApiVersion], int]:
    items: list[ApiVersion] = []
    for _ in range(count):
        o = ApiVersion.__new__(ApiVersion)
        items.append(o)
        o.api_key, o.min_version, o.max_version = unpack_3h(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_api_version_v0(out: bytearray, items: Iterable[ApiVersion]) -> None:
    for o in items:
        out += pack_3h(o.api_key, o.min_version, o.max_version)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_api_version_v3(buf: Buffer, pos: int, count: int) -> tuple[list[ApiVersion], int]:
    items: list[ApiVersion] = []
    for _ in range(count):
        o = ApiVersion.__new__(ApiVersion)
        items.append(o)
        o.api_key, o.min_version, o.max_version = unpack_3h(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_api_version_v3(out: bytearray, items: Iterable[ApiVersion]) -> None:
    for o in items:
        out += pack_3h(o.api_key, o.min_version, o.max_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_api_versions_response_v0(buf: Buffer, pos: int) -> tuple[ApiVersionsResponse, int]:
    o = ApiVersionsResponse.__new__(ApiVersionsResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("apiKeys")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.api_keys, pos = _decode_api_version_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.supported_features = []
    o.finalized_features_epoch = -1
    o.finalized_features = []
    o.zk_migration_ready = False
    o.unknown_tags = None
    return o, pos


def _encode_api_versions_response_v0(out: bytearray, o: ApiVersionsResponse) -> None:
    out += pack_hi(o.error_code, len(o.api_keys))
    _encode_api_version_v0(out, o.api_keys)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_api_versions_response_v1(buf: Buffer, pos: int) -> tuple[ApiVersionsResponse, int]:
    o = ApiVersionsResponse.__new__(ApiVersionsResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("apiKeys")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.api_keys, pos = _decode_api_version_v0(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.supported_features = []
    o.finalized_features_epoch = -1
    o.finalized_features = []
    o.zk_migration_ready = False
    o.unknown_tags = None
    return o, pos


def _encode_api_versions_response_v1(out: bytearray, o: ApiVersionsResponse) -> None:
    out += pack_hi(o.error_code, len(o.api_keys))
    _encode_api_version_v0(out, o.api_keys)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_api_versions_response_v3(buf: Buffer, pos: int) -> tuple[ApiVersionsResponse, int]:
    o = ApiVersionsResponse.__new__(ApiVersionsResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("apiKeys")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.api_keys, pos = _decode_api_version_v3(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.supported_features = []
    o.finalized_features_epoch = -1
    o.finalized_features = []
    o.zk_migration_ready = False
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_api_versions_response_v3(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_api_versions_response_v3(buf: Buffer, pos: int, o: ApiVersionsResponse) -> int:
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
                raise null_field("supportedFeatures")
            if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.supported_features, pos = _decode_supported_feature_key_v3(buf, pos, n)
        elif tag == 1:
            (o.finalized_features_epoch,) = unpack_q(buf, pos)
            pos += 8
        elif tag == 2:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                raise null_field("finalizedFeatures")
            if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.finalized_features, pos = _decode_finalized_feature_key_v3(buf, pos, n)
        elif tag == 3:
            (o.zk_migration_ready,) = unpack_o(buf, pos)
            pos += 1
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_api_versions_response_v3(out: bytearray, o: ApiVersionsResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.supported_features:
        part = bytearray()
        n = len(o.supported_features) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_supported_feature_key_v3(part, o.supported_features)
        tags.append((0, part))
    if o.finalized_features_epoch != -1:
        part = bytearray()
        part += pack_q(o.finalized_features_epoch)
        tags.append((1, part))
    if o.finalized_features:
        part = bytearray()
        n = len(o.finalized_features) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_finalized_feature_key_v3(part, o.finalized_features)
        tags.append((2, part))
    if o.zk_migration_ready:
        part = bytearray()
        part += pack_o(o.zk_migration_ready)
        tags.append((3, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_api_versions_response_v3(out: bytearray, o: ApiVersionsResponse) -> None:
    out += pack_h(o.error_code)
    n = len(o.api_keys) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_api_version_v3(out, o.api_keys)
    out += pack_i(o.throttle_time_ms)
    if (
        o.unknown_tags
        or o.supported_features
        or o.finalized_features_epoch != -1
        or o.finalized_features
        or o.zk_migration_ready
    ):
        _write_tags_of_api_versions_response_v3(out, o)
    else:
        out.append(0)


ApiVersionsResponse.DECODERS = {
    0: _decode_api_versions_response_v0,
    1: _decode_api_versions_response_v1,
    2: _decode_api_versions_response_v1,
    3: _decode_api_versions_response_v3,
    4: _decode_api_versions_response_v3,
    5: _decode_api_versions_response_v3,
}
ApiVersionsResponse.ENCODERS = {
    0: _encode_api_versions_response_v0,
    1: _encode_api_versions_response_v1,
    2: _encode_api_versions_response_v1,
    3: _encode_api_versions_response_v3,
    4: _encode_api_versions_response_v3,
    5: _encode_api_versions_response_v3,
}
