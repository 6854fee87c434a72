"""InitProducerIdResponse, versions 0 to 6.

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

pack_ihqh = Layout(">ihqh").pack
unpack_ihqh = Layout(">ihqh").unpack_from
pack_ihqhqh = Layout(">ihqhqh").pack
unpack_ihqhqh = Layout(">ihqhqh").unpack_from


class InitProducerIdResponse(Message):
    """InitProducerIdResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
        "ongoing_txn_producer_id",
        "ongoing_txn_producer_epoch",
        "unknown_tags",
    )
    NAME = "InitProducerIdResponse"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,  # version 6
        ongoing_txn_producer_epoch: int = -1,  # version 6
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
        self.unknown_tags: UnknownTags = None


def _decode_init_producer_id_response_v0(buf: Buffer, pos: int) -> tuple[InitProducerIdResponse, int]:
    o = InitProducerIdResponse.__new__(InitProducerIdResponse)
    o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = unpack_ihqh(buf, pos)
    pos += 16
    o.ongoing_txn_producer_id = -1
    o.ongoing_txn_producer_epoch = -1
    o.unknown_tags = None
    return o, pos


def _encode_init_producer_id_response_v0(out: bytearray, o: InitProducerIdResponse) -> None:
    if o.ongoing_txn_producer_id != -1:
        raise not_in_version("ongoingTxnProducerId")
    if o.ongoing_txn_producer_epoch != -1:
        raise not_in_version("ongoingTxnProducerEpoch")
    out += pack_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_init_producer_id_response_v2(buf: Buffer, pos: int) -> tuple[InitProducerIdResponse, int]:
    o = InitProducerIdResponse.__new__(InitProducerIdResponse)
    o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = unpack_ihqh(buf, pos)
    pos += 16
    o.ongoing_txn_producer_id = -1
    o.ongoing_txn_producer_epoch = -1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_init_producer_id_response_v2(out: bytearray, o: InitProducerIdResponse) -> None:
    if o.ongoing_txn_producer_id != -1:
        raise not_in_version("ongoingTxnProducerId")
    if o.ongoing_txn_producer_epoch != -1:
        raise not_in_version("ongoingTxnProducerEpoch")
    out += pack_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_init_producer_id_response_v6(buf: Buffer, pos: int) -> tuple[InitProducerIdResponse, int]:
    o = InitProducerIdResponse.__new__(InitProducerIdResponse)
    (
        o.throttle_time_ms,
        o.error_code,
        o.producer_id,
        o.producer_epoch,
        o.ongoing_txn_producer_id,
        o.ongoing_txn_producer_epoch,
    ) = unpack_ihqhqh(buf, pos)
    pos += 26
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_init_producer_id_response_v6(out: bytearray, o: InitProducerIdResponse) -> None:
    out += pack_ihqhqh(
        o.throttle_time_ms,
        o.error_code,
        o.producer_id,
        o.producer_epoch,
        o.ongoing_txn_producer_id,
        o.ongoing_txn_producer_epoch,
    )
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


InitProducerIdResponse.DECODERS = {
    0: _decode_init_producer_id_response_v0,
    1: _decode_init_producer_id_response_v0,
    2: _decode_init_producer_id_response_v2,
    3: _decode_init_producer_id_response_v2,
    4: _decode_init_producer_id_response_v2,
    5: _decode_init_producer_id_response_v2,
    6: _decode_init_producer_id_response_v6,
}
InitProducerIdResponse.ENCODERS = {
    0: _encode_init_producer_id_response_v0,
    1: _encode_init_producer_id_response_v0,
    2: _encode_init_producer_id_response_v2,
    3: _encode_init_producer_id_response_v2,
    4: _encode_init_producer_id_response_v2,
    5: _encode_init_producer_id_response_v2,
    6: _encode_init_producer_id_response_v6,
}
