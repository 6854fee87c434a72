"""DescribeQuorumResponse, versions 0 to 2.

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

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_i16s3q = Layout(">i16s3q").pack
unpack_i16s3q = Layout(">i16s3q").unpack_from
pack_i3q = Layout(">i3q").pack
unpack_i3q = Layout(">i3q").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihiiq = Layout(">ihiiq").pack
unpack_ihiiq = Layout(">ihiiq").unpack_from
pack_iiq = Layout(">iiq").pack
unpack_iiq = Layout(">iiq").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class Listener(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # version 2
        host: str = "",  # version 2
        port: int = 0,  # version 2
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class Node(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "node_id",
        "listeners",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,  # version 2
        listeners: list[Listener] = UNSET,  # version 2
    ) -> None:
        self.node_id = node_id
        self.listeners: list[Listener] = [] if listeners is UNSET else listeners
        self.unknown_tags: UnknownTags = None


class ReplicaState(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "replica_id",
        "replica_directory_id",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,  # version 2
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,  # versions 1 to 2
        last_caught_up_timestamp: int = -1,  # versions 1 to 2
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "leader_id",
        "leader_epoch",
        "high_watermark",
        "current_voters",
        "observers",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",  # version 2
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = UNSET,
        observers: list[ReplicaState] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters: list[ReplicaState] = [] if current_voters is UNSET else current_voters
        self.observers: list[ReplicaState] = [] if observers is UNSET else observers
        self.unknown_tags: UnknownTags = None


class TopicData(Struct):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[PartitionData] = UNSET,
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[PartitionData] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DescribeQuorumResponse(Message):
    """DescribeQuorumResponse, versions 0 to 2."""

    __slots__ = (
        "error_code",
        "error_message",
        "topics",
        "nodes",
        "unknown_tags",
    )
    NAME = "DescribeQuorumResponse"
    API_KEY = 55
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",  # version 2
        topics: list[TopicData] = UNSET,
        nodes: list[Node] = UNSET,  # version 2
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics: list[TopicData] = [] if topics is UNSET else topics
        self.nodes: list[Node] = [] if nodes is UNSET else nodes
        self.unknown_tags: UnknownTags = None


def _decode_listener_v2(buf: Buffer, pos: int, count: int) -> tuple[list[Listener], int]:
    items: list[Listener] = []
    for _ in range(count):
        o = Listener.__new__(Listener)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_H(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_listener_v2(out: bytearray, items: Iterable[Listener]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_H(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_node_v2(buf: Buffer, pos: int, count: int) -> tuple[list[Node], int]:
    items: list[Node] = []
    for _ in range(count):
        o = Node.__new__(Node)
        items.append(o)
        (o.node_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("listeners")
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.listeners, pos = _decode_listener_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_node_v2(out: bytearray, items: Iterable[Node]) -> None:
    for o in items:
        out += pack_i(o.node_id)
        n = len(o.listeners) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_listener_v2(out, o.listeners)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_replica_state_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        o = ReplicaState.__new__(ReplicaState)
        items.append(o)
        o.replica_id, o.log_end_offset = unpack_iq(buf, pos)
        pos += 12
        o.replica_directory_id = ZERO_UUID
        o.last_fetch_timestamp = -1
        o.last_caught_up_timestamp = -1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_replica_state_v0(out: bytearray, items: Iterable[ReplicaState]) -> None:
    for o in items:
        if o.replica_directory_id != ZERO_UUID:
            raise not_in_version("replicaDirectoryId")
        out += pack_iq(o.replica_id, o.log_end_offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_replica_state_v1(buf: Buffer, pos: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        o = ReplicaState.__new__(ReplicaState)
        items.append(o)
        (
            o.replica_id,
            o.log_end_offset,
            o.last_fetch_timestamp,
            o.last_caught_up_timestamp,
        ) = unpack_i3q(buf, pos)
        pos += 28
        o.replica_directory_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_replica_state_v1(out: bytearray, items: Iterable[ReplicaState]) -> None:
    for o in items:
        if o.replica_directory_id != ZERO_UUID:
            raise not_in_version("replicaDirectoryId")
        out += pack_i3q(o.replica_id, o.log_end_offset, o.last_fetch_timestamp, o.last_caught_up_timestamp)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_replica_state_v2(buf: Buffer, pos: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        o = ReplicaState.__new__(ReplicaState)
        items.append(o)
        (
            o.replica_id,
            o.replica_directory_id,
            o.log_end_offset,
            o.last_fetch_timestamp,
            o.last_caught_up_timestamp,
        ) = unpack_i16s3q(buf, pos)
        pos += 44
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_replica_state_v2(out: bytearray, items: Iterable[ReplicaState]) -> None:
    for o in items:
        out += pack_i16s3q(
            o.replica_id,
            o.replica_directory_id,
            o.log_end_offset,
            o.last_fetch_timestamp,
            o.last_caught_up_timestamp,
        )
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        (
            o.partition_index,
            o.error_code,
            o.leader_id,
            o.leader_epoch,
            o.high_watermark,
        ) = unpack_ihiiq(buf, pos)
        pos += 22
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("currentVoters")
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.current_voters, pos = _decode_replica_state_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("observers")
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.observers, pos = _decode_replica_state_v0(buf, pos, n)
        o.error_message = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ihiiq(o.partition_index, o.error_code, o.leader_id, o.leader_epoch, o.high_watermark)
        n = len(o.current_voters) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_replica_state_v0(out, o.current_voters)
        n = len(o.observers) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_replica_state_v0(out, o.observers)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        (
            o.partition_index,
            o.error_code,
            o.leader_id,
            o.leader_epoch,
            o.high_watermark,
        ) = unpack_ihiiq(buf, pos)
        pos += 22
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("currentVoters")
        if n * 29 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.current_voters, pos = _decode_replica_state_v1(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("observers")
        if n * 29 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.observers, pos = _decode_replica_state_v1(buf, pos, n)
        o.error_message = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v1(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ihiiq(o.partition_index, o.error_code, o.leader_id, o.leader_epoch, o.high_watermark)
        n = len(o.current_voters) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_replica_state_v1(out, o.current_voters)
        n = len(o.observers) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_replica_state_v1(out, o.observers)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v2(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
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
        o.leader_id, o.leader_epoch, o.high_watermark = unpack_iiq(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("currentVoters")
        if n * 45 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.current_voters, pos = _decode_replica_state_v2(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("observers")
        if n * 45 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.observers, pos = _decode_replica_state_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v2(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_iiq(o.leader_id, o.leader_epoch, o.high_watermark)
        n = len(o.current_voters) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_replica_state_v2(out, o.current_voters)
        n = len(o.observers) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_replica_state_v2(out, o.observers)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 25 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v0(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 25 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v1(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v2(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v2(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v2(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_quorum_response_v0(buf: Buffer, pos: int) -> tuple[DescribeQuorumResponse, int]:
    o = DescribeQuorumResponse.__new__(DescribeQuorumResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
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
    o.error_message = ""
    o.nodes = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_quorum_response_v0(out: bytearray, o: DescribeQuorumResponse) -> None:
    if o.nodes:
        raise not_in_version("nodes")
    out += pack_h(o.error_code)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_quorum_response_v1(buf: Buffer, pos: int) -> tuple[DescribeQuorumResponse, int]:
    o = DescribeQuorumResponse.__new__(DescribeQuorumResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
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
    o.topics, pos = _decode_topic_data_v1(buf, pos, n)
    o.error_message = ""
    o.nodes = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_quorum_response_v1(out: bytearray, o: DescribeQuorumResponse) -> None:
    if o.nodes:
        raise not_in_version("nodes")
    out += pack_h(o.error_code)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v1(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_quorum_response_v2(buf: Buffer, pos: int) -> tuple[DescribeQuorumResponse, int]:
    o = DescribeQuorumResponse.__new__(DescribeQuorumResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
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
        raise null_field("topics")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_data_v2(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("nodes")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.nodes, pos = _decode_node_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_quorum_response_v2(out: bytearray, o: DescribeQuorumResponse) -> None:
    out += pack_h(o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v2(out, o.topics)
    n = len(o.nodes) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_node_v2(out, o.nodes)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeQuorumResponse.DECODERS = {
    0: _decode_describe_quorum_response_v0,
    1: _decode_describe_quorum_response_v1,
    2: _decode_describe_quorum_response_v2,
}
DescribeQuorumResponse.ENCODERS = {
    0: _encode_describe_quorum_response_v0,
    1: _encode_describe_quorum_response_v1,
    2: _encode_describe_quorum_response_v2,
}
