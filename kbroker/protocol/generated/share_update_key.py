"""ShareUpdateKey, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    ZERO_UUID,
    null_field,
)

pack_16si = Layout(">16si").pack
unpack_16si = Layout(">16si").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class ShareUpdateKey(Message):
    """ShareUpdateKey, version 0."""

    __slots__ = (
        "group_id",
        "topic_id",
        "partition",
    )
    NAME = "ShareUpdateKey"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group_id: str = "",
        topic_id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition


def _decode_share_update_key_v0(buf: Buffer, pos: int) -> tuple[ShareUpdateKey, int]:
    o = ShareUpdateKey.__new__(ShareUpdateKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.topic_id, o.partition = unpack_16si(buf, pos)
    pos += 20
    return o, pos


def _encode_share_update_key_v0(out: bytearray, o: ShareUpdateKey) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_16si(o.topic_id, o.partition)


ShareUpdateKey.DECODERS = {
    0: _decode_share_update_key_v0,
}
ShareUpdateKey.ENCODERS = {
    0: _encode_share_update_key_v0,
}
