"""RemotePartitionDeleteMetadataRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    ZERO_UUID,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_16si = Layout(">16si").pack
unpack_16si = Layout(">16si").unpack_from
pack_iqb = Layout(">iqb").pack
unpack_iqb = Layout(">iqb").unpack_from


class TopicIdPartitionEntry(Struct):
    """Part of RemotePartitionDeleteMetadataRecord."""

    __slots__ = (
        "name",
        "id",
        "partition",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition
        self.unknown_tags: UnknownTags = None


class RemotePartitionDeleteMetadataRecord(Message):
    """RemotePartitionDeleteMetadataRecord, version 0."""

    __slots__ = (
        "topic_id_partition",
        "broker_id",
        "event_timestamp_ms",
        "remote_partition_delete_state",
        "unknown_tags",
    )
    NAME = "RemotePartitionDeleteMetadataRecord"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        topic_id_partition: TopicIdPartitionEntry = UNSET,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        remote_partition_delete_state: int = 0,
    ) -> None:
        self.topic_id_partition: TopicIdPartitionEntry = (
            TopicIdPartitionEntry() if topic_id_partition is UNSET else topic_id_partition
        )
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.remote_partition_delete_state = remote_partition_delete_state
        self.unknown_tags: UnknownTags = None


def _decode_topic_id_partition_entry_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicIdPartitionEntry], int]:
    items: list[TopicIdPartitionEntry] = []
    for _ in range(count):
        o = TopicIdPartitionEntry.__new__(TopicIdPartitionEntry)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.id, o.partition = unpack_16si(buf, pos)
        pos += 20
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_id_partition_entry_v0(out: bytearray, items: Iterable[TopicIdPartitionEntry]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_16si(o.id, o.partition)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_remote_partition_delete_metadata_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[RemotePartitionDeleteMetadataRecord, int]:
    o = RemotePartitionDeleteMetadataRecord.__new__(RemotePartitionDeleteMetadataRecord)
    (o.topic_id_partition,), pos = _decode_topic_id_partition_entry_v0(buf, pos, 1)
    o.broker_id, o.event_timestamp_ms, o.remote_partition_delete_state = unpack_iqb(buf, pos)
    pos += 13
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remote_partition_delete_metadata_record_v0(
    out: bytearray,
    o: RemotePartitionDeleteMetadataRecord,
) -> None:
    _encode_topic_id_partition_entry_v0(out, (o.topic_id_partition,))
    out += pack_iqb(o.broker_id, o.event_timestamp_ms, o.remote_partition_delete_state)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemotePartitionDeleteMetadataRecord.DECODERS = {
    0: _decode_remote_partition_delete_metadata_record_v0,
}
RemotePartitionDeleteMetadataRecord.ENCODERS = {
    0: _encode_remote_partition_delete_metadata_record_v0,
}
