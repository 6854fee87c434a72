"""UnregisterBrokerRequest, version 0.

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

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class UnregisterBrokerRequest(Message):
    """UnregisterBrokerRequest, version 0."""

    __slots__ = (
        "broker_id",
        "unknown_tags",
    )
    NAME = "UnregisterBrokerRequest"
    API_KEY = 64
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.unknown_tags: UnknownTags = None


def _decode_unregister_broker_request_v0(buf: Buffer, pos: int) -> tuple[UnregisterBrokerRequest, int]:
    o = UnregisterBrokerRequest.__new__(UnregisterBrokerRequest)
    (o.broker_id,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_unregister_broker_request_v0(out: bytearray, o: UnregisterBrokerRequest) -> None:
    out += pack_i(o.broker_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UnregisterBrokerRequest.DECODERS = {
    0: _decode_unregister_broker_request_v0,
}
UnregisterBrokerRequest.ENCODERS = {
    0: _encode_unregister_broker_request_v0,
}
