"""RemoveAccessControlEntryRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    read_unknown_tags,
    write_tags,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from


class RemoveAccessControlEntryRecord(Message):
    """RemoveAccessControlEntryRecord, version 0."""

    __slots__ = (
        "id",
        "unknown_tags",
    )
    NAME = "RemoveAccessControlEntryRecord"
    API_KEY = 19
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
    ) -> None:
        self.id = id
        self.unknown_tags: UnknownTags = None


def _decode_remove_access_control_entry_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[RemoveAccessControlEntryRecord, int]:
    o = RemoveAccessControlEntryRecord.__new__(RemoveAccessControlEntryRecord)
    (o.id,) = unpack_16s(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remove_access_control_entry_record_v0(out: bytearray, o: RemoveAccessControlEntryRecord) -> None:
    out += pack_16s(o.id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemoveAccessControlEntryRecord.DECODERS = {
    0: _decode_remove_access_control_entry_record_v0,
}
RemoveAccessControlEntryRecord.ENCODERS = {
    0: _encode_remove_access_control_entry_record_v0,
}
