"""TransactionLogValue, versions 0 to 1.

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
    bad_tag_size,
    not_in_version,
    null_field,
    pack_int32s,
    read_compact_string,
    read_tag,
    read_tag_count,
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
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from
pack_qhib = Layout(">qhib").pack
unpack_qhib = Layout(">qhib").unpack_from
pack_qhibi = Layout(">qhibi").pack
unpack_qhibi = Layout(">qhibi").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class PartitionsSchema(Struct):
    """Part of TransactionLogValue."""

    __slots__ = (
        "topic",
        "partition_ids",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_ids: list[int] = UNSET,
    ) -> None:
        self.topic = topic
        self.partition_ids: list[int] = [] if partition_ids is UNSET else partition_ids
        self.unknown_tags: UnknownTags = None


class TransactionLogValue(Message):
    """TransactionLogValue, versions 0 to 1."""

    __slots__ = (
        "producer_id",
        "previous_producer_id",
        "next_producer_id",
        "producer_epoch",
        "next_producer_epoch",
        "transaction_timeout_ms",
        "transaction_status",
        "transaction_partitions",
        "transaction_last_update_timestamp_ms",
        "transaction_start_timestamp_ms",
        "client_transaction_version",
        "unknown_tags",
    )
    NAME = "TransactionLogValue"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,  # version 1
        next_producer_id: int = -1,  # version 1
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,  # version 1
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = UNSET,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,  # version 1
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions: list[PartitionsSchema] | None = (
            [] if transaction_partitions is UNSET else transaction_partitions
        )
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
        self.unknown_tags: UnknownTags = None


def _decode_partitions_schema_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionsSchema], int]:
    items: list[PartitionsSchema] = []
    for _ in range(count):
        o = PartitionsSchema.__new__(PartitionsSchema)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitionIds")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_ids = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_partitions_schema_v0(out: bytearray, items: Iterable[PartitionsSchema]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_ids))
        out += pack_int32s(o.partition_ids)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partitions_schema_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionsSchema], int]:
    items: list[PartitionsSchema] = []
    for _ in range(count):
        o = PartitionsSchema.__new__(PartitionsSchema)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitionIds")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_ids = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partitions_schema_v1(out: bytearray, items: Iterable[PartitionsSchema]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partition_ids) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_ids)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_transaction_log_value_v0(buf: Buffer, pos: int) -> tuple[TransactionLogValue, int]:
    o = TransactionLogValue.__new__(TransactionLogValue)
    (
        o.producer_id,
        o.producer_epoch,
        o.transaction_timeout_ms,
        o.transaction_status,
        n,
    ) = unpack_qhibi(buf, pos)
    pos += 19
    if n < 0:
        o.transaction_partitions = None
    else:
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.transaction_partitions, pos = _decode_partitions_schema_v0(buf, pos, n)
    o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms = unpack_qq(buf, pos)
    pos += 16
    o.previous_producer_id = -1
    o.next_producer_id = -1
    o.next_producer_epoch = -1
    o.client_transaction_version = 0
    o.unknown_tags = None
    return o, pos


def _encode_transaction_log_value_v0(out: bytearray, o: TransactionLogValue) -> None:
    if o.previous_producer_id != -1:
        raise not_in_version("previousProducerId")
    if o.next_producer_id != -1:
        raise not_in_version("nextProducerId")
    if o.next_producer_epoch != -1:
        raise not_in_version("nextProducerEpoch")
    if o.client_transaction_version != 0:
        raise not_in_version("clientTransactionVersion")
    out += pack_qhibi(
        o.producer_id,
        o.producer_epoch,
        o.transaction_timeout_ms,
        o.transaction_status,
        -1 if o.transaction_partitions is None else len(o.transaction_partitions),
    )
    if o.transaction_partitions:
        _encode_partitions_schema_v0(out, o.transaction_partitions)
    out += pack_qq(o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_transaction_log_value_v1(buf: Buffer, pos: int) -> tuple[TransactionLogValue, int]:
    o = TransactionLogValue.__new__(TransactionLogValue)
    o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status = unpack_qhib(buf, pos)
    pos += 15
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.transaction_partitions = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.transaction_partitions, pos = _decode_partitions_schema_v1(buf, pos, n)
    o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms = unpack_qq(buf, pos)
    pos += 16
    o.previous_producer_id = -1
    o.next_producer_id = -1
    o.next_producer_epoch = -1
    o.client_transaction_version = 0
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_transaction_log_value_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_transaction_log_value_v1(buf: Buffer, pos: int, o: TransactionLogValue) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.previous_producer_id,) = unpack_q(buf, pos)
            pos += 8
        elif tag == 1:
            (o.next_producer_id,) = unpack_q(buf, pos)
            pos += 8
        elif tag == 3:
            (o.next_producer_epoch,) = unpack_h(buf, pos)
            pos += 2
        elif tag == 2:
            (o.client_transaction_version,) = unpack_h(buf, pos)
            pos += 2
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_transaction_log_value_v1(out: bytearray, o: TransactionLogValue) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.previous_producer_id != -1:
        part = bytearray()
        part += pack_q(o.previous_producer_id)
        tags.append((0, part))
    if o.next_producer_id != -1:
        part = bytearray()
        part += pack_q(o.next_producer_id)
        tags.append((1, part))
    if o.client_transaction_version != 0:
        part = bytearray()
        part += pack_h(o.client_transaction_version)
        tags.append((2, part))
    if o.next_producer_epoch != -1:
        part = bytearray()
        part += pack_h(o.next_producer_epoch)
        tags.append((3, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_transaction_log_value_v1(out: bytearray, o: TransactionLogValue) -> None:
    out += pack_qhib(o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status)
    if o.transaction_partitions is None:
        out.append(0)
    else:
        n = len(o.transaction_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partitions_schema_v1(out, o.transaction_partitions)
    out += pack_qq(o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms)
    if (
        o.unknown_tags
        or o.previous_producer_id != -1
        or o.next_producer_id != -1
        or o.client_transaction_version != 0
        or o.next_producer_epoch != -1
    ):
        _write_tags_of_transaction_log_value_v1(out, o)
    else:
        out.append(0)


TransactionLogValue.DECODERS = {
    0: _decode_transaction_log_value_v0,
    1: _decode_transaction_log_value_v1,
}
TransactionLogValue.ENCODERS = {
    0: _encode_transaction_log_value_v0,
    1: _encode_transaction_log_value_v1,
}
