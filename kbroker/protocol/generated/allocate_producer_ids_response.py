"""AllocateProducerIdsResponse, version 0.

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

pack_ihqi = Layout(">ihqi").pack
unpack_ihqi = Layout(">ihqi").unpack_from


class AllocateProducerIdsResponse(Message):
    """AllocateProducerIdsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id_start",
        "producer_id_len",
        "unknown_tags",
    )
    NAME = "AllocateProducerIdsResponse"
    API_KEY = 67
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len
        self.unknown_tags: UnknownTags = None


def _decode_allocate_producer_ids_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AllocateProducerIdsResponse, int]:
    o = AllocateProducerIdsResponse.__new__(AllocateProducerIdsResponse)
    o.throttle_time_ms, o.error_code, o.producer_id_start, o.producer_id_len = unpack_ihqi(buf, pos)
    pos += 18
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_allocate_producer_ids_response_v0(out: bytearray, o: AllocateProducerIdsResponse) -> None:
    out += pack_ihqi(o.throttle_time_ms, o.error_code, o.producer_id_start, o.producer_id_len)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AllocateProducerIdsResponse.DECODERS = {
    0: _decode_allocate_producer_ids_response_v0,
}
AllocateProducerIdsResponse.ENCODERS = {
    0: _encode_allocate_producer_ids_response_v0,
}
