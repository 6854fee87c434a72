"""ListOffsets (2): the offset of a point in time, or of a special one.

Versions: 1 one offset (KIP-79) · 2 isolation level (KIP-98) · 4 leader epochs (KIP-320) · 6 flexible · 7
largest timestamp, -3 (KIP-734) · 8 earliest local, -4 (KIP-405) · 9 latest tiered, -5 (KIP-1005) · 10
timeout (KIP-1075) · 11 earliest pending upload, -6 (KIP-1023).
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.broker import flow
from kbroker.broker.blocking import when_run
from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kbroker.protocol.releases import is_before
from kbroker.storage.time_search import NewestSearch, TimeLook, TimeSearch

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.list_offsets_request import (
        ListOffsetsPartition,
        ListOffsetsRequest,
    )

VERSIONS = (1, 11)

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
_SINCE = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
_READ_COMMITTED = 1
_LEADER_EPOCH_SINCE = 4


class _Asked(NamedTuple):
    """The request, and what takes long of it."""

    services: Services
    version: int
    request: ListOffsetsRequest
    searches: list[_LongSearch]


def handle(
    services: Services, context: RequestContext, request: ListOffsetsRequest
) -> ListOffsetsResponse | Deferred[ListOffsetsResponse]:
    """Look up each partition by itself; one that is named twice is refused once (before 4.0 each time).

    A topic that is named twice is answered once, one without partitions not at all.
    """
    asked = _Asked(services, context.version, request, [])
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for topic in request.topics:
        if topic.partitions:
            topics.setdefault(topic.name, []).extend(topic.partitions)
    answers = [_topic(asked, *each) for each in topics.items()]
    response = ListOffsetsResponse(topics=answers)
    if asked.searches:
        return flow.run(_search(services, asked.searches, response))
    return response


def _topic(asked: _Asked, name: str, partitions: list[ListOffsetsPartition]) -> ListOffsetsTopicResponse:
    counts: dict[int, int] = {}
    for wanted in partitions:
        counts[wanted.partition_index] = counts.get(wanted.partition_index, 0) + 1
    repeats = is_before(asked.services.compatibility, (4, 0))
    refused: set[int] = set()
    answers: list[ListOffsetsPartitionResponse] = []
    for wanted in partitions:
        index = wanted.partition_index
        answer = ListOffsetsPartitionResponse(partition_index=index)
        count = counts[index]
        if count > 1 and index in refused and not repeats:
            continue
        refused.add(index)
        try:
            if count > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST)
            _partition(asked, name, wanted, answer)
            if asked.version < _LEADER_EPOCH_SINCE:
                answer.leader_epoch = -1
        except ApiError as error:
            answer = ListOffsetsPartitionResponse(
                partition_index=index, error_code=_code(error, asked.version)
            )
        answers.append(answer)
    return ListOffsetsTopicResponse(name=name, partitions=answers)


def _code(error: ApiError, version: int) -> ErrorCode:
    if error.code is ErrorCode.OFFSET_NOT_AVAILABLE and version < 5:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return error.code


def _partition(
    asked: _Asked, topic: str, wanted: ListOffsetsPartition, answer: ListOffsetsPartitionResponse
) -> None:
    timestamp = wanted.timestamp
    if timestamp < 0 and asked.version < _SINCE.get(timestamp, 1 << 15):
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    partition = asked.services.led_partition(topic, wanted.partition_index)
    log = partition.check_leader(wanted.current_leader_epoch)
    end, is_known = _fetchable_end(partition, asked.request)
    if timestamp == LATEST:
        if not is_known:
            raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE)
        answer.offset, answer.leader_epoch = end, log.latest_epoch
    elif timestamp in (EARLIEST, EARLIEST_LOCAL):
        answer.offset = log.log_start_offset
        answer.leader_epoch = log.epochs.epoch_at(log.log_start_offset)
    elif timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        # Nothing is tiered.
        return
    else:
        search = NewestSearch(log) if timestamp == MAX_TIMESTAMP else TimeSearch(log, timestamp, end)
        later = _LongSearch(search, answer, end, is_known, asked.version)
        if later.go_on(at_once=asked.services.run_blocking is None):
            asked.searches.append(later)


def _fetchable_end(partition: Partition, request: ListOffsetsRequest) -> tuple[int, bool]:
    """The end that the asker may see, and whether it is known (KIP-207).

    What a new leader finds committed may be less than what the one before has shown, until followers have
    fetched all that lies before the start of its epoch.
    """
    state = partition.leader_state
    is_follower = state is not None and request.replica_id in state.followers
    committed_only = request.isolation_level == _READ_COMMITTED
    end = partition.readable_end(committed_only=committed_only, is_follower=is_follower)
    known = state is None or is_follower or partition.high_watermark >= state.epoch_start_offset
    return end, known


class _LongSearch:
    """A search by time, and the answer that waits for it.

    Args:
        end: what the asker may see of the log, and whether that `is_known`.
    """

    def __init__(
        self,
        search: TimeSearch | NewestSearch,
        answer: ListOffsetsPartitionResponse,
        end: int,
        is_known: bool,
        version: int,
    ) -> None:
        self.look: TimeLook | None = None
        self._search = search
        self._answer = answer
        self._end = end
        self._is_known = is_known
        self._version = version

    def go_on(self, *, at_once: bool = False) -> bool:
        """Look into batches until one takes long, which is to be `look`ed into elsewhere; False: it is over.

        Raises:
            ApiError: the answer of the partition.
        """
        while (look := self._search.next()) is not None:
            if look.is_long and not at_once:
                self.look = look
                return True
            look.run()
        found, answer = self._search.found, self._answer
        if found is not None and found.offset < self._end:
            answer.timestamp, answer.offset = found.timestamp, found.offset
            answer.leader_epoch = found.leader_epoch if self._version >= _LEADER_EPOCH_SINCE else -1
        if not self._is_known and not 0 <= answer.offset < self._end:
            raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE)
        return False

    def fail(self, error: ApiError) -> None:
        """It was refused."""
        self._answer.error_code = _code(error, self._version)
        self._answer.timestamp = self._answer.offset = self._answer.leader_epoch = -1


def _search(
    services: Services, searches: list[_LongSearch], response: ListOffsetsResponse
) -> Generator[Deferred[Any], Any, ListOffsetsResponse]:
    """Look into long batches in a thread, one after the other."""
    run_blocking = services.run_blocking
    assert run_blocking is not None
    for search in searches:
        is_open = True
        while is_open:
            assert search.look is not None
            yield when_run(run_blocking, partial(services.run_look, search.look))
            try:
                is_open = search.go_on()
            except ApiError as refusal:
                search.fail(refusal)
                is_open = False
    return response
