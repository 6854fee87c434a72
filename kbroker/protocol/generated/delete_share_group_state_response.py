"""DeleteShareGroupStateResponse, version 0.

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


class PartitionResult(Struct):
    """Part of DeleteShareGroupStateResponse."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class DeleteStateResult(Struct):
    """Part of DeleteShareGroupStateResponse."""

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


class DeleteShareGroupStateResponse(Message):
    """DeleteShareGroupStateResponse, version 0."""

    __slots__ = (
        "results",
        "unknown_tags",
    )
    NAME = "DeleteShareGroupStateResponse"
    API_KEY = 86
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        results: list[DeleteStateResult] = UNSET,
    ) -> None:
        self.results: list[DeleteStateResult] = [] if results is UNSET else results
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
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_state_result_v0(buf: Buffer, pos: int, count: int) -> tuple[list[DeleteStateResult], int]:
    items: list[DeleteStateResult] = []
    for _ in range(count):
        o = DeleteStateResult.__new__(DeleteStateResult)
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
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_state_result_v0(out: bytearray, items: Iterable[DeleteStateResult]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_result_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_share_group_state_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DeleteShareGroupStateResponse, int]:
    o = DeleteShareGroupStateResponse.__new__(DeleteShareGroupStateResponse)
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
    o.results, pos = _decode_delete_state_result_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_share_group_state_response_v0(out: bytearray, o: DeleteShareGroupStateResponse) -> None:
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_state_result_v0(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteShareGroupStateResponse.DECODERS = {
    0: _decode_delete_share_group_state_response_v0,
}
DeleteShareGroupStateResponse.ENCODERS = {
    0: _encode_delete_share_group_state_response_v0,
}
