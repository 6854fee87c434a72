"""StopReplicaResponse, versions 0 to 4.

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
pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class StopReplicaPartitionError(Struct):
    """Part of StopReplicaResponse."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


class StopReplicaResponse(Message):
    """StopReplicaResponse, versions 0 to 4."""

    __slots__ = (
        "error_code",
        "partition_errors",
        "unknown_tags",
    )
    NAME = "StopReplicaResponse"
    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_errors: list[StopReplicaPartitionError] = UNSET,
    ) -> None:
        self.error_code = error_code
        self.partition_errors: list[StopReplicaPartitionError] = (
            [] if partition_errors is UNSET else partition_errors
        )
        self.unknown_tags: UnknownTags = None


def _decode_stop_replica_partition_error_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaPartitionError], int]:
    items: list[StopReplicaPartitionError] = []
    for _ in range(count):
        o = StopReplicaPartitionError.__new__(StopReplicaPartitionError)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_stop_replica_partition_error_v0(
    out: bytearray,
    items: Iterable[StopReplicaPartitionError],
) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_stop_replica_partition_error_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaPartitionError], int]:
    items: list[StopReplicaPartitionError] = []
    for _ in range(count):
        o = StopReplicaPartitionError.__new__(StopReplicaPartitionError)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_stop_replica_partition_error_v2(
    out: bytearray,
    items: Iterable[StopReplicaPartitionError],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_stop_replica_response_v0(buf: Buffer, pos: int) -> tuple[StopReplicaResponse, int]:
    o = StopReplicaResponse.__new__(StopReplicaResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("partitionErrors")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.partition_errors, pos = _decode_stop_replica_partition_error_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_stop_replica_response_v0(out: bytearray, o: StopReplicaResponse) -> None:
    out += pack_hi(o.error_code, len(o.partition_errors))
    _encode_stop_replica_partition_error_v0(out, o.partition_errors)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_stop_replica_response_v2(buf: Buffer, pos: int) -> tuple[StopReplicaResponse, int]:
    o = StopReplicaResponse.__new__(StopReplicaResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("partitionErrors")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.partition_errors, pos = _decode_stop_replica_partition_error_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_stop_replica_response_v2(out: bytearray, o: StopReplicaResponse) -> None:
    out += pack_h(o.error_code)
    n = len(o.partition_errors) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_stop_replica_partition_error_v2(out, o.partition_errors)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StopReplicaResponse.DECODERS = {
    0: _decode_stop_replica_response_v0,
    1: _decode_stop_replica_response_v0,
    2: _decode_stop_replica_response_v2,
    3: _decode_stop_replica_response_v2,
    4: _decode_stop_replica_response_v2,
}
StopReplicaResponse.ENCODERS = {
    0: _encode_stop_replica_response_v0,
    1: _encode_stop_replica_response_v0,
    2: _encode_stop_replica_response_v2,
    3: _encode_stop_replica_response_v2,
    4: _encode_stop_replica_response_v2,
}
