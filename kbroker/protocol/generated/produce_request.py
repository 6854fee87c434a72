"""ProduceRequest, versions 0 to 13.

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
    not_in_version,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
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
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_hii = Layout(">hii").pack
unpack_hii = Layout(">hii").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class PartitionProduceData(Struct):
    """Part of ProduceRequest."""

    __slots__ = (
        "index",
        "records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        index: int = 0,
        records: Buffer | None = None,
    ) -> None:
        self.index = index
        self.records = records
        self.unknown_tags: UnknownTags = None


class TopicProduceData(Struct):
    """Part of ProduceRequest."""

    __slots__ = (
        "name",
        "topic_id",
        "partition_data",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 12
        topic_id: bytes = ZERO_UUID,  # version 13
        partition_data: list[PartitionProduceData] = UNSET,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data: list[PartitionProduceData] = [] if partition_data is UNSET else partition_data
        self.unknown_tags: UnknownTags = None


class ProduceRequest(Message):
    """ProduceRequest, versions 0 to 13."""

    __slots__ = (
        "transactional_id",
        "acks",
        "timeout_ms",
        "topic_data",
        "unknown_tags",
    )
    NAME = "ProduceRequest"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 13
    FLEXIBLE_SINCE = 9

    def __init__(
        self,
        *,
        transactional_id: str | None = None,  # versions 3 to 13
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = UNSET,
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data: list[TopicProduceData] = [] if topic_data is UNSET else topic_data
        self.unknown_tags: UnknownTags = None


def _decode_partition_produce_data_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceData], int]:
    items: list[PartitionProduceData] = []
    for _ in range(count):
        o = PartitionProduceData.__new__(PartitionProduceData)
        items.append(o)
        o.index, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            o.records = None
        else:
            end = pos + n
            o.records = memoryview(buf)[pos:end]
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_partition_produce_data_v0(out: bytearray, items: Iterable[PartitionProduceData]) -> None:
    for o in items:
        out += pack_ii(o.index, -1 if o.records is None else len(o.records))
        if o.records:
            out += o.records
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_produce_data_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceData], int]:
    items: list[PartitionProduceData] = []
    for _ in range(count):
        o = PartitionProduceData.__new__(PartitionProduceData)
        items.append(o)
        (o.index,) = unpack_i(buf, pos)
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
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_produce_data_v9(out: bytearray, items: Iterable[PartitionProduceData]) -> None:
    for o in items:
        out += pack_i(o.index)
        if o.records is None:
            out.append(0)
        else:
            n = len(o.records) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            out += o.records
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_produce_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicProduceData], int]:
    items: list[TopicProduceData] = []
    for _ in range(count):
        o = TopicProduceData.__new__(TopicProduceData)
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
            raise null_field("partitionData")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_data, pos = _decode_partition_produce_data_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_topic_produce_data_v0(out: bytearray, items: Iterable[TopicProduceData]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_data))
        _encode_partition_produce_data_v0(out, o.partition_data)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_topic_produce_data_v9(buf: Buffer, pos: int, count: int) -> tuple[list[TopicProduceData], int]:
    items: list[TopicProduceData] = []
    for _ in range(count):
        o = TopicProduceData.__new__(TopicProduceData)
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
            raise null_field("partitionData")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_data, pos = _decode_partition_produce_data_v9(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_produce_data_v9(out: bytearray, items: Iterable[TopicProduceData]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_data) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_produce_data_v9(out, o.partition_data)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_produce_data_v13(buf: Buffer, pos: int, count: int) -> tuple[list[TopicProduceData], int]:
    items: list[TopicProduceData] = []
    for _ in range(count):
        o = TopicProduceData.__new__(TopicProduceData)
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
            raise null_field("partitionData")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_data, pos = _decode_partition_produce_data_v9(buf, pos, n)
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_produce_data_v13(out: bytearray, items: Iterable[TopicProduceData]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partition_data) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_produce_data_v9(out, o.partition_data)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_produce_request_v0(buf: Buffer, pos: int) -> tuple[ProduceRequest, int]:
    o = ProduceRequest.__new__(ProduceRequest)
    o.acks, o.timeout_ms, n = unpack_hii(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("topicData")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_data, pos = _decode_topic_produce_data_v0(buf, pos, n)
    o.transactional_id = None
    o.unknown_tags = None
    return o, pos


def _encode_produce_request_v0(out: bytearray, o: ProduceRequest) -> None:
    if o.transactional_id is not None:
        raise not_in_version("transactionalId")
    out += pack_hii(o.acks, o.timeout_ms, len(o.topic_data))
    _encode_topic_produce_data_v0(out, o.topic_data)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_request_v3(buf: Buffer, pos: int) -> tuple[ProduceRequest, int]:
    o = ProduceRequest.__new__(ProduceRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.transactional_id = None
    else:
        end = pos + n
        o.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    o.acks, o.timeout_ms, n = unpack_hii(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("topicData")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_data, pos = _decode_topic_produce_data_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_produce_request_v3(out: bytearray, o: ProduceRequest) -> None:
    raw = b"" if o.transactional_id is None else o.transactional_id.encode()
    out += pack_h(-1 if o.transactional_id is None else len(raw))
    out += raw
    out += pack_hii(o.acks, o.timeout_ms, len(o.topic_data))
    _encode_topic_produce_data_v0(out, o.topic_data)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_request_v9(buf: Buffer, pos: int) -> tuple[ProduceRequest, int]:
    o = ProduceRequest.__new__(ProduceRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_nullable_string(buf, pos)
    o.acks, o.timeout_ms = unpack_hi(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topicData")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_data, pos = _decode_topic_produce_data_v9(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_produce_request_v9(out: bytearray, o: ProduceRequest) -> None:
    write_compact_nullable_string(out, o.transactional_id)
    out += pack_hi(o.acks, o.timeout_ms)
    n = len(o.topic_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_produce_data_v9(out, o.topic_data)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_produce_request_v13(buf: Buffer, pos: int) -> tuple[ProduceRequest, int]:
    o = ProduceRequest.__new__(ProduceRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_nullable_string(buf, pos)
    o.acks, o.timeout_ms = unpack_hi(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topicData")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_data, pos = _decode_topic_produce_data_v13(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_produce_request_v13(out: bytearray, o: ProduceRequest) -> None:
    write_compact_nullable_string(out, o.transactional_id)
    out += pack_hi(o.acks, o.timeout_ms)
    n = len(o.topic_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_produce_data_v13(out, o.topic_data)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ProduceRequest.DECODERS = {
    0: _decode_produce_request_v0,
    1: _decode_produce_request_v0,
    2: _decode_produce_request_v0,
    3: _decode_produce_request_v3,
    4: _decode_produce_request_v3,
    5: _decode_produce_request_v3,
    6: _decode_produce_request_v3,
    7: _decode_produce_request_v3,
    8: _decode_produce_request_v3,
    9: _decode_produce_request_v9,
    10: _decode_produce_request_v9,
    11: _decode_produce_request_v9,
    12: _decode_produce_request_v9,
    13: _decode_produce_request_v13,
}
ProduceRequest.ENCODERS = {
    0: _encode_produce_request_v0,
    1: _encode_produce_request_v0,
    2: _encode_produce_request_v0,
    3: _encode_produce_request_v3,
    4: _encode_produce_request_v3,
    5: _encode_produce_request_v3,
    6: _encode_produce_request_v3,
    7: _encode_produce_request_v3,
    8: _encode_produce_request_v3,
    9: _encode_produce_request_v9,
    10: _encode_produce_request_v9,
    11: _encode_produce_request_v9,
    12: _encode_produce_request_v9,
    13: _encode_produce_request_v13,
}
