"""StreamsGroupCurrentMemberAssignmentValue, version 0.

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
    bad_tag_size,
    null_field,
    pack_int32s,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_iib = Layout(">iib").pack
unpack_iib = Layout(">iib").unpack_from


class TaskIds(Struct):
    """Part of StreamsGroupCurrentMemberAssignmentValue."""

    __slots__ = (
        "subtopology_id",
        "partitions",
        "assignment_epochs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = UNSET,
        assignment_epochs: list[int] | None = UNSET,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.assignment_epochs: list[int] | None = [] if assignment_epochs is UNSET else assignment_epochs
        self.unknown_tags: UnknownTags = None


class StreamsGroupCurrentMemberAssignmentValue(Message):
    """StreamsGroupCurrentMemberAssignmentValue, version 0."""

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "active_tasks_pending_revocation",
        "standby_tasks_pending_revocation",
        "warmup_tasks_pending_revocation",
        "unknown_tags",
    )
    NAME = "StreamsGroupCurrentMemberAssignmentValue"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: list[TaskIds] = UNSET,
        standby_tasks: list[TaskIds] = UNSET,
        warmup_tasks: list[TaskIds] = UNSET,
        active_tasks_pending_revocation: list[TaskIds] = UNSET,
        standby_tasks_pending_revocation: list[TaskIds] = UNSET,
        warmup_tasks_pending_revocation: list[TaskIds] = UNSET,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.active_tasks: list[TaskIds] = [] if active_tasks is UNSET else active_tasks
        self.standby_tasks: list[TaskIds] = [] if standby_tasks is UNSET else standby_tasks
        self.warmup_tasks: list[TaskIds] = [] if warmup_tasks is UNSET else warmup_tasks
        self.active_tasks_pending_revocation: list[TaskIds] = (
            [] if active_tasks_pending_revocation is UNSET else active_tasks_pending_revocation
        )
        self.standby_tasks_pending_revocation: list[TaskIds] = (
            [] if standby_tasks_pending_revocation is UNSET else standby_tasks_pending_revocation
        )
        self.warmup_tasks_pending_revocation: list[TaskIds] = (
            [] if warmup_tasks_pending_revocation is UNSET else warmup_tasks_pending_revocation
        )
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
        o.assignment_epochs = []
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_task_ids_v0(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_task_ids_v0(buf: Buffer, pos: int, o: TaskIds) -> int:
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
                o.assignment_epochs = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.assignment_epochs = unpack_int32s(buf, pos, n)
                pos += 4 * n
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_task_ids_v0(out: bytearray, o: TaskIds) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.assignment_epochs is None or o.assignment_epochs:
        part = bytearray()
        if o.assignment_epochs is None:
            part.append(0)
        else:
            n = len(o.assignment_epochs) + 1
            part.append(n) if n < 128 else write_uvarint(part, n)
            part += pack_int32s(o.assignment_epochs)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_task_ids_v0(out: bytearray, items: Iterable[TaskIds]) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags or o.assignment_epochs is None or o.assignment_epochs:
            _write_tags_of_task_ids_v0(out, o)
        else:
            out.append(0)


def _decode_streams_group_current_member_assignment_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
    o = StreamsGroupCurrentMemberAssignmentValue.__new__(StreamsGroupCurrentMemberAssignmentValue)
    o.member_epoch, o.previous_member_epoch, o.state = unpack_iib(buf, pos)
    pos += 9
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
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("activeTasksPendingRevocation")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.active_tasks_pending_revocation, pos = _decode_task_ids_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("standbyTasksPendingRevocation")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.standby_tasks_pending_revocation, pos = _decode_task_ids_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("warmupTasksPendingRevocation")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.warmup_tasks_pending_revocation, pos = _decode_task_ids_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_current_member_assignment_value_v0(
    out: bytearray,
    o: StreamsGroupCurrentMemberAssignmentValue,
) -> None:
    out += pack_iib(o.member_epoch, o.previous_member_epoch, o.state)
    n = len(o.active_tasks) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_task_ids_v0(out, o.active_tasks)
    n = len(o.standby_tasks) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_task_ids_v0(out, o.standby_tasks)
    n = len(o.warmup_tasks) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_task_ids_v0(out, o.warmup_tasks)
    n = len(o.active_tasks_pending_revocation) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_task_ids_v0(out, o.active_tasks_pending_revocation)
    n = len(o.standby_tasks_pending_revocation) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_task_ids_v0(out, o.standby_tasks_pending_revocation)
    n = len(o.warmup_tasks_pending_revocation) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_task_ids_v0(out, o.warmup_tasks_pending_revocation)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupCurrentMemberAssignmentValue.DECODERS = {
    0: _decode_streams_group_current_member_assignment_value_v0,
}
StreamsGroupCurrentMemberAssignmentValue.ENCODERS = {
    0: _encode_streams_group_current_member_assignment_value_v0,
}
