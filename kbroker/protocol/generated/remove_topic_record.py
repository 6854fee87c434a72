"""RemoveTopicRecord, version 0.

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


class RemoveTopicRecord(Message):
    """RemoveTopicRecord, version 0."""

    __slots__ = (
        "topic_id",
        "unknown_tags",
    )
    NAME = "RemoveTopicRecord"
    API_KEY = 9
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.topic_id = topic_id
        self.unknown_tags: UnknownTags = None


def _decode_remove_topic_record_v0(buf: Buffer, pos: int) -> tuple[RemoveTopicRecord, int]:
    o = RemoveTopicRecord.__new__(RemoveTopicRecord)
    (o.topic_id,) = unpack_16s(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remove_topic_record_v0(out: bytearray, o: RemoveTopicRecord) -> None:
    out += pack_16s(o.topic_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemoveTopicRecord.DECODERS = {
    0: _decode_remove_topic_record_v0,
}
RemoveTopicRecord.ENCODERS = {
    0: _encode_remove_topic_record_v0,
}
