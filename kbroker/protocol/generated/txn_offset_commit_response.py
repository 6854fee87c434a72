"""TxnOffsetCommitResponse, versions 0 to 6.

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
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class TxnOffsetCommitResponsePartition(Struct):
    """Part of TxnOffsetCommitResponse."""

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


class TxnOffsetCommitResponseTopic(Struct):
    """Part of TxnOffsetCommitResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 5
        topic_id: bytes = ZERO_UUID,  # version 6
        partitions: list[TxnOffsetCommitResponsePartition] = UNSET,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[TxnOffsetCommitResponsePartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class TxnOffsetCommitResponse(Message):
    """TxnOffsetCommitResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "TxnOffsetCommitResponse"
    API_KEY = 28
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[TxnOffsetCommitResponseTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_txn_offset_commit_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitResponsePartition], int]:
    items: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(count):
        o = TxnOffsetCommitResponsePartition.__new__(TxnOffsetCommitResponsePartition)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_txn_offset_commit_response_partition_v0(
    out: bytearray,
    items: Iterable[TxnOffsetCommitResponsePartition],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_txn_offset_commit_response_partition_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitResponsePartition], int]:
    items: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(count):
        o = TxnOffsetCommitResponsePartition.__new__(TxnOffsetCommitResponsePartition)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_txn_offset_commit_response_partition_v3(
    out: bytearray,
    items: Iterable[TxnOffsetCommitResponsePartition],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_txn_offset_commit_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitResponseTopic.__new__(TxnOffsetCommitResponseTopic)
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
        o.partitions, pos = _decode_txn_offset_commit_response_partition_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_txn_offset_commit_response_topic_v0(
    out: bytearray,
    items: Iterable[TxnOffsetCommitResponseTopic],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_txn_offset_commit_response_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_txn_offset_commit_response_topic_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitResponseTopic.__new__(TxnOffsetCommitResponseTopic)
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
        o.partitions, pos = _decode_txn_offset_commit_response_partition_v3(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_txn_offset_commit_response_topic_v3(
    out: bytearray,
    items: Iterable[TxnOffsetCommitResponseTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_txn_offset_commit_response_partition_v3(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_txn_offset_commit_response_topic_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitResponseTopic.__new__(TxnOffsetCommitResponseTopic)
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
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_txn_offset_commit_response_partition_v3(buf, pos, n)
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_txn_offset_commit_response_topic_v6(
    out: bytearray,
    items: Iterable[TxnOffsetCommitResponseTopic],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_txn_offset_commit_response_partition_v3(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_txn_offset_commit_response_v0(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitResponse, int]:
    o = TxnOffsetCommitResponse.__new__(TxnOffsetCommitResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_txn_offset_commit_response_topic_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_txn_offset_commit_response_v0(out: bytearray, o: TxnOffsetCommitResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_txn_offset_commit_response_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_txn_offset_commit_response_v3(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitResponse, int]:
    o = TxnOffsetCommitResponse.__new__(TxnOffsetCommitResponse)
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
    o.topics, pos = _decode_txn_offset_commit_response_topic_v3(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_txn_offset_commit_response_v3(out: bytearray, o: TxnOffsetCommitResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_txn_offset_commit_response_topic_v3(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_txn_offset_commit_response_v6(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitResponse, int]:
    o = TxnOffsetCommitResponse.__new__(TxnOffsetCommitResponse)
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
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_txn_offset_commit_response_topic_v6(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_txn_offset_commit_response_v6(out: bytearray, o: TxnOffsetCommitResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_txn_offset_commit_response_topic_v6(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


TxnOffsetCommitResponse.DECODERS = {
    0: _decode_txn_offset_commit_response_v0,
    1: _decode_txn_offset_commit_response_v0,
    2: _decode_txn_offset_commit_response_v0,
    3: _decode_txn_offset_commit_response_v3,
    4: _decode_txn_offset_commit_response_v3,
    5: _decode_txn_offset_commit_response_v3,
    6: _decode_txn_offset_commit_response_v6,
}
TxnOffsetCommitResponse.ENCODERS = {
    0: _encode_txn_offset_commit_response_v0,
    1: _encode_txn_offset_commit_response_v0,
    2: _encode_txn_offset_commit_response_v0,
    3: _encode_txn_offset_commit_response_v3,
    4: _encode_txn_offset_commit_response_v3,
    5: _encode_txn_offset_commit_response_v3,
    6: _encode_txn_offset_commit_response_v6,
}
