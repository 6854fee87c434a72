"""OffsetDelete: forget offsets of topics that a group does not read any more (KIP-496).

v0, the only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.coordinator.group.offset_requests import DeletedOffsets
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.offset_delete_request import OffsetDeleteRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: OffsetDeleteRequest
) -> Deferred[OffsetDeleteResponse]:
    """Partitions that do not exist are refused, but a group that is refused refuses everything."""
    wanted: list[tuple[str, int]] = []
    places: list[OffsetDeleteResponsePartition] = []
    topics: list[OffsetDeleteResponseTopic] = []
    image = services.metadata.image
    for topic in request.topics:
        if not topic.partitions and topic.name in image.topics:
            continue
        partitions = []
        for partition in topic.partitions:
            place = OffsetDeleteResponsePartition(partition_index=partition.partition_index)
            if image.topics.partition(topic.name, partition.partition_index) is None:
                place.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                wanted.append((topic.name, partition.partition_index))
                places.append(place)
            partitions.append(place)
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=partitions))
    if len(places) < sum(len(topic.partitions) for topic in topics):
        topics = _merged(topics)
    response = OffsetDeleteResponse(topics=topics)

    def answer(deleted: DeletedOffsets) -> OffsetDeleteResponse:
        code, codes = deleted
        for place, each in zip(places, codes):
            place.error_code = each
        return OffsetDeleteResponse(error_code=code) if code else response

    return services.groups.delete_offsets(request.group_id, wanted).map(answer)


def _merged(topics: list[OffsetDeleteResponseTopic]) -> list[OffsetDeleteResponseTopic]:
    """Kafka puts entries of one topic together only where it has to add refusals to what was deleted."""
    by_name: dict[str, OffsetDeleteResponseTopic] = {}
    for topic in topics:
        known = by_name.setdefault(topic.name, topic)
        if known is not topic:
            known.partitions += topic.partitions
    return [*by_name.values()]


def error_response(
    request: OffsetDeleteRequest, version: int, code: ErrorCode, message: str | None
) -> OffsetDeleteResponse:
    """No topics."""
    return OffsetDeleteResponse(error_code=code)
