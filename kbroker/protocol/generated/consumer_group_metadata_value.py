"""ConsumerGroupMetadataValue, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    bad_tag_size,
    read_tag,
    read_tag_count,
    write_tags,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class ConsumerGroupMetadataValue(Message):
    """ConsumerGroupMetadataValue, version 0."""

    __slots__ = (
        "epoch",
        "metadata_hash",
        "unknown_tags",
    )
    NAME = "ConsumerGroupMetadataValue"
    API_KEY = 3
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


def _decode_consumer_group_metadata_value_v0(buf: Buffer, pos: int) -> tuple[ConsumerGroupMetadataValue, int]:
    o = ConsumerGroupMetadataValue.__new__(ConsumerGroupMetadataValue)
    (o.epoch,) = unpack_i(buf, pos)
    pos += 4
    o.metadata_hash = 0
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_consumer_group_metadata_value_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_consumer_group_metadata_value_v0(buf: Buffer, pos: int, o: ConsumerGroupMetadataValue) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.metadata_hash,) = unpack_q(buf, pos)
            pos += 8
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_consumer_group_metadata_value_v0(out: bytearray, o: ConsumerGroupMetadataValue) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.metadata_hash != 0:
        part = bytearray()
        part += pack_q(o.metadata_hash)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_consumer_group_metadata_value_v0(out: bytearray, o: ConsumerGroupMetadataValue) -> None:
    out += pack_i(o.epoch)
    if o.unknown_tags or o.metadata_hash != 0:
        _write_tags_of_consumer_group_metadata_value_v0(out, o)
    else:
        out.append(0)


ConsumerGroupMetadataValue.DECODERS = {
    0: _decode_consumer_group_metadata_value_v0,
}
ConsumerGroupMetadataValue.ENCODERS = {
    0: _encode_consumer_group_metadata_value_v0,
}
