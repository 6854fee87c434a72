"""BeginQuorumEpochRequest, versions 0 to 1.

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

pack_3i = Layout(">3i").pack
unpack_3i = Layout(">3i").unpack_from
pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_i16sii = Layout(">i16sii").pack
unpack_i16sii = Layout(">i16sii").unpack_from


class LeaderEndpoint(Struct):
    """Part of BeginQuorumEpochRequest."""

    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # version 1
        host: str = "",  # version 1
        port: int = 0,  # version 1
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of BeginQuorumEpochRequest."""

    __slots__ = (
        "partition_index",
        "voter_directory_id",
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        voter_directory_id: bytes = ZERO_UUID,  # version 1
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class TopicData(Struct):
    """Part of BeginQuorumEpochRequest."""

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


class BeginQuorumEpochRequest(Message):
    """BeginQuorumEpochRequest, versions 0 to 1."""

    __slots__ = (
        "cluster_id",
        "voter_id",
        "topics",
        "leader_endpoints",
        "unknown_tags",
    )
    NAME = "BeginQuorumEpochRequest"
    API_KEY = 53
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,  # version 1
        topics: list[TopicData] = UNSET,
        leader_endpoints: list[LeaderEndpoint] = UNSET,  # version 1
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics: list[TopicData] = [] if topics is UNSET else topics
        self.leader_endpoints: list[LeaderEndpoint] = [] if leader_endpoints is UNSET else leader_endpoints
        self.unknown_tags: UnknownTags = None


def _decode_leader_endpoint_v1(buf: Buffer, pos: int, count: int) -> tuple[list[LeaderEndpoint], int]:
    items: list[LeaderEndpoint] = []
    for _ in range(count):
        o = LeaderEndpoint.__new__(LeaderEndpoint)
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


def _encode_leader_endpoint_v1(out: bytearray, items: Iterable[LeaderEndpoint]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_H(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.leader_id, o.leader_epoch = unpack_3i(buf, pos)
        pos += 12
        o.voter_directory_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_3i(o.partition_index, o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.voter_directory_id, o.leader_id, o.leader_epoch = unpack_i16sii(buf, pos)
        pos += 28
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v1(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_i16sii(o.partition_index, o.voter_directory_id, o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_topic_data_v0(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


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
        if n * 29 > len(buf) - pos or n > ELEMENTS_MAX:
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


def _decode_begin_quorum_epoch_request_v0(buf: Buffer, pos: int) -> tuple[BeginQuorumEpochRequest, int]:
    o = BeginQuorumEpochRequest.__new__(BeginQuorumEpochRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        end = pos + n
        o.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_data_v0(buf, pos, n)
    o.voter_id = -1
    o.leader_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_begin_quorum_epoch_request_v0(out: bytearray, o: BeginQuorumEpochRequest) -> None:
    raw = b"" if o.cluster_id is None else o.cluster_id.encode()
    out += pack_h(-1 if o.cluster_id is None else len(raw))
    out += raw
    out += pack_i(len(o.topics))
    _encode_topic_data_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_begin_quorum_epoch_request_v1(buf: Buffer, pos: int) -> tuple[BeginQuorumEpochRequest, int]:
    o = BeginQuorumEpochRequest.__new__(BeginQuorumEpochRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.voter_id,) = unpack_i(buf, pos)
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
    o.topics, pos = _decode_topic_data_v1(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("leaderEndpoints")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.leader_endpoints, pos = _decode_leader_endpoint_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_begin_quorum_epoch_request_v1(out: bytearray, o: BeginQuorumEpochRequest) -> None:
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.voter_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v1(out, o.topics)
    n = len(o.leader_endpoints) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_endpoint_v1(out, o.leader_endpoints)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


BeginQuorumEpochRequest.DECODERS = {
    0: _decode_begin_quorum_epoch_request_v0,
    1: _decode_begin_quorum_epoch_request_v1,
}
BeginQuorumEpochRequest.ENCODERS = {
    0: _encode_begin_quorum_epoch_request_v0,
    1: _encode_begin_quorum_epoch_request_v1,
}
