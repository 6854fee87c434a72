"""FetchResponse, versions 0 to 18.

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
    not_in_version,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih3q = Layout(">ih3q").pack
unpack_ih3q = Layout(">ih3q").unpack_from
pack_ih3qi = Layout(">ih3qi").pack
unpack_ih3qi = Layout(">ih3qi").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from
pack_ihii = Layout(">ihii").pack
unpack_ihii = Layout(">ihii").unpack_from
pack_ihqi = Layout(">ihqi").pack
unpack_ihqi = Layout(">ihqi").unpack_from
pack_ihqqi = Layout(">ihqqi").pack
unpack_ihqqi = Layout(">ihqqi").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_qi = Layout(">qi").pack
unpack_qi = Layout(">qi").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class NodeEndpoint(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,  # versions 16 to 18
        host: str = "",  # versions 16 to 18
        port: int = 0,  # versions 16 to 18
        rack: str | None = None,  # versions 16 to 18
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags: UnknownTags = None


class AbortedTransaction(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "producer_id",
        "first_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,  # versions 4 to 18
        first_offset: int = 0,  # versions 4 to 18
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.unknown_tags: UnknownTags = None


class SnapshotId(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "end_offset",
        "epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        end_offset: int = -1,  # versions 12 to 18
        epoch: int = -1,  # versions 12 to 18
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tags: UnknownTags = None


class LeaderIdAndEpoch(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,  # versions 12 to 18
        leader_epoch: int = -1,  # versions 12 to 18
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class EpochEndOffset(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "epoch",
        "end_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        epoch: int = -1,  # versions 12 to 18
        end_offset: int = -1,  # versions 12 to 18
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "diverging_epoch",
        "current_leader",
        "snapshot_id",
        "aborted_transactions",
        "preferred_read_replica",
        "records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,  # versions 4 to 18
        log_start_offset: int = -1,  # versions 5 to 18
        diverging_epoch: EpochEndOffset = UNSET,  # versions 12 to 18
        current_leader: LeaderIdAndEpoch = UNSET,  # versions 12 to 18
        snapshot_id: SnapshotId = UNSET,  # versions 12 to 18
        aborted_transactions: list[AbortedTransaction] | None = UNSET,  # versions 4 to 18
        preferred_read_replica: int = -1,  # versions 11 to 18
        records: Buffer | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch: EpochEndOffset = (
            EpochEndOffset() if diverging_epoch is UNSET else diverging_epoch
        )
        self.current_leader: LeaderIdAndEpoch = (
            LeaderIdAndEpoch() if current_leader is UNSET else current_leader
        )
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is UNSET else snapshot_id
        self.aborted_transactions: list[AbortedTransaction] | None = (
            [] if aborted_transactions is UNSET else aborted_transactions
        )
        self.preferred_read_replica = preferred_read_replica
        self.records = records
        self.unknown_tags: UnknownTags = None


class FetchableTopicResponse(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",  # versions 0 to 12
        topic_id: bytes = ZERO_UUID,  # versions 13 to 18
        partitions: list[PartitionData] = UNSET,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class FetchResponse(Message):
    """FetchResponse, versions 0 to 18."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "session_id",
        "responses",
        "node_endpoints",
        "unknown_tags",
    )
    NAME = "FetchResponse"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 18
    FLEXIBLE_SINCE = 12

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 18
        error_code: int = 0,  # versions 7 to 18
        session_id: int = 0,  # versions 7 to 18
        responses: list[FetchableTopicResponse] = UNSET,
        node_endpoints: list[NodeEndpoint] = UNSET,  # versions 16 to 18
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses: list[FetchableTopicResponse] = [] if responses is UNSET else responses
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is UNSET else node_endpoints
        self.unknown_tags: UnknownTags = None


def _decode_node_endpoint_v16(buf: Buffer, pos: int, count: int) -> tuple[list[NodeEndpoint], int]:
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
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_node_endpoint_v16(out: bytearray, items: Iterable[NodeEndpoint]) -> None:
    for o in items:
        out += pack_i(o.node_id)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        write_compact_nullable_string(out, o.rack)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_aborted_transaction_v4(buf: Buffer, pos: int, count: int) -> tuple[list[AbortedTransaction], int]:
    items: list[AbortedTransaction] = []
    for _ in range(count):
        o = AbortedTransaction.__new__(AbortedTransaction)
        items.append(o)
        o.producer_id, o.first_offset = unpack_qq(buf, pos)
        pos += 16
        o.unknown_tags = None
    return items, pos


def _encode_aborted_transaction_v4(out: bytearray, items: Iterable[AbortedTransaction]) -> None:
    for o in items:
        out += pack_qq(o.producer_id, o.first_offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_aborted_transaction_v12(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AbortedTransaction], int]:
    items: list[AbortedTransaction] = []
    for _ in range(count):
        o = AbortedTransaction.__new__(AbortedTransaction)
        items.append(o)
        o.producer_id, o.first_offset = unpack_qq(buf, pos)
        pos += 16
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_aborted_transaction_v12(out: bytearray, items: Iterable[AbortedTransaction]) -> None:
    for o in items:
        out += pack_qq(o.producer_id, o.first_offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_snapshot_id_v12(buf: Buffer, pos: int, count: int) -> tuple[list[SnapshotId], int]:
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


def _encode_snapshot_id_v12(out: bytearray, items: Iterable[SnapshotId]) -> None:
    for o in items:
        out += pack_qi(o.end_offset, o.epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_id_and_epoch_v12(buf: Buffer, pos: int, count: int) -> tuple[list[LeaderIdAndEpoch], int]:
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


def _encode_leader_id_and_epoch_v12(out: bytearray, items: Iterable[LeaderIdAndEpoch]) -> None:
    for o in items:
        out += pack_ii(o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_epoch_end_offset_v12(buf: Buffer, pos: int, count: int) -> tuple[list[EpochEndOffset], int]:
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = EpochEndOffset.__new__(EpochEndOffset)
        items.append(o)
        o.epoch, o.end_offset = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_epoch_end_offset_v12(out: bytearray, items: Iterable[EpochEndOffset]) -> None:
    for o in items:
        out += pack_iq(o.epoch, o.end_offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.error_code, o.high_watermark, n = unpack_ihqi(buf, pos)
        pos += 18
        if n < 0:
            o.records = None
        else:
            end = pos + n
            o.records = memoryview(buf)[pos:end]
            pos = end
        o.last_stable_offset = -1
        o.log_start_offset = -1
        o.diverging_epoch = EpochEndOffset()
        o.current_leader = LeaderIdAndEpoch()
        o.snapshot_id = SnapshotId()
        o.aborted_transactions = []
        o.preferred_read_replica = -1
        o.unknown_tags = None
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.diverging_epoch.epoch != -1 or o.diverging_epoch.end_offset != -1:
            raise not_in_version("divergingEpoch")
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        if o.snapshot_id.end_offset != -1 or o.snapshot_id.epoch != -1:
            raise not_in_version("snapshotId")
        if o.preferred_read_replica != -1:
            raise not_in_version("preferredReadReplica")
        out += pack_ihqi(
            o.partition_index,
            o.error_code,
            o.high_watermark,
            -1 if o.records is None else len(o.records),
        )
        if o.records:
            out += o.records
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_data_v4(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, n = unpack_ihqqi(buf, pos)
        pos += 26
        if n < 0:
            o.aborted_transactions = None
        else:
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.aborted_transactions, pos = _decode_aborted_transaction_v4(buf, pos, n)
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            o.records = None
        else:
            end = pos + n
            o.records = memoryview(buf)[pos:end]
            pos = end
        o.log_start_offset = -1
        o.diverging_epoch = EpochEndOffset()
        o.current_leader = LeaderIdAndEpoch()
        o.snapshot_id = SnapshotId()
        o.preferred_read_replica = -1
        o.unknown_tags = None
    return items, pos


def _encode_partition_data_v4(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.diverging_epoch.epoch != -1 or o.diverging_epoch.end_offset != -1:
            raise not_in_version("divergingEpoch")
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        if o.snapshot_id.end_offset != -1 or o.snapshot_id.epoch != -1:
            raise not_in_version("snapshotId")
        if o.preferred_read_replica != -1:
            raise not_in_version("preferredReadReplica")
        out += pack_ihqqi(
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            -1 if o.aborted_transactions is None else len(o.aborted_transactions),
        )
        if o.aborted_transactions:
            _encode_aborted_transaction_v4(out, o.aborted_transactions)
        out += pack_i(-1 if o.records is None else len(o.records))
        if o.records:
            out += o.records
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_data_v5(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        (
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            o.log_start_offset,
            n,
        ) = unpack_ih3qi(buf, pos)
        pos += 34
        if n < 0:
            o.aborted_transactions = None
        else:
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.aborted_transactions, pos = _decode_aborted_transaction_v4(buf, pos, n)
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            o.records = None
        else:
            end = pos + n
            o.records = memoryview(buf)[pos:end]
            pos = end
        o.diverging_epoch = EpochEndOffset()
        o.current_leader = LeaderIdAndEpoch()
        o.snapshot_id = SnapshotId()
        o.preferred_read_replica = -1
        o.unknown_tags = None
    return items, pos


def _encode_partition_data_v5(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.diverging_epoch.epoch != -1 or o.diverging_epoch.end_offset != -1:
            raise not_in_version("divergingEpoch")
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        if o.snapshot_id.end_offset != -1 or o.snapshot_id.epoch != -1:
            raise not_in_version("snapshotId")
        if o.preferred_read_replica != -1:
            raise not_in_version("preferredReadReplica")
        out += pack_ih3qi(
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            o.log_start_offset,
            -1 if o.aborted_transactions is None else len(o.aborted_transactions),
        )
        if o.aborted_transactions:
            _encode_aborted_transaction_v4(out, o.aborted_transactions)
        out += pack_i(-1 if o.records is None else len(o.records))
        if o.records:
            out += o.records
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_data_v11(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        (
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            o.log_start_offset,
            n,
        ) = unpack_ih3qi(buf, pos)
        pos += 34
        if n < 0:
            o.aborted_transactions = None
        else:
            if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.aborted_transactions, pos = _decode_aborted_transaction_v4(buf, pos, n)
        o.preferred_read_replica, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            o.records = None
        else:
            end = pos + n
            o.records = memoryview(buf)[pos:end]
            pos = end
        o.diverging_epoch = EpochEndOffset()
        o.current_leader = LeaderIdAndEpoch()
        o.snapshot_id = SnapshotId()
        o.unknown_tags = None
    return items, pos


def _encode_partition_data_v11(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.diverging_epoch.epoch != -1 or o.diverging_epoch.end_offset != -1:
            raise not_in_version("divergingEpoch")
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        if o.snapshot_id.end_offset != -1 or o.snapshot_id.epoch != -1:
            raise not_in_version("snapshotId")
        out += pack_ih3qi(
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            o.log_start_offset,
            -1 if o.aborted_transactions is None else len(o.aborted_transactions),
        )
        if o.aborted_transactions:
            _encode_aborted_transaction_v4(out, o.aborted_transactions)
        out += pack_ii(o.preferred_read_replica, -1 if o.records is None else len(o.records))
        if o.records:
            out += o.records
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_data_v12(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        (
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            o.log_start_offset,
        ) = unpack_ih3q(buf, pos)
        pos += 30
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.aborted_transactions = None
        else:
            if n * 17 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.aborted_transactions, pos = _decode_aborted_transaction_v12(buf, pos, n)
        (o.preferred_read_replica,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.records = None
        else:
            end = pos + n
            o.records = memoryview(buf)[pos:end]
            pos = end
        o.diverging_epoch = EpochEndOffset()
        o.current_leader = LeaderIdAndEpoch()
        o.snapshot_id = SnapshotId()
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_partition_data_v12(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_partition_data_v12(buf: Buffer, pos: int, o: PartitionData) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.diverging_epoch,), pos = _decode_epoch_end_offset_v12(buf, pos, 1)
        elif tag == 1:
            (o.current_leader,), pos = _decode_leader_id_and_epoch_v12(buf, pos, 1)
        elif tag == 2:
            (o.snapshot_id,), pos = _decode_snapshot_id_v12(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_data_v12(out: bytearray, o: PartitionData) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.diverging_epoch.epoch != -1 or o.diverging_epoch.end_offset != -1:
        part = bytearray()
        _encode_epoch_end_offset_v12(part, (o.diverging_epoch,))
        tags.append((0, part))
    if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
        part = bytearray()
        _encode_leader_id_and_epoch_v12(part, (o.current_leader,))
        tags.append((1, part))
    if o.snapshot_id.end_offset != -1 or o.snapshot_id.epoch != -1:
        part = bytearray()
        _encode_snapshot_id_v12(part, (o.snapshot_id,))
        tags.append((2, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_data_v12(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ih3q(
            o.partition_index,
            o.error_code,
            o.high_watermark,
            o.last_stable_offset,
            o.log_start_offset,
        )
        if o.aborted_transactions is None:
            out.append(0)
        else:
            n = len(o.aborted_transactions) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_aborted_transaction_v12(out, o.aborted_transactions)
        out += pack_i(o.preferred_read_replica)
        if o.records is None:
            out.append(0)
        else:
            n = len(o.records) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            out += o.records
        if (
            o.unknown_tags
            or o.diverging_epoch.epoch != -1
            or o.diverging_epoch.end_offset != -1
            or o.current_leader.leader_id != -1
            or o.current_leader.leader_epoch != -1
            or o.snapshot_id.end_offset != -1
            or o.snapshot_id.epoch != -1
        ):
            _write_tags_of_partition_data_v12(out, o)
        else:
            out.append(0)


def _decode_fetchable_topic_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = FetchableTopicResponse.__new__(FetchableTopicResponse)
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
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetchable_topic_response_v0(out: bytearray, items: Iterable[FetchableTopicResponse]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetchable_topic_response_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = FetchableTopicResponse.__new__(FetchableTopicResponse)
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
        if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v4(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetchable_topic_response_v4(out: bytearray, items: Iterable[FetchableTopicResponse]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_partition_data_v4(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetchable_topic_response_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = FetchableTopicResponse.__new__(FetchableTopicResponse)
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
        if n * 38 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v5(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetchable_topic_response_v5(out: bytearray, items: Iterable[FetchableTopicResponse]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_partition_data_v5(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetchable_topic_response_v11(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = FetchableTopicResponse.__new__(FetchableTopicResponse)
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
        if n * 42 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v11(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetchable_topic_response_v11(out: bytearray, items: Iterable[FetchableTopicResponse]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_partition_data_v11(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetchable_topic_response_v12(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = FetchableTopicResponse.__new__(FetchableTopicResponse)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
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
        o.partitions, pos = _decode_partition_data_v12(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetchable_topic_response_v12(out: bytearray, items: Iterable[FetchableTopicResponse]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v12(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetchable_topic_response_v13(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = FetchableTopicResponse.__new__(FetchableTopicResponse)
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
        if n * 37 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v12(buf, pos, n)
        o.topic = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetchable_topic_response_v13(out: bytearray, items: Iterable[FetchableTopicResponse]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v12(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_response_v0(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.error_code = 0
    o.session_id = 0
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_fetch_response_v0(out: bytearray, o: FetchResponse) -> None:
    if o.session_id != 0:
        raise not_in_version("sessionId")
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_i(len(o.responses))
    _encode_fetchable_topic_response_v0(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_response_v1(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v0(buf, pos, n)
    o.error_code = 0
    o.session_id = 0
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_fetch_response_v1(out: bytearray, o: FetchResponse) -> None:
    if o.session_id != 0:
        raise not_in_version("sessionId")
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ii(o.throttle_time_ms, len(o.responses))
    _encode_fetchable_topic_response_v0(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_response_v4(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v4(buf, pos, n)
    o.error_code = 0
    o.session_id = 0
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_fetch_response_v4(out: bytearray, o: FetchResponse) -> None:
    if o.session_id != 0:
        raise not_in_version("sessionId")
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ii(o.throttle_time_ms, len(o.responses))
    _encode_fetchable_topic_response_v4(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_response_v5(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v5(buf, pos, n)
    o.error_code = 0
    o.session_id = 0
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_fetch_response_v5(out: bytearray, o: FetchResponse) -> None:
    if o.session_id != 0:
        raise not_in_version("sessionId")
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ii(o.throttle_time_ms, len(o.responses))
    _encode_fetchable_topic_response_v5(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_response_v7(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, o.error_code, o.session_id, n = unpack_ihii(buf, pos)
    pos += 14
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v5(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_fetch_response_v7(out: bytearray, o: FetchResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ihii(o.throttle_time_ms, o.error_code, o.session_id, len(o.responses))
    _encode_fetchable_topic_response_v5(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_response_v11(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, o.error_code, o.session_id, n = unpack_ihii(buf, pos)
    pos += 14
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v11(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_fetch_response_v11(out: bytearray, o: FetchResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ihii(o.throttle_time_ms, o.error_code, o.session_id, len(o.responses))
    _encode_fetchable_topic_response_v11(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_response_v12(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, o.error_code, o.session_id = unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v12(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_response_v12(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_response_v12(buf: Buffer, pos: int, o: FetchResponse) -> int:
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


def _encode_fetch_response_v12(out: bytearray, o: FetchResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ihi(o.throttle_time_ms, o.error_code, o.session_id)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetchable_topic_response_v12(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_fetch_response_v13(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, o.error_code, o.session_id = unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v13(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_response_v13(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_response_v13(buf: Buffer, pos: int, o: FetchResponse) -> int:
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


def _encode_fetch_response_v13(out: bytearray, o: FetchResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_ihi(o.throttle_time_ms, o.error_code, o.session_id)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetchable_topic_response_v13(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_fetch_response_v16(buf: Buffer, pos: int) -> tuple[FetchResponse, int]:
    o = FetchResponse.__new__(FetchResponse)
    o.throttle_time_ms, o.error_code, o.session_id = unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_fetchable_topic_response_v13(buf, pos, n)
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_response_v16(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_response_v16(buf: Buffer, pos: int, o: FetchResponse) -> int:
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
            if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.node_endpoints, pos = _decode_node_endpoint_v16(buf, pos, n)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_response_v16(out: bytearray, o: FetchResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.node_endpoints:
        part = bytearray()
        n = len(o.node_endpoints) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_node_endpoint_v16(part, o.node_endpoints)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_response_v16(out: bytearray, o: FetchResponse) -> None:
    out += pack_ihi(o.throttle_time_ms, o.error_code, o.session_id)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetchable_topic_response_v13(out, o.responses)
    if o.unknown_tags or o.node_endpoints:
        _write_tags_of_fetch_response_v16(out, o)
    else:
        out.append(0)


FetchResponse.DECODERS = {
    0: _decode_fetch_response_v0,
    1: _decode_fetch_response_v1,
    2: _decode_fetch_response_v1,
    3: _decode_fetch_response_v1,
    4: _decode_fetch_response_v4,
    5: _decode_fetch_response_v5,
    6: _decode_fetch_response_v5,
    7: _decode_fetch_response_v7,
    8: _decode_fetch_response_v7,
    9: _decode_fetch_response_v7,
    10: _decode_fetch_response_v7,
    11: _decode_fetch_response_v11,
    12: _decode_fetch_response_v12,
    13: _decode_fetch_response_v13,
    14: _decode_fetch_response_v13,
    15: _decode_fetch_response_v13,
    16: _decode_fetch_response_v16,
    17: _decode_fetch_response_v16,
    18: _decode_fetch_response_v16,
}
FetchResponse.ENCODERS = {
    0: _encode_fetch_response_v0,
    1: _encode_fetch_response_v1,
    2: _encode_fetch_response_v1,
    3: _encode_fetch_response_v1,
    4: _encode_fetch_response_v4,
    5: _encode_fetch_response_v5,
    6: _encode_fetch_response_v5,
    7: _encode_fetch_response_v7,
    8: _encode_fetch_response_v7,
    9: _encode_fetch_response_v7,
    10: _encode_fetch_response_v7,
    11: _encode_fetch_response_v11,
    12: _encode_fetch_response_v12,
    13: _encode_fetch_response_v13,
    14: _encode_fetch_response_v13,
    15: _encode_fetch_response_v13,
    16: _encode_fetch_response_v16,
    17: _encode_fetch_response_v16,
    18: _encode_fetch_response_v16,
}
