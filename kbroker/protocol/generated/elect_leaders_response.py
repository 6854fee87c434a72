"""ElectLeadersResponse, versions 0 to 2.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihh = Layout(">ihh").pack
unpack_ihh = Layout(">ihh").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class PartitionResult(Struct):
    """Part of ElectLeadersResponse."""

    __slots__ = (
        "partition_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class ReplicaElectionResult(Struct):
    """Part of ElectLeadersResponse."""

    __slots__ = (
        "topic",
        "partition_result",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_result: list[PartitionResult] = UNSET,
    ) -> None:
        self.topic = topic
        self.partition_result: list[PartitionResult] = [] if partition_result is UNSET else partition_result
        self.unknown_tags: UnknownTags = None


class ElectLeadersResponse(Message):
    """ElectLeadersResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "replica_election_results",
        "unknown_tags",
    )
    NAME = "ElectLeadersResponse"
    API_KEY = 43
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,  # versions 1 to 2
        replica_election_results: list[ReplicaElectionResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results: list[ReplicaElectionResult] = (
            [] if replica_election_results is UNSET else replica_election_results
        )
        self.unknown_tags: UnknownTags = None


def _decode_partition_result_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        o = PartitionResult.__new__(PartitionResult)
        items.append(o)
        o.partition_id, o.error_code, n = unpack_ihh(buf, pos)
        pos += 8
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_partition_result_v0(out: bytearray, items: Iterable[PartitionResult]) -> None:
    for o in items:
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_ihh(o.partition_id, o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_result_v2(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        o = PartitionResult.__new__(PartitionResult)
        items.append(o)
        o.partition_id, o.error_code = unpack_ih(buf, pos)
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


def _encode_partition_result_v2(out: bytearray, items: Iterable[PartitionResult]) -> None:
    for o in items:
        out += pack_ih(o.partition_id, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_replica_election_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReplicaElectionResult], int]:
    items: list[ReplicaElectionResult] = []
    for _ in range(count):
        o = ReplicaElectionResult.__new__(ReplicaElectionResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitionResult")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_result, pos = _decode_partition_result_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_replica_election_result_v0(out: bytearray, items: Iterable[ReplicaElectionResult]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_result))
        _encode_partition_result_v0(out, o.partition_result)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_replica_election_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ReplicaElectionResult], int]:
    items: list[ReplicaElectionResult] = []
    for _ in range(count):
        o = ReplicaElectionResult.__new__(ReplicaElectionResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitionResult")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_result, pos = _decode_partition_result_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_replica_election_result_v2(out: bytearray, items: Iterable[ReplicaElectionResult]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partition_result) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_result_v2(out, o.partition_result)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_elect_leaders_response_v0(buf: Buffer, pos: int) -> tuple[ElectLeadersResponse, int]:
    o = ElectLeadersResponse.__new__(ElectLeadersResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("replicaElectionResults")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.replica_election_results, pos = _decode_replica_election_result_v0(buf, pos, n)
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_elect_leaders_response_v0(out: bytearray, o: ElectLeadersResponse) -> None:
    if o.error_code != 0:
        raise not_in_version("errorCode")
    out += pack_ii(o.throttle_time_ms, len(o.replica_election_results))
    _encode_replica_election_result_v0(out, o.replica_election_results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_elect_leaders_response_v1(buf: Buffer, pos: int) -> tuple[ElectLeadersResponse, int]:
    o = ElectLeadersResponse.__new__(ElectLeadersResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("replicaElectionResults")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.replica_election_results, pos = _decode_replica_election_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_elect_leaders_response_v1(out: bytearray, o: ElectLeadersResponse) -> None:
    out += pack_ihi(o.throttle_time_ms, o.error_code, len(o.replica_election_results))
    _encode_replica_election_result_v0(out, o.replica_election_results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_elect_leaders_response_v2(buf: Buffer, pos: int) -> tuple[ElectLeadersResponse, int]:
    o = ElectLeadersResponse.__new__(ElectLeadersResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("replicaElectionResults")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.replica_election_results, pos = _decode_replica_election_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_elect_leaders_response_v2(out: bytearray, o: ElectLeadersResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.replica_election_results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_replica_election_result_v2(out, o.replica_election_results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ElectLeadersResponse.DECODERS = {
    0: _decode_elect_leaders_response_v0,
    1: _decode_elect_leaders_response_v1,
    2: _decode_elect_leaders_response_v2,
}
ElectLeadersResponse.ENCODERS = {
    0: _encode_elect_leaders_response_v0,
    1: _encode_elect_leaders_response_v1,
    2: _encode_elect_leaders_response_v2,
}
