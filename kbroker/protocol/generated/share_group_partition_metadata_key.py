"""ShareGroupPartitionMetadataKey, version 9.

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


class ShareGroupPartitionMetadataKey(Message):
    """ShareGroupPartitionMetadataKey, version 9."""

    __slots__ = ("group_id",)
    NAME = "ShareGroupPartitionMetadataKey"
    API_KEY = 9
    MIN_VERSION = 9
    MAX_VERSION = 9
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _decode_share_group_partition_metadata_key_v9(
    buf: Buffer,
    pos: int,
) -> tuple[ShareGroupPartitionMetadataKey, int]:
    o = ShareGroupPartitionMetadataKey.__new__(ShareGroupPartitionMetadataKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    return o, pos


def _encode_share_group_partition_metadata_key_v9(out: bytearray, o: ShareGroupPartitionMetadataKey) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw


ShareGroupPartitionMetadataKey.DECODERS = {
    9: _decode_share_group_partition_metadata_key_v9,
}
ShareGroupPartitionMetadataKey.ENCODERS = {
    9: _encode_share_group_partition_metadata_key_v9,
}
