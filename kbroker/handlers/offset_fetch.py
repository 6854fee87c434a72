"""OffsetFetch: where a group goes on reading.

v0 was for ZooKeeper; v1 from the coordinator; v2 null asks for all topics, an error for the whole; v3
throttle time; v4 throttling before the answer; v5 leader epoch (KIP-320); v6 flexible; v7 requireStable
(KIP-447); v8 many groups (KIP-709); v9 member id and epoch (KIP-848); v10 topic ids (KIP-848).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.coordinator.group.offset_requests import FetchedOffset
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
    from kbroker.types import Uuid

VERSIONS = (0, 10)

_GROUP_ERROR_SINCE, _MANY_SINCE, _TOPIC_IDS_SINCE = 2, 8, 10
#: How often one request may ask for all offsets of one group.
_REPEATS_MAX = 100
#: How long offsets wait for the controller to say that this node still coordinates: half of the default
#: session of a broker, after which it is fenced. Meanwhile it looks so often.
_UNHEARD_MS, _LOOK_MS = 4_500, 50
_Found = list[tuple[str, list[FetchedOffset]]]


def handle(
    services: Services, context: RequestContext, request: OffsetFetchRequest
) -> OffsetFetchResponse | Deferred[OffsetFetchResponse]:
    """What does not exist has offset -1 and no error."""
    if context.version == 0:
        # There is no ZooKeeper to read from; clients that can speak no later version stop here.
        return error_response(request, 0, ErrorCode.UNSUPPORTED_VERSION, None)
    if len(request.groups) > _REPEATS_MAX:
        _check_repeats(request)
    if not services.is_heard():
        return _fetch_when_heard(services, context.version, request)
    return _fetch(services, context.version, request)


def _fetch_when_heard(
    services: Services, version: int, request: OffsetFetchRequest
) -> Deferred[OffsetFetchResponse]:
    """Woken from a pause, or with a controller that is slow, this node may not have heard yet that another
    coordinates the group: wait until it has.

    To answer NOT_COORDINATOR at once costs librdkafka's consumers their position: when the coordinator that
    they find then is the same, they do not ask for offsets again, and fetch nothing.
    """
    answer: Deferred[OffsetFetchResponse] = Deferred()
    until_ms = services.clock.monotonic_ms() + _UNHEARD_MS

    def look() -> None:
        if answer.done:
            return
        if services.is_heard():
            try:
                answer.resolve(_fetch(services, version, request))
            except ApiError as error:
                answer.fail(error)
        elif services.clock.monotonic_ms() < until_ms:
            services.timer.call_later(_LOOK_MS, look)
        else:
            answer.resolve(error_response(request, version, ErrorCode.NOT_COORDINATOR, None))

    services.timer.call_later(_LOOK_MS, look)
    return answer


def _fetch(services: Services, version: int, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if version < _MANY_SINCE:
        return _fetch_one(services, version, request)
    image = services.metadata.image
    groups = [
        _group(image, version, group, _fetch_group(services, version, request, group))
        for group in request.groups
    ]
    return OffsetFetchResponse(groups=groups)


def _check_repeats(request: OffsetFetchRequest) -> None:
    """Few bytes that ask for everything of a group again and again would become gigabytes."""
    times = Counter(group.group_id for group in request.groups if group.topics is None)
    for group_id, count in times.most_common(1):
        if count > _REPEATS_MAX:
            raise ProtocolError(f"OffsetFetch asks {count} times for all offsets of group {group_id[:100]}")


# -- one group, up to version 7 ------------------------------------------------------------------------------


def _fetch_one(services: Services, version: int, request: OffsetFetchRequest) -> OffsetFetchResponse:
    topics = None
    if request.topics is not None:
        topics = [(topic.name, ZERO_UUID, topic.partition_indexes) for topic in request.topics]
    found = services.groups.fetch_offsets(request.group_id, None, -1, topics, request.require_stable)
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=name,
                partitions=[OffsetFetchResponsePartition(**_fields(each)) for each in partitions],
            )
            for name, partitions in found
        ]
    )


def _fields(fetched: FetchedOffset) -> dict[str, Any]:
    committed = fetched.committed
    return {
        "partition_index": fetched.partition,
        "committed_offset": -1 if committed is None else committed.offset,
        "committed_leader_epoch": -1 if committed is None else committed.leader_epoch,
        "metadata": "" if committed is None else committed.metadata,
        "error_code": fetched.code,
    }


# -- many groups, since version 8 ----------------------------------------------------------------------------


def _fetch_group(
    services: Services, version: int, request: OffsetFetchRequest, group: OffsetFetchRequestGroup
) -> _Found | ApiError:
    topics: list[tuple[str, Uuid, list[int]]] | None = None
    if group.topics is not None:
        topics = []
        for topic in group.topics:
            name, topic_id = topic.name, ZERO_UUID
            if version >= _TOPIC_IDS_SINCE:
                known = services.metadata.image.topics.by_id(topic.topic_id)
                if known is None:
                    continue
                name, topic_id = known.name, known.id
            topics.append((name, topic_id, topic.partition_indexes))
    try:
        return services.groups.fetch_offsets(
            group.group_id, group.member_id, group.member_epoch, topics, request.require_stable
        )
    except ApiError as error:
        return error


def _group(
    image: ClusterImage, version: int, group: OffsetFetchRequestGroup, found: _Found | ApiError
) -> OffsetFetchResponseGroup:
    response = OffsetFetchResponseGroup(group_id=group.group_id)
    if isinstance(found, ApiError):
        response.error_code = found.code
        return response
    by_id = version >= _TOPIC_IDS_SINCE
    for name, partitions in found:
        topic_id = ZERO_UUID
        if by_id:
            known = image.topics.get(name)
            if known is None:
                continue  # deleted, and its offsets are about to be
            topic_id = known.id
        response.topics.append(_topic(name, topic_id, partitions))
    if by_id and group.topics is not None:
        for topic in group.topics:
            if image.topics.by_id(topic.topic_id) is None:
                unknown = [
                    FetchedOffset(each, None, ErrorCode.UNKNOWN_TOPIC_ID) for each in topic.partition_indexes
                ]
                response.topics.append(_topic("", topic.topic_id, unknown))
    return response


def _topic(name: str, topic_id: Uuid, partitions: list[FetchedOffset]) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        name=name,
        topic_id=topic_id,
        partitions=[OffsetFetchResponsePartitions(**_fields(each)) for each in partitions],
    )


def error_response(
    request: OffsetFetchRequest, version: int, code: ErrorCode, message: str | None
) -> OffsetFetchResponse:
    """For each group, or for the one; in versions 0 and 1 for each partition."""
    if version >= _MANY_SINCE:
        groups = [
            OffsetFetchResponseGroup(group_id=each.group_id, error_code=code) for each in request.groups
        ]
        return OffsetFetchResponse(groups=groups)
    if version >= _GROUP_ERROR_SINCE:
        return OffsetFetchResponse(error_code=code)
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(**_fields(FetchedOffset(each, None, code)))
                    for each in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ]
    )
