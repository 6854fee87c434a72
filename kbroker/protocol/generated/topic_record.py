"""TopicRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from


class TopicRecord(Message):
    """TopicRecord, version 0."""

    __slots__ = (
        "name",
        "topic_id",
        "unknown_tags",
    )
    NAME = "TopicRecord"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tags: UnknownTags = None


def _decode_topic_record_v0(buf: Buffer, pos: int) -> tuple[TopicRecord, int]:
    o = TopicRecord.__new__(TopicRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.name, pos = read_compact_string(buf, pos)
    (o.topic_id,) = unpack_16s(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_topic_record_v0(out: bytearray, o: TopicRecord) -> None:
    write_compact_string(out, o.name)
    out += pack_16s(o.topic_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


TopicRecord.DECODERS = {
    0: _decode_topic_record_v0,
}
TopicRecord.ENCODERS = {
    0: _encode_topic_record_v0,
}
