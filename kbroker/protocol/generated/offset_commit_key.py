"""OffsetCommitKey, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    null_field,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class OffsetCommitKey(Message):
    """OffsetCommitKey, version 0."""

    __slots__ = (
        "group",
        "topic",
        "partition",
    )
    NAME = "OffsetCommitKey"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition


def _decode_offset_commit_key_v0(buf: Buffer, pos: int) -> tuple[OffsetCommitKey, int]:
    o = OffsetCommitKey.__new__(OffsetCommitKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("group")
    end = pos + n
    o.group = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("topic")
    end = pos + n
    o.topic = str(buf[pos:end], "utf-8")
    pos = end
    (o.partition,) = unpack_i(buf, pos)
    pos += 4
    return o, pos


def _encode_offset_commit_key_v0(out: bytearray, o: OffsetCommitKey) -> None:
    raw = o.group.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.topic.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(o.partition)


OffsetCommitKey.DECODERS = {
    0: _decode_offset_commit_key_v0,
}
OffsetCommitKey.ENCODERS = {
    0: _encode_offset_commit_key_v0,
}
