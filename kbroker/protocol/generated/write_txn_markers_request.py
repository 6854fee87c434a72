"""WriteTxnMarkersRequest, versions 0 to 2.

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
    pack_int32s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ib = Layout(">ib").pack
unpack_ib = Layout(">ib").unpack_from
pack_qho = Layout(">qh?").pack
unpack_qho = Layout(">qh?").unpack_from
pack_qhoi = Layout(">qh?i").pack
unpack_qhoi = Layout(">qh?i").unpack_from


class WritableTxnMarkerTopic(Struct):
    """Part of WriteTxnMarkersRequest."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = UNSET,
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is UNSET else partition_indexes
        self.unknown_tags: UnknownTags = None


class WritableTxnMarker(Struct):
    """Part of WriteTxnMarkersRequest."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_result",
        "topics",
        "coordinator_epoch",
        "transaction_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = UNSET,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,  # version 2
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics: list[WritableTxnMarkerTopic] = [] if topics is UNSET else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version
        self.unknown_tags: UnknownTags = None


class WriteTxnMarkersRequest(Message):
    """WriteTxnMarkersRequest, versions 0 to 2."""

    __slots__ = (
        "markers",
        "unknown_tags",
    )
    NAME = "WriteTxnMarkersRequest"
    API_KEY = 27
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarker] = UNSET,
    ) -> None:
        self.markers: list[WritableTxnMarker] = [] if markers is UNSET else markers
        self.unknown_tags: UnknownTags = None


def _decode_writable_txn_marker_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerTopic], int]:
    items: list[WritableTxnMarkerTopic] = []
    for _ in range(count):
        o = WritableTxnMarkerTopic.__new__(WritableTxnMarkerTopic)
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
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_writable_txn_marker_topic_v0(out: bytearray, items: Iterable[WritableTxnMarkerTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_indexes))
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_writable_txn_marker_topic_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[WritableTxnMarkerTopic], int]:
    items: list[WritableTxnMarkerTopic] = []
    for _ in range(count):
        o = WritableTxnMarkerTopic.__new__(WritableTxnMarkerTopic)
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
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_writable_txn_marker_topic_v1(out: bytearray, items: Iterable[WritableTxnMarkerTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_indexes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_writable_txn_marker_v0(buf: Buffer, pos: int, count: int) -> tuple[list[WritableTxnMarker], int]:
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        o = WritableTxnMarker.__new__(WritableTxnMarker)
        items.append(o)
        o.producer_id, o.producer_epoch, o.transaction_result, n = unpack_qhoi(buf, pos)
        pos += 15
        if n < 0:
            raise null_field("topics")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_writable_txn_marker_topic_v0(buf, pos, n)
        (o.coordinator_epoch,) = unpack_i(buf, pos)
        pos += 4
        o.transaction_version = 0
        o.unknown_tags = None
    return items, pos


def _encode_writable_txn_marker_v0(out: bytearray, items: Iterable[WritableTxnMarker]) -> None:
    for o in items:
        out += pack_qhoi(o.producer_id, o.producer_epoch, o.transaction_result, len(o.topics))
        _encode_writable_txn_marker_topic_v0(out, o.topics)
        out += pack_i(o.coordinator_epoch)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_writable_txn_marker_v1(buf: Buffer, pos: int, count: int) -> tuple[list[WritableTxnMarker], int]:
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        o = WritableTxnMarker.__new__(WritableTxnMarker)
        items.append(o)
        o.producer_id, o.producer_epoch, o.transaction_result = unpack_qho(buf, pos)
        pos += 11
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
        o.topics, pos = _decode_writable_txn_marker_topic_v1(buf, pos, n)
        (o.coordinator_epoch,) = unpack_i(buf, pos)
        pos += 4
        o.transaction_version = 0
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_writable_txn_marker_v1(out: bytearray, items: Iterable[WritableTxnMarker]) -> None:
    for o in items:
        out += pack_qho(o.producer_id, o.producer_epoch, o.transaction_result)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_writable_txn_marker_topic_v1(out, o.topics)
        out += pack_i(o.coordinator_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_writable_txn_marker_v2(buf: Buffer, pos: int, count: int) -> tuple[list[WritableTxnMarker], int]:
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        o = WritableTxnMarker.__new__(WritableTxnMarker)
        items.append(o)
        o.producer_id, o.producer_epoch, o.transaction_result = unpack_qho(buf, pos)
        pos += 11
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
        o.topics, pos = _decode_writable_txn_marker_topic_v1(buf, pos, n)
        o.coordinator_epoch, o.transaction_version = unpack_ib(buf, pos)
        pos += 5
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_writable_txn_marker_v2(out: bytearray, items: Iterable[WritableTxnMarker]) -> None:
    for o in items:
        out += pack_qho(o.producer_id, o.producer_epoch, o.transaction_result)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_writable_txn_marker_topic_v1(out, o.topics)
        out += pack_ib(o.coordinator_epoch, o.transaction_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_write_txn_markers_request_v0(buf: Buffer, pos: int) -> tuple[WriteTxnMarkersRequest, int]:
    o = WriteTxnMarkersRequest.__new__(WriteTxnMarkersRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("markers")
    if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.markers, pos = _decode_writable_txn_marker_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_write_txn_markers_request_v0(out: bytearray, o: WriteTxnMarkersRequest) -> None:
    out += pack_i(len(o.markers))
    _encode_writable_txn_marker_v0(out, o.markers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_write_txn_markers_request_v1(buf: Buffer, pos: int) -> tuple[WriteTxnMarkersRequest, int]:
    o = WriteTxnMarkersRequest.__new__(WriteTxnMarkersRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("markers")
    if n * 17 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.markers, pos = _decode_writable_txn_marker_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_write_txn_markers_request_v1(out: bytearray, o: WriteTxnMarkersRequest) -> None:
    n = len(o.markers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_writable_txn_marker_v1(out, o.markers)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_write_txn_markers_request_v2(buf: Buffer, pos: int) -> tuple[WriteTxnMarkersRequest, int]:
    o = WriteTxnMarkersRequest.__new__(WriteTxnMarkersRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("markers")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.markers, pos = _decode_writable_txn_marker_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_write_txn_markers_request_v2(out: bytearray, o: WriteTxnMarkersRequest) -> None:
    n = len(o.markers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_writable_txn_marker_v2(out, o.markers)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


WriteTxnMarkersRequest.DECODERS = {
    0: _decode_write_txn_markers_request_v0,
    1: _decode_write_txn_markers_request_v1,
    2: _decode_write_txn_markers_request_v2,
}
WriteTxnMarkersRequest.ENCODERS = {
    0: _encode_write_txn_markers_request_v0,
    1: _encode_write_txn_markers_request_v1,
    2: _encode_write_txn_markers_request_v2,
}
