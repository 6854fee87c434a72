"""FetchSnapshotResponse, versions 0 to 1.

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
    bad_tag,
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
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_qi = Layout(">qi").pack
unpack_qi = Layout(">qi").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class NodeEndpoint(Struct):
    """Part of FetchSnapshotResponse."""

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


class LeaderIdAndEpoch(Struct):
    """Part of FetchSnapshotResponse."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class SnapshotId(Struct):
    """Part of FetchSnapshotResponse."""

    __slots__ = (
        "end_offset",
        "epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tags: UnknownTags = None


class PartitionSnapshot(Struct):
    """Part of FetchSnapshotResponse."""

    __slots__ = (
        "index",
        "error_code",
        "snapshot_id",
        "current_leader",
        "size",
        "position",
        "unaligned_records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: SnapshotId = UNSET,
        current_leader: LeaderIdAndEpoch = UNSET,
        size: int = 0,
        position: int = 0,
        unaligned_records: Buffer = b"",
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is UNSET else snapshot_id
        self.current_leader: LeaderIdAndEpoch = (
            LeaderIdAndEpoch() if current_leader is UNSET else current_leader
        )
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records
        self.unknown_tags: UnknownTags = None


class TopicSnapshot(Struct):
    """Part of FetchSnapshotResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[PartitionSnapshot] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[PartitionSnapshot] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class FetchSnapshotResponse(Message):
    """FetchSnapshotResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "topics",
        "node_endpoints",
        "unknown_tags",
    )
    NAME = "FetchSnapshotResponse"
    API_KEY = 59
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[TopicSnapshot] = UNSET,
        node_endpoints: list[NodeEndpoint] = UNSET,  # version 1
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics: list[TopicSnapshot] = [] if topics is UNSET else topics
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


def _decode_leader_id_and_epoch_v0(buf: Buffer, pos: int, count: int) -> tuple[list[LeaderIdAndEpoch], int]:
    items: list[LeaderIdAndEpoch] = []
    for _ in range(count):
        o = LeaderIdAndEpoch.__new__(LeaderIdAndEpoch)
        items.append(o)
        o.leader_id, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_id_and_epoch_v0(out: bytearray, items: Iterable[LeaderIdAndEpoch]) -> None:
    for o in items:
        out += pack_ii(o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_snapshot_id_v0(buf: Buffer, pos: int, count: int) -> tuple[list[SnapshotId], int]:
    items: list[SnapshotId] = []
    for _ in range(count):
        o = SnapshotId.__new__(SnapshotId)
        items.append(o)
        o.end_offset, o.epoch = unpack_qi(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_snapshot_id_v0(out: bytearray, items: Iterable[SnapshotId]) -> None:
    for o in items:
        out += pack_qi(o.end_offset, o.epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_snapshot_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionSnapshot], int]:
    items: list[PartitionSnapshot] = []
    for _ in range(count):
        o = PartitionSnapshot.__new__(PartitionSnapshot)
        items.append(o)
        o.index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        (o.snapshot_id,), pos = _decode_snapshot_id_v0(buf, pos, 1)
        o.size, o.position = unpack_qq(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("unalignedRecords")
        end = pos + n
        o.unaligned_records = memoryview(buf)[pos:end]
        pos = end
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_partition_snapshot_v0(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_partition_snapshot_v0(buf: Buffer, pos: int, o: PartitionSnapshot) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.current_leader,), pos = _decode_leader_id_and_epoch_v0(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_snapshot_v0(out: bytearray, o: PartitionSnapshot) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.current_leader.leader_id != 0 or o.current_leader.leader_epoch != 0:
        part = bytearray()
        _encode_leader_id_and_epoch_v0(part, (o.current_leader,))
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_snapshot_v0(out: bytearray, items: Iterable[PartitionSnapshot]) -> None:
    for o in items:
        out += pack_ih(o.index, o.error_code)
        _encode_snapshot_id_v0(out, (o.snapshot_id,))
        out += pack_qq(o.size, o.position)
        n = len(o.unaligned_records) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.unaligned_records
        if o.unknown_tags or o.current_leader.leader_id != 0 or o.current_leader.leader_epoch != 0:
            _write_tags_of_partition_snapshot_v0(out, o)
        else:
            out.append(0)


def _decode_topic_snapshot_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicSnapshot], int]:
    items: list[TopicSnapshot] = []
    for _ in range(count):
        o = TopicSnapshot.__new__(TopicSnapshot)
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
        if n * 37 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_snapshot_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_snapshot_v0(out: bytearray, items: Iterable[TopicSnapshot]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_snapshot_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_snapshot_response_v0(buf: Buffer, pos: int) -> tuple[FetchSnapshotResponse, int]:
    o = FetchSnapshotResponse.__new__(FetchSnapshotResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
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
    o.topics, pos = _decode_topic_snapshot_v0(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_snapshot_response_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_snapshot_response_v0(buf: Buffer, pos: int, o: FetchSnapshotResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_fetch_snapshot_response_v0(out: bytearray, o: FetchSnapshotResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_snapshot_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_fetch_snapshot_response_v1(buf: Buffer, pos: int) -> tuple[FetchSnapshotResponse, int]:
    o = FetchSnapshotResponse.__new__(FetchSnapshotResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
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
    o.topics, pos = _decode_topic_snapshot_v0(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_snapshot_response_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_snapshot_response_v1(buf: Buffer, pos: int, o: FetchSnapshotResponse) -> int:
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


def _write_tags_of_fetch_snapshot_response_v1(out: bytearray, o: FetchSnapshotResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.node_endpoints:
        part = bytearray()
        n = len(o.node_endpoints) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_node_endpoint_v1(part, o.node_endpoints)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_snapshot_response_v1(out: bytearray, o: FetchSnapshotResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_snapshot_v0(out, o.topics)
    if o.unknown_tags or o.node_endpoints:
        _write_tags_of_fetch_snapshot_response_v1(out, o)
    else:
        out.append(0)


FetchSnapshotResponse.DECODERS = {
    0: _decode_fetch_snapshot_response_v0,
    1: _decode_fetch_snapshot_response_v1,
}
FetchSnapshotResponse.ENCODERS = {
    0: _encode_fetch_snapshot_response_v0,
    1: _encode_fetch_snapshot_response_v1,
}
