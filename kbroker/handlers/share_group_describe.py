"""ShareGroupDescribe (77): state, epochs, members and assignments of share groups (KIP-932).

v0 was an early access; v1 is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.share_groups import share_groups
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.protocol.generated.share_group_describe_response import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeResponse,
    TopicPartitions,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.coordinator.group.share_records import ShareMember
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import TopicsImage
    from kbroker.protocol.generated.share_group_describe_request import ShareGroupDescribeRequest

VERSIONS = (1, 1)
#: A group without members costs 8 µs.
ELEMENTS_MAX = 60_000


def handle(
    services: Services, context: RequestContext, request: ShareGroupDescribeRequest
) -> ShareGroupDescribeResponse:
    """Names that cannot be are answered first, then the others in the order asked."""
    share_groups(services).settings.check()
    groups = [_refused(each, ErrorCode.INVALID_GROUP_ID, None) for each in request.group_ids if not each]
    groups += [_describe(services, each) for each in request.group_ids if each]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = allowed_operations.GROUP
    return ShareGroupDescribeResponse(groups=groups)


def _describe(services: Services, group_id: str) -> DescribedGroup:
    try:
        group = share_groups(services).find(group_id)
    except ApiError as error:
        return _refused(group_id, error.code, error.text)
    topics = services.metadata.image.topics
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name="simple",
        members=[_member(member, topics) for member in group.members.values()],
    )


def _member(member: ShareMember, topics: TopicsImage) -> Member:
    found = []
    for topic_id, partitions in member.assigned.items():
        topic = topics.by_id(topic_id)
        if topic is not None:
            found.append(
                TopicPartitions(topic_id=topic_id, topic_name=topic.name, partitions=sorted(partitions))
            )
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topics),
        assignment=Assignment(topic_partitions=found),
    )


def _refused(group_id: str, code: ErrorCode, message: str | None) -> DescribedGroup:
    return DescribedGroup(error_code=code, error_message=message, group_id=group_id)


def error_response(
    request: ShareGroupDescribeRequest, version: int, code: ErrorCode, message: str | None
) -> ShareGroupDescribeResponse:
    """Every group refused alike."""
    return ShareGroupDescribeResponse(groups=[_refused(each, code, None) for each in request.group_ids])
