"""ShareGroupMetadataKey, version 0.

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


class ShareGroupMetadataKey(Message):
    """ShareGroupMetadataKey, version 0."""

    __slots__ = ("group_id",)
    NAME = "ShareGroupMetadataKey"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _decode_share_group_metadata_key_v0(buf: Buffer, pos: int) -> tuple[ShareGroupMetadataKey, int]:
    o = ShareGroupMetadataKey.__new__(ShareGroupMetadataKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    return o, pos


def _encode_share_group_metadata_key_v0(out: bytearray, o: ShareGroupMetadataKey) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw


ShareGroupMetadataKey.DECODERS = {
    0: _decode_share_group_metadata_key_v0,
}
ShareGroupMetadataKey.ENCODERS = {
    0: _encode_share_group_metadata_key_v0,
}
