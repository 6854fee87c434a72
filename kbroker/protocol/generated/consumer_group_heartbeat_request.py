"""ConsumerGroupHeartbeatRequest, versions 0 to 1.

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
    ZERO_UUID,
    not_in_version,
    null_field,
    pack_int32s,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class TopicPartitions(Struct):
    """Part of ConsumerGroupHeartbeatRequest."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ConsumerGroupHeartbeatRequest(Message):
    """ConsumerGroupHeartbeatRequest, versions 0 to 1."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "server_assignor",
        "topic_partitions",
        "unknown_tags",
    )
    NAME = "ConsumerGroupHeartbeatRequest"
    API_KEY = 68
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: list[str] | None = None,
        subscribed_topic_regex: str | None = None,  # version 1
        server_assignor: str | None = None,
        topic_partitions: list[TopicPartitions] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions
        self.unknown_tags: UnknownTags = None


def _decode_topic_partitions_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = TopicPartitions.__new__(TopicPartitions)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
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


def _encode_topic_partitions_v0(out: bytearray, items: Iterable[TopicPartitions]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_consumer_group_heartbeat_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    o = ConsumerGroupHeartbeatRequest.__new__(ConsumerGroupHeartbeatRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    (o.member_epoch,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    (o.rebalance_timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.subscribed_topic_names = None
    else:
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subscribed_topic_names = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.server_assignor = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.server_assignor, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.topic_partitions = None
    else:
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_partitions, pos = _decode_topic_partitions_v0(buf, pos, n)
    o.subscribed_topic_regex = None
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_consumer_group_heartbeat_request_v0(out: bytearray, o: ConsumerGroupHeartbeatRequest) -> None:
    if o.subscribed_topic_regex is not None:
        raise not_in_version("subscribedTopicRegex")
    write_compact_string(out, o.group_id)
    write_compact_string(out, o.member_id)
    out += pack_i(o.member_epoch)
    write_compact_nullable_string(out, o.instance_id)
    write_compact_nullable_string(out, o.rack_id)
    out += pack_i(o.rebalance_timeout_ms)
    if o.subscribed_topic_names is None:
        out.append(0)
    else:
        n = len(o.subscribed_topic_names) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.subscribed_topic_names:
            write_compact_string(out, text)
    write_compact_nullable_string(out, o.server_assignor)
    if o.topic_partitions is None:
        out.append(0)
    else:
        n = len(o.topic_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_partitions_v0(out, o.topic_partitions)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_consumer_group_heartbeat_request_v1(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    o = ConsumerGroupHeartbeatRequest.__new__(ConsumerGroupHeartbeatRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    (o.member_epoch,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    (o.rebalance_timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.subscribed_topic_names = None
    else:
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subscribed_topic_names = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.subscribed_topic_regex = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.subscribed_topic_regex, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.server_assignor = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.server_assignor, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.topic_partitions = None
    else:
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_partitions, pos = _decode_topic_partitions_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_consumer_group_heartbeat_request_v1(out: bytearray, o: ConsumerGroupHeartbeatRequest) -> None:
    write_compact_string(out, o.group_id)
    write_compact_string(out, o.member_id)
    out += pack_i(o.member_epoch)
    write_compact_nullable_string(out, o.instance_id)
    write_compact_nullable_string(out, o.rack_id)
    out += pack_i(o.rebalance_timeout_ms)
    if o.subscribed_topic_names is None:
        out.append(0)
    else:
        n = len(o.subscribed_topic_names) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.subscribed_topic_names:
            write_compact_string(out, text)
    write_compact_nullable_string(out, o.subscribed_topic_regex)
    write_compact_nullable_string(out, o.server_assignor)
    if o.topic_partitions is None:
        out.append(0)
    else:
        n = len(o.topic_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_partitions_v0(out, o.topic_partitions)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ConsumerGroupHeartbeatRequest.DECODERS = {
    0: _decode_consumer_group_heartbeat_request_v0,
    1: _decode_consumer_group_heartbeat_request_v1,
}
ConsumerGroupHeartbeatRequest.ENCODERS = {
    0: _encode_consumer_group_heartbeat_request_v0,
    1: _encode_consumer_group_heartbeat_request_v1,
}
