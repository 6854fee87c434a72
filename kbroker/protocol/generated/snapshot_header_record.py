"""SnapshotHeaderRecord, version 0.

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

pack_hq = Layout(">hq").pack
unpack_hq = Layout(">hq").unpack_from


class SnapshotHeaderRecord(Message):
    """SnapshotHeaderRecord, version 0."""

    __slots__ = (
        "version",
        "last_contained_log_timestamp",
        "unknown_tags",
    )
    NAME = "SnapshotHeaderRecord"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp
        self.unknown_tags: UnknownTags = None


def _decode_snapshot_header_record_v0(buf: Buffer, pos: int) -> tuple[SnapshotHeaderRecord, int]:
    o = SnapshotHeaderRecord.__new__(SnapshotHeaderRecord)
    o.version, o.last_contained_log_timestamp = unpack_hq(buf, pos)
    pos += 10
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_snapshot_header_record_v0(out: bytearray, o: SnapshotHeaderRecord) -> None:
    out += pack_hq(o.version, o.last_contained_log_timestamp)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


SnapshotHeaderRecord.DECODERS = {
    0: _decode_snapshot_header_record_v0,
}
SnapshotHeaderRecord.ENCODERS = {
    0: _encode_snapshot_header_record_v0,
}
