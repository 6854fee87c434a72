"""ConsumerProtocolAssignment, versions 0 to 3.

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
    null_field,
    pack_int32s,
    too_many,
    unpack_int32s,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class TopicPartition(Struct):
    """Part of ConsumerProtocolAssignment."""

    __slots__ = (
        "topic",
        "partitions",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is UNSET else partitions


class ConsumerProtocolAssignment(Message):
    """ConsumerProtocolAssignment, versions 0 to 3."""

    __slots__ = (
        "assigned_partitions",
        "user_data",
    )
    NAME = "ConsumerProtocolAssignment"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        assigned_partitions: list[TopicPartition] = UNSET,
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions: list[TopicPartition] = (
            [] if assigned_partitions is UNSET else assigned_partitions
        )
        self.user_data = user_data


def _decode_topic_partition_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartition], int]:
    items: list[TopicPartition] = []
    for _ in range(count):
        o = TopicPartition.__new__(TopicPartition)
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
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
    return items, pos


def _encode_topic_partition_v0(out: bytearray, items: Iterable[TopicPartition]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)


def _decode_consumer_protocol_assignment_v0(buf: Buffer, pos: int) -> tuple[ConsumerProtocolAssignment, int]:
    o = ConsumerProtocolAssignment.__new__(ConsumerProtocolAssignment)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("assignedPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.assigned_partitions, pos = _decode_topic_partition_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        end = pos + n
        o.user_data = bytes(buf[pos:end])
        pos = end
    return o, pos


def _encode_consumer_protocol_assignment_v0(out: bytearray, o: ConsumerProtocolAssignment) -> None:
    out += pack_i(len(o.assigned_partitions))
    _encode_topic_partition_v0(out, o.assigned_partitions)
    out += pack_i(-1 if o.user_data is None else len(o.user_data))
    if o.user_data:
        out += o.user_data


ConsumerProtocolAssignment.DECODERS = {
    0: _decode_consumer_protocol_assignment_v0,
    1: _decode_consumer_protocol_assignment_v0,
    2: _decode_consumer_protocol_assignment_v0,
    3: _decode_consumer_protocol_assignment_v0,
}
ConsumerProtocolAssignment.ENCODERS = {
    0: _encode_consumer_protocol_assignment_v0,
    1: _encode_consumer_protocol_assignment_v0,
    2: _encode_consumer_protocol_assignment_v0,
    3: _encode_consumer_protocol_assignment_v0,
}
