"""StreamsGroupTargetAssignmentMemberValue, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    null_field,
    pack_int32s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)


class TaskIds(Struct):
    """Part of StreamsGroupTargetAssignmentMemberValue."""

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


class StreamsGroupTargetAssignmentMemberValue(Message):
    """StreamsGroupTargetAssignmentMemberValue, version 0."""

    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "unknown_tags",
    )
    NAME = "StreamsGroupTargetAssignmentMemberValue"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

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


def _decode_streams_group_target_assignment_member_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
    o = StreamsGroupTargetAssignmentMemberValue.__new__(StreamsGroupTargetAssignmentMemberValue)
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
    return o, pos


def _encode_streams_group_target_assignment_member_value_v0(
    out: bytearray,
    o: StreamsGroupTargetAssignmentMemberValue,
) -> None:
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


StreamsGroupTargetAssignmentMemberValue.DECODERS = {
    0: _decode_streams_group_target_assignment_member_value_v0,
}
StreamsGroupTargetAssignmentMemberValue.ENCODERS = {
    0: _encode_streams_group_target_assignment_member_value_v0,
}
