"""ReadShareGroupStateResponse, version 0.

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
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_qqbh = Layout(">qqbh").pack
unpack_qqbh = Layout(">qqbh").unpack_from


class StateBatch(Struct):
    """Part of ReadShareGroupStateResponse."""

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


class PartitionResult(Struct):
    """Part of ReadShareGroupStateResponse."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "state_epoch",
        "start_offset",
        "state_batches",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: list[StateBatch] = UNSET,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches: list[StateBatch] = [] if state_batches is UNSET else state_batches
        self.unknown_tags: UnknownTags = None


class ReadStateResult(Struct):
    """Part of ReadShareGroupStateResponse."""

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


class ReadShareGroupStateResponse(Message):
    """ReadShareGroupStateResponse, version 0."""

    __slots__ = (
        "results",
        "unknown_tags",
    )
    NAME = "ReadShareGroupStateResponse"
    API_KEY = 84
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        results: list[ReadStateResult] = UNSET,
    ) -> None:
        self.results: list[ReadStateResult] = [] if results is UNSET else results
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
        o.state_epoch, o.start_offset = unpack_iq(buf, pos)
        pos += 12
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


def _encode_partition_result_v0(out: bytearray, items: Iterable[PartitionResult]) -> None:
    for o in items:
        out += pack_ih(o.partition, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_iq(o.state_epoch, o.start_offset)
        n = len(o.state_batches) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_state_batch_v0(out, o.state_batches)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_read_state_result_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ReadStateResult], int]:
    items: list[ReadStateResult] = []
    for _ in range(count):
        o = ReadStateResult.__new__(ReadStateResult)
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
        if n * 21 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_read_state_result_v0(out: bytearray, items: Iterable[ReadStateResult]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_result_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_read_share_group_state_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ReadShareGroupStateResponse, int]:
    o = ReadShareGroupStateResponse.__new__(ReadShareGroupStateResponse)
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
    o.results, pos = _decode_read_state_result_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_read_share_group_state_response_v0(out: bytearray, o: ReadShareGroupStateResponse) -> None:
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_read_state_result_v0(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ReadShareGroupStateResponse.DECODERS = {
    0: _decode_read_share_group_state_response_v0,
}
ReadShareGroupStateResponse.ENCODERS = {
    0: _encode_read_share_group_state_response_v0,
}
