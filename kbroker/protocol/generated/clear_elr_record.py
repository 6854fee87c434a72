"""ClearElrRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)


class ClearElrRecord(Message):
    """ClearElrRecord, version 0."""

    __slots__ = (
        "topic_name",
        "unknown_tags",
    )
    NAME = "ClearElrRecord"
    API_KEY = 28
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name
        self.unknown_tags: UnknownTags = None


def _decode_clear_elr_record_v0(buf: Buffer, pos: int) -> tuple[ClearElrRecord, int]:
    o = ClearElrRecord.__new__(ClearElrRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.topic_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.topic_name, pos = read_compact_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_clear_elr_record_v0(out: bytearray, o: ClearElrRecord) -> None:
    write_compact_string(out, o.topic_name)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ClearElrRecord.DECODERS = {
    0: _decode_clear_elr_record_v0,
}
ClearElrRecord.ENCODERS = {
    0: _encode_clear_elr_record_v0,
}
