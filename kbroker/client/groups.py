"""Groups: list, describe, their committed offsets, delete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check, failure
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kbroker.protocol.generated.consumer_group_describe_response import (
    ConsumerGroupDescribeResponse,
    DescribedGroup as ConsumerGroup,
)
from kbroker.protocol.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kbroker.protocol.generated.delete_groups_request import DeleteGroupsRequest
from kbroker.protocol.generated.delete_groups_response import DeleteGroupsResponse
from kbroker.protocol.generated.describe_groups_request import DescribeGroupsRequest
from kbroker.protocol.generated.describe_groups_response import (
    DescribedGroup as ClassicGroup,
    DescribeGroupsResponse,
)
from kbroker.protocol.generated.list_groups_request import ListGroupsRequest
from kbroker.protocol.generated.list_groups_response import ListGroupsResponse
from kbroker.protocol.generated.share_group_describe_request import ShareGroupDescribeRequest
from kbroker.protocol.generated.share_group_describe_response import (
    DescribedGroup as ShareGroup,
    ShareGroupDescribeResponse,
)
from kbroker.protocol.generated.streams_group_describe_request import StreamsGroupDescribeRequest
from kbroker.protocol.generated.streams_group_describe_response import (
    DescribedGroup as StreamsGroup,
    StreamsGroupDescribeResponse,
)
from kbroker.protocol.primitives import Message
from kbroker.types import TopicPartition

_VERSION = Struct(">h")
#: A coordinator that does not have the group as that type says one of these.
_OTHER_TYPE = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)


class ListedGroup(NamedTuple):
    """A line of a list of groups; `state` and `type` are "" where the broker is too old to tell."""

    id: str
    type: str
    state: str
    protocol: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class Member:
    """A member and what it works on."""

    id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: list[TopicPartition] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Group:
    """A group with its members; `assignor` is the protocol or server-side assignor in use."""

    id: str
    type: str
    state: str
    assignor: str
    coordinator: int
    members: list[Member] = field(default_factory=list)


def list_groups(
    cluster: Cluster, *, states: Sequence[str] = (), types: Sequence[str] = ()
) -> list[ListedGroup]:
    """The groups of all brokers, sorted by id.

    Args:
        states, types: only those; Kafka's names, e.g. "Stable", "consumer".
    """
    found = []
    for node_id in sorted(cluster.brokers(refresh=True)):
        request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
        answer = cluster.ask_node(node_id, request, ListGroupsResponse)
        check(answer.error_code, what=f"groups of broker {node_id}")
        for group in answer.groups:
            found.append(
                ListedGroup(group.group_id, group.group_type, group.group_state, group.protocol_type, node_id)
            )
    return sorted(found)


def describe_group(cluster: Cluster, group_id: str) -> Group:
    """A group of any type.

    Raises:
        ApiError: GROUP_ID_NOT_FOUND, or the coordinator refuses.
    """
    connection = cluster.coordinator(group_id)
    coordinator = next(
        (
            broker.node_id
            for broker in cluster.brokers().values()
            if (broker.host, broker.port) == connection.address
        ),
        -1,
    )
    if connection.has(ApiKey.CONSUMER_GROUP_DESCRIBE):
        request: Message = ConsumerGroupDescribeRequest(group_ids=[group_id])
        consumer = cluster.ask_coordinator(
            group_id,
            request,
            ConsumerGroupDescribeResponse,
            lambda a: [group.error_code for group in a.groups],
        ).groups[0]
        if consumer.error_code not in _OTHER_TYPE:
            check(
                consumer.error_code,
                consumer.error_message,
                f"group {group_id}",
                needs="DESCRIBE",
                on=group_id,
            )
            return _new_group(consumer, "consumer", coordinator)
    classic = cluster.ask_coordinator(
        group_id,
        DescribeGroupsRequest(groups=[group_id]),
        DescribeGroupsResponse,
        lambda answer: [group.error_code for group in answer.groups],
    ).groups[0]
    if classic.error_code not in _OTHER_TYPE and classic.group_state != "Dead":
        check(classic.error_code, classic.error_message, f"group {group_id}", needs="DESCRIBE", on=group_id)
        return _classic_group(classic, coordinator)
    if connection.has(ApiKey.SHARE_GROUP_DESCRIBE):
        request = ShareGroupDescribeRequest(group_ids=[group_id])
        share = cluster.ask_coordinator(
            group_id, request, ShareGroupDescribeResponse, lambda a: [group.error_code for group in a.groups]
        ).groups[0]
        if share.error_code not in _OTHER_TYPE:
            check(share.error_code, share.error_message, f"group {group_id}", needs="DESCRIBE", on=group_id)
            return _new_group(share, "share", coordinator)
    if connection.has(ApiKey.STREAMS_GROUP_DESCRIBE):
        request = StreamsGroupDescribeRequest(group_ids=[group_id])
        streams = cluster.ask_coordinator(
            group_id,
            request,
            StreamsGroupDescribeResponse,
            lambda a: [group.error_code for group in a.groups],
        ).groups[0]
        if streams.error_code not in _OTHER_TYPE:
            check(
                streams.error_code, streams.error_message, f"group {group_id}", needs="DESCRIBE", on=group_id
            )
            return _streams_group(streams, coordinator)
    raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"group {group_id} does not exist")


def _new_group(group: ConsumerGroup | ShareGroup, kind: str, coordinator: int) -> Group:
    members = []
    for member in group.members:
        partitions = [
            TopicPartition(topic.topic_name, partition)
            for topic in member.assignment.topic_partitions
            for partition in topic.partitions
        ]
        instance_id: str | None = getattr(member, "instance_id", None)  # share members have none
        members.append(
            Member(member.member_id, member.client_id, member.client_host, instance_id, sorted(partitions))
        )
    return Group(group.group_id, kind, group.group_state, group.assignor_name, coordinator, members)


def _streams_group(group: StreamsGroup, coordinator: int) -> Group:
    """Members work on what their active tasks read."""
    reads = {
        each.subtopology_id: [*each.source_topics, *(topic.name for topic in each.repartition_source_topics)]
        for each in (group.topology.subtopologies or () if group.topology is not None else ())
    }
    members = []
    for member in group.members:
        partitions = [
            TopicPartition(topic, partition)
            for task in member.assignment.active_tasks
            for topic in reads.get(task.subtopology_id, ())
            for partition in task.partitions
        ]
        members.append(
            Member(
                member.member_id, member.client_id, member.client_host, member.instance_id, sorted(partitions)
            )
        )
    assignor = group.assignor_name or ""
    return Group(group.group_id, "streams", group.group_state, assignor, coordinator, members)


def _classic_group(group: ClassicGroup, coordinator: int) -> Group:
    members = []
    for member in group.members:
        partitions = _assigned(member.member_assignment) if group.protocol_type == "consumer" else []
        members.append(
            Member(
                member.member_id, member.client_id, member.client_host, member.group_instance_id, partitions
            )
        )
    return Group(group.group_id, "classic", group.group_state, group.protocol_data, coordinator, members)


def _assigned(blob: bytes | memoryview) -> list[TopicPartition]:
    """The consumer protocol's assignment; of a version not known yet, what the newest known says."""
    if len(blob) < _VERSION.size:
        return []
    version = min(_VERSION.unpack_from(blob)[0], ConsumerProtocolAssignment.MAX_VERSION)
    try:
        assignment = ConsumerProtocolAssignment.decode(blob, version, _VERSION.size)
    except ProtocolError:
        return []  # the members' own affair: the broker never reads it
    return sorted(
        TopicPartition(topic.topic, partition)
        for topic in assignment.assigned_partitions
        for partition in topic.partitions
    )


def delete_groups(cluster: Cluster, group_ids: Iterable[str]) -> dict[str, ApiError | None]:
    """Delete groups without members; for each None, or why not."""
    results: dict[str, ApiError | None] = {}
    for group_id in group_ids:
        try:
            answer = cluster.ask_coordinator(
                group_id,
                DeleteGroupsRequest(groups_names=[group_id]),
                DeleteGroupsResponse,
                lambda answer: [result.error_code for result in answer.results],
            )
        except ApiError as error:
            results[group_id] = error
            continue
        result = answer.results[0]
        results[group_id] = failure(
            result.error_code, result.error_message, f"group {group_id}", needs="DELETE", on=group_id
        )
    return results
