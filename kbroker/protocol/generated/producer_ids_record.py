"""ProducerIdsRecord, version 0.

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

pack_iqq = Layout(">iqq").pack
unpack_iqq = Layout(">iqq").unpack_from


class ProducerIdsRecord(Message):
    """ProducerIdsRecord, version 0."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "next_producer_id",
        "unknown_tags",
    )
    NAME = "ProducerIdsRecord"
    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.next_producer_id = next_producer_id
        self.unknown_tags: UnknownTags = None


def _decode_producer_ids_record_v0(buf: Buffer, pos: int) -> tuple[ProducerIdsRecord, int]:
    o = ProducerIdsRecord.__new__(ProducerIdsRecord)
    o.broker_id, o.broker_epoch, o.next_producer_id = unpack_iqq(buf, pos)
    pos += 20
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_producer_ids_record_v0(out: bytearray, o: ProducerIdsRecord) -> None:
    out += pack_iqq(o.broker_id, o.broker_epoch, o.next_producer_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ProducerIdsRecord.DECODERS = {
    0: _decode_producer_ids_record_v0,
}
ProducerIdsRecord.ENCODERS = {
    0: _encode_producer_ids_record_v0,
}
