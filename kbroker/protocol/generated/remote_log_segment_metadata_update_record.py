"""RemoteLogSegmentMetadataUpdateRecord, version 0.

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
    read_uvarint,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_16si = Layout(">16si").pack
unpack_16si = Layout(">16si").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class TopicIdPartitionEntry(Struct):
    """Part of RemoteLogSegmentMetadataUpdateRecord."""

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


class RemoteLogSegmentIdEntry(Struct):
    """Part of RemoteLogSegmentMetadataUpdateRecord."""

    __slots__ = (
        "topic_id_partition",
        "id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id_partition: TopicIdPartitionEntry = UNSET,
        id: bytes = ZERO_UUID,
    ) -> None:
        self.topic_id_partition: TopicIdPartitionEntry = (
            TopicIdPartitionEntry() if topic_id_partition is UNSET else topic_id_partition
        )
        self.id = id
        self.unknown_tags: UnknownTags = None


class RemoteLogSegmentMetadataUpdateRecord(Message):
    """RemoteLogSegmentMetadataUpdateRecord, version 0."""

    __slots__ = (
        "remote_log_segment_id",
        "broker_id",
        "event_timestamp_ms",
        "custom_metadata",
        "remote_log_segment_state",
        "unknown_tags",
    )
    NAME = "RemoteLogSegmentMetadataUpdateRecord"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentIdEntry = UNSET,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
    ) -> None:
        self.remote_log_segment_id: RemoteLogSegmentIdEntry = (
            RemoteLogSegmentIdEntry() if remote_log_segment_id is UNSET else remote_log_segment_id
        )
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
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


def _decode_remote_log_segment_id_entry_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[RemoteLogSegmentIdEntry], int]:
    items: list[RemoteLogSegmentIdEntry] = []
    for _ in range(count):
        o = RemoteLogSegmentIdEntry.__new__(RemoteLogSegmentIdEntry)
        items.append(o)
        (o.topic_id_partition,), pos = _decode_topic_id_partition_entry_v0(buf, pos, 1)
        (o.id,) = unpack_16s(buf, pos)
        pos += 16
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_remote_log_segment_id_entry_v0(out: bytearray, items: Iterable[RemoteLogSegmentIdEntry]) -> None:
    for o in items:
        _encode_topic_id_partition_entry_v0(out, (o.topic_id_partition,))
        out += pack_16s(o.id)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_remote_log_segment_metadata_update_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[RemoteLogSegmentMetadataUpdateRecord, int]:
    o = RemoteLogSegmentMetadataUpdateRecord.__new__(RemoteLogSegmentMetadataUpdateRecord)
    (o.remote_log_segment_id,), pos = _decode_remote_log_segment_id_entry_v0(buf, pos, 1)
    o.broker_id, o.event_timestamp_ms = unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.custom_metadata = None
    else:
        end = pos + n
        o.custom_metadata = bytes(buf[pos:end])
        pos = end
    (o.remote_log_segment_state,) = unpack_b(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remote_log_segment_metadata_update_record_v0(
    out: bytearray,
    o: RemoteLogSegmentMetadataUpdateRecord,
) -> None:
    _encode_remote_log_segment_id_entry_v0(out, (o.remote_log_segment_id,))
    out += pack_iq(o.broker_id, o.event_timestamp_ms)
    if o.custom_metadata is None:
        out.append(0)
    else:
        n = len(o.custom_metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.custom_metadata
    out += pack_b(o.remote_log_segment_state)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemoteLogSegmentMetadataUpdateRecord.DECODERS = {
    0: _decode_remote_log_segment_metadata_update_record_v0,
}
RemoteLogSegmentMetadataUpdateRecord.ENCODERS = {
    0: _encode_remote_log_segment_metadata_update_record_v0,
}
