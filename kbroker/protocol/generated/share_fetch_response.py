"""ShareFetchResponse, versions 0 to 2.

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
    null_value,
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
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_qqh = Layout(">qqh").pack
unpack_qqh = Layout(">qqh").unpack_from


class NodeEndpoint(Struct):
    """Part of ShareFetchResponse."""

    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags: UnknownTags = None


class AcquiredRecords(Struct):
    """Part of ShareFetchResponse."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_count",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count
        self.unknown_tags: UnknownTags = None


class LeaderIdAndEpoch(Struct):
    """Part of ShareFetchResponse."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of ShareFetchResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "acknowledge_error_code",
        "acknowledge_error_message",
        "current_leader",
        "records",
        "acquired_records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = UNSET,
        records: Buffer | None = None,
        acquired_records: list[AcquiredRecords] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader: LeaderIdAndEpoch = (
            LeaderIdAndEpoch() if current_leader is UNSET else current_leader
        )
        self.records = records
        self.acquired_records: list[AcquiredRecords] = [] if acquired_records is UNSET else acquired_records
        self.unknown_tags: UnknownTags = None


class ShareFetchableTopicResponse(Struct):
    """Part of ShareFetchResponse."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ShareFetchResponse(Message):
    """ShareFetchResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "acquisition_lock_timeout_ms",
        "responses",
        "node_endpoints",
        "unknown_tags",
    )
    NAME = "ShareFetchResponse"
    API_KEY = 78
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,  # versions 1 to 2
        responses: list[ShareFetchableTopicResponse] = UNSET,
        node_endpoints: list[NodeEndpoint] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses: list[ShareFetchableTopicResponse] = [] if responses is UNSET else responses
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is UNSET else node_endpoints
        self.unknown_tags: UnknownTags = None


def _decode_node_endpoint_v0(buf: Buffer, pos: int, count: int) -> tuple[list[NodeEndpoint], int]:
    items: list[NodeEndpoint] = []
    for _ in range(count):
        o = NodeEndpoint.__new__(NodeEndpoint)
        items.append(o)
        (o.node_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_node_endpoint_v0(out: bytearray, items: Iterable[NodeEndpoint]) -> None:
    for o in items:
        out += pack_i(o.node_id)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        write_compact_nullable_string(out, o.rack)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_acquired_records_v0(buf: Buffer, pos: int, count: int) -> tuple[list[AcquiredRecords], int]:
    items: list[AcquiredRecords] = []
    for _ in range(count):
        o = AcquiredRecords.__new__(AcquiredRecords)
        items.append(o)
        o.first_offset, o.last_offset, o.delivery_count = unpack_qqh(buf, pos)
        pos += 18
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_acquired_records_v0(out: bytearray, items: Iterable[AcquiredRecords]) -> None:
    for o in items:
        out += pack_qqh(o.first_offset, o.last_offset, o.delivery_count)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_id_and_epoch_v0(buf: Buffer, pos: int, count: int) -> tuple[list[LeaderIdAndEpoch], int]:
    items: list[LeaderIdAndEpoch] = []
    for _ in range(count):
        o = LeaderIdAndEpoch.__new__(LeaderIdAndEpoch)
        items.append(o)
        o.leader_id, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_id_and_epoch_v0(out: bytearray, items: Iterable[LeaderIdAndEpoch]) -> None:
    for o in items:
        out += pack_ii(o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        (o.acknowledge_error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.acknowledge_error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.acknowledge_error_message, pos = read_compact_nullable_string(buf, pos)
        (o.current_leader,), pos = _decode_leader_id_and_epoch_v0(buf, pos, 1)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("acquiredRecords")
        if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acquired_records, pos = _decode_acquired_records_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_h(o.acknowledge_error_code)
        write_compact_nullable_string(out, o.acknowledge_error_message)
        _encode_leader_id_and_epoch_v0(out, (o.current_leader,))
        if o.records is None:
            out.append(0)
        else:
            n = len(o.records) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            out += o.records
        n = len(o.acquired_records) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acquired_records_v0(out, o.acquired_records)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.error_code = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        (o.acknowledge_error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.acknowledge_error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.acknowledge_error_message, pos = read_compact_nullable_string(buf, pos)
        (o.current_leader,), pos = _decode_leader_id_and_epoch_v0(buf, pos, 1)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("records")
        end = pos + n
        o.records = memoryview(buf)[pos:end]
        pos = end
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("acquiredRecords")
        if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acquired_records, pos = _decode_acquired_records_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v1(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        out += pack_ih(o.partition_index, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_h(o.acknowledge_error_code)
        write_compact_nullable_string(out, o.acknowledge_error_message)
        _encode_leader_id_and_epoch_v0(out, (o.current_leader,))
        if o.records is None:
            raise null_value("records")
        n = len(o.records) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.records
        n = len(o.acquired_records) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acquired_records_v0(out, o.acquired_records)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_fetchable_topic_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ShareFetchableTopicResponse], int]:
    items: list[ShareFetchableTopicResponse] = []
    for _ in range(count):
        o = ShareFetchableTopicResponse.__new__(ShareFetchableTopicResponse)
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
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_share_fetchable_topic_response_v0(
    out: bytearray,
    items: Iterable[ShareFetchableTopicResponse],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_fetchable_topic_response_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ShareFetchableTopicResponse], int]:
    items: list[ShareFetchableTopicResponse] = []
    for _ in range(count):
        o = ShareFetchableTopicResponse.__new__(ShareFetchableTopicResponse)
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
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_share_fetchable_topic_response_v1(
    out: bytearray,
    items: Iterable[ShareFetchableTopicResponse],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_fetch_response_v0(buf: Buffer, pos: int) -> tuple[ShareFetchResponse, int]:
    o = ShareFetchResponse.__new__(ShareFetchResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_share_fetchable_topic_response_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("nodeEndpoints")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.node_endpoints, pos = _decode_node_endpoint_v0(buf, pos, n)
    o.acquisition_lock_timeout_ms = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_fetch_response_v0(out: bytearray, o: ShareFetchResponse) -> None:
    if o.acquisition_lock_timeout_ms != 0:
        raise not_in_version("acquisitionLockTimeoutMs")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_share_fetchable_topic_response_v0(out, o.responses)
    n = len(o.node_endpoints) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_node_endpoint_v0(out, o.node_endpoints)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_share_fetch_response_v1(buf: Buffer, pos: int) -> tuple[ShareFetchResponse, int]:
    o = ShareFetchResponse.__new__(ShareFetchResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    (o.acquisition_lock_timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_share_fetchable_topic_response_v1(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("nodeEndpoints")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.node_endpoints, pos = _decode_node_endpoint_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_fetch_response_v1(out: bytearray, o: ShareFetchResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    out += pack_i(o.acquisition_lock_timeout_ms)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_share_fetchable_topic_response_v1(out, o.responses)
    n = len(o.node_endpoints) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_node_endpoint_v0(out, o.node_endpoints)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareFetchResponse.DECODERS = {
    0: _decode_share_fetch_response_v0,
    1: _decode_share_fetch_response_v1,
    2: _decode_share_fetch_response_v1,
}
ShareFetchResponse.ENCODERS = {
    0: _encode_share_fetch_response_v0,
    1: _encode_share_fetch_response_v1,
    2: _encode_share_fetch_response_v1,
}
