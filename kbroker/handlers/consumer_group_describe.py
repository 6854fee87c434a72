"""ConsumerGroupDescribe (69): state, epochs, members and assignments of consumer groups (KIP-848).

v0 first; v1 which protocol each member speaks (KIP-1099).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.protocol.generated.consumer_group_describe_response import (
    Assignment,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.coordinator.group.consumer_group import ConsumerGroup
    from kbroker.coordinator.group.consumer_member import ConsumerMember
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import TopicsImage
    from kbroker.protocol.generated.consumer_group_describe_request import ConsumerGroupDescribeRequest
    from kbroker.types import Uuid

VERSIONS = (0, 1)
#: A group without members costs 8 µs.
ELEMENTS_MAX = 60_000

_CLASSIC, _CONSUMER = 0, 1


def handle(
    services: Services, context: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """Names that cannot be are answered first, then the others in the order asked."""
    services.groups.check_consumer_protocol()
    groups = [_refused(each, ErrorCode.INVALID_GROUP_ID, None) for each in request.group_ids if not each]
    groups += [_describe(services, each) for each in request.group_ids if each]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = allowed_operations.GROUP
    return ConsumerGroupDescribeResponse(groups=groups)


def _describe(services: Services, group_id: str) -> DescribedGroup:
    try:
        group, assignor = services.groups.consumer_group(group_id)
    except ApiError as error:
        return _refused(group_id, error.code, error.message)
    topics = services.metadata.image.topics
    return DescribedGroup(
        error_message=None,
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=assignor,
        members=[_member(group, member, topics) for member in group.members.values()],
    )


def _member(group: ConsumerGroup, member: ConsumerMember, topics: TopicsImage) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topics),
        subscribed_topic_regex=member.regex,
        assignment=_assignment(_joined(member), topics),
        target_assignment=_assignment(group.targets.get(member.member_id, {}).items(), topics),
        member_type=_CONSUMER if member.classic is None else _CLASSIC,
    )


def _joined(member: ConsumerMember) -> list[tuple[Uuid, list[int]]]:
    """What it may use, and what it has still to give up."""
    found: dict[Uuid, list[int]] = {}
    for part in (member.assigned, member.revoking):
        for topic_id, partitions in part.items():
            found.setdefault(topic_id, []).extend(partitions)
    return list(found.items())


def _assignment(held: Iterable[tuple[Uuid, Iterable[int]]], topics: TopicsImage) -> Assignment:
    """Topics that are gone have no name any more: they are left out."""
    found = []
    for topic_id, partitions in held:
        topic = topics.by_id(topic_id)
        if topic is not None:
            found.append(
                TopicPartitions(topic_id=topic_id, topic_name=topic.name, partitions=sorted(partitions))
            )
    return Assignment(topic_partitions=found)


def _refused(group_id: str, code: ErrorCode, message: str | None) -> DescribedGroup:
    return DescribedGroup(error_code=code, error_message=message, group_id=group_id)


def error_response(
    request: ConsumerGroupDescribeRequest, version: int, code: ErrorCode, message: str | None
) -> ConsumerGroupDescribeResponse:
    """Every group refused alike."""
    return ConsumerGroupDescribeResponse(groups=[_refused(each, code, None) for each in request.group_ids])
