"""FenceBrokerRecord, version 0.

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


class FenceBrokerRecord(Message):
    """FenceBrokerRecord, version 0."""

    __slots__ = (
        "id",
        "epoch",
        "unknown_tags",
    )
    NAME = "FenceBrokerRecord"
    API_KEY = 7
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id = id
        self.epoch = epoch
        self.unknown_tags: UnknownTags = None


def _decode_fence_broker_record_v0(buf: Buffer, pos: int) -> tuple[FenceBrokerRecord, int]:
    o = FenceBrokerRecord.__new__(FenceBrokerRecord)
    o.id, o.epoch = unpack_iq(buf, pos)
    pos += 12
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_fence_broker_record_v0(out: bytearray, o: FenceBrokerRecord) -> None:
    out += pack_iq(o.id, o.epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


FenceBrokerRecord.DECODERS = {
    0: _decode_fence_broker_record_v0,
}
FenceBrokerRecord.ENCODERS = {
    0: _encode_fence_broker_record_v0,
}
