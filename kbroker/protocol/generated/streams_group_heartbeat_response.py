"""StreamsGroupHeartbeatResponse, versions 0 to 1.

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
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3iq = Layout(">3iq").pack
unpack_3iq = Layout(">3iq").unpack_from
pack_4i = Layout(">4i").pack
unpack_4i = Layout(">4i").unpack_from
pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_oi = Layout(">?i").pack
unpack_oi = Layout(">?i").unpack_from


class TopicPartition(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class Endpoint(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = (
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class EndpointToPartitions(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = (
        "user_endpoint",
        "active_partitions",
        "standby_partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        user_endpoint: Endpoint = UNSET,
        active_partitions: list[TopicPartition] = UNSET,
        standby_partitions: list[TopicPartition] = UNSET,
    ) -> None:
        self.user_endpoint: Endpoint = Endpoint() if user_endpoint is UNSET else user_endpoint
        self.active_partitions: list[TopicPartition] = [] if active_partitions is UNSET else active_partitions
        self.standby_partitions: list[TopicPartition] = (
            [] if standby_partitions is UNSET else standby_partitions
        )
        self.unknown_tags: UnknownTags = None


class TaskIds(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = (
        "subtopology_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class Status(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = (
        "status_code",
        "status_detail",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        status_code: int = 0,
        status_detail: str = "",
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail
        self.unknown_tags: UnknownTags = None


class StreamsGroupHeartbeatResponse(Message):
    """StreamsGroupHeartbeatResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "acceptable_recovery_lag_legacy",
        "task_offset_interval_ms",
        "acceptable_recovery_lag",
        "status",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "topology_description_required",
        "endpoint_information_epoch",
        "partitions_by_user_endpoint",
        "unknown_tags",
    )
    NAME = "StreamsGroupHeartbeatResponse"
    API_KEY = 88
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag_legacy: int = 0,  # version 0
        task_offset_interval_ms: int = 0,
        acceptable_recovery_lag: int = -1,  # version 1
        status: list[Status] | None = UNSET,
        active_tasks: list[TaskIds] | None = None,
        standby_tasks: list[TaskIds] | None = None,
        warmup_tasks: list[TaskIds] | None = None,
        topology_description_required: bool = False,  # version 1
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag_legacy = acceptable_recovery_lag_legacy
        self.task_offset_interval_ms = task_offset_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.status: list[Status] | None = [] if status is UNSET else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.topology_description_required = topology_description_required
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
        self.unknown_tags: UnknownTags = None


def _decode_topic_partition_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicPartition], int]:
    items: list[TopicPartition] = []
    for _ in range(count):
        o = TopicPartition.__new__(TopicPartition)
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
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_partition_v0(out: bytearray, items: Iterable[TopicPartition]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_endpoint_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Endpoint], int]:
    items: list[Endpoint] = []
    for _ in range(count):
        o = Endpoint.__new__(Endpoint)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_H(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_endpoint_v0(out: bytearray, items: Iterable[Endpoint]) -> None:
    for o in items:
        write_compact_string(out, o.host)
        out += pack_H(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_endpoint_to_partitions_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[EndpointToPartitions], int]:
    items: list[EndpointToPartitions] = []
    for _ in range(count):
        o = EndpointToPartitions.__new__(EndpointToPartitions)
        items.append(o)
        (o.user_endpoint,), pos = _decode_endpoint_v0(buf, pos, 1)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("activePartitions")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.active_partitions, pos = _decode_topic_partition_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("standbyPartitions")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.standby_partitions, pos = _decode_topic_partition_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_endpoint_to_partitions_v0(out: bytearray, items: Iterable[EndpointToPartitions]) -> None:
    for o in items:
        _encode_endpoint_v0(out, (o.user_endpoint,))
        n = len(o.active_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_partition_v0(out, o.active_partitions)
        n = len(o.standby_partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_partition_v0(out, o.standby_partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_task_ids_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TaskIds], int]:
    items: list[TaskIds] = []
    for _ in range(count):
        o = TaskIds.__new__(TaskIds)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.subtopology_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.subtopology_id, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_task_ids_v0(out: bytearray, items: Iterable[TaskIds]) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_status_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Status], int]:
    items: list[Status] = []
    for _ in range(count):
        o = Status.__new__(Status)
        items.append(o)
        (o.status_code,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.status_detail = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.status_detail, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_status_v0(out: bytearray, items: Iterable[Status]) -> None:
    for o in items:
        out += pack_b(o.status_code)
        write_compact_string(out, o.status_detail)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_heartbeat_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupHeartbeatResponse, int]:
    o = StreamsGroupHeartbeatResponse.__new__(StreamsGroupHeartbeatResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    (
        o.member_epoch,
        o.heartbeat_interval_ms,
        o.acceptable_recovery_lag_legacy,
        o.task_offset_interval_ms,
    ) = unpack_4i(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.status = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.status, pos = _decode_status_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.active_tasks = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.active_tasks, pos = _decode_task_ids_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.standby_tasks = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.standby_tasks, pos = _decode_task_ids_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.warmup_tasks = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.warmup_tasks, pos = _decode_task_ids_v0(buf, pos, n)
    (o.endpoint_information_epoch,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.partitions_by_user_endpoint = None
    else:
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions_by_user_endpoint, pos = _decode_endpoint_to_partitions_v0(buf, pos, n)
    o.acceptable_recovery_lag = -1
    o.topology_description_required = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_heartbeat_response_v0(out: bytearray, o: StreamsGroupHeartbeatResponse) -> None:
    if o.topology_description_required:
        raise not_in_version("topologyDescriptionRequired")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    write_compact_string(out, o.member_id)
    out += pack_4i(
        o.member_epoch,
        o.heartbeat_interval_ms,
        o.acceptable_recovery_lag_legacy,
        o.task_offset_interval_ms,
    )
    if o.status is None:
        out.append(0)
    else:
        n = len(o.status) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_status_v0(out, o.status)
    if o.active_tasks is None:
        out.append(0)
    else:
        n = len(o.active_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.active_tasks)
    if o.standby_tasks is None:
        out.append(0)
    else:
        n = len(o.standby_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.standby_tasks)
    if o.warmup_tasks is None:
        out.append(0)
    else:
        n = len(o.warmup_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.warmup_tasks)
    out += pack_i(o.endpoint_information_epoch)
    if o.partitions_by_user_endpoint is None:
        out.append(0)
    else:
        n = len(o.partitions_by_user_endpoint) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_endpoint_to_partitions_v0(out, o.partitions_by_user_endpoint)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_streams_group_heartbeat_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupHeartbeatResponse, int]:
    o = StreamsGroupHeartbeatResponse.__new__(StreamsGroupHeartbeatResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    (
        o.member_epoch,
        o.heartbeat_interval_ms,
        o.task_offset_interval_ms,
        o.acceptable_recovery_lag,
    ) = unpack_3iq(buf, pos)
    pos += 20
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.status = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.status, pos = _decode_status_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.active_tasks = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.active_tasks, pos = _decode_task_ids_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.standby_tasks = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.standby_tasks, pos = _decode_task_ids_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.warmup_tasks = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.warmup_tasks, pos = _decode_task_ids_v0(buf, pos, n)
    o.topology_description_required, o.endpoint_information_epoch = unpack_oi(buf, pos)
    pos += 5
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.partitions_by_user_endpoint = None
    else:
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions_by_user_endpoint, pos = _decode_endpoint_to_partitions_v0(buf, pos, n)
    o.acceptable_recovery_lag_legacy = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_heartbeat_response_v1(out: bytearray, o: StreamsGroupHeartbeatResponse) -> None:
    if o.acceptable_recovery_lag_legacy != 0:
        raise not_in_version("acceptableRecoveryLagLegacy")
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    write_compact_string(out, o.member_id)
    out += pack_3iq(
        o.member_epoch,
        o.heartbeat_interval_ms,
        o.task_offset_interval_ms,
        o.acceptable_recovery_lag,
    )
    if o.status is None:
        out.append(0)
    else:
        n = len(o.status) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_status_v0(out, o.status)
    if o.active_tasks is None:
        out.append(0)
    else:
        n = len(o.active_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.active_tasks)
    if o.standby_tasks is None:
        out.append(0)
    else:
        n = len(o.standby_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.standby_tasks)
    if o.warmup_tasks is None:
        out.append(0)
    else:
        n = len(o.warmup_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.warmup_tasks)
    out += pack_oi(o.topology_description_required, o.endpoint_information_epoch)
    if o.partitions_by_user_endpoint is None:
        out.append(0)
    else:
        n = len(o.partitions_by_user_endpoint) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_endpoint_to_partitions_v0(out, o.partitions_by_user_endpoint)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupHeartbeatResponse.DECODERS = {
    0: _decode_streams_group_heartbeat_response_v0,
    1: _decode_streams_group_heartbeat_response_v1,
}
StreamsGroupHeartbeatResponse.ENCODERS = {
    0: _encode_streams_group_heartbeat_response_v0,
    1: _encode_streams_group_heartbeat_response_v1,
}
