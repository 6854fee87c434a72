"""FeatureLevelRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class FeatureLevelRecord(Message):
    """FeatureLevelRecord, version 0."""

    __slots__ = (
        "name",
        "feature_level",
        "unknown_tags",
    )
    NAME = "FeatureLevelRecord"
    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        name: str = "",
        feature_level: int = 0,
    ) -> None:
        self.name = name
        self.feature_level = feature_level
        self.unknown_tags: UnknownTags = None


def _decode_feature_level_record_v0(buf: Buffer, pos: int) -> tuple[FeatureLevelRecord, int]:
    o = FeatureLevelRecord.__new__(FeatureLevelRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.name, pos = read_compact_string(buf, pos)
    (o.feature_level,) = unpack_h(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_feature_level_record_v0(out: bytearray, o: FeatureLevelRecord) -> None:
    write_compact_string(out, o.name)
    out += pack_h(o.feature_level)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


FeatureLevelRecord.DECODERS = {
    0: _decode_feature_level_record_v0,
}
FeatureLevelRecord.ENCODERS = {
    0: _encode_feature_level_record_v0,
}
