"""DescribeLogDirsResponse, versions 0 to 5.

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
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iqqo = Layout(">iqq?").pack
unpack_iqqo = Layout(">iqq?").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from
pack_qqo = Layout(">qq?").pack
unpack_qqo = Layout(">qq?").unpack_from


class DescribeLogDirsPartition(Struct):
    """Part of DescribeLogDirsResponse."""

    __slots__ = (
        "partition_index",
        "partition_size",
        "offset_lag",
        "is_future_key",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key
        self.unknown_tags: UnknownTags = None


class DescribeLogDirsTopic(Struct):
    """Part of DescribeLogDirsResponse."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[DescribeLogDirsPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class DescribeLogDirsResult(Struct):
    """Part of DescribeLogDirsResponse."""

    __slots__ = (
        "error_code",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
        "is_cordoned",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = UNSET,
        total_bytes: int = -1,  # versions 4 to 5
        usable_bytes: int = -1,  # versions 4 to 5
        is_cordoned: bool = False,  # version 5
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics: list[DescribeLogDirsTopic] = [] if topics is UNSET else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned
        self.unknown_tags: UnknownTags = None


class DescribeLogDirsResponse(Message):
    """DescribeLogDirsResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results",
        "unknown_tags",
    )
    NAME = "DescribeLogDirsResponse"
    API_KEY = 35
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,  # versions 3 to 5
        results: list[DescribeLogDirsResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results: list[DescribeLogDirsResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_describe_log_dirs_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsPartition], int]:
    items: list[DescribeLogDirsPartition] = []
    for _ in range(count):
        o = DescribeLogDirsPartition.__new__(DescribeLogDirsPartition)
        items.append(o)
        o.partition_index, o.partition_size, o.offset_lag, o.is_future_key = unpack_iqqo(buf, pos)
        pos += 21
        o.unknown_tags = None
    return items, pos


def _encode_describe_log_dirs_partition_v0(out: bytearray, items: Iterable[DescribeLogDirsPartition]) -> None:
    for o in items:
        out += pack_iqqo(o.partition_index, o.partition_size, o.offset_lag, o.is_future_key)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_log_dirs_partition_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsPartition], int]:
    items: list[DescribeLogDirsPartition] = []
    for _ in range(count):
        o = DescribeLogDirsPartition.__new__(DescribeLogDirsPartition)
        items.append(o)
        o.partition_index, o.partition_size, o.offset_lag, o.is_future_key = unpack_iqqo(buf, pos)
        pos += 21
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_log_dirs_partition_v2(out: bytearray, items: Iterable[DescribeLogDirsPartition]) -> None:
    for o in items:
        out += pack_iqqo(o.partition_index, o.partition_size, o.offset_lag, o.is_future_key)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_log_dirs_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsTopic], int]:
    items: list[DescribeLogDirsTopic] = []
    for _ in range(count):
        o = DescribeLogDirsTopic.__new__(DescribeLogDirsTopic)
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
        if n * 21 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_describe_log_dirs_partition_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_describe_log_dirs_topic_v0(out: bytearray, items: Iterable[DescribeLogDirsTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_describe_log_dirs_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_log_dirs_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsTopic], int]:
    items: list[DescribeLogDirsTopic] = []
    for _ in range(count):
        o = DescribeLogDirsTopic.__new__(DescribeLogDirsTopic)
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
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_describe_log_dirs_partition_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_log_dirs_topic_v2(out: bytearray, items: Iterable[DescribeLogDirsTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_log_dirs_partition_v2(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_log_dirs_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = DescribeLogDirsResult.__new__(DescribeLogDirsResult)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("logDir")
        end = pos + n
        o.log_dir = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("topics")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_describe_log_dirs_topic_v0(buf, pos, n)
        o.total_bytes = -1
        o.usable_bytes = -1
        o.is_cordoned = False
        o.unknown_tags = None
    return items, pos


def _encode_describe_log_dirs_result_v0(out: bytearray, items: Iterable[DescribeLogDirsResult]) -> None:
    for o in items:
        raw = o.log_dir.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        out += pack_i(len(o.topics))
        _encode_describe_log_dirs_topic_v0(out, o.topics)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_describe_log_dirs_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = DescribeLogDirsResult.__new__(DescribeLogDirsResult)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.log_dir = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.log_dir, pos = read_compact_string(buf, pos)
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
        o.topics, pos = _decode_describe_log_dirs_topic_v2(buf, pos, n)
        o.total_bytes = -1
        o.usable_bytes = -1
        o.is_cordoned = False
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_log_dirs_result_v2(out: bytearray, items: Iterable[DescribeLogDirsResult]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_string(out, o.log_dir)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_log_dirs_topic_v2(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_log_dirs_result_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = DescribeLogDirsResult.__new__(DescribeLogDirsResult)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.log_dir = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.log_dir, pos = read_compact_string(buf, pos)
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
        o.topics, pos = _decode_describe_log_dirs_topic_v2(buf, pos, n)
        o.total_bytes, o.usable_bytes = unpack_qq(buf, pos)
        pos += 16
        o.is_cordoned = False
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_log_dirs_result_v4(out: bytearray, items: Iterable[DescribeLogDirsResult]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_string(out, o.log_dir)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_log_dirs_topic_v2(out, o.topics)
        out += pack_qq(o.total_bytes, o.usable_bytes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_log_dirs_result_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = DescribeLogDirsResult.__new__(DescribeLogDirsResult)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.log_dir = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.log_dir, pos = read_compact_string(buf, pos)
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
        o.topics, pos = _decode_describe_log_dirs_topic_v2(buf, pos, n)
        o.total_bytes, o.usable_bytes, o.is_cordoned = unpack_qqo(buf, pos)
        pos += 17
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_log_dirs_result_v5(out: bytearray, items: Iterable[DescribeLogDirsResult]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_string(out, o.log_dir)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_describe_log_dirs_topic_v2(out, o.topics)
        out += pack_qqo(o.total_bytes, o.usable_bytes, o.is_cordoned)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_log_dirs_response_v0(buf: Buffer, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    o = DescribeLogDirsResponse.__new__(DescribeLogDirsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_log_dirs_result_v0(buf, pos, n)
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_describe_log_dirs_response_v0(out: bytearray, o: DescribeLogDirsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_describe_log_dirs_result_v0(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_describe_log_dirs_response_v2(buf: Buffer, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    o = DescribeLogDirsResponse.__new__(DescribeLogDirsResponse)
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
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_log_dirs_result_v2(buf, pos, n)
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_log_dirs_response_v2(out: bytearray, o: DescribeLogDirsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_log_dirs_result_v2(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_log_dirs_response_v3(buf: Buffer, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    o = DescribeLogDirsResponse.__new__(DescribeLogDirsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_log_dirs_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_log_dirs_response_v3(out: bytearray, o: DescribeLogDirsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_log_dirs_result_v2(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_log_dirs_response_v4(buf: Buffer, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    o = DescribeLogDirsResponse.__new__(DescribeLogDirsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 21 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_log_dirs_result_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_log_dirs_response_v4(out: bytearray, o: DescribeLogDirsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_log_dirs_result_v4(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_log_dirs_response_v5(buf: Buffer, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    o = DescribeLogDirsResponse.__new__(DescribeLogDirsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_log_dirs_result_v5(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_log_dirs_response_v5(out: bytearray, o: DescribeLogDirsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_log_dirs_result_v5(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeLogDirsResponse.DECODERS = {
    0: _decode_describe_log_dirs_response_v0,
    1: _decode_describe_log_dirs_response_v0,
    2: _decode_describe_log_dirs_response_v2,
    3: _decode_describe_log_dirs_response_v3,
    4: _decode_describe_log_dirs_response_v4,
    5: _decode_describe_log_dirs_response_v5,
}
DescribeLogDirsResponse.ENCODERS = {
    0: _encode_describe_log_dirs_response_v0,
    1: _encode_describe_log_dirs_response_v0,
    2: _encode_describe_log_dirs_response_v2,
    3: _encode_describe_log_dirs_response_v3,
    4: _encode_describe_log_dirs_response_v4,
    5: _encode_describe_log_dirs_response_v5,
}
