"""UpdateFeaturesResponse, versions 0 to 2.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class UpdatableFeatureResult(Struct):
    """Part of UpdateFeaturesResponse."""

    __slots__ = (
        "feature",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        feature: str = "",  # versions 0 to 1
        error_code: int = 0,  # versions 0 to 1
        error_message: str | None = "",  # versions 0 to 1
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class UpdateFeaturesResponse(Message):
    """UpdateFeaturesResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
        "unknown_tags",
    )
    NAME = "UpdateFeaturesResponse"
    API_KEY = 57
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = UNSET,  # versions 0 to 1
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results: list[UpdatableFeatureResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_updatable_feature_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdatableFeatureResult], int]:
    items: list[UpdatableFeatureResult] = []
    for _ in range(count):
        o = UpdatableFeatureResult.__new__(UpdatableFeatureResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.feature = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.feature, pos = read_compact_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_updatable_feature_result_v0(out: bytearray, items: Iterable[UpdatableFeatureResult]) -> None:
    for o in items:
        write_compact_string(out, o.feature)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_features_response_v0(buf: Buffer, pos: int) -> tuple[UpdateFeaturesResponse, int]:
    o = UpdateFeaturesResponse.__new__(UpdateFeaturesResponse)
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
        raise null_field("results")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_updatable_feature_result_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_update_features_response_v0(out: bytearray, o: UpdateFeaturesResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_updatable_feature_result_v0(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_update_features_response_v2(buf: Buffer, pos: int) -> tuple[UpdateFeaturesResponse, int]:
    o = UpdateFeaturesResponse.__new__(UpdateFeaturesResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    o.results = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_update_features_response_v2(out: bytearray, o: UpdateFeaturesResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UpdateFeaturesResponse.DECODERS = {
    0: _decode_update_features_response_v0,
    1: _decode_update_features_response_v0,
    2: _decode_update_features_response_v2,
}
UpdateFeaturesResponse.ENCODERS = {
    0: _encode_update_features_response_v0,
    1: _encode_update_features_response_v0,
    2: _encode_update_features_response_v2,
}
