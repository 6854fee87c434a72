"""GroupMetadataKey, version 0.

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


class GroupMetadataKey(Message):
    """GroupMetadataKey, version 0."""

    __slots__ = ("group",)
    NAME = "GroupMetadataKey"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group: str = "",
    ) -> None:
        self.group = group


def _decode_group_metadata_key_v0(buf: Buffer, pos: int) -> tuple[GroupMetadataKey, int]:
    o = GroupMetadataKey.__new__(GroupMetadataKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("group")
    end = pos + n
    o.group = str(buf[pos:end], "utf-8")
    pos = end
    return o, pos


def _encode_group_metadata_key_v0(out: bytearray, o: GroupMetadataKey) -> None:
    raw = o.group.encode()
    out += pack_h(len(raw))
    out += raw


GroupMetadataKey.DECODERS = {
    0: _decode_group_metadata_key_v0,
}
GroupMetadataKey.ENCODERS = {
    0: _encode_group_metadata_key_v0,
}
