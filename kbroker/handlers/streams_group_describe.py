"""StreamsGroupDescribe (89): state, epochs, topology, members and tasks of streams groups (KIP-1071).

v0 first; v1 the topology's description (KIP-1331; never stored here), the assignor's name (KIP-1357).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.protocol.generated.streams_group_describe_response import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    StreamsGroupDescribeResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.coordinator.group.streams_group import StreamsGroup
    from kbroker.coordinator.group.streams_member import StreamsMember, Wanted
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.streams_group_describe_request import StreamsGroupDescribeRequest

VERSIONS = (0, 1)
#: A group without members costs 8 µs.
ELEMENTS_MAX = 60_000

#: No description was asked for, or none is stored.
_NOT_REQUESTED, _NOT_STORED = 0, 1
_ASSIGNOR = "sticky"


def handle(
    services: Services, context: RequestContext, request: StreamsGroupDescribeRequest
) -> StreamsGroupDescribeResponse:
    """Names that cannot be are answered first, then the others in the order asked."""
    services.groups.streams_rules.check()
    groups = [_refused(each, ErrorCode.INVALID_GROUP_ID, None) for each in request.group_ids if not each]
    groups += [_describe(services, each) for each in request.group_ids if each]
    for group in groups:
        if group.error_code:
            continue
        if request.include_authorized_operations:
            group.authorized_operations = allowed_operations.GROUP
        if request.include_topology_description:
            group.topology_description_status = _NOT_STORED
    return StreamsGroupDescribeResponse(groups=groups)


def _describe(services: Services, group_id: str) -> DescribedGroup:
    try:
        group = services.groups.streams_group(group_id)
    except ApiError as error:
        return _refused(group_id, error.code, error.message)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        topology=_topology(group),
        members=[_member(group, member) for member in group.members.values()],
        topology_description_status=_NOT_REQUESTED,
        assignor_name=_ASSIGNOR,
    )


def _topology(group: StreamsGroup) -> Topology | None:
    """Internal topics with the number of partitions they have got, as far as that is known."""
    if group.topology is None:
        return None
    known = {} if group.configured is None else group.configured.internal
    return Topology(
        epoch=group.topology.epoch,
        subtopologies=[
            Subtopology(
                subtopology_id=each.subtopology_id,
                source_topics=sorted(each.source_topics),
                repartition_sink_topics=sorted(each.repartition_sink_topics),
                state_changelog_topics=_infos(each.state_changelog_topics, known),
                repartition_source_topics=_infos(each.repartition_source_topics, known),
            )
            for each in group.topology.subtopologies
        ],
    )


def _infos(topics: Iterable[Any], known: Any) -> list[TopicInfo]:
    return [
        TopicInfo(
            name=each.name,
            partitions=known.get(each.name, each.partitions),
            replication_factor=each.replication_factor,
            topic_configs=[
                KeyValue(key=config.key, value=config.value)
                for config in sorted(each.topic_configs, key=lambda config: config.key)
            ],
        )
        for each in sorted(topics, key=lambda each: each.name)
    ]


def _member(group: StreamsGroup, member: StreamsMember) -> Member:
    offsets, ends = group.task_offsets.get(member.member_id, ((), ()))
    endpoint = member.endpoint
    return Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else Endpoint(host=endpoint[0], port=endpoint[1]),
        client_tags=[KeyValue(key=key, value=value) for key, value in member.tags],
        task_offsets=_offsets(offsets),
        task_end_offsets=_offsets(ends),
        assignment=_assignment(member.assigned),
        target_assignment=_assignment(group.target(member.member_id)),
        is_classic=False,
    )


def _assignment(tasks: Iterable[Wanted]) -> Assignment:
    active, standby, warmup = (
        [TaskIds(subtopology_id=each, partitions=sorted(part[each])) for each in sorted(part)]
        for part in tasks
    )
    return Assignment(active_tasks=active, standby_tasks=standby, warmup_tasks=warmup)


def _offsets(told: Iterable[Any]) -> list[TaskOffset]:
    return [
        TaskOffset(subtopology_id=each.subtopology_id, partition=each.partition, offset=each.offset)
        for each in told
    ]


def _refused(group_id: str, code: ErrorCode, message: str | None) -> DescribedGroup:
    return DescribedGroup(error_code=code, error_message=message, group_id=group_id)


def error_response(
    request: StreamsGroupDescribeRequest, version: int, code: ErrorCode, message: str | None
) -> StreamsGroupDescribeResponse:
    """Every group refused alike."""
    return StreamsGroupDescribeResponse(groups=[_refused(each, code, None) for each in request.group_ids])
