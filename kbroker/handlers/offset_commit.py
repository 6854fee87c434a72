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
    from collections.abc import Iterable

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
    refused = OffsetCommitResponse()
    accepted: list[OffsetCommitResponseTopic] = []
    commits: list[Commit] = []
    for topic in request.topics:
        known = _find(services, context.version, topic)
        count = 0 if known is None else len(known.partitions)
        right = [p for p in topic.partitions if 0 <= p.partition_index < count]
        if known is None or len(right) < len(topic.partitions):
            wrong = [p for p in topic.partitions if not 0 <= p.partition_index < count]
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if known is None and context.version >= _TOPIC_IDS_SINCE:
                code = ErrorCode.UNKNOWN_TOPIC_ID
            _merge(refused, [_answer(topic, wrong, code)])
        if known is not None and right:
            commits += [_commit(known, partition, context.version) for partition in right]
            accepted.append(_answer(topic, right, ErrorCode.NONE))
    if not commits:
        return refused
    places = [place for topic_answer in accepted for place in topic_answer.partitions]
    # Kafka joins what it refused and what the coordinator answers by topic, and takes the latter as it is
    # where there is nothing to join.
    response = refused
    if refused.topics:
        _merge(response, accepted)
    else:
        response.topics = accepted
    return _commit_all(services, context, request, commits, places, response)


def _answer(
    topic: OffsetCommitRequestTopic, partitions: Iterable[OffsetCommitRequestPartition], code: ErrorCode
) -> OffsetCommitResponseTopic:
    return OffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
            for partition in partitions
        ],
    )


def _merge(response: OffsetCommitResponse, topics: Iterable[OffsetCommitResponseTopic]) -> None:
    """Add topics; the partitions of one that is there already go to it."""
    present = {(topic.name, topic.topic_id): topic for topic in response.topics}
    for topic in topics:
        same = present.setdefault((topic.name, topic.topic_id), topic)
        if same is topic:
            response.topics.append(topic)
        else:
            same.partitions += topic.partitions


def _commit_all(
    services: Services,
    context: RequestContext,
    request: OffsetCommitRequest,
    commits: list[Commit],
    places: list[OffsetCommitResponsePartition],
    response: OffsetCommitResponse,
) -> OffsetCommitResponse | Deferred[OffsetCommitResponse]:
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
        outcome = services.groups.commit(committing)
        if outcome.done:
            return _filled(response, places, outcome.result())
    except ApiError as error:
        return _filled(response, places, [error.code] * len(places))
    answer: Deferred[OffsetCommitResponse] = Deferred()

    def committed(done: Deferred[list[ErrorCode]]) -> None:
        try:
            codes = done.result()
        except ApiError as error:
            codes = [error.code] * len(places)
        except Exception as error:
            answer.fail(error)
            return
        answer.resolve(_filled(response, places, codes))

    outcome.then(committed)
    return answer


def _filled(
    response: OffsetCommitResponse, places: list[OffsetCommitResponsePartition], codes: list[ErrorCode]
) -> OffsetCommitResponse:
    for place, code in zip(places, codes):
        place.error_code = code
    return response


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
    return OffsetCommitResponse(topics=[_answer(topic, topic.partitions, code) for topic in request.topics])
