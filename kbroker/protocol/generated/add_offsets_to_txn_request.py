"""AddOffsetsToTxnRequest, versions 0 to 4.

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
pack_qh = Layout(">qh").pack
unpack_qh = Layout(">qh").unpack_from
pack_qhh = Layout(">qhh").pack
unpack_qhh = Layout(">qhh").unpack_from


class AddOffsetsToTxnRequest(Message):
    """AddOffsetsToTxnRequest, versions 0 to 4."""

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "group_id",
        "unknown_tags",
    )
    NAME = "AddOffsetsToTxnRequest"
    API_KEY = 25
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id
        self.unknown_tags: UnknownTags = None


def _decode_add_offsets_to_txn_request_v0(buf: Buffer, pos: int) -> tuple[AddOffsetsToTxnRequest, int]:
    o = AddOffsetsToTxnRequest.__new__(AddOffsetsToTxnRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("transactionalId")
    end = pos + n
    o.transactional_id = str(buf[pos:end], "utf-8")
    pos = end
    o.producer_id, o.producer_epoch, n = unpack_qhh(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.unknown_tags = None
    return o, pos


def _encode_add_offsets_to_txn_request_v0(out: bytearray, o: AddOffsetsToTxnRequest) -> None:
    raw = o.transactional_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.group_id.encode()
    out += pack_qhh(o.producer_id, o.producer_epoch, len(raw))
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_add_offsets_to_txn_request_v3(buf: Buffer, pos: int) -> tuple[AddOffsetsToTxnRequest, int]:
    o = AddOffsetsToTxnRequest.__new__(AddOffsetsToTxnRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_string(buf, pos)
    o.producer_id, o.producer_epoch = unpack_qh(buf, pos)
    pos += 10
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_offsets_to_txn_request_v3(out: bytearray, o: AddOffsetsToTxnRequest) -> None:
    write_compact_string(out, o.transactional_id)
    out += pack_qh(o.producer_id, o.producer_epoch)
    write_compact_string(out, o.group_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AddOffsetsToTxnRequest.DECODERS = {
    0: _decode_add_offsets_to_txn_request_v0,
    1: _decode_add_offsets_to_txn_request_v0,
    2: _decode_add_offsets_to_txn_request_v0,
    3: _decode_add_offsets_to_txn_request_v3,
    4: _decode_add_offsets_to_txn_request_v3,
}
AddOffsetsToTxnRequest.ENCODERS = {
    0: _encode_add_offsets_to_txn_request_v0,
    1: _encode_add_offsets_to_txn_request_v0,
    2: _encode_add_offsets_to_txn_request_v0,
    3: _encode_add_offsets_to_txn_request_v3,
    4: _encode_add_offsets_to_txn_request_v3,
}
