"""Where partitions end, whoever leads them: for tools that ask how far behind somebody is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kbroker.broker.gather import gather
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.protocol.generated.list_offsets_response import ListOffsetsResponse

_LATEST, _CONSUMER = -1, -1
_TIMEOUT_MS = 5_000

_Place = tuple[str, int]
Ends = dict[_Place, int | ApiError]


def latest_offsets(services: Services, places: Iterable[_Place]) -> Deferred[Ends]:
    """The end of what is committed in each of these partitions, or why nobody knows. Never fails."""
    found: Ends = {}
    elsewhere: dict[int, list[_Place]] = {}
    for place in dict.fromkeys(places):
        state = services.metadata.image.topics.partition(*place)
        if state is None:
            found[place] = ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif state.leader == services.broker_id:
            found[place] = _here(services, place)
        elif state.leader < 0:
            found[place] = ApiError(ErrorCode.LEADER_NOT_AVAILABLE)
        else:
            elsewhere.setdefault(state.leader, []).append(place)
    asked = list(elsewhere.items())
    answers = [services.txns.link.send(leader, _request(theirs)) for leader, theirs in asked]

    def answered(values: list[ListOffsetsResponse | ApiError]) -> Ends:
        for (_, theirs), value in zip(asked, values):
            told = value if isinstance(value, ApiError) else _read(value)
            for place in theirs:
                found[place] = (
                    told
                    if isinstance(told, ApiError)
                    else told.get(place, ApiError(ErrorCode.UNKNOWN_SERVER_ERROR))
                )
        return found

    return gather(answers).map(answered)


def _here(services: Services, place: _Place) -> int | ApiError:
    try:
        partition = services.replicas.led(*place)
        partition.online_log()
        return partition.high_watermark
    except ApiError as error:
        return error.with_traceback(None)


def _request(places: list[_Place]) -> ListOffsetsRequest:
    by_topic: dict[str, list[int]] = {}
    for topic, index in places:
        by_topic.setdefault(topic, []).append(index)
    topics = [
        ListOffsetsTopic(
            name=name,
            partitions=[ListOffsetsPartition(partition_index=index, timestamp=_LATEST) for index in indexes],
        )
        for name, indexes in by_topic.items()
    ]
    return ListOffsetsRequest(replica_id=_CONSUMER, topics=topics, timeout_ms=_TIMEOUT_MS)


def _read(response: ListOffsetsResponse) -> Ends:
    return {
        (topic.name, part.partition_index): (
            ApiError(error_code(part.error_code)) if part.error_code else part.offset
        )
        for topic in response.topics
        for part in topic.partitions
    }
