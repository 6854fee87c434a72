"""AddPartitionsToTxnResponse, versions 0 to 5.

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


class AddPartitionsToTxnPartitionResult(Struct):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = (
        "partition_index",
        "partition_error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code
        self.unknown_tags: UnknownTags = None


class AddPartitionsToTxnTopicResult(Struct):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = (
        "name",
        "results_by_partition",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = UNSET,
    ) -> None:
        self.name = name
        self.results_by_partition: list[AddPartitionsToTxnPartitionResult] = (
            [] if results_by_partition is UNSET else results_by_partition
        )
        self.unknown_tags: UnknownTags = None


class AddPartitionsToTxnResult(Struct):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = (
        "transactional_id",
        "topic_results",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",  # versions 4 to 5
        topic_results: list[AddPartitionsToTxnTopicResult] = UNSET,  # versions 4 to 5
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results: list[AddPartitionsToTxnTopicResult] = (
            [] if topic_results is UNSET else topic_results
        )
        self.unknown_tags: UnknownTags = None


class AddPartitionsToTxnResponse(Message):
    """AddPartitionsToTxnResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results_by_transaction",
        "results_by_topic_v3_and_below",
        "unknown_tags",
    )
    NAME = "AddPartitionsToTxnResponse"
    API_KEY = 24
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,  # versions 4 to 5
        results_by_transaction: list[AddPartitionsToTxnResult] = UNSET,  # versions 4 to 5
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = UNSET,  # versions 0 to 3
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction: list[AddPartitionsToTxnResult] = (
            [] if results_by_transaction is UNSET else results_by_transaction
        )
        self.results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = (
            [] if results_by_topic_v3_and_below is UNSET else results_by_topic_v3_and_below
        )
        self.unknown_tags: UnknownTags = None


def _decode_add_partitions_to_txn_partition_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnPartitionResult], int]:
    items: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(count):
        o = AddPartitionsToTxnPartitionResult.__new__(AddPartitionsToTxnPartitionResult)
        items.append(o)
        o.partition_index, o.partition_error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
    return items, pos


def _encode_add_partitions_to_txn_partition_result_v0(
    out: bytearray,
    items: Iterable[AddPartitionsToTxnPartitionResult],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.partition_error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_add_partitions_to_txn_partition_result_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnPartitionResult], int]:
    items: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(count):
        o = AddPartitionsToTxnPartitionResult.__new__(AddPartitionsToTxnPartitionResult)
        items.append(o)
        o.partition_index, o.partition_error_code = unpack_ih(buf, pos)
        pos += 6
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_add_partitions_to_txn_partition_result_v3(
    out: bytearray,
    items: Iterable[AddPartitionsToTxnPartitionResult],
) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.partition_error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_add_partitions_to_txn_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnTopicResult], int]:
    items: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(count):
        o = AddPartitionsToTxnTopicResult.__new__(AddPartitionsToTxnTopicResult)
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
            raise null_field("resultsByPartition")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.results_by_partition, pos = _decode_add_partitions_to_txn_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_add_partitions_to_txn_topic_result_v0(
    out: bytearray,
    items: Iterable[AddPartitionsToTxnTopicResult],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.results_by_partition))
        _encode_add_partitions_to_txn_partition_result_v0(out, o.results_by_partition)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_add_partitions_to_txn_topic_result_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnTopicResult], int]:
    items: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(count):
        o = AddPartitionsToTxnTopicResult.__new__(AddPartitionsToTxnTopicResult)
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
            raise null_field("resultsByPartition")
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.results_by_partition, pos = _decode_add_partitions_to_txn_partition_result_v3(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_add_partitions_to_txn_topic_result_v3(
    out: bytearray,
    items: Iterable[AddPartitionsToTxnTopicResult],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.results_by_partition) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_add_partitions_to_txn_partition_result_v3(out, o.results_by_partition)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_add_partitions_to_txn_result_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AddPartitionsToTxnResult], int]:
    items: list[AddPartitionsToTxnResult] = []
    for _ in range(count):
        o = AddPartitionsToTxnResult.__new__(AddPartitionsToTxnResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.transactional_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.transactional_id, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("topicResults")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_results, pos = _decode_add_partitions_to_txn_topic_result_v3(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_add_partitions_to_txn_result_v4(
    out: bytearray,
    items: Iterable[AddPartitionsToTxnResult],
) -> None:
    for o in items:
        write_compact_string(out, o.transactional_id)
        n = len(o.topic_results) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_add_partitions_to_txn_topic_result_v3(out, o.topic_results)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_add_partitions_to_txn_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AddPartitionsToTxnResponse, int]:
    o = AddPartitionsToTxnResponse.__new__(AddPartitionsToTxnResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("resultsByTopicV3AndBelow")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results_by_topic_v3_and_below, pos = _decode_add_partitions_to_txn_topic_result_v0(buf, pos, n)
    o.error_code = 0
    o.results_by_transaction = []
    o.unknown_tags = None
    return o, pos


def _encode_add_partitions_to_txn_response_v0(out: bytearray, o: AddPartitionsToTxnResponse) -> None:
    if o.results_by_transaction:
        raise not_in_version("resultsByTransaction")
    out += pack_ii(o.throttle_time_ms, len(o.results_by_topic_v3_and_below))
    _encode_add_partitions_to_txn_topic_result_v0(out, o.results_by_topic_v3_and_below)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_add_partitions_to_txn_response_v3(
    buf: Buffer,
    pos: int,
) -> tuple[AddPartitionsToTxnResponse, int]:
    o = AddPartitionsToTxnResponse.__new__(AddPartitionsToTxnResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("resultsByTopicV3AndBelow")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results_by_topic_v3_and_below, pos = _decode_add_partitions_to_txn_topic_result_v3(buf, pos, n)
    o.error_code = 0
    o.results_by_transaction = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_partitions_to_txn_response_v3(out: bytearray, o: AddPartitionsToTxnResponse) -> None:
    if o.results_by_transaction:
        raise not_in_version("resultsByTransaction")
    out += pack_i(o.throttle_time_ms)
    n = len(o.results_by_topic_v3_and_below) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_add_partitions_to_txn_topic_result_v3(out, o.results_by_topic_v3_and_below)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_add_partitions_to_txn_response_v4(
    buf: Buffer,
    pos: int,
) -> tuple[AddPartitionsToTxnResponse, int]:
    o = AddPartitionsToTxnResponse.__new__(AddPartitionsToTxnResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("resultsByTransaction")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results_by_transaction, pos = _decode_add_partitions_to_txn_result_v4(buf, pos, n)
    o.results_by_topic_v3_and_below = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_partitions_to_txn_response_v4(out: bytearray, o: AddPartitionsToTxnResponse) -> None:
    if o.results_by_topic_v3_and_below:
        raise not_in_version("resultsByTopicV3AndBelow")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results_by_transaction) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_add_partitions_to_txn_result_v4(out, o.results_by_transaction)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AddPartitionsToTxnResponse.DECODERS = {
    0: _decode_add_partitions_to_txn_response_v0,
    1: _decode_add_partitions_to_txn_response_v0,
    2: _decode_add_partitions_to_txn_response_v0,
    3: _decode_add_partitions_to_txn_response_v3,
    4: _decode_add_partitions_to_txn_response_v4,
    5: _decode_add_partitions_to_txn_response_v4,
}
AddPartitionsToTxnResponse.ENCODERS = {
    0: _encode_add_partitions_to_txn_response_v0,
    1: _encode_add_partitions_to_txn_response_v0,
    2: _encode_add_partitions_to_txn_response_v0,
    3: _encode_add_partitions_to_txn_response_v3,
    4: _encode_add_partitions_to_txn_response_v4,
    5: _encode_add_partitions_to_txn_response_v4,
}
