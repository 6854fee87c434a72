"""StreamsGroupDescribeResponse, versions 0 to 1.

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

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
unpack_ib = Layout(">ib").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_iib = Layout(">iib").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class TopologyDescriptionGlobalStore(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "source",
        "processor",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        source: TopologyDescriptionNode = UNSET,  # version 1
        processor: TopologyDescriptionNode = UNSET,  # version 1
    ) -> None:
        self.source: TopologyDescriptionNode = TopologyDescriptionNode() if source is UNSET else source
        self.processor: TopologyDescriptionNode = (
            TopologyDescriptionNode() if processor is UNSET else processor
        )
        self.unknown_tags: UnknownTags = None


class TopologyDescriptionNode(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "name",
        "node_type",
        "source_topics",
        "sink_topic",
        "stores",
        "successors",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # version 1
        node_type: int = 0,  # version 1
        source_topics: list[str] = UNSET,  # version 1
        sink_topic: str | None = None,  # version 1
        stores: list[str] = UNSET,  # version 1
        successors: list[str] = UNSET,  # version 1
    ) -> None:
        self.name = name
        self.node_type = node_type
        self.source_topics: list[str] = [] if source_topics is UNSET else source_topics
        self.sink_topic = sink_topic
        self.stores: list[str] = [] if stores is UNSET else stores
        self.successors: list[str] = [] if successors is UNSET else successors
        self.unknown_tags: UnknownTags = None


class TopologyDescriptionSubtopology(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "subtopology_id",
        "nodes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",  # version 1
        nodes: list[TopologyDescriptionNode] = UNSET,  # version 1
    ) -> None:
        self.subtopology_id = subtopology_id
        self.nodes: list[TopologyDescriptionNode] = [] if nodes is UNSET else nodes
        self.unknown_tags: UnknownTags = None


class TopologyDescription(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "subtopologies",
        "global_stores",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopologies: list[TopologyDescriptionSubtopology] = UNSET,  # version 1
        global_stores: list[TopologyDescriptionGlobalStore] = UNSET,  # version 1
    ) -> None:
        self.subtopologies: list[TopologyDescriptionSubtopology] = (
            [] if subtopologies is UNSET else subtopologies
        )
        self.global_stores: list[TopologyDescriptionGlobalStore] = (
            [] if global_stores is UNSET else global_stores
        )
        self.unknown_tags: UnknownTags = None


class TaskIds(Struct):
    """Part of StreamsGroupDescribeResponse."""

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


class Assignment(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        active_tasks: list[TaskIds] = UNSET,
        standby_tasks: list[TaskIds] = UNSET,
        warmup_tasks: list[TaskIds] = UNSET,
    ) -> None:
        self.active_tasks: list[TaskIds] = [] if active_tasks is UNSET else active_tasks
        self.standby_tasks: list[TaskIds] = [] if standby_tasks is UNSET else standby_tasks
        self.warmup_tasks: list[TaskIds] = [] if warmup_tasks is UNSET else warmup_tasks
        self.unknown_tags: UnknownTags = None


class TaskOffset(Struct):
    """Part of StreamsGroupDescribeResponse."""

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
    """Part of StreamsGroupDescribeResponse."""

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


class Member(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "assignment",
        "target_assignment",
        "is_classic",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = UNSET,
        task_offsets: list[TaskOffset] = UNSET,
        task_end_offsets: list[TaskOffset] = UNSET,
        assignment: Assignment = UNSET,
        target_assignment: Assignment = UNSET,
        is_classic: bool = False,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags: list[KeyValue] = [] if client_tags is UNSET else client_tags
        self.task_offsets: list[TaskOffset] = [] if task_offsets is UNSET else task_offsets
        self.task_end_offsets: list[TaskOffset] = [] if task_end_offsets is UNSET else task_end_offsets
        self.assignment: Assignment = Assignment() if assignment is UNSET else assignment
        self.target_assignment: Assignment = Assignment() if target_assignment is UNSET else target_assignment
        self.is_classic = is_classic
        self.unknown_tags: UnknownTags = None


class KeyValue(Struct):
    """Part of StreamsGroupDescribeResponse."""

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
    """Part of StreamsGroupDescribeResponse."""

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
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "repartition_sink_topics",
        "state_changelog_topics",
        "repartition_source_topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = UNSET,
        repartition_sink_topics: list[str] = UNSET,
        state_changelog_topics: list[TopicInfo] = UNSET,
        repartition_source_topics: list[TopicInfo] = UNSET,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics: list[str] = [] if source_topics is UNSET else source_topics
        self.repartition_sink_topics: list[str] = (
            [] if repartition_sink_topics is UNSET else repartition_sink_topics
        )
        self.state_changelog_topics: list[TopicInfo] = (
            [] if state_changelog_topics is UNSET else state_changelog_topics
        )
        self.repartition_source_topics: list[TopicInfo] = (
            [] if repartition_source_topics is UNSET else repartition_source_topics
        )
        self.unknown_tags: UnknownTags = None


class Topology(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies
        self.unknown_tags: UnknownTags = None


class DescribedGroup(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "topology",
        "members",
        "authorized_operations",
        "topology_description",
        "topology_description_status",
        "assignor_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: list[Member] = UNSET,
        authorized_operations: int = -2147483648,
        topology_description: TopologyDescription | None = None,  # version 1
        topology_description_status: int = 0,  # version 1
        assignor_name: str | None = None,  # version 1
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members: list[Member] = [] if members is UNSET else members
        self.authorized_operations = authorized_operations
        self.topology_description = topology_description
        self.topology_description_status = topology_description_status
        self.assignor_name = assignor_name
        self.unknown_tags: UnknownTags = None


class StreamsGroupDescribeResponse(Message):
    """StreamsGroupDescribeResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )
    NAME = "StreamsGroupDescribeResponse"
    API_KEY = 89
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribedGroup] = [] if groups is UNSET else groups
        self.unknown_tags: UnknownTags = None


def _decode_topology_description_global_store_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescriptionGlobalStore], int]:
    items: list[TopologyDescriptionGlobalStore] = []
    for _ in range(count):
        o = TopologyDescriptionGlobalStore.__new__(TopologyDescriptionGlobalStore)
        items.append(o)
        (o.source,), pos = _decode_topology_description_node_v1(buf, pos, 1)
        (o.processor,), pos = _decode_topology_description_node_v1(buf, pos, 1)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_global_store_v1(
    out: bytearray,
    items: Iterable[TopologyDescriptionGlobalStore],
) -> None:
    for o in items:
        _encode_topology_description_node_v1(out, (o.source,))
        _encode_topology_description_node_v1(out, (o.processor,))
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_description_node_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescriptionNode], int]:
    items: list[TopologyDescriptionNode] = []
    for _ in range(count):
        o = TopologyDescriptionNode.__new__(TopologyDescriptionNode)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.node_type,) = unpack_b(buf, pos)
        pos += 1
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
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.sink_topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.sink_topic, pos = read_compact_nullable_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("stores")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.stores = values = []
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
            raise null_field("successors")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.successors = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_node_v1(out: bytearray, items: Iterable[TopologyDescriptionNode]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_b(o.node_type)
        n = len(o.source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.source_topics:
            write_compact_string(out, text)
        write_compact_nullable_string(out, o.sink_topic)
        n = len(o.stores) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.stores:
            write_compact_string(out, text)
        n = len(o.successors) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.successors:
            write_compact_string(out, text)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_description_subtopology_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescriptionSubtopology], int]:
    items: list[TopologyDescriptionSubtopology] = []
    for _ in range(count):
        o = TopologyDescriptionSubtopology.__new__(TopologyDescriptionSubtopology)
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
            raise null_field("nodes")
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.nodes, pos = _decode_topology_description_node_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_subtopology_v1(
    out: bytearray,
    items: Iterable[TopologyDescriptionSubtopology],
) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        n = len(o.nodes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topology_description_node_v1(out, o.nodes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_description_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescription], int]:
    items: list[TopologyDescription] = []
    for _ in range(count):
        o = TopologyDescription.__new__(TopologyDescription)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("subtopologies")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subtopologies, pos = _decode_topology_description_subtopology_v1(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("globalStores")
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.global_stores, pos = _decode_topology_description_global_store_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_v1(out: bytearray, items: Iterable[TopologyDescription]) -> None:
    for o in items:
        n = len(o.subtopologies) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topology_description_subtopology_v1(out, o.subtopologies)
        n = len(o.global_stores) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topology_description_global_store_v1(out, o.global_stores)
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


def _decode_assignment_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Assignment], int]:
    items: list[Assignment] = []
    for _ in range(count):
        o = Assignment.__new__(Assignment)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("activeTasks")
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
            raise null_field("standbyTasks")
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
            raise null_field("warmupTasks")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.warmup_tasks, pos = _decode_task_ids_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_assignment_v0(out: bytearray, items: Iterable[Assignment]) -> None:
    for o in items:
        n = len(o.active_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.active_tasks)
        n = len(o.standby_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.standby_tasks)
        n = len(o.warmup_tasks) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_ids_v0(out, o.warmup_tasks)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


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


def _decode_member_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Member], int]:
    items: list[Member] = []
    for _ in range(count):
        o = Member.__new__(Member)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.member_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.member_id, pos = read_compact_string(buf, pos)
        (o.member_epoch,) = unpack_i(buf, pos)
        pos += 4
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
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.client_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.client_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.client_host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.client_host, pos = read_compact_string(buf, pos)
        (o.topology_epoch,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.process_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.process_id, pos = read_compact_string(buf, pos)
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
            raise null_field("clientTags")
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
            raise null_field("taskOffsets")
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
            raise null_field("taskEndOffsets")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.task_end_offsets, pos = _decode_task_offset_v0(buf, pos, n)
        (o.assignment,), pos = _decode_assignment_v0(buf, pos, 1)
        (o.target_assignment,), pos = _decode_assignment_v0(buf, pos, 1)
        (o.is_classic,) = unpack_o(buf, pos)
        pos += 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_member_v0(out: bytearray, items: Iterable[Member]) -> None:
    for o in items:
        write_compact_string(out, o.member_id)
        out += pack_i(o.member_epoch)
        write_compact_nullable_string(out, o.instance_id)
        write_compact_nullable_string(out, o.rack_id)
        write_compact_string(out, o.client_id)
        write_compact_string(out, o.client_host)
        out += pack_i(o.topology_epoch)
        write_compact_string(out, o.process_id)
        if o.user_endpoint is None:
            out.append(255)
        else:
            out.append(1)
            _encode_endpoint_v0(out, (o.user_endpoint,))
        n = len(o.client_tags) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_key_value_v0(out, o.client_tags)
        n = len(o.task_offsets) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_offset_v0(out, o.task_offsets)
        n = len(o.task_end_offsets) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_task_offset_v0(out, o.task_end_offsets)
        _encode_assignment_v0(out, (o.assignment,))
        _encode_assignment_v0(out, (o.target_assignment,))
        out += pack_o(o.is_classic)
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
            raise null_field("repartitionSourceTopics")
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_source_topics, pos = _decode_topic_info_v0(buf, pos, n)
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
        n = len(o.repartition_sink_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.repartition_sink_topics:
            write_compact_string(out, text)
        n = len(o.state_changelog_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_info_v0(out, o.state_changelog_topics)
        n = len(o.repartition_source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_info_v0(out, o.repartition_source_topics)
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
            o.subtopologies = None
        else:
            if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
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
        if o.subtopologies is None:
            out.append(0)
        else:
            n = len(o.subtopologies) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_subtopology_v0(out, o.subtopologies)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_group_v0(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
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
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_state = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_state, pos = read_compact_string(buf, pos)
        o.group_epoch, o.assignment_epoch, n = unpack_iib(buf, pos)
        pos += 9
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
            raise null_field("members")
        if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_member_v0(buf, pos, n)
        (o.authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.topology_description = None
        o.topology_description_status = 0
        o.assignor_name = None
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_group_v0(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        if o.topology_description is not None:
            raise not_in_version("topologyDescription")
        if o.topology_description_status != 0:
            raise not_in_version("topologyDescriptionStatus")
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.group_state)
        out += pack_ii(o.group_epoch, o.assignment_epoch)
        if o.topology is None:
            out.append(255)
        else:
            out.append(1)
            _encode_topology_v0(out, (o.topology,))
        n = len(o.members) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_member_v0(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_described_group_v1(buf: Buffer, pos: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = DescribedGroup.__new__(DescribedGroup)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
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
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_state = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_state, pos = read_compact_string(buf, pos)
        o.group_epoch, o.assignment_epoch, n = unpack_iib(buf, pos)
        pos += 9
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
            raise null_field("members")
        if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.members, pos = _decode_member_v0(buf, pos, n)
        o.authorized_operations, n = unpack_ib(buf, pos)
        pos += 5
        if n < 0:
            o.topology_description = None
        else:
            (o.topology_description,), pos = _decode_topology_description_v1(buf, pos, 1)
        (o.topology_description_status,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.assignor_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.assignor_name, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_described_group_v1(out: bytearray, items: Iterable[DescribedGroup]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        write_compact_string(out, o.group_id)
        write_compact_string(out, o.group_state)
        out += pack_ii(o.group_epoch, o.assignment_epoch)
        if o.topology is None:
            out.append(255)
        else:
            out.append(1)
            _encode_topology_v0(out, (o.topology,))
        n = len(o.members) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_member_v0(out, o.members)
        out += pack_i(o.authorized_operations)
        if o.topology_description is None:
            out.append(255)
        else:
            out.append(1)
            _encode_topology_description_v1(out, (o.topology_description,))
        out += pack_b(o.topology_description_status)
        write_compact_nullable_string(out, o.assignor_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_describe_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupDescribeResponse, int]:
    o = StreamsGroupDescribeResponse.__new__(StreamsGroupDescribeResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_describe_response_v0(out: bytearray, o: StreamsGroupDescribeResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_group_v0(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_streams_group_describe_response_v1(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupDescribeResponse, int]:
    o = StreamsGroupDescribeResponse.__new__(StreamsGroupDescribeResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("groups")
    if n * 23 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.groups, pos = _decode_described_group_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_describe_response_v1(out: bytearray, o: StreamsGroupDescribeResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_described_group_v1(out, o.groups)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupDescribeResponse.DECODERS = {
    0: _decode_streams_group_describe_response_v0,
    1: _decode_streams_group_describe_response_v1,
}
StreamsGroupDescribeResponse.ENCODERS = {
    0: _encode_streams_group_describe_response_v0,
    1: _encode_streams_group_describe_response_v1,
}
