"""InitProducerIdRequest, versions 0 to 6.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_compact_nullable_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_tags,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iqh = Layout(">iqh").pack
unpack_iqh = Layout(">iqh").unpack_from
pack_iqhoo = Layout(">iqh??").pack
unpack_iqhoo = Layout(">iqh??").unpack_from


class InitProducerIdRequest(Message):
    """InitProducerIdRequest, versions 0 to 6."""

    __slots__ = (
        "transactional_id",
        "transaction_timeout_ms",
        "producer_id",
        "producer_epoch",
        "enable2_pc",
        "keep_prepared_txn",
        "unknown_tags",
    )
    NAME = "InitProducerIdRequest"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,  # versions 3 to 6
        producer_epoch: int = -1,  # versions 3 to 6
        enable2_pc: bool = False,  # version 6
        keep_prepared_txn: bool = False,  # version 6
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn
        self.unknown_tags: UnknownTags = None


def _decode_init_producer_id_request_v0(buf: Buffer, pos: int) -> tuple[InitProducerIdRequest, int]:
    o = InitProducerIdRequest.__new__(InitProducerIdRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.transactional_id = None
    else:
        end = pos + n
        o.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    (o.transaction_timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.producer_id = -1
    o.producer_epoch = -1
    o.enable2_pc = False
    o.keep_prepared_txn = False
    o.unknown_tags = None
    return o, pos


def _encode_init_producer_id_request_v0(out: bytearray, o: InitProducerIdRequest) -> None:
    if o.producer_id != -1:
        raise not_in_version("producerId")
    if o.producer_epoch != -1:
        raise not_in_version("producerEpoch")
    if o.enable2_pc:
        raise not_in_version("enable2Pc")
    if o.keep_prepared_txn:
        raise not_in_version("keepPreparedTxn")
    raw = b"" if o.transactional_id is None else o.transactional_id.encode()
    out += pack_h(-1 if o.transactional_id is None else len(raw))
    out += raw
    out += pack_i(o.transaction_timeout_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_init_producer_id_request_v2(buf: Buffer, pos: int) -> tuple[InitProducerIdRequest, int]:
    o = InitProducerIdRequest.__new__(InitProducerIdRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_nullable_string(buf, pos)
    (o.transaction_timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.producer_id = -1
    o.producer_epoch = -1
    o.enable2_pc = False
    o.keep_prepared_txn = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_init_producer_id_request_v2(out: bytearray, o: InitProducerIdRequest) -> None:
    if o.producer_id != -1:
        raise not_in_version("producerId")
    if o.producer_epoch != -1:
        raise not_in_version("producerEpoch")
    if o.enable2_pc:
        raise not_in_version("enable2Pc")
    if o.keep_prepared_txn:
        raise not_in_version("keepPreparedTxn")
    write_compact_nullable_string(out, o.transactional_id)
    out += pack_i(o.transaction_timeout_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_init_producer_id_request_v3(buf: Buffer, pos: int) -> tuple[InitProducerIdRequest, int]:
    o = InitProducerIdRequest.__new__(InitProducerIdRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_nullable_string(buf, pos)
    o.transaction_timeout_ms, o.producer_id, o.producer_epoch = unpack_iqh(buf, pos)
    pos += 14
    o.enable2_pc = False
    o.keep_prepared_txn = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_init_producer_id_request_v3(out: bytearray, o: InitProducerIdRequest) -> None:
    if o.enable2_pc:
        raise not_in_version("enable2Pc")
    if o.keep_prepared_txn:
        raise not_in_version("keepPreparedTxn")
    write_compact_nullable_string(out, o.transactional_id)
    out += pack_iqh(o.transaction_timeout_ms, o.producer_id, o.producer_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_init_producer_id_request_v6(buf: Buffer, pos: int) -> tuple[InitProducerIdRequest, int]:
    o = InitProducerIdRequest.__new__(InitProducerIdRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_nullable_string(buf, pos)
    (
        o.transaction_timeout_ms,
        o.producer_id,
        o.producer_epoch,
        o.enable2_pc,
        o.keep_prepared_txn,
    ) = unpack_iqhoo(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_init_producer_id_request_v6(out: bytearray, o: InitProducerIdRequest) -> None:
    write_compact_nullable_string(out, o.transactional_id)
    out += pack_iqhoo(
        o.transaction_timeout_ms,
        o.producer_id,
        o.producer_epoch,
        o.enable2_pc,
        o.keep_prepared_txn,
    )
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


InitProducerIdRequest.DECODERS = {
    0: _decode_init_producer_id_request_v0,
    1: _decode_init_producer_id_request_v0,
    2: _decode_init_producer_id_request_v2,
    3: _decode_init_producer_id_request_v3,
    4: _decode_init_producer_id_request_v3,
    5: _decode_init_producer_id_request_v3,
    6: _decode_init_producer_id_request_v6,
}
InitProducerIdRequest.ENCODERS = {
    0: _encode_init_producer_id_request_v0,
    1: _encode_init_producer_id_request_v0,
    2: _encode_init_producer_id_request_v2,
    3: _encode_init_producer_id_request_v3,
    4: _encode_init_producer_id_request_v3,
    5: _encode_init_producer_id_request_v3,
    6: _encode_init_producer_id_request_v6,
}
