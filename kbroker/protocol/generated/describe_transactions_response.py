"""DescribeTransactionsResponse, version 0.

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
pack_iqqh = Layout(">iqqh").pack
unpack_iqqh = Layout(">iqqh").unpack_from


class TopicData(Struct):
    """Part of DescribeTransactionsResponse."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class TransactionState(Struct):
    """Part of DescribeTransactionsResponse."""

    __slots__ = (
        "error_code",
        "transactional_id",
        "transaction_state",
        "transaction_timeout_ms",
        "transaction_start_time_ms",
        "producer_id",
        "producer_epoch",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[TopicData] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics: list[TopicData] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class DescribeTransactionsResponse(Message):
    """DescribeTransactionsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "transaction_states",
        "unknown_tags",
    )
    NAME = "DescribeTransactionsResponse"
    API_KEY = 65
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: list[TransactionState] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states: list[TransactionState] = (
            [] if transaction_states is UNSET else transaction_states
        )
        self.unknown_tags: UnknownTags = None


def _decode_topic_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
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


def _encode_topic_data_v0(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_transaction_state_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TransactionState], int]:
    items: list[TransactionState] = []
    for _ in range(count):
        o = TransactionState.__new__(TransactionState)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.transactional_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.transactional_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.transaction_state = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.transaction_state, pos = read_compact_string(buf, pos)
        (
            o.transaction_timeout_ms,
            o.transaction_start_time_ms,
            o.producer_id,
            o.producer_epoch,
        ) = unpack_iqqh(buf, pos)
        pos += 22
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
        o.topics, pos = _decode_topic_data_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_transaction_state_v0(out: bytearray, items: Iterable[TransactionState]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_string(out, o.transactional_id)
        write_compact_string(out, o.transaction_state)
        out += pack_iqqh(
            o.transaction_timeout_ms,
            o.transaction_start_time_ms,
            o.producer_id,
            o.producer_epoch,
        )
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_data_v0(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_transactions_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeTransactionsResponse, int]:
    o = DescribeTransactionsResponse.__new__(DescribeTransactionsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("transactionStates")
    if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.transaction_states, pos = _decode_transaction_state_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_transactions_response_v0(out: bytearray, o: DescribeTransactionsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.transaction_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_transaction_state_v0(out, o.transaction_states)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeTransactionsResponse.DECODERS = {
    0: _decode_describe_transactions_response_v0,
}
DescribeTransactionsResponse.ENCODERS = {
    0: _encode_describe_transactions_response_v0,
}
