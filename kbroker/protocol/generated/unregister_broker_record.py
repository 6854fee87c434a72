"""UnregisterBrokerRecord, version 0.

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


class UnregisterBrokerRecord(Message):
    """UnregisterBrokerRecord, version 0."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "unknown_tags",
    )
    NAME = "UnregisterBrokerRecord"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags: UnknownTags = None


def _decode_unregister_broker_record_v0(buf: Buffer, pos: int) -> tuple[UnregisterBrokerRecord, int]:
    o = UnregisterBrokerRecord.__new__(UnregisterBrokerRecord)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_unregister_broker_record_v0(out: bytearray, o: UnregisterBrokerRecord) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UnregisterBrokerRecord.DECODERS = {
    0: _decode_unregister_broker_record_v0,
}
UnregisterBrokerRecord.ENCODERS = {
    0: _encode_unregister_broker_record_v0,
}
