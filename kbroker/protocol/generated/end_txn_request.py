"""EndTxnRequest, versions 0 to 5.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    null_field,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_qho = Layout(">qh?").pack
unpack_qho = Layout(">qh?").unpack_from


class EndTxnRequest(Message):
    """EndTxnRequest, versions 0 to 5."""

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "committed",
        "unknown_tags",
    )
    NAME = "EndTxnRequest"
    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
        self.unknown_tags: UnknownTags = None


def _decode_end_txn_request_v0(buf: Buffer, pos: int) -> tuple[EndTxnRequest, int]:
    o = EndTxnRequest.__new__(EndTxnRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("transactionalId")
    end = pos + n
    o.transactional_id = str(buf[pos:end], "utf-8")
    pos = end
    o.producer_id, o.producer_epoch, o.committed = unpack_qho(buf, pos)
    pos += 11
    o.unknown_tags = None
    return o, pos


def _encode_end_txn_request_v0(out: bytearray, o: EndTxnRequest) -> None:
    raw = o.transactional_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_qho(o.producer_id, o.producer_epoch, o.committed)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_end_txn_request_v3(buf: Buffer, pos: int) -> tuple[EndTxnRequest, int]:
    o = EndTxnRequest.__new__(EndTxnRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_string(buf, pos)
    o.producer_id, o.producer_epoch, o.committed = unpack_qho(buf, pos)
    pos += 11
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_end_txn_request_v3(out: bytearray, o: EndTxnRequest) -> None:
    write_compact_string(out, o.transactional_id)
    out += pack_qho(o.producer_id, o.producer_epoch, o.committed)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


EndTxnRequest.DECODERS = {
    0: _decode_end_txn_request_v0,
    1: _decode_end_txn_request_v0,
    2: _decode_end_txn_request_v0,
    3: _decode_end_txn_request_v3,
    4: _decode_end_txn_request_v3,
    5: _decode_end_txn_request_v3,
}
EndTxnRequest.ENCODERS = {
    0: _encode_end_txn_request_v0,
    1: _encode_end_txn_request_v0,
    2: _encode_end_txn_request_v0,
    3: _encode_end_txn_request_v3,
    4: _encode_end_txn_request_v3,
    5: _encode_end_txn_request_v3,
}
