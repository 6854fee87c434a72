"""RemoteLogSegmentMetadataSnapshotRecord, version 0.

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
    bad_tag_size,
    null_field,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_tags,
    write_uvarint,
)

pack_16sqqiqq = Layout(">16sqqiqq").pack
unpack_16sqqiqq = Layout(">16sqqiqq").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class SegmentLeaderEpochEntry(Struct):
    """Part of RemoteLogSegmentMetadataSnapshotRecord."""

    __slots__ = (
        "leader_epoch",
        "offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_epoch: int = 0,
        offset: int = 0,
    ) -> None:
        self.leader_epoch = leader_epoch
        self.offset = offset
        self.unknown_tags: UnknownTags = None


class RemoteLogSegmentMetadataSnapshotRecord(Message):
    """RemoteLogSegmentMetadataSnapshotRecord, version 0."""

    __slots__ = (
        "segment_id",
        "start_offset",
        "end_offset",
        "broker_id",
        "max_timestamp_ms",
        "event_timestamp_ms",
        "segment_leader_epochs",
        "segment_size_in_bytes",
        "custom_metadata",
        "remote_log_segment_state",
        "txn_index_empty",
        "unknown_tags",
    )
    NAME = "RemoteLogSegmentMetadataSnapshotRecord"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        segment_id: bytes = ZERO_UUID,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: list[SegmentLeaderEpochEntry] = UNSET,
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
    ) -> None:
        self.segment_id = segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs: list[SegmentLeaderEpochEntry] = (
            [] if segment_leader_epochs is UNSET else segment_leader_epochs
        )
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.txn_index_empty = txn_index_empty
        self.unknown_tags: UnknownTags = None


def _decode_segment_leader_epoch_entry_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[SegmentLeaderEpochEntry], int]:
    items: list[SegmentLeaderEpochEntry] = []
    for _ in range(count):
        o = SegmentLeaderEpochEntry.__new__(SegmentLeaderEpochEntry)
        items.append(o)
        o.leader_epoch, o.offset = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_segment_leader_epoch_entry_v0(out: bytearray, items: Iterable[SegmentLeaderEpochEntry]) -> None:
    for o in items:
        out += pack_iq(o.leader_epoch, o.offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_remote_log_segment_metadata_snapshot_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[RemoteLogSegmentMetadataSnapshotRecord, int]:
    o = RemoteLogSegmentMetadataSnapshotRecord.__new__(RemoteLogSegmentMetadataSnapshotRecord)
    (
        o.segment_id,
        o.start_offset,
        o.end_offset,
        o.broker_id,
        o.max_timestamp_ms,
        o.event_timestamp_ms,
    ) = unpack_16sqqiqq(buf, pos)
    pos += 52
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("segmentLeaderEpochs")
    if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.segment_leader_epochs, pos = _decode_segment_leader_epoch_entry_v0(buf, pos, n)
    (o.segment_size_in_bytes,) = unpack_i(buf, pos)
    pos += 4
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
    o.txn_index_empty = False
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_remote_log_segment_metadata_snapshot_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_remote_log_segment_metadata_snapshot_record_v0(
    buf: Buffer,
    pos: int,
    o: RemoteLogSegmentMetadataSnapshotRecord,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.txn_index_empty,) = unpack_o(buf, pos)
            pos += 1
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_remote_log_segment_metadata_snapshot_record_v0(
    out: bytearray,
    o: RemoteLogSegmentMetadataSnapshotRecord,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.txn_index_empty:
        part = bytearray()
        part += pack_o(o.txn_index_empty)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_remote_log_segment_metadata_snapshot_record_v0(
    out: bytearray,
    o: RemoteLogSegmentMetadataSnapshotRecord,
) -> None:
    out += pack_16sqqiqq(
        o.segment_id,
        o.start_offset,
        o.end_offset,
        o.broker_id,
        o.max_timestamp_ms,
        o.event_timestamp_ms,
    )
    n = len(o.segment_leader_epochs) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_segment_leader_epoch_entry_v0(out, o.segment_leader_epochs)
    out += pack_i(o.segment_size_in_bytes)
    if o.custom_metadata is None:
        out.append(0)
    else:
        n = len(o.custom_metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.custom_metadata
    out += pack_b(o.remote_log_segment_state)
    if o.unknown_tags or o.txn_index_empty:
        _write_tags_of_remote_log_segment_metadata_snapshot_record_v0(out, o)
    else:
        out.append(0)


RemoteLogSegmentMetadataSnapshotRecord.DECODERS = {
    0: _decode_remote_log_segment_metadata_snapshot_record_v0,
}
RemoteLogSegmentMetadataSnapshotRecord.ENCODERS = {
    0: _encode_remote_log_segment_metadata_snapshot_record_v0,
}
