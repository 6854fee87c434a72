"""WriteShareGroupStateRequest, versions 0 to 1.

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
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_3iq = Layout(">3iq").pack
unpack_3iq = Layout(">3iq").unpack_from
pack_3iqi = Layout(">3iqi").pack
unpack_3iqi = Layout(">3iqi").unpack_from
pack_qqbh = Layout(">qqbh").pack
unpack_qqbh = Layout(">qqbh").unpack_from


class StateBatch(Struct):
    """Part of WriteShareGroupStateRequest."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_state",
        "delivery_count",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of WriteShareGroupStateRequest."""

    __slots__ = (
        "partition",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "state_batches",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,  # version 1
        state_batches: list[StateBatch] = UNSET,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches: list[StateBatch] = [] if state_batches is UNSET else state_batches
        self.unknown_tags: UnknownTags = None


class WriteStateData(Struct):
    """Part of WriteShareGroupStateRequest."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class WriteShareGroupStateRequest(Message):
    """WriteShareGroupStateRequest, versions 0 to 1."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tags",
    )
    NAME = "WriteShareGroupStateRequest"
    API_KEY = 85
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[WriteStateData] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.topics: list[WriteStateData] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_state_batch_v0(buf: Buffer, pos: int, count: int) -> tuple[list[StateBatch], int]:
    items: list[StateBatch] = []
    for _ in range(count):
        o = StateBatch.__new__(StateBatch)
        items.append(o)
        o.first_offset, o.last_offset, o.delivery_state, o.delivery_count = unpack_qqbh(buf, pos)
        pos += 19
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_state_batch_v0(out: bytearray, items: Iterable[StateBatch]) -> None:
    for o in items:
        out += pack_qqbh(o.first_offset, o.last_offset, o.delivery_state, o.delivery_count)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition, o.state_epoch, o.leader_epoch, o.start_offset = unpack_3iq(buf, pos)
        pos += 20
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("stateBatches")
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.state_batches, pos = _decode_state_batch_v0(buf, pos, n)
        o.delivery_complete_count = -1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_3iq(o.partition, o.state_epoch, o.leader_epoch, o.start_offset)
        n = len(o.state_batches) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_state_batch_v0(out, o.state_batches)
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
            o.partition,
            o.state_epoch,
            o.leader_epoch,
            o.start_offset,
            o.delivery_complete_count,
        ) = unpack_3iqi(buf, pos)
        pos += 24
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("stateBatches")
        if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.state_batches, pos = _decode_state_batch_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v1(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_3iqi(
            o.partition,
            o.state_epoch,
            o.leader_epoch,
            o.start_offset,
            o.delivery_complete_count,
        )
        n = len(o.state_batches) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_state_batch_v0(out, o.state_batches)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_write_state_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[WriteStateData], int]:
    items: list[WriteStateData] = []
    for _ in range(count):
        o = WriteStateData.__new__(WriteStateData)
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
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_write_state_data_v0(out: bytearray, items: Iterable[WriteStateData]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_write_state_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[WriteStateData], int]:
    items: list[WriteStateData] = []
    for _ in range(count):
        o = WriteStateData.__new__(WriteStateData)
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
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_write_state_data_v1(out: bytearray, items: Iterable[WriteStateData]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_write_share_group_state_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[WriteShareGroupStateRequest, int]:
    o = WriteShareGroupStateRequest.__new__(WriteShareGroupStateRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_write_state_data_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_write_share_group_state_request_v0(out: bytearray, o: WriteShareGroupStateRequest) -> None:
    write_compact_string(out, o.group_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_write_state_data_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_write_share_group_state_request_v1(
    buf: Buffer,
    pos: int,
) -> tuple[WriteShareGroupStateRequest, int]:
    o = WriteShareGroupStateRequest.__new__(WriteShareGroupStateRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_write_state_data_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_write_share_group_state_request_v1(out: bytearray, o: WriteShareGroupStateRequest) -> None:
    write_compact_string(out, o.group_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_write_state_data_v1(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


WriteShareGroupStateRequest.DECODERS = {
    0: _decode_write_share_group_state_request_v0,
    1: _decode_write_share_group_state_request_v1,
}
WriteShareGroupStateRequest.ENCODERS = {
    0: _encode_write_share_group_state_request_v0,
    1: _encode_write_share_group_state_request_v1,
}
