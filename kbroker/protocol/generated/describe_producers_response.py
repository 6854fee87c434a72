"""DescribeProducersResponse, version 0.

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
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_qiiqiq = Layout(">qiiqiq").pack
unpack_qiiqiq = Layout(">qiiqiq").unpack_from


class ProducerState(Struct):
    """Part of DescribeProducersResponse."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "last_sequence",
        "last_timestamp",
        "coordinator_epoch",
        "current_txn_start_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset
        self.unknown_tags: UnknownTags = None


class PartitionResponse(Struct):
    """Part of DescribeProducersResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "active_producers",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers: list[ProducerState] = [] if active_producers is UNSET else active_producers
        self.unknown_tags: UnknownTags = None


class TopicResponse(Struct):
    """Part of DescribeProducersResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[PartitionResponse] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[PartitionResponse] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DescribeProducersResponse(Message):
    """DescribeProducersResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "DescribeProducersResponse"
    API_KEY = 61
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[TopicResponse] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_producer_state_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ProducerState], int]:
    items: list[ProducerState] = []
    for _ in range(count):
        o = ProducerState.__new__(ProducerState)
        items.append(o)
        (
            o.producer_id,
            o.producer_epoch,
            o.last_sequence,
            o.last_timestamp,
            o.coordinator_epoch,
            o.current_txn_start_offset,
        ) = unpack_qiiqiq(buf, pos)
        pos += 36
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_producer_state_v0(out: bytearray, items: Iterable[ProducerState]) -> None:
    for o in items:
        out += pack_qiiqiq(
            o.producer_id,
            o.producer_epoch,
            o.last_sequence,
            o.last_timestamp,
            o.coordinator_epoch,
            o.current_txn_start_offset,
        )
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_response_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionResponse], int]:
    items: list[PartitionResponse] = []
    for _ in range(count):
        o = PartitionResponse.__new__(PartitionResponse)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("activeProducers")
        if n * 37 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.active_producers, pos = _decode_producer_state_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_response_v0(out: bytearray, items: Iterable[PartitionResponse]) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        n = len(o.active_producers) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_producer_state_v0(out, o.active_producers)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_response_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicResponse], int]:
    items: list[TopicResponse] = []
    for _ in range(count):
        o = TopicResponse.__new__(TopicResponse)
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
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_response_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_response_v0(out: bytearray, items: Iterable[TopicResponse]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_response_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_producers_response_v0(buf: Buffer, pos: int) -> tuple[DescribeProducersResponse, int]:
    o = DescribeProducersResponse.__new__(DescribeProducersResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
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
    o.topics, pos = _decode_topic_response_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_producers_response_v0(out: bytearray, o: DescribeProducersResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_response_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeProducersResponse.DECODERS = {
    0: _decode_describe_producers_response_v0,
}
DescribeProducersResponse.ENCODERS = {
    0: _encode_describe_producers_response_v0,
}
