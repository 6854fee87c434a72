"""UpdateFeaturesRequest, versions 0 to 2.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_hb = Layout(">hb").pack
unpack_hb = Layout(">hb").unpack_from
pack_ho = Layout(">h?").pack
unpack_ho = Layout(">h?").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class FeatureUpdateKey(Struct):
    """Part of UpdateFeaturesRequest."""

    __slots__ = (
        "feature",
        "max_version_level",
        "allow_downgrade",
        "upgrade_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,  # version 0
        upgrade_type: int = 1,  # versions 1 to 2
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type
        self.unknown_tags: UnknownTags = None


class UpdateFeaturesRequest(Message):
    """UpdateFeaturesRequest, versions 0 to 2."""

    __slots__ = (
        "timeout_ms",
        "feature_updates",
        "validate_only",
        "unknown_tags",
    )
    NAME = "UpdateFeaturesRequest"
    API_KEY = 57
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = UNSET,
        validate_only: bool = False,  # versions 1 to 2
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates: list[FeatureUpdateKey] = [] if feature_updates is UNSET else feature_updates
        self.validate_only = validate_only
        self.unknown_tags: UnknownTags = None


def _decode_feature_update_key_v0(buf: Buffer, pos: int, count: int) -> tuple[list[FeatureUpdateKey], int]:
    items: list[FeatureUpdateKey] = []
    for _ in range(count):
        o = FeatureUpdateKey.__new__(FeatureUpdateKey)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.feature = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.feature, pos = read_compact_string(buf, pos)
        o.max_version_level, o.allow_downgrade = unpack_ho(buf, pos)
        pos += 3
        o.upgrade_type = 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_feature_update_key_v0(out: bytearray, items: Iterable[FeatureUpdateKey]) -> None:
    for o in items:
        if o.upgrade_type != 1:
            raise not_in_version("upgradeType")
        write_compact_string(out, o.feature)
        out += pack_ho(o.max_version_level, o.allow_downgrade)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_feature_update_key_v1(buf: Buffer, pos: int, count: int) -> tuple[list[FeatureUpdateKey], int]:
    items: list[FeatureUpdateKey] = []
    for _ in range(count):
        o = FeatureUpdateKey.__new__(FeatureUpdateKey)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.feature = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.feature, pos = read_compact_string(buf, pos)
        o.max_version_level, o.upgrade_type = unpack_hb(buf, pos)
        pos += 3
        o.allow_downgrade = False
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_feature_update_key_v1(out: bytearray, items: Iterable[FeatureUpdateKey]) -> None:
    for o in items:
        if o.allow_downgrade:
            raise not_in_version("allowDowngrade")
        write_compact_string(out, o.feature)
        out += pack_hb(o.max_version_level, o.upgrade_type)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_features_request_v0(buf: Buffer, pos: int) -> tuple[UpdateFeaturesRequest, int]:
    o = UpdateFeaturesRequest.__new__(UpdateFeaturesRequest)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("featureUpdates")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.feature_updates, pos = _decode_feature_update_key_v0(buf, pos, n)
    o.validate_only = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_update_features_request_v0(out: bytearray, o: UpdateFeaturesRequest) -> None:
    if o.validate_only:
        raise not_in_version("validateOnly")
    out += pack_i(o.timeout_ms)
    n = len(o.feature_updates) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_feature_update_key_v0(out, o.feature_updates)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_update_features_request_v1(buf: Buffer, pos: int) -> tuple[UpdateFeaturesRequest, int]:
    o = UpdateFeaturesRequest.__new__(UpdateFeaturesRequest)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("featureUpdates")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.feature_updates, pos = _decode_feature_update_key_v1(buf, pos, n)
    (o.validate_only,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_update_features_request_v1(out: bytearray, o: UpdateFeaturesRequest) -> None:
    out += pack_i(o.timeout_ms)
    n = len(o.feature_updates) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_feature_update_key_v1(out, o.feature_updates)
    out += pack_o(o.validate_only)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UpdateFeaturesRequest.DECODERS = {
    0: _decode_update_features_request_v0,
    1: _decode_update_features_request_v1,
    2: _decode_update_features_request_v1,
}
UpdateFeaturesRequest.ENCODERS = {
    0: _encode_update_features_request_v0,
    1: _encode_update_features_request_v1,
    2: _encode_update_features_request_v1,
}
