"""FetchSnapshotRequest, versions 0 to 1.

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
    bad_tag,
    bad_tag_size,
    null_field,
    read_compact_nullable_string,
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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from
pack_qi = Layout(">qi").pack
unpack_qi = Layout(">qi").unpack_from


class SnapshotId(Struct):
    """Part of FetchSnapshotRequest."""

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
    """Part of FetchSnapshotRequest."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "snapshot_id",
        "position",
        "replica_directory_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: SnapshotId = UNSET,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,  # version 1
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is UNSET else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id
        self.unknown_tags: UnknownTags = None


class TopicSnapshot(Struct):
    """Part of FetchSnapshotRequest."""

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


class FetchSnapshotRequest(Message):
    """FetchSnapshotRequest, versions 0 to 1."""

    __slots__ = (
        "cluster_id",
        "replica_id",
        "max_bytes",
        "topics",
        "unknown_tags",
    )
    NAME = "FetchSnapshotRequest"
    API_KEY = 59
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[TopicSnapshot] = UNSET,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics: list[TopicSnapshot] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


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
        o.partition, o.current_leader_epoch = unpack_ii(buf, pos)
        pos += 8
        (o.snapshot_id,), pos = _decode_snapshot_id_v0(buf, pos, 1)
        (o.position,) = unpack_q(buf, pos)
        pos += 8
        o.replica_directory_id = ZERO_UUID
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
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_partition_snapshot_v0(out: bytearray, items: Iterable[PartitionSnapshot]) -> None:
    for o in items:
        out += pack_ii(o.partition, o.current_leader_epoch)
        _encode_snapshot_id_v0(out, (o.snapshot_id,))
        out += pack_q(o.position)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_snapshot_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionSnapshot], int]:
    items: list[PartitionSnapshot] = []
    for _ in range(count):
        o = PartitionSnapshot.__new__(PartitionSnapshot)
        items.append(o)
        o.partition, o.current_leader_epoch = unpack_ii(buf, pos)
        pos += 8
        (o.snapshot_id,), pos = _decode_snapshot_id_v0(buf, pos, 1)
        (o.position,) = unpack_q(buf, pos)
        pos += 8
        o.replica_directory_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_partition_snapshot_v1(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_partition_snapshot_v1(buf: Buffer, pos: int, o: PartitionSnapshot) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.replica_directory_id,) = unpack_16s(buf, pos)
            pos += 16
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_snapshot_v1(out: bytearray, o: PartitionSnapshot) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.replica_directory_id != ZERO_UUID:
        part = bytearray()
        part += pack_16s(o.replica_directory_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_snapshot_v1(out: bytearray, items: Iterable[PartitionSnapshot]) -> None:
    for o in items:
        out += pack_ii(o.partition, o.current_leader_epoch)
        _encode_snapshot_id_v0(out, (o.snapshot_id,))
        out += pack_q(o.position)
        if o.unknown_tags or o.replica_directory_id != ZERO_UUID:
            _write_tags_of_partition_snapshot_v1(out, o)
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
        if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
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


def _decode_topic_snapshot_v1(buf: Buffer, pos: int, count: int) -> tuple[list[TopicSnapshot], int]:
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
        if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_snapshot_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_snapshot_v1(out: bytearray, items: Iterable[TopicSnapshot]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_snapshot_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_snapshot_request_v0(buf: Buffer, pos: int) -> tuple[FetchSnapshotRequest, int]:
    o = FetchSnapshotRequest.__new__(FetchSnapshotRequest)
    o.replica_id, o.max_bytes = unpack_ii(buf, pos)
    pos += 8
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
    o.cluster_id = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_snapshot_request_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_snapshot_request_v0(buf: Buffer, pos: int, o: FetchSnapshotRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_snapshot_request_v0(out: bytearray, o: FetchSnapshotRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_snapshot_request_v0(out: bytearray, o: FetchSnapshotRequest) -> None:
    out += pack_ii(o.replica_id, o.max_bytes)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_snapshot_v0(out, o.topics)
    if o.unknown_tags or o.cluster_id is not None:
        _write_tags_of_fetch_snapshot_request_v0(out, o)
    else:
        out.append(0)


def _decode_fetch_snapshot_request_v1(buf: Buffer, pos: int) -> tuple[FetchSnapshotRequest, int]:
    o = FetchSnapshotRequest.__new__(FetchSnapshotRequest)
    o.replica_id, o.max_bytes = unpack_ii(buf, pos)
    pos += 8
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
    o.topics, pos = _decode_topic_snapshot_v1(buf, pos, n)
    o.cluster_id = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_snapshot_request_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_snapshot_request_v1(buf: Buffer, pos: int, o: FetchSnapshotRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_snapshot_request_v1(out: bytearray, o: FetchSnapshotRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_snapshot_request_v1(out: bytearray, o: FetchSnapshotRequest) -> None:
    out += pack_ii(o.replica_id, o.max_bytes)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_snapshot_v1(out, o.topics)
    if o.unknown_tags or o.cluster_id is not None:
        _write_tags_of_fetch_snapshot_request_v1(out, o)
    else:
        out.append(0)


FetchSnapshotRequest.DECODERS = {
    0: _decode_fetch_snapshot_request_v0,
    1: _decode_fetch_snapshot_request_v1,
}
FetchSnapshotRequest.ENCODERS = {
    0: _encode_fetch_snapshot_request_v0,
    1: _encode_fetch_snapshot_request_v1,
}
