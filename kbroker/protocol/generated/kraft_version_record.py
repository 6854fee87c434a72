"""KRaftVersionRecord, version 0.

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

pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from


class KRaftVersionRecord(Message):
    """KRaftVersionRecord, version 0."""

    __slots__ = (
        "version",
        "kraft_version",
        "unknown_tags",
    )
    NAME = "KRaftVersionRecord"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        version: int = 0,
        kraft_version: int = 0,
    ) -> None:
        self.version = version
        self.kraft_version = kraft_version
        self.unknown_tags: UnknownTags = None


def _decode_kraft_version_record_v0(buf: Buffer, pos: int) -> tuple[KRaftVersionRecord, int]:
    o = KRaftVersionRecord.__new__(KRaftVersionRecord)
    o.version, o.kraft_version = unpack_hh(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_kraft_version_record_v0(out: bytearray, o: KRaftVersionRecord) -> None:
    out += pack_hh(o.version, o.kraft_version)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


KRaftVersionRecord.DECODERS = {
    0: _decode_kraft_version_record_v0,
}
KRaftVersionRecord.ENCODERS = {
    0: _encode_kraft_version_record_v0,
}
