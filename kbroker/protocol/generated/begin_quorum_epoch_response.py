"""BeginQuorumEpochResponse, versions 0 to 1.

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
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ihii = Layout(">ihii").pack
unpack_ihii = Layout(">ihii").unpack_from


class NodeEndpoint(Struct):
    """Part of BeginQuorumEpochResponse."""

    __slots__ = (
        "node_id",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,  # version 1
        host: str = "",  # version 1
        port: int = 0,  # version 1
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of BeginQuorumEpochResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class TopicData(Struct):
    """Part of BeginQuorumEpochResponse."""

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


class BeginQuorumEpochResponse(Message):
    """BeginQuorumEpochResponse, versions 0 to 1."""

    __slots__ = (
        "error_code",
        "topics",
        "node_endpoints",
        "unknown_tags",
    )
    NAME = "BeginQuorumEpochResponse"
    API_KEY = 53
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[TopicData] = UNSET,
        node_endpoints: list[NodeEndpoint] = UNSET,  # version 1
    ) -> None:
        self.error_code = error_code
        self.topics: list[TopicData] = [] if topics is UNSET else topics
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is UNSET else node_endpoints
        self.unknown_tags: UnknownTags = None


def _decode_node_endpoint_v1(buf: Buffer, pos: int, count: int) -> tuple[list[NodeEndpoint], int]:
    items: list[NodeEndpoint] = []
    for _ in range(count):
        o = NodeEndpoint.__new__(NodeEndpoint)
        items.append(o)
        (o.node_id,) = unpack_i(buf, pos)
        pos += 4
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


def _encode_node_endpoint_v1(out: bytearray, items: Iterable[NodeEndpoint]) -> None:
    for o in items:
        out += pack_i(o.node_id)
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
        o.partition_index, o.error_code, o.leader_id, o.leader_epoch = unpack_ihii(buf, pos)
        pos += 14
        o.unknown_tags = None
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ihii(o.partition_index, o.error_code, o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.error_code, o.leader_id, o.leader_epoch = unpack_ihii(buf, pos)
        pos += 14
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v1(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ihii(o.partition_index, o.error_code, o.leader_id, o.leader_epoch)
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
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
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
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
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


def _decode_begin_quorum_epoch_response_v0(buf: Buffer, pos: int) -> tuple[BeginQuorumEpochResponse, int]:
    o = BeginQuorumEpochResponse.__new__(BeginQuorumEpochResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_data_v0(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_begin_quorum_epoch_response_v0(out: bytearray, o: BeginQuorumEpochResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_hi(o.error_code, len(o.topics))
    _encode_topic_data_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_begin_quorum_epoch_response_v1(buf: Buffer, pos: int) -> tuple[BeginQuorumEpochResponse, int]:
    o = BeginQuorumEpochResponse.__new__(BeginQuorumEpochResponse)
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
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_begin_quorum_epoch_response_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_begin_quorum_epoch_response_v1(buf: Buffer, pos: int, o: BeginQuorumEpochResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                raise null_field("nodeEndpoints")
            if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.node_endpoints, pos = _decode_node_endpoint_v1(buf, pos, n)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_begin_quorum_epoch_response_v1(out: bytearray, o: BeginQuorumEpochResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.node_endpoints:
        part = bytearray()
        n = len(o.node_endpoints) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_node_endpoint_v1(part, o.node_endpoints)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_begin_quorum_epoch_response_v1(out: bytearray, o: BeginQuorumEpochResponse) -> None:
    out += pack_h(o.error_code)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v1(out, o.topics)
    if o.unknown_tags or o.node_endpoints:
        _write_tags_of_begin_quorum_epoch_response_v1(out, o)
    else:
        out.append(0)


BeginQuorumEpochResponse.DECODERS = {
    0: _decode_begin_quorum_epoch_response_v0,
    1: _decode_begin_quorum_epoch_response_v1,
}
BeginQuorumEpochResponse.ENCODERS = {
    0: _encode_begin_quorum_epoch_response_v0,
    1: _encode_begin_quorum_epoch_response_v1,
}
