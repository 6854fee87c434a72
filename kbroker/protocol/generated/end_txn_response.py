"""EndTxnResponse, versions 0 to 5.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_unknown_tags,
    write_tags,
)

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihqh = Layout(">ihqh").pack
unpack_ihqh = Layout(">ihqh").unpack_from


class EndTxnResponse(Message):
    """EndTxnResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
        "unknown_tags",
    )
    NAME = "EndTxnResponse"
    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,  # version 5
        producer_epoch: int = -1,  # version 5
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.unknown_tags: UnknownTags = None


def _decode_end_txn_response_v0(buf: Buffer, pos: int) -> tuple[EndTxnResponse, int]:
    o = EndTxnResponse.__new__(EndTxnResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.producer_id = -1
    o.producer_epoch = -1
    o.unknown_tags = None
    return o, pos


def _encode_end_txn_response_v0(out: bytearray, o: EndTxnResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_end_txn_response_v3(buf: Buffer, pos: int) -> tuple[EndTxnResponse, int]:
    o = EndTxnResponse.__new__(EndTxnResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.producer_id = -1
    o.producer_epoch = -1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_end_txn_response_v3(out: bytearray, o: EndTxnResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_end_txn_response_v5(buf: Buffer, pos: int) -> tuple[EndTxnResponse, int]:
    o = EndTxnResponse.__new__(EndTxnResponse)
    o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = unpack_ihqh(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_end_txn_response_v5(out: bytearray, o: EndTxnResponse) -> None:
    out += pack_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


EndTxnResponse.DECODERS = {
    0: _decode_end_txn_response_v0,
    1: _decode_end_txn_response_v0,
    2: _decode_end_txn_response_v0,
    3: _decode_end_txn_response_v3,
    4: _decode_end_txn_response_v3,
    5: _decode_end_txn_response_v5,
}
EndTxnResponse.ENCODERS = {
    0: _encode_end_txn_response_v0,
    1: _encode_end_txn_response_v0,
    2: _encode_end_txn_response_v0,
    3: _encode_end_txn_response_v3,
    4: _encode_end_txn_response_v3,
    5: _encode_end_txn_response_v5,
}
