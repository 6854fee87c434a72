"""AlterReplicaLogDirsResponse, versions 0 to 2.

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
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class AlterReplicaLogDirPartitionResult(Struct):
    """Part of AlterReplicaLogDirsResponse."""

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


class AlterReplicaLogDirTopicResult(Struct):
    """Part of AlterReplicaLogDirsResponse."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = UNSET,
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[AlterReplicaLogDirPartitionResult] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AlterReplicaLogDirsResponse(Message):
    """AlterReplicaLogDirsResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tags",
    )
    NAME = "AlterReplicaLogDirsResponse"
    API_KEY = 34
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[AlterReplicaLogDirTopicResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_alter_replica_log_dir_partition_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDirPartitionResult], int]:
    items: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(count):
        o = AlterReplicaLogDirPartitionResult.__new__(AlterReplicaLogDirPartitionResult)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_alter_replica_log_dir_partition_result_v0(
    out: bytearray,
    items: Iterable[AlterReplicaLogDirPartitionResult],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alter_replica_log_dir_partition_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDirPartitionResult], int]:
    items: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(count):
        o = AlterReplicaLogDirPartitionResult.__new__(AlterReplicaLogDirPartitionResult)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_replica_log_dir_partition_result_v2(
    out: bytearray,
    items: Iterable[AlterReplicaLogDirPartitionResult],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_replica_log_dir_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDirTopicResult], int]:
    items: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(count):
        o = AlterReplicaLogDirTopicResult.__new__(AlterReplicaLogDirTopicResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_alter_replica_log_dir_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_alter_replica_log_dir_topic_result_v0(
    out: bytearray,
    items: Iterable[AlterReplicaLogDirTopicResult],
) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_alter_replica_log_dir_partition_result_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alter_replica_log_dir_topic_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDirTopicResult], int]:
    items: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(count):
        o = AlterReplicaLogDirTopicResult.__new__(AlterReplicaLogDirTopicResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
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
        o.partitions, pos = _decode_alter_replica_log_dir_partition_result_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_replica_log_dir_topic_result_v2(
    out: bytearray,
    items: Iterable[AlterReplicaLogDirTopicResult],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_alter_replica_log_dir_partition_result_v2(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_replica_log_dirs_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterReplicaLogDirsResponse, int]:
    o = AlterReplicaLogDirsResponse.__new__(AlterReplicaLogDirsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_alter_replica_log_dir_topic_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_alter_replica_log_dirs_response_v0(out: bytearray, o: AlterReplicaLogDirsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_alter_replica_log_dir_topic_result_v0(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_alter_replica_log_dirs_response_v2(
    buf: Buffer,
    pos: int,
) -> tuple[AlterReplicaLogDirsResponse, int]:
    o = AlterReplicaLogDirsResponse.__new__(AlterReplicaLogDirsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_alter_replica_log_dir_topic_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_replica_log_dirs_response_v2(out: bytearray, o: AlterReplicaLogDirsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_alter_replica_log_dir_topic_result_v2(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterReplicaLogDirsResponse.DECODERS = {
    0: _decode_alter_replica_log_dirs_response_v0,
    1: _decode_alter_replica_log_dirs_response_v0,
    2: _decode_alter_replica_log_dirs_response_v2,
}
AlterReplicaLogDirsResponse.ENCODERS = {
    0: _encode_alter_replica_log_dirs_response_v0,
    1: _encode_alter_replica_log_dirs_response_v0,
    2: _encode_alter_replica_log_dirs_response_v2,
}
