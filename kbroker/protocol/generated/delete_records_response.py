"""DeleteRecordsResponse, versions 0 to 2.

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
    not_in_version,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iqh = Layout(">iqh").pack
unpack_iqh = Layout(">iqh").unpack_from


class DeleteRecordsPartitionResult(Struct):
    """Part of DeleteRecordsResponse."""

    __slots__ = (
        "partition_index",
        "low_watermark",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class DeleteRecordsTopicResult(Struct):
    """Part of DeleteRecordsResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartitionResult] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[DeleteRecordsPartitionResult] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DeleteRecordsResponse(Message):
    """DeleteRecordsResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "DeleteRecordsResponse"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DeleteRecordsTopicResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[DeleteRecordsTopicResult] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_delete_records_partition_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsPartitionResult], int]:
    items: list[DeleteRecordsPartitionResult] = []
    for _ in range(count):
        o = DeleteRecordsPartitionResult.__new__(DeleteRecordsPartitionResult)
        items.append(o)
        o.partition_index, o.low_watermark, o.error_code = unpack_iqh(buf, pos)
        pos += 14
        o.unknown_tags = None
    return items, pos


def _encode_delete_records_partition_result_v0(
    out: bytearray,
    items: Iterable[DeleteRecordsPartitionResult],
) -> None:
    for o in items:
        out += pack_iqh(o.partition_index, o.low_watermark, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_records_partition_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsPartitionResult], int]:
    items: list[DeleteRecordsPartitionResult] = []
    for _ in range(count):
        o = DeleteRecordsPartitionResult.__new__(DeleteRecordsPartitionResult)
        items.append(o)
        o.partition_index, o.low_watermark, o.error_code = unpack_iqh(buf, pos)
        pos += 14
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_records_partition_result_v2(
    out: bytearray,
    items: Iterable[DeleteRecordsPartitionResult],
) -> None:
    for o in items:
        out += pack_iqh(o.partition_index, o.low_watermark, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_records_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsTopicResult], int]:
    items: list[DeleteRecordsTopicResult] = []
    for _ in range(count):
        o = DeleteRecordsTopicResult.__new__(DeleteRecordsTopicResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_delete_records_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_delete_records_topic_result_v0(out: bytearray, items: Iterable[DeleteRecordsTopicResult]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_delete_records_partition_result_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_delete_records_topic_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteRecordsTopicResult], int]:
    items: list[DeleteRecordsTopicResult] = []
    for _ in range(count):
        o = DeleteRecordsTopicResult.__new__(DeleteRecordsTopicResult)
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
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_delete_records_partition_result_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_records_topic_result_v2(out: bytearray, items: Iterable[DeleteRecordsTopicResult]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_delete_records_partition_result_v2(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_records_response_v0(buf: Buffer, pos: int) -> tuple[DeleteRecordsResponse, int]:
    o = DeleteRecordsResponse.__new__(DeleteRecordsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_delete_records_topic_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_records_response_v0(out: bytearray, o: DeleteRecordsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_delete_records_topic_result_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_records_response_v2(buf: Buffer, pos: int) -> tuple[DeleteRecordsResponse, int]:
    o = DeleteRecordsResponse.__new__(DeleteRecordsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
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
    o.topics, pos = _decode_delete_records_topic_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_records_response_v2(out: bytearray, o: DeleteRecordsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_records_topic_result_v2(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteRecordsResponse.DECODERS = {
    0: _decode_delete_records_response_v0,
    1: _decode_delete_records_response_v0,
    2: _decode_delete_records_response_v2,
}
DeleteRecordsResponse.ENCODERS = {
    0: _encode_delete_records_response_v0,
    1: _encode_delete_records_response_v0,
    2: _encode_delete_records_response_v2,
}
