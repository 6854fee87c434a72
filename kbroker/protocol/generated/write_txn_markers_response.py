"""WriteTxnMarkersResponse, versions 0 to 2.

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
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from
pack_qi = Layout(">qi").pack
unpack_qi = Layout(">qi").unpack_from


class WritableTxnMarkerPartitionResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class WritableTxnMarkerTopicResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[WritableTxnMarkerPartitionResult] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class WritableTxnMarkerResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    __slots__ = (
        "producer_id",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = UNSET,
    ) -> None:
        self.producer_id = producer_id
        self.topics: list[WritableTxnMarkerTopicResult] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class WriteTxnMarkersResponse(Message):
    """WriteTxnMarkersResponse, versions 0 to 2."""

    __slots__ = (
        "markers",
        "unknown_tags",
    )
    NAME = "WriteTxnMarkersResponse"
    API_KEY = 27
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarkerResult] = UNSET,
    ) -> None:
        self.markers: list[WritableTxnMarkerResult] = [] if markers is UNSET else markers
        self.unknown_tags: UnknownTags = None


def _decode_writable_txn_marker_partition_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerPartitionResult], int]:
    items: list[WritableTxnMarkerPartitionResult] = []
    for _ in range(count):
        o = WritableTxnMarkerPartitionResult.__new__(WritableTxnMarkerPartitionResult)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_writable_txn_marker_partition_result_v0(
    out: bytearray,
    items: Iterable[WritableTxnMarkerPartitionResult],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_writable_txn_marker_partition_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerPartitionResult], int]:
    items: list[WritableTxnMarkerPartitionResult] = []
    for _ in range(count):
        o = WritableTxnMarkerPartitionResult.__new__(WritableTxnMarkerPartitionResult)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_writable_txn_marker_partition_result_v1(
    out: bytearray,
    items: Iterable[WritableTxnMarkerPartitionResult],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_writable_txn_marker_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerTopicResult], int]:
    items: list[WritableTxnMarkerTopicResult] = []
    for _ in range(count):
        o = WritableTxnMarkerTopicResult.__new__(WritableTxnMarkerTopicResult)
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
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_writable_txn_marker_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_writable_txn_marker_topic_result_v0(
    out: bytearray,
    items: Iterable[WritableTxnMarkerTopicResult],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_writable_txn_marker_partition_result_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_writable_txn_marker_topic_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerTopicResult], int]:
    items: list[WritableTxnMarkerTopicResult] = []
    for _ in range(count):
        o = WritableTxnMarkerTopicResult.__new__(WritableTxnMarkerTopicResult)
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
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_writable_txn_marker_partition_result_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_writable_txn_marker_topic_result_v1(
    out: bytearray,
    items: Iterable[WritableTxnMarkerTopicResult],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_writable_txn_marker_partition_result_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_writable_txn_marker_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerResult], int]:
    items: list[WritableTxnMarkerResult] = []
    for _ in range(count):
        o = WritableTxnMarkerResult.__new__(WritableTxnMarkerResult)
        items.append(o)
        o.producer_id, n = unpack_qi(buf, pos)
        pos += 12
        if n < 0:
            raise null_field("topics")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_writable_txn_marker_topic_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_writable_txn_marker_result_v0(out: bytearray, items: Iterable[WritableTxnMarkerResult]) -> None:
    for o in items:
        out += pack_qi(o.producer_id, len(o.topics))
        _encode_writable_txn_marker_topic_result_v0(out, o.topics)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_writable_txn_marker_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerResult], int]:
    items: list[WritableTxnMarkerResult] = []
    for _ in range(count):
        o = WritableTxnMarkerResult.__new__(WritableTxnMarkerResult)
        items.append(o)
        (o.producer_id,) = unpack_q(buf, pos)
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
        o.topics, pos = _decode_writable_txn_marker_topic_result_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_writable_txn_marker_result_v1(out: bytearray, items: Iterable[WritableTxnMarkerResult]) -> None:
    for o in items:
        out += pack_q(o.producer_id)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_writable_txn_marker_topic_result_v1(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_write_txn_markers_response_v0(buf: Buffer, pos: int) -> tuple[WriteTxnMarkersResponse, int]:
    o = WriteTxnMarkersResponse.__new__(WriteTxnMarkersResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("markers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.markers, pos = _decode_writable_txn_marker_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_write_txn_markers_response_v0(out: bytearray, o: WriteTxnMarkersResponse) -> None:
    out += pack_i(len(o.markers))
    _encode_writable_txn_marker_result_v0(out, o.markers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_write_txn_markers_response_v1(buf: Buffer, pos: int) -> tuple[WriteTxnMarkersResponse, int]:
    o = WriteTxnMarkersResponse.__new__(WriteTxnMarkersResponse)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("markers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.markers, pos = _decode_writable_txn_marker_result_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_write_txn_markers_response_v1(out: bytearray, o: WriteTxnMarkersResponse) -> None:
    n = len(o.markers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_writable_txn_marker_result_v1(out, o.markers)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


WriteTxnMarkersResponse.DECODERS = {
    0: _decode_write_txn_markers_response_v0,
    1: _decode_write_txn_markers_response_v1,
    2: _decode_write_txn_markers_response_v1,
}
WriteTxnMarkersResponse.ENCODERS = {
    0: _encode_write_txn_markers_response_v0,
    1: _encode_write_txn_markers_response_v1,
    2: _encode_write_txn_markers_response_v1,
}
