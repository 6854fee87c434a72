"""SnapshotFooterRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    write_tags,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class SnapshotFooterRecord(Message):
    """SnapshotFooterRecord, version 0."""

    __slots__ = (
        "version",
        "unknown_tags",
    )
    NAME = "SnapshotFooterRecord"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        version: int = 0,
    ) -> None:
        self.version = version
        self.unknown_tags: UnknownTags = None


def _decode_snapshot_footer_record_v0(buf: Buffer, pos: int) -> tuple[SnapshotFooterRecord, int]:
    o = SnapshotFooterRecord.__new__(SnapshotFooterRecord)
    (o.version,) = unpack_h(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_snapshot_footer_record_v0(out: bytearray, o: SnapshotFooterRecord) -> None:
    out += pack_h(o.version)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


SnapshotFooterRecord.DECODERS = {
    0: _decode_snapshot_footer_record_v0,
}
SnapshotFooterRecord.ENCODERS = {
    0: _encode_snapshot_footer_record_v0,
}
