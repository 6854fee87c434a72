"""ProduceResponse, versions 0 to 13.

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
    bad_tag,
    bad_tag_size,
    not_in_version,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_tag,
    read_tag_count,
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
pack_ih3q = Layout(">ih3q").pack
unpack_ih3q = Layout(">ih3q").unpack_from
pack_ih3qi = Layout(">ih3qi").pack
unpack_ih3qi = Layout(">ih3qi").unpack_from
pack_ihq = Layout(">ihq").pack
unpack_ihq = Layout(">ihq").unpack_from
pack_ihqq = Layout(">ihqq").pack
unpack_ihqq = Layout(">ihqq").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class NodeEndpoint(Struct):
    """Part of ProduceResponse."""

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
        node_id: int = 0,  # versions 10 to 13
        host: str = "",  # versions 10 to 13
        port: int = 0,  # versions 10 to 13
        rack: str | None = None,  # versions 10 to 13
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags: UnknownTags = None


class LeaderIdAndEpoch(Struct):
    """Part of ProduceResponse."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,  # versions 10 to 13
        leader_epoch: int = -1,  # versions 10 to 13
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags: UnknownTags = None


class BatchIndexAndErrorMessage(Struct):
    """Part of ProduceResponse."""

    __slots__ = (
        "batch_index",
        "batch_index_error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        batch_index: int = 0,  # versions 8 to 13
        batch_index_error_message: str | None = None,  # versions 8 to 13
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message
        self.unknown_tags: UnknownTags = None


class PartitionProduceResponse(Struct):
    """Part of ProduceResponse."""

    __slots__ = (
        "index",
        "error_code",
        "base_offset",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
        "error_message",
        "current_leader",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,  # versions 2 to 13
        log_start_offset: int = -1,  # versions 5 to 13
        record_errors: list[BatchIndexAndErrorMessage] = UNSET,  # versions 8 to 13
        error_message: str | None = None,  # versions 8 to 13
        current_leader: LeaderIdAndEpoch = UNSET,  # versions 10 to 13
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors: list[BatchIndexAndErrorMessage] = [] if record_errors is UNSET else record_errors
        self.error_message = error_message
        self.current_leader: LeaderIdAndEpoch = (
            LeaderIdAndEpoch() if current_leader is UNSET else current_leader
        )
        self.unknown_tags: UnknownTags = None


class TopicProduceResponse(Struct):
    """Part of ProduceResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "partition_responses",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 12
        topic_id: bytes = ZERO_UUID,  # version 13
        partition_responses: list[PartitionProduceResponse] = UNSET,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses: list[PartitionProduceResponse] = (
            [] if partition_responses is UNSET else partition_responses
        )
        self.unknown_tags: UnknownTags = None


class ProduceResponse(Message):
    """ProduceResponse, versions 0 to 13."""

    __slots__ = (
        "responses",
        "throttle_time_ms",
        "node_endpoints",
        "unknown_tags",
    )
    NAME = "ProduceResponse"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 13
    FLEXIBLE_SINCE = 9

    def __init__(
        self,
        *,
        responses: list[TopicProduceResponse] = UNSET,
        throttle_time_ms: int = 0,  # versions 1 to 13
        node_endpoints: list[NodeEndpoint] = UNSET,  # versions 10 to 13
    ) -> None:
        self.responses: list[TopicProduceResponse] = [] if responses is UNSET else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is UNSET else node_endpoints
        self.unknown_tags: UnknownTags = None


def _decode_node_endpoint_v10(buf: Buffer, pos: int, count: int) -> tuple[list[NodeEndpoint], int]:
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


def _encode_node_endpoint_v10(out: bytearray, items: Iterable[NodeEndpoint]) -> None:
    for o in items:
        out += pack_i(o.node_id)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        write_compact_nullable_string(out, o.rack)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_id_and_epoch_v10(buf: Buffer, pos: int, count: int) -> tuple[list[LeaderIdAndEpoch], int]:
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


def _encode_leader_id_and_epoch_v10(out: bytearray, items: Iterable[LeaderIdAndEpoch]) -> None:
    for o in items:
        out += pack_ii(o.leader_id, o.leader_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_batch_index_and_error_message_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[BatchIndexAndErrorMessage], int]:
    items: list[BatchIndexAndErrorMessage] = []
    for _ in range(count):
        o = BatchIndexAndErrorMessage.__new__(BatchIndexAndErrorMessage)
        items.append(o)
        o.batch_index, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            o.batch_index_error_message = None
        else:
            end = pos + n
            o.batch_index_error_message = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_batch_index_and_error_message_v8(
    out: bytearray,
    items: Iterable[BatchIndexAndErrorMessage],
) -> None:
    for o in items:
        raw = b"" if o.batch_index_error_message is None else o.batch_index_error_message.encode()
        out += pack_ih(o.batch_index, -1 if o.batch_index_error_message is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_batch_index_and_error_message_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[BatchIndexAndErrorMessage], int]:
    items: list[BatchIndexAndErrorMessage] = []
    for _ in range(count):
        o = BatchIndexAndErrorMessage.__new__(BatchIndexAndErrorMessage)
        items.append(o)
        (o.batch_index,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.batch_index_error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.batch_index_error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_batch_index_and_error_message_v9(
    out: bytearray,
    items: Iterable[BatchIndexAndErrorMessage],
) -> None:
    for o in items:
        out += pack_i(o.batch_index)
        write_compact_nullable_string(out, o.batch_index_error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_produce_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = PartitionProduceResponse.__new__(PartitionProduceResponse)
        items.append(o)
        o.index, o.error_code, o.base_offset = unpack_ihq(buf, pos)
        pos += 14
        o.log_append_time_ms = -1
        o.log_start_offset = -1
        o.record_errors = []
        o.error_message = None
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
    return items, pos


def _encode_partition_produce_response_v0(out: bytearray, items: Iterable[PartitionProduceResponse]) -> None:
    for o in items:
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        out += pack_ihq(o.index, o.error_code, o.base_offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_produce_response_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = PartitionProduceResponse.__new__(PartitionProduceResponse)
        items.append(o)
        o.index, o.error_code, o.base_offset, o.log_append_time_ms = unpack_ihqq(buf, pos)
        pos += 22
        o.log_start_offset = -1
        o.record_errors = []
        o.error_message = None
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
    return items, pos


def _encode_partition_produce_response_v2(out: bytearray, items: Iterable[PartitionProduceResponse]) -> None:
    for o in items:
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        out += pack_ihqq(o.index, o.error_code, o.base_offset, o.log_append_time_ms)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_produce_response_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = PartitionProduceResponse.__new__(PartitionProduceResponse)
        items.append(o)
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset = unpack_ih3q(buf, pos)
        pos += 30
        o.record_errors = []
        o.error_message = None
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
    return items, pos


def _encode_partition_produce_response_v5(out: bytearray, items: Iterable[PartitionProduceResponse]) -> None:
    for o in items:
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        out += pack_ih3q(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_produce_response_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = PartitionProduceResponse.__new__(PartitionProduceResponse)
        items.append(o)
        (
            o.index,
            o.error_code,
            o.base_offset,
            o.log_append_time_ms,
            o.log_start_offset,
            n,
        ) = unpack_ih3qi(buf, pos)
        pos += 34
        if n < 0:
            raise null_field("recordErrors")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.record_errors, pos = _decode_batch_index_and_error_message_v8(buf, pos, n)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
    return items, pos


def _encode_partition_produce_response_v8(out: bytearray, items: Iterable[PartitionProduceResponse]) -> None:
    for o in items:
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        out += pack_ih3qi(
            o.index,
            o.error_code,
            o.base_offset,
            o.log_append_time_ms,
            o.log_start_offset,
            len(o.record_errors),
        )
        _encode_batch_index_and_error_message_v8(out, o.record_errors)
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_h(-1 if o.error_message is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_partition_produce_response_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = PartitionProduceResponse.__new__(PartitionProduceResponse)
        items.append(o)
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset = unpack_ih3q(buf, pos)
        pos += 30
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("recordErrors")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.record_errors, pos = _decode_batch_index_and_error_message_v9(buf, pos, n)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_partition_produce_response_v9(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_partition_produce_response_v9(buf: Buffer, pos: int, o: PartitionProduceResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_partition_produce_response_v9(out: bytearray, items: Iterable[PartitionProduceResponse]) -> None:
    for o in items:
        if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            raise not_in_version("currentLeader")
        out += pack_ih3q(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset)
        n = len(o.record_errors) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_batch_index_and_error_message_v9(out, o.record_errors)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_produce_response_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = PartitionProduceResponse.__new__(PartitionProduceResponse)
        items.append(o)
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset = unpack_ih3q(buf, pos)
        pos += 30
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("recordErrors")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.record_errors, pos = _decode_batch_index_and_error_message_v9(buf, pos, n)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.current_leader = LeaderIdAndEpoch()
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_partition_produce_response_v10(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_partition_produce_response_v10(buf: Buffer, pos: int, o: PartitionProduceResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.current_leader,), pos = _decode_leader_id_and_epoch_v10(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_produce_response_v10(out: bytearray, o: PartitionProduceResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
        part = bytearray()
        _encode_leader_id_and_epoch_v10(part, (o.current_leader,))
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_produce_response_v10(out: bytearray, items: Iterable[PartitionProduceResponse]) -> None:
    for o in items:
        out += pack_ih3q(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset)
        n = len(o.record_errors) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_batch_index_and_error_message_v9(out, o.record_errors)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags or o.current_leader.leader_id != -1 or o.current_leader.leader_epoch != -1:
            _write_tags_of_partition_produce_response_v10(out, o)
        else:
            out.append(0)


def _decode_topic_produce_response_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_topic_produce_response_v0(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_responses))
        _encode_partition_produce_response_v0(out, o.partition_responses)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_topic_produce_response_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v2(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_topic_produce_response_v2(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_responses))
        _encode_partition_produce_response_v2(out, o.partition_responses)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_topic_produce_response_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v5(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_topic_produce_response_v5(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_responses))
        _encode_partition_produce_response_v5(out, o.partition_responses)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_topic_produce_response_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 36 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v8(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_topic_produce_response_v8(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_responses))
        _encode_partition_produce_response_v8(out, o.partition_responses)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_topic_produce_response_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v9(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_produce_response_v9(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_responses) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_produce_response_v9(out, o.partition_responses)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_produce_response_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v10(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_produce_response_v10(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_responses) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_produce_response_v10(out, o.partition_responses)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_produce_response_v13(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = TopicProduceResponse.__new__(TopicProduceResponse)
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
            raise null_field("partitionResponses")
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_responses, pos = _decode_partition_produce_response_v10(buf, pos, n)
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_produce_response_v13(out: bytearray, items: Iterable[TopicProduceResponse]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partition_responses) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_produce_response_v10(out, o.partition_responses)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_produce_response_v0(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_produce_response_v0(out: bytearray, o: ProduceResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_i(len(o.responses))
    _encode_topic_produce_response_v0(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_response_v1(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v0(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_produce_response_v1(out: bytearray, o: ProduceResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_i(len(o.responses))
    _encode_topic_produce_response_v0(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_response_v2(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v2(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_produce_response_v2(out: bytearray, o: ProduceResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_i(len(o.responses))
    _encode_topic_produce_response_v2(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_response_v5(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v5(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_produce_response_v5(out: bytearray, o: ProduceResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_i(len(o.responses))
    _encode_topic_produce_response_v5(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_response_v8(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v8(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    return o, pos


def _encode_produce_response_v8(out: bytearray, o: ProduceResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    out += pack_i(len(o.responses))
    _encode_topic_produce_response_v8(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_produce_response_v9(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v9(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_produce_response_v9(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_produce_response_v9(buf: Buffer, pos: int, o: ProduceResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_produce_response_v9(out: bytearray, o: ProduceResponse) -> None:
    if o.node_endpoints:
        raise not_in_version("nodeEndpoints")
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_produce_response_v9(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_produce_response_v10(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_topic_produce_response_v10(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_produce_response_v10(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_produce_response_v10(buf: Buffer, pos: int, o: ProduceResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
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
            o.node_endpoints, pos = _decode_node_endpoint_v10(buf, pos, n)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_produce_response_v10(out: bytearray, o: ProduceResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.node_endpoints:
        part = bytearray()
        n = len(o.node_endpoints) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_node_endpoint_v10(part, o.node_endpoints)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_produce_response_v10(out: bytearray, o: ProduceResponse) -> None:
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_produce_response_v10(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags or o.node_endpoints:
        _write_tags_of_produce_response_v10(out, o)
    else:
        out.append(0)


def _decode_produce_response_v13(buf: Buffer, pos: int) -> tuple[ProduceResponse, int]:
    o = ProduceResponse.__new__(ProduceResponse)
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
    o.responses, pos = _decode_topic_produce_response_v13(buf, pos, n)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_produce_response_v13(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_produce_response_v13(buf: Buffer, pos: int, o: ProduceResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
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
            o.node_endpoints, pos = _decode_node_endpoint_v10(buf, pos, n)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_produce_response_v13(out: bytearray, o: ProduceResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.node_endpoints:
        part = bytearray()
        n = len(o.node_endpoints) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        _encode_node_endpoint_v10(part, o.node_endpoints)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_produce_response_v13(out: bytearray, o: ProduceResponse) -> None:
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_produce_response_v13(out, o.responses)
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags or o.node_endpoints:
        _write_tags_of_produce_response_v13(out, o)
    else:
        out.append(0)


ProduceResponse.DECODERS = {
    0: _decode_produce_response_v0,
    1: _decode_produce_response_v1,
    2: _decode_produce_response_v2,
    3: _decode_produce_response_v2,
    4: _decode_produce_response_v2,
    5: _decode_produce_response_v5,
    6: _decode_produce_response_v5,
    7: _decode_produce_response_v5,
    8: _decode_produce_response_v8,
    9: _decode_produce_response_v9,
    10: _decode_produce_response_v10,
    11: _decode_produce_response_v10,
    12: _decode_produce_response_v10,
    13: _decode_produce_response_v13,
}
ProduceResponse.ENCODERS = {
    0: _encode_produce_response_v0,
    1: _encode_produce_response_v1,
    2: _encode_produce_response_v2,
    3: _encode_produce_response_v2,
    4: _encode_produce_response_v2,
    5: _encode_produce_response_v5,
    6: _encode_produce_response_v5,
    7: _encode_produce_response_v5,
    8: _encode_produce_response_v8,
    9: _encode_produce_response_v9,
    10: _encode_produce_response_v10,
    11: _encode_produce_response_v10,
    12: _encode_produce_response_v10,
    13: _encode_produce_response_v13,
}
