"""AddPartitionsToTxnRequest, versions 0 to 5.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    not_in_version,
    null_field,
    pack_int32s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_qh = Layout(">qh").pack
unpack_qh = Layout(">qh").unpack_from
pack_qhi = Layout(">qhi").pack
unpack_qhi = Layout(">qhi").unpack_from
pack_qho = Layout(">qh?").pack
unpack_qho = Layout(">qh?").unpack_from


class AddPartitionsToTxnTopic(Struct):
    """Part of AddPartitionsToTxnRequest."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AddPartitionsToTxnTransaction(Struct):
    """Part of AddPartitionsToTxnRequest."""

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "verify_only",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",  # versions 4 to 5
        producer_id: int = 0,  # versions 4 to 5
        producer_epoch: int = 0,  # versions 4 to 5
        verify_only: bool = False,  # versions 4 to 5
        topics: list[AddPartitionsToTxnTopic] = UNSET,  # versions 4 to 5
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics: list[AddPartitionsToTxnTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class AddPartitionsToTxnRequest(Message):
    """AddPartitionsToTxnRequest, versions 0 to 5."""

    __slots__ = (
        "transactions",
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
        "unknown_tags",
    )
    NAME = "AddPartitionsToTxnRequest"
    API_KEY = 24
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        transactions: list[AddPartitionsToTxnTransaction] = UNSET,  # versions 4 to 5
        v3_and_below_transactional_id: str = "",  # versions 0 to 3
        v3_and_below_producer_id: int = 0,  # versions 0 to 3
        v3_and_below_producer_epoch: int = 0,  # versions 0 to 3
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = UNSET,  # versions 0 to 3
    ) -> None:
        self.transactions: list[AddPartitionsToTxnTransaction] = [] if transactions is UNSET else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics: list[AddPartitionsToTxnTopic] = (
            [] if v3_and_below_topics is UNSET else v3_and_below_topics
        )
        self.unknown_tags: UnknownTags = None


def _decode_add_partitions_to_txn_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnTopic], int]:
    items: list[AddPartitionsToTxnTopic] = []
    for _ in range(count):
        o = AddPartitionsToTxnTopic.__new__(AddPartitionsToTxnTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_add_partitions_to_txn_topic_v0(out: bytearray, items: Iterable[AddPartitionsToTxnTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_add_partitions_to_txn_topic_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnTopic], int]:
    items: list[AddPartitionsToTxnTopic] = []
    for _ in range(count):
        o = AddPartitionsToTxnTopic.__new__(AddPartitionsToTxnTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_add_partitions_to_txn_topic_v3(out: bytearray, items: Iterable[AddPartitionsToTxnTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_add_partitions_to_txn_transaction_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnTransaction], int]:
    items: list[AddPartitionsToTxnTransaction] = []
    for _ in range(count):
        o = AddPartitionsToTxnTransaction.__new__(AddPartitionsToTxnTransaction)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.transactional_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.transactional_id, pos = read_compact_string(buf, pos)
        o.producer_id, o.producer_epoch, o.verify_only = unpack_qho(buf, pos)
        pos += 11
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("topics")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_add_partitions_to_txn_topic_v3(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_add_partitions_to_txn_transaction_v4(
    out: bytearray,
    items: Iterable[AddPartitionsToTxnTransaction],
) -> None:
    for o in items:
        write_compact_string(out, o.transactional_id)
        out += pack_qho(o.producer_id, o.producer_epoch, o.verify_only)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_add_partitions_to_txn_topic_v3(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_add_partitions_to_txn_request_v0(buf: Buffer, pos: int) -> tuple[AddPartitionsToTxnRequest, int]:
    o = AddPartitionsToTxnRequest.__new__(AddPartitionsToTxnRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("v3AndBelowTransactionalId")
    end = pos + n
    o.v3_and_below_transactional_id = str(buf[pos:end], "utf-8")
    pos = end
    o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, n = unpack_qhi(buf, pos)
    pos += 14
    if n < 0:
        raise null_field("v3AndBelowTopics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.v3_and_below_topics, pos = _decode_add_partitions_to_txn_topic_v0(buf, pos, n)
    o.transactions = []
    o.unknown_tags = None
    return o, pos


def _encode_add_partitions_to_txn_request_v0(out: bytearray, o: AddPartitionsToTxnRequest) -> None:
    if o.transactions:
        raise not_in_version("transactions")
    raw = o.v3_and_below_transactional_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_qhi(o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, len(o.v3_and_below_topics))
    _encode_add_partitions_to_txn_topic_v0(out, o.v3_and_below_topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_add_partitions_to_txn_request_v3(buf: Buffer, pos: int) -> tuple[AddPartitionsToTxnRequest, int]:
    o = AddPartitionsToTxnRequest.__new__(AddPartitionsToTxnRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.v3_and_below_transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.v3_and_below_transactional_id, pos = read_compact_string(buf, pos)
    o.v3_and_below_producer_id, o.v3_and_below_producer_epoch = unpack_qh(buf, pos)
    pos += 10
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("v3AndBelowTopics")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.v3_and_below_topics, pos = _decode_add_partitions_to_txn_topic_v3(buf, pos, n)
    o.transactions = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_partitions_to_txn_request_v3(out: bytearray, o: AddPartitionsToTxnRequest) -> None:
    if o.transactions:
        raise not_in_version("transactions")
    write_compact_string(out, o.v3_and_below_transactional_id)
    out += pack_qh(o.v3_and_below_producer_id, o.v3_and_below_producer_epoch)
    n = len(o.v3_and_below_topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_add_partitions_to_txn_topic_v3(out, o.v3_and_below_topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_add_partitions_to_txn_request_v4(buf: Buffer, pos: int) -> tuple[AddPartitionsToTxnRequest, int]:
    o = AddPartitionsToTxnRequest.__new__(AddPartitionsToTxnRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("transactions")
    if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.transactions, pos = _decode_add_partitions_to_txn_transaction_v4(buf, pos, n)
    o.v3_and_below_transactional_id = ""
    o.v3_and_below_producer_id = 0
    o.v3_and_below_producer_epoch = 0
    o.v3_and_below_topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_partitions_to_txn_request_v4(out: bytearray, o: AddPartitionsToTxnRequest) -> None:
    if o.v3_and_below_transactional_id != "":
        raise not_in_version("v3AndBelowTransactionalId")
    if o.v3_and_below_producer_id != 0:
        raise not_in_version("v3AndBelowProducerId")
    if o.v3_and_below_producer_epoch != 0:
        raise not_in_version("v3AndBelowProducerEpoch")
    if o.v3_and_below_topics:
        raise not_in_version("v3AndBelowTopics")
    n = len(o.transactions) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_add_partitions_to_txn_transaction_v4(out, o.transactions)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AddPartitionsToTxnRequest.DECODERS = {
    0: _decode_add_partitions_to_txn_request_v0,
    1: _decode_add_partitions_to_txn_request_v0,
    2: _decode_add_partitions_to_txn_request_v0,
    3: _decode_add_partitions_to_txn_request_v3,
    4: _decode_add_partitions_to_txn_request_v4,
    5: _decode_add_partitions_to_txn_request_v4,
}
AddPartitionsToTxnRequest.ENCODERS = {
    0: _encode_add_partitions_to_txn_request_v0,
    1: _encode_add_partitions_to_txn_request_v0,
    2: _encode_add_partitions_to_txn_request_v0,
    3: _encode_add_partitions_to_txn_request_v3,
    4: _encode_add_partitions_to_txn_request_v4,
    5: _encode_add_partitions_to_txn_request_v4,
}
