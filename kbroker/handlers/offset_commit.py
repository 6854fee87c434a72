"""OffsetCommit: what a group has consumed.

v0 was for ZooKeeper; v1 generation and member, a timestamp for each partition; v2 a retention time
instead; v3 throttle time; v4 throttling before the answer; v5 no retention time (KIP-211); v6 leader
epoch (KIP-320); v7 group instance id (KIP-345); v8 flexible; v9 members of the new protocol (KIP-848);
v10 topic ids (KIP-848).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.coordinator.group.offset_requests import Commit, Committing
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import TopicImage
    from kbroker.protocol.generated.offset_commit_request import (
        OffsetCommitRequest,
        OffsetCommitRequestPartition,
        OffsetCommitRequestTopic,
    )

VERSIONS = (0, 10)

_TIMESTAMP_VERSION = 1
_TOPIC_IDS_SINCE = 10


def handle(
    services: Services, context: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Deferred[OffsetCommitResponse]:
    """Topics are checked first: what does not exist is refused whatever the group says, the rest
    committed.
    """
    if context.version == 0:
        # There is no ZooKeeper to write to; clients that can speak no later version stop here.
        return error_response(request, 0, ErrorCode.UNSUPPORTED_VERSION, None)
    response = OffsetCommitResponse()
    commits: list[Commit] = []
    places: list[OffsetCommitResponsePartition] = []
    for topic in request.topics:
        if not topic.partitions:
            continue
        known = _find(services, context.version, topic)
        unknown_code = (
            ErrorCode.UNKNOWN_TOPIC_ID
            if known is None and context.version >= _TOPIC_IDS_SINCE
            else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        partitions = []
        for partition in topic.partitions:
            place = OffsetCommitResponsePartition(partition_index=partition.partition_index)
            if known is None or not 0 <= partition.partition_index < len(known.partitions):
                place.error_code = unknown_code
            else:
                commits.append(_commit(known, partition, context.version))
                places.append(place)
            partitions.append(place)
        response.topics.append(
            OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
        )
    return _commit_all(services, context, request, commits, places, response) if commits else response


def _commit_all(
    services: Services,
    context: RequestContext,
    request: OffsetCommitRequest,
    commits: list[Commit],
    places: list[OffsetCommitResponsePartition],
    response: OffsetCommitResponse,
) -> Deferred[OffsetCommitResponse]:
    answer: Deferred[OffsetCommitResponse] = Deferred()

    def fill(codes: list[ErrorCode]) -> None:
        for place, code in zip(places, codes):
            place.error_code = code
        answer.resolve(response)

    def committed(done: Deferred[list[ErrorCode]]) -> None:
        try:
            codes = done.result()
        except ApiError as error:
            codes = [error.code] * len(places)
        except Exception as error:
            answer.fail(error)
            return
        fill(codes)

    committing = Committing(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        context.version,
        commits,
        request.retention_time_ms,
    )
    try:
        services.groups.commit(committing).then(committed)
    except ApiError as error:
        fill([error.code] * len(places))
    return answer


def _find(services: Services, version: int, topic: OffsetCommitRequestTopic) -> TopicImage | None:
    topics = services.metadata.image.topics
    return topics.by_id(topic.topic_id) if version >= _TOPIC_IDS_SINCE else topics.get(topic.name)


def _commit(topic: TopicImage, partition: OffsetCommitRequestPartition, version: int) -> Commit:
    timestamp = partition.commit_timestamp if version == _TIMESTAMP_VERSION else -1
    return Commit(
        topic.name,
        topic.id,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata,
        None if timestamp == -1 else timestamp,
    )


def error_response(
    request: OffsetCommitRequest, version: int, code: ErrorCode, message: str | None
) -> OffsetCommitResponse:
    """Every partition refused alike."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
