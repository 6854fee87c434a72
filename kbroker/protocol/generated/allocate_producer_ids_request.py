"""AllocateProducerIdsRequest, version 0.

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


class AllocateProducerIdsRequest(Message):
    """AllocateProducerIdsRequest, version 0."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "unknown_tags",
    )
    NAME = "AllocateProducerIdsRequest"
    API_KEY = 67
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags: UnknownTags = None


def _decode_allocate_producer_ids_request_v0(buf: Buffer, pos: int) -> tuple[AllocateProducerIdsRequest, int]:
    o = AllocateProducerIdsRequest.__new__(AllocateProducerIdsRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_allocate_producer_ids_request_v0(out: bytearray, o: AllocateProducerIdsRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AllocateProducerIdsRequest.DECODERS = {
    0: _decode_allocate_producer_ids_request_v0,
}
AllocateProducerIdsRequest.ENCODERS = {
    0: _encode_allocate_producer_ids_request_v0,
}
