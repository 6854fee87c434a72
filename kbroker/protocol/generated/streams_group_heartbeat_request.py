"""StreamsGroupHeartbeatRequest, versions 0 to 1.

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
    null_field,
    pack_int16s,
    pack_int32s,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int16s,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
unpack_b = Layout(">b").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
unpack_ib = Layout(">ib").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class TaskOffset(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "subtopology_id",
        "partition",
        "offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset
        self.unknown_tags: UnknownTags = None


class Endpoint(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

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


class TaskIds(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

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


class CopartitionGroup(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "source_topics",
        "source_topic_regex",
        "repartition_source_topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        source_topics: list[int] = UNSET,
        source_topic_regex: list[int] = UNSET,
        repartition_source_topics: list[int] = UNSET,
    ) -> None:
        self.source_topics: list[int] = [] if source_topics is UNSET else source_topics
        self.source_topic_regex: list[int] = [] if source_topic_regex is UNSET else source_topic_regex
        self.repartition_source_topics: list[int] = (
            [] if repartition_source_topics is UNSET else repartition_source_topics
        )
        self.unknown_tags: UnknownTags = None


class KeyValue(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags: UnknownTags = None


class TopicInfo(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[KeyValue] = UNSET,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs: list[KeyValue] = [] if topic_configs is UNSET else topic_configs
        self.unknown_tags: UnknownTags = None


class Subtopology(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "source_topic_regex",
        "state_changelog_topics",
        "repartition_sink_topics",
        "repartition_source_topics",
        "copartition_groups",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = UNSET,
        source_topic_regex: list[str] = UNSET,
        state_changelog_topics: list[TopicInfo] = UNSET,
        repartition_sink_topics: list[str] = UNSET,
        repartition_source_topics: list[TopicInfo] = UNSET,
        copartition_groups: list[CopartitionGroup] = UNSET,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics: list[str] = [] if source_topics is UNSET else source_topics
        self.source_topic_regex: list[str] = [] if source_topic_regex is UNSET else source_topic_regex
        self.state_changelog_topics: list[TopicInfo] = (
            [] if state_changelog_topics is UNSET else state_changelog_topics
        )
        self.repartition_sink_topics: list[str] = (
            [] if repartition_sink_topics is UNSET else repartition_sink_topics
        )
        self.repartition_source_topics: list[TopicInfo] = (
            [] if repartition_source_topics is UNSET else repartition_source_topics
        )
        self.copartition_groups: list[CopartitionGroup] = (
            [] if copartition_groups is UNSET else copartition_groups
        )
        self.unknown_tags: UnknownTags = None


class Topology(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] = UNSET,
    ) -> None:
        self.epoch = epoch
        self.subtopologies: list[Subtopology] = [] if subtopologies is UNSET else subtopologies
        self.unknown_tags: UnknownTags = None


class StreamsGroupHeartbeatRequest(Message):
    """StreamsGroupHeartbeatRequest, versions 0 to 1."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "endpoint_information_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "shutdown_application",
        "unknown_tags",
    )
    NAME = "StreamsGroupHeartbeatRequest"
    API_KEY = 88
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[TaskIds] | None = None,
        standby_tasks: list[TaskIds] | None = None,
        warmup_tasks: list[TaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
        self.unknown_tags: UnknownTags = None


def _decode_task_offset_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TaskOffset], int]:
    items: list[TaskOffset] = []
    for _ in range(count):
        o = TaskOffset.__new__(TaskOffset)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.subtopology_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.subtopology_id, pos = read_compact_string(buf, pos)
        o.partition, o.offset = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_task_offset_v0(out: bytearray, items: Iterable[TaskOffset]) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        out += pack_iq(o.partition, o.offset)
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


def _decode_copartition_group_v0(buf: Buffer, pos: int, count: int) -> tuple[list[CopartitionGroup], int]:
    items: list[CopartitionGroup] = []
    for _ in range(count):
        o = CopartitionGroup.__new__(CopartitionGroup)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopics")
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topics = unpack_int16s(buf, pos, n)
        pos += 2 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopicRegex")
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topic_regex = unpack_int16s(buf, pos, n)
        pos += 2 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("repartitionSourceTopics")
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_source_topics = unpack_int16s(buf, pos, n)
        pos += 2 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_copartition_group_v0(out: bytearray, items: Iterable[CopartitionGroup]) -> None:
    for o in items:
        n = len(o.source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int16s(o.source_topics)
        n = len(o.source_topic_regex) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int16s(o.source_topic_regex)
        n = len(o.repartition_source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int16s(o.repartition_source_topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_key_value_v0(buf: Buffer, pos: int, count: int) -> tuple[list[KeyValue], int]:
    items: list[KeyValue] = []
    for _ in range(count):
        o = KeyValue.__new__(KeyValue)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.key = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.key, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_key_value_v0(out: bytearray, items: Iterable[KeyValue]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        write_compact_string(out, o.value)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_info_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicInfo], int]:
    items: list[TopicInfo] = []
    for _ in range(count):
        o = TopicInfo.__new__(TopicInfo)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.partitions, o.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("topicConfigs")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_configs, pos = _decode_key_value_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_info_v0(out: bytearray, items: Iterable[TopicInfo]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_ih(o.partitions, o.replication_factor)
        n = len(o.topic_configs) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_key_value_v0(out, o.topic_configs)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_subtopology_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Subtopology], int]:
    items: list[Subtopology] = []
    for _ in range(count):
        o = Subtopology.__new__(Subtopology)
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
            raise null_field("sourceTopics")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topics = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopicRegex")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topic_regex = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("stateChangelogTopics")
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.state_changelog_topics, pos = _decode_topic_info_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("repartitionSinkTopics")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_sink_topics = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("repartitionSourceTopics")
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_source_topics, pos = _decode_topic_info_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("copartitionGroups")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.copartition_groups, pos = _decode_copartition_group_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_subtopology_v0(out: bytearray, items: Iterable[Subtopology]) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        n = len(o.source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.source_topics:
            write_compact_string(out, text)
        n = len(o.source_topic_regex) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.source_topic_regex:
            write_compact_string(out, text)
        n = len(o.state_changelog_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_info_v0(out, o.state_changelog_topics)
        n = len(o.repartition_sink_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.repartition_sink_topics:
            write_compact_string(out, text)
        n = len(o.repartition_source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_info_v0(out, o.repartition_source_topics)
        n = len(o.copartition_groups) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_copartition_group_v0(out, o.copartition_groups)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Topology], int]:
    items: list[Topology] = []
    for _ in range(count):
        o = Topology.__new__(Topology)
        items.append(o)
        (o.epoch,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("subtopologies")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subtopologies, pos = _decode_subtopology_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_v0(out: bytearray, items: Iterable[Topology]) -> None:
    for o in items:
        out += pack_i(o.epoch)
        n = len(o.subtopologies) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_subtopology_v0(out, o.subtopologies)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_heartbeat_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupHeartbeatRequest, int]:
    o = StreamsGroupHeartbeatRequest.__new__(StreamsGroupHeartbeatRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    o.member_epoch, o.endpoint_information_epoch = unpack_ii(buf, pos)
    pos += 8
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    o.rebalance_timeout_ms, n = unpack_ib(buf, pos)
    pos += 5
    if n < 0:
        o.topology = None
    else:
        (o.topology,), pos = _decode_topology_v0(buf, pos, 1)
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
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.process_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.process_id, pos = read_compact_nullable_string(buf, pos)
    (n,) = unpack_b(buf, pos)
    pos += 1
    if n < 0:
        o.user_endpoint = None
    else:
        (o.user_endpoint,), pos = _decode_endpoint_v0(buf, pos, 1)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.client_tags = None
    else:
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.client_tags, pos = _decode_key_value_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.task_offsets = None
    else:
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.task_offsets, pos = _decode_task_offset_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.task_end_offsets = None
    else:
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.task_end_offsets, pos = _decode_task_offset_v0(buf, pos, n)
    (o.shutdown_application,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_heartbeat_request_v0(out: bytearray, o: StreamsGroupHeartbeatRequest) -> None:
    write_compact_string(out, o.group_id)
    write_compact_string(out, o.member_id)
    out += pack_ii(o.member_epoch, o.endpoint_information_epoch)
    write_compact_nullable_string(out, o.instance_id)
    write_compact_nullable_string(out, o.rack_id)
    out += pack_i(o.rebalance_timeout_ms)
    if o.topology is None:
        out.append(255)
    else:
        out.append(1)
        _encode_topology_v0(out, (o.topology,))
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
    write_compact_nullable_string(out, o.process_id)
    if o.user_endpoint is None:
        out.append(255)
    else:
        out.append(1)
        _encode_endpoint_v0(out, (o.user_endpoint,))
    if o.client_tags is None:
        out.append(0)
    else:
        n = len(o.client_tags) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_key_value_v0(out, o.client_tags)
    if o.task_offsets is None:
        out.append(0)
    else:
        n = len(o.task_offsets) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_offset_v0(out, o.task_offsets)
    if o.task_end_offsets is None:
        out.append(0)
    else:
        n = len(o.task_end_offsets) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_offset_v0(out, o.task_end_offsets)
    out += pack_o(o.shutdown_application)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupHeartbeatRequest.DECODERS = {
    0: _decode_streams_group_heartbeat_request_v0,
    1: _decode_streams_group_heartbeat_request_v0,
}
StreamsGroupHeartbeatRequest.ENCODERS = {
    0: _encode_streams_group_heartbeat_request_v0,
    1: _encode_streams_group_heartbeat_request_v0,
}
