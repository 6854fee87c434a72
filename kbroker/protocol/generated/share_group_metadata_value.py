"""ShareGroupMetadataValue, version 0.

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

pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class ShareGroupMetadataValue(Message):
    """ShareGroupMetadataValue, version 0."""

    __slots__ = (
        "epoch",
        "metadata_hash",
        "unknown_tags",
    )
    NAME = "ShareGroupMetadataValue"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.unknown_tags: UnknownTags = None


def _decode_share_group_metadata_value_v0(buf: Buffer, pos: int) -> tuple[ShareGroupMetadataValue, int]:
    o = ShareGroupMetadataValue.__new__(ShareGroupMetadataValue)
    o.epoch, o.metadata_hash = unpack_iq(buf, pos)
    pos += 12
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_metadata_value_v0(out: bytearray, o: ShareGroupMetadataValue) -> None:
    out += pack_iq(o.epoch, o.metadata_hash)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupMetadataValue.DECODERS = {
    0: _decode_share_group_metadata_value_v0,
}
ShareGroupMetadataValue.ENCODERS = {
    0: _encode_share_group_metadata_value_v0,
}
