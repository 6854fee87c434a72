"""ConsumerProtocolSubscription, versions 0 to 3.

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
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class TopicPartition(Struct):
    """Part of ConsumerProtocolSubscription."""

    __slots__ = (
        "topic",
        "partitions",
    )

    def __init__(
        self,
        *,
        topic: str = "",  # versions 1 to 3
        partitions: list[int] = UNSET,  # versions 1 to 3
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is UNSET else partitions


class ConsumerProtocolSubscription(Message):
    """ConsumerProtocolSubscription, versions 0 to 3."""

    __slots__ = (
        "topics",
        "user_data",
        "owned_partitions",
        "generation_id",
        "rack_id",
    )
    NAME = "ConsumerProtocolSubscription"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        topics: list[str] = UNSET,
        user_data: bytes | None = None,
        owned_partitions: list[TopicPartition] = UNSET,  # versions 1 to 3
        generation_id: int = -1,  # versions 2 to 3
        rack_id: str | None = None,  # version 3
    ) -> None:
        self.topics: list[str] = [] if topics is UNSET else topics
        self.user_data = user_data
        self.owned_partitions: list[TopicPartition] = [] if owned_partitions is UNSET else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id


def _decode_topic_partition_v1(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartition], int]:
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


def _encode_topic_partition_v1(out: bytearray, items: Iterable[TopicPartition]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)


def _decode_consumer_protocol_subscription_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerProtocolSubscription, int]:
    o = ConsumerProtocolSubscription.__new__(ConsumerProtocolSubscription)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topics")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        end = pos + n
        o.user_data = bytes(buf[pos:end])
        pos = end
    o.owned_partitions = []
    o.generation_id = -1
    o.rack_id = None
    return o, pos


def _encode_consumer_protocol_subscription_v0(out: bytearray, o: ConsumerProtocolSubscription) -> None:
    out += pack_i(len(o.topics))
    for text in o.topics:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    out += pack_i(-1 if o.user_data is None else len(o.user_data))
    if o.user_data:
        out += o.user_data


def _decode_consumer_protocol_subscription_v1(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerProtocolSubscription, int]:
    o = ConsumerProtocolSubscription.__new__(ConsumerProtocolSubscription)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topics")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        end = pos + n
        o.user_data = bytes(buf[pos:end])
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("ownedPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.owned_partitions, pos = _decode_topic_partition_v1(buf, pos, n)
    o.generation_id = -1
    o.rack_id = None
    return o, pos


def _encode_consumer_protocol_subscription_v1(out: bytearray, o: ConsumerProtocolSubscription) -> None:
    out += pack_i(len(o.topics))
    for text in o.topics:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    out += pack_i(-1 if o.user_data is None else len(o.user_data))
    if o.user_data:
        out += o.user_data
    out += pack_i(len(o.owned_partitions))
    _encode_topic_partition_v1(out, o.owned_partitions)


def _decode_consumer_protocol_subscription_v2(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerProtocolSubscription, int]:
    o = ConsumerProtocolSubscription.__new__(ConsumerProtocolSubscription)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topics")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        end = pos + n
        o.user_data = bytes(buf[pos:end])
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("ownedPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.owned_partitions, pos = _decode_topic_partition_v1(buf, pos, n)
    (o.generation_id,) = unpack_i(buf, pos)
    pos += 4
    o.rack_id = None
    return o, pos


def _encode_consumer_protocol_subscription_v2(out: bytearray, o: ConsumerProtocolSubscription) -> None:
    out += pack_i(len(o.topics))
    for text in o.topics:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    out += pack_i(-1 if o.user_data is None else len(o.user_data))
    if o.user_data:
        out += o.user_data
    out += pack_i(len(o.owned_partitions))
    _encode_topic_partition_v1(out, o.owned_partitions)
    out += pack_i(o.generation_id)


def _decode_consumer_protocol_subscription_v3(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerProtocolSubscription, int]:
    o = ConsumerProtocolSubscription.__new__(ConsumerProtocolSubscription)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topics")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        end = pos + n
        o.user_data = bytes(buf[pos:end])
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("ownedPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.owned_partitions, pos = _decode_topic_partition_v1(buf, pos, n)
    o.generation_id, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.rack_id = None
    else:
        end = pos + n
        o.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    return o, pos


def _encode_consumer_protocol_subscription_v3(out: bytearray, o: ConsumerProtocolSubscription) -> None:
    out += pack_i(len(o.topics))
    for text in o.topics:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    out += pack_i(-1 if o.user_data is None else len(o.user_data))
    if o.user_data:
        out += o.user_data
    out += pack_i(len(o.owned_partitions))
    _encode_topic_partition_v1(out, o.owned_partitions)
    raw = b"" if o.rack_id is None else o.rack_id.encode()
    out += pack_ih(o.generation_id, -1 if o.rack_id is None else len(raw))
    out += raw


ConsumerProtocolSubscription.DECODERS = {
    0: _decode_consumer_protocol_subscription_v0,
    1: _decode_consumer_protocol_subscription_v1,
    2: _decode_consumer_protocol_subscription_v2,
    3: _decode_consumer_protocol_subscription_v3,
}
ConsumerProtocolSubscription.ENCODERS = {
    0: _encode_consumer_protocol_subscription_v0,
    1: _encode_consumer_protocol_subscription_v1,
    2: _encode_consumer_protocol_subscription_v2,
    3: _encode_consumer_protocol_subscription_v3,
}
