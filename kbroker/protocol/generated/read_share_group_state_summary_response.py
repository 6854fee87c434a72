"""ReadShareGroupStateSummaryResponse, versions 0 to 1.

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
    read_compact_nullable_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_iiq = Layout(">iiq").pack
unpack_iiq = Layout(">iiq").unpack_from
pack_iiqi = Layout(">iiqi").pack
unpack_iiqi = Layout(">iiqi").unpack_from


class PartitionResult(Struct):
    """Part of ReadShareGroupStateSummaryResponse."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,  # version 1
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.unknown_tags: UnknownTags = None


class ReadStateSummaryResult(Struct):
    """Part of ReadShareGroupStateSummaryResponse."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionResult] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionResult] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ReadShareGroupStateSummaryResponse(Message):
    """ReadShareGroupStateSummaryResponse, versions 0 to 1."""

    __slots__ = (
        "results",
        "unknown_tags",
    )
    NAME = "ReadShareGroupStateSummaryResponse"
    API_KEY = 87
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        results: list[ReadStateSummaryResult] = UNSET,
    ) -> None:
        self.results: list[ReadStateSummaryResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_partition_result_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        o = PartitionResult.__new__(PartitionResult)
        items.append(o)
        o.partition, o.error_code = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.state_epoch, o.leader_epoch, o.start_offset = unpack_iiq(buf, pos)
        pos += 16
        o.delivery_complete_count = -1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_result_v0(out: bytearray, items: Iterable[PartitionResult]) -> None:
    for o in items:
        out += pack_ih(o.partition, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_iiq(o.state_epoch, o.leader_epoch, o.start_offset)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_result_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        o = PartitionResult.__new__(PartitionResult)
        items.append(o)
        o.partition, o.error_code = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.state_epoch, o.leader_epoch, o.start_offset, o.delivery_complete_count = unpack_iiqi(buf, pos)
        pos += 20
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_result_v1(out: bytearray, items: Iterable[PartitionResult]) -> None:
    for o in items:
        out += pack_ih(o.partition, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_iiqi(o.state_epoch, o.leader_epoch, o.start_offset, o.delivery_complete_count)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_read_state_summary_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReadStateSummaryResult], int]:
    items: list[ReadStateSummaryResult] = []
    for _ in range(count):
        o = ReadStateSummaryResult.__new__(ReadStateSummaryResult)
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
        if n * 24 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_read_state_summary_result_v0(out: bytearray, items: Iterable[ReadStateSummaryResult]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_result_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_read_state_summary_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReadStateSummaryResult], int]:
    items: list[ReadStateSummaryResult] = []
    for _ in range(count):
        o = ReadStateSummaryResult.__new__(ReadStateSummaryResult)
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
        if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_result_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_read_state_summary_result_v1(out: bytearray, items: Iterable[ReadStateSummaryResult]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_result_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_read_share_group_state_summary_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ReadShareGroupStateSummaryResponse, int]:
    o = ReadShareGroupStateSummaryResponse.__new__(ReadShareGroupStateSummaryResponse)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_read_state_summary_result_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_read_share_group_state_summary_response_v0(
    out: bytearray,
    o: ReadShareGroupStateSummaryResponse,
) -> None:
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_read_state_summary_result_v0(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_read_share_group_state_summary_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[ReadShareGroupStateSummaryResponse, int]:
    o = ReadShareGroupStateSummaryResponse.__new__(ReadShareGroupStateSummaryResponse)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_read_state_summary_result_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_read_share_group_state_summary_response_v1(
    out: bytearray,
    o: ReadShareGroupStateSummaryResponse,
) -> None:
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_read_state_summary_result_v1(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ReadShareGroupStateSummaryResponse.DECODERS = {
    0: _decode_read_share_group_state_summary_response_v0,
    1: _decode_read_share_group_state_summary_response_v1,
}
ReadShareGroupStateSummaryResponse.ENCODERS = {
    0: _encode_read_share_group_state_summary_response_v0,
    1: _encode_read_share_group_state_summary_response_v1,
}
