"""Checks of a StreamsGroupHeartbeat, in Kafka's order and words; and what its answer tells besides tasks."""

from __future__ import annotations

import re
from typing import Any

from kbroker.coordinator.group.streams_group import StreamsGroup
from kbroker.coordinator.group.streams_member import StreamsMember, Target, Tasks, Wanted
from kbroker.coordinator.group.streams_topology import input_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Topology,
)
from kbroker.protocol.generated.streams_group_heartbeat_response import (
    Endpoint,
    EndpointToPartitions,
    StreamsGroupHeartbeatResponse,
    TaskIds,
    TopicPartition,
)
from kbroker.protocol.generated.streams_group_topology_value import StreamsGroupTopologyValue

#: Member epochs with a meaning: join, leave, leave for a moment (static members).
JOIN, LEAVE, LEAVE_FOR_A_MOMENT = 0, -1, -2

_TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")


def refused(code: ErrorCode, message: str | None) -> StreamsGroupHeartbeatResponse:
    """An answer that is only an error."""
    return StreamsGroupHeartbeatResponse(error_code=code, error_message=message, status=[])


def check_form(request: StreamsGroupHeartbeatRequest) -> None:
    """INVALID_REQUEST for what no member says; STREAMS_INVALID_TOPOLOGY."""
    if request.topology is not None:
        _check_names(request.topology)
    for name, text in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if text is not None and not text.strip():
            raise invalid(f"{name} can't be empty.")
    epoch = request.member_epoch
    if epoch < LEAVE_FOR_A_MOMENT:
        raise invalid(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    if epoch == LEAVE_FOR_A_MOMENT and request.instance_id is None:
        raise invalid("InstanceId can't be null.")
    if epoch == JOIN:
        _check_join(request)
        return
    tasks = request.active_tasks, request.standby_tasks, request.warmup_tasks
    if None in tasks and any(each is not None for each in tasks):
        raise invalid("If one task-type is non-null, all must be non-null.")
    if request.topology is not None:
        raise invalid("Topology can only be provided when (re-)joining.")


def _check_join(request: StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in (
        ("ActiveTasks", request.active_tasks),
        ("StandbyTasks", request.standby_tasks),
        ("WarmupTasks", request.warmup_tasks),
    ):
        if tasks is None or tasks:
            raise invalid(f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise invalid("Topology must be non-null when (re-)joining.")
    _check_topology(request.topology)


def _check_names(topology: Topology) -> None:
    """Before anything else, also where a topology is not wanted."""
    names = [
        name
        for each in topology.subtopologies
        for name in (
            *each.source_topics,
            *each.repartition_sink_topics,
            *(topic.name for topic in each.repartition_source_topics),
            *(topic.name for topic in each.state_changelog_topics),
        )
    ]
    bad = list(dict.fromkeys(name for name in names if not _TOPIC_NAME.fullmatch(name)))
    if bad:
        raise ApiError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY, f"Topic names {','.join(bad)} are not valid topic names."
        )
    if any(each.source_topic_regex for each in topology.subtopologies):
        raise invalid("Regular expressions for source topics are not supported yet.")


def _check_topology(topology: Topology) -> None:
    ids = {each.subtopology_id for each in topology.subtopologies}
    if topology.epoch < 0 or len(ids) < len(topology.subtopologies):
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    for each in topology.subtopologies:
        sources, repartitions = len(each.source_topics), len(each.repartition_source_topics)
        for group in each.copartition_groups:
            if not all(0 <= index < sources for index in group.source_topics):
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
            if not all(0 <= index < repartitions for index in group.repartition_source_topics):
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
            if group.source_topic_regex:
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)


def known_member(group: StreamsGroup, member_id: str) -> StreamsMember:
    """A member of the group.

    Raises:
        ApiError: UNKNOWN_MEMBER_ID.
    """
    member = group.members.get(member_id)
    if member is None:
        raise ApiError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.group_id}."
        )
    return member


def invalid(message: str) -> ApiError:
    """INVALID_REQUEST."""
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def owned_tasks(request: StreamsGroupHeartbeatRequest) -> Target | None:
    """What the member says it owns; None: it did not say."""
    if request.active_tasks is None or request.standby_tasks is None or request.warmup_tasks is None:
        return None
    parts = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    return Target(*({each.subtopology_id: frozenset(each.partitions) for each in part} for part in parts))


def tell_tasks(response: StreamsGroupHeartbeatResponse, tasks: Tasks) -> None:
    """Put the tasks that the member may use into the answer."""
    response.active_tasks = _ids(tasks.active)
    response.standby_tasks = _ids(tasks.standby)
    response.warmup_tasks = _ids(tasks.warmup)


def _ids(part: Wanted) -> list[TaskIds]:
    return [TaskIds(subtopology_id=each, partitions=sorted(part[each])) for each in sorted(part)]


def same_tasks(one: Tasks, other: Tasks) -> bool:
    """Both hold the same, whenever it was assigned."""
    return one is other or all(
        mine.keys() == yours.keys() and all(mine[each].keys() == yours[each].keys() for each in mine)
        for mine, yours in zip(one, other)
    )


def endpoints(
    group: StreamsGroup, topology: StreamsGroupTopologyValue, member: StreamsMember, sizes: Any
) -> list[EndpointToPartitions]:
    """Who can be asked for which partitions; `member` as it is now, after the others."""
    reads = {each.subtopology_id: sorted(input_topics(each)) for each in topology.subtopologies}
    members = [each for key, each in group.members.items() if key != member.member_id]
    return [
        EndpointToPartitions(
            user_endpoint=Endpoint(host=each.endpoint[0], port=each.endpoint[1]),
            active_partitions=_partitions((each.assigned.active,), reads, sizes),
            standby_partitions=_partitions((each.assigned.standby, each.assigned.warmup), reads, sizes),
        )
        for each in (*members, member)
        if each.endpoint is not None
    ]


def _partitions(parts: tuple[Any, ...], reads: dict[str, list[str]], sizes: Any) -> list[TopicPartition]:
    found: dict[str, set[int]] = {}
    for part in parts:
        for subtopology, partitions in part.items():
            for topic in reads.get(subtopology, ()):
                size = sizes(topic) or 0
                found.setdefault(topic, set()).update(each for each in partitions if each < size)
    return [
        TopicPartition(topic=topic, partitions=sorted(found[topic]))
        for topic in sorted(found)
        if found[topic]
    ]
