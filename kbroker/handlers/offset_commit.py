"""OffsetCommit: what a group has consumed.

v0 was for ZooKeeper; v1 generation and member, a timestamp for each partition; v2 a retention time
instead; v3 throttle time; v4 throttling before the answer; v5 no retention time (KIP-211); v6 leader
epoch (KIP-320); v7 group instance id (KIP-345); v8 flexible; v9 members of the new protocol (KIP-848);
v10 topic ids (KIP-848).
"""

from __future__ import annotations

import logging
from struct import Struct
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.broker.gathered_commits import HeldCommits, OneCommit
from kbroker.coordinator.group.offset_requests import Commit, Committing
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.commit_known import VERSION_MIN, KnownCommit, KnownCommits, find_holes
from kbroker.handlers.guards import guarded
from kbroker.handlers.manners.manner import in_manner
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.generated.offset_commit_request import OffsetCommitRequest
from kbroker.protocol.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kbroker.protocol.releases import is_before
from kbroker.security.acl import Operation, ResourceType
from kbroker.security.authorizer import Undecided

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import TopicImage
    from kbroker.metrics.requests import ApiStats
    from kbroker.protocol.generated.offset_commit_request import (
        OffsetCommitRequestPartition,
        OffsetCommitRequestTopic,
    )

    class CommitConnection(Protocol):
        """What the path keeps at a connection."""

        context: Any

        commit_cache: KnownCommits | None
        produce_cache: object
        out: list[Any]
        staged: list[Any]
        staged_key: int
        began_s: float
        waiting: Any
        fast: Mapping[int, Callable[[Any, memoryview, int, int], Any]]

        def forget_known(self) -> None:
            """Recognise nothing any more."""

        def hold(self, answer: Deferred[Any]) -> None:
            """Send nothing more before `answer`."""


VERSIONS = (0, 10)

_log = logging.getLogger(__name__)

_OFFSET_COMMIT = 8
_SIZE_AND_CORRELATION = Struct(">ii")
_CORRELATION = Struct(">i")
_FLEXIBLE_SINCE = 8

#: What waits for the end of the turn and no longer has not waited, for the metrics.
_AT_ONCE_S = 0.002

_ONE = (0,)

_TIMESTAMP_VERSION = 1
_TOPIC_IDS_SINCE = 10


def raw_path(services: Services) -> CommitPath:
    """The path of this node."""
    return CommitPath(services)


class CommitPath:
    """Takes OffsetCommit frames, gives whole answers."""

    def __init__(self, services: Services) -> None:
        self._services = services
        told = in_manner(services.compatibility, _OFFSET_COMMIT, handle)
        self._handle = guarded(services, _OFFSET_COMMIT, told)
        self._requests = services.requests
        self._stats = services.requests.of("OffsetCommit")

    def request(
        self, connection: CommitConnection, frame: bytes, position: int, context: RequestContext
    ) -> bytes | Deferred[bytes]:
        """Any request."""
        request, _ = decode_request(OffsetCommitRequest, frame, context.version, position)
        try:
            result = self._handle(self._services, context, request)
        except Undecided:
            raise
        except ApiError as error:
            result = error_response(request, context.version, error.code, error.message)
        except Exception:
            _log.exception("an OffsetCommit failed")
            result = error_response(request, context.version, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        if context.version >= VERSION_MIN and self._may_recognise(connection, context, request):
            self._learn(connection, frame, position, context.version, request)
        version, correlation_id = context.version, context.correlation_id
        if isinstance(result, Deferred):
            return result.map(lambda response: _encode(response, version, correlation_id))
        return _encode(result, version, correlation_id)

    def _may_recognise(
        self, connection: CommitConnection, context: RequestContext, request: OffsetCommitRequest
    ) -> bool:
        """Whether nothing of it was refused to who asks; who may do what can change."""
        authorizer = self._services.authorizer
        if authorizer is None:
            return True
        topics = [_find(self._services, context.version, topic) for topic in request.topics]
        names = [topic.name for topic in topics if topic is not None]
        group, kind = request.group_id, ResourceType.TOPIC
        if not authorizer.allows(context, Operation.READ, ResourceType.GROUP, group, quietly=True):
            return False
        if len(authorizer.allowed(context, Operation.READ, kind, names, quietly=True)) < len(set(names)):
            return False
        authorizer.learned(connection)
        return True

    def fast(self, connection: CommitConnection, data: memoryview, start: int, end: int) -> bytes | None:
        """Stage the request at `data[start:end]` if its like was seen before; None: parse it.

        The answer that it gets if all goes well; it must not leave before `finish_batch`.
        """
        cache = connection.commit_cache
        known = cache.by_size.get(end - start) if cache is not None else None
        if known is None:
            return None
        numbers = known.recognise(data, start, self._services.metadata.image.topics)
        if numbers is None:
            return None
        groups = self._services.groups
        driver = groups.shards.get(known.shard)
        if driver is None or not driver.ready:
            return None
        request = known.request
        if not driver.shard.may_commit(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            known.version,
            driver.now_ms(),
        ):
            return None  # the general path finds out the same, and says it
        # Twice as fast as calling the named tuple.
        connection.staged.append(tuple.__new__(OneCommit, (known.places, numbers[1:], known)))
        connection.staged_key = _OFFSET_COMMIT
        return known.answer(numbers[0])

    def finish_batch(self, connection: CommitConnection) -> None:
        """Have what the connection's frames staged written, and their answers wait for it."""
        staged, out = connection.staged, connection.out
        connection.staged, connection.staged_key = [], 0
        first = len(out) - len(staged)
        answers = out[first:]
        del out[first:]
        groups = self._services.groups
        if len(staged) == 1:
            held = _Answers(answers, staged, self._refuse, 1)
            groups.commits.add(groups.shards[staged[0].known.shard], held, staged, _ONE)
        else:
            shards = {commit.known.shard for commit in staged}
            held = _Answers(answers, staged, self._refuse, len(shards))
            for shard in shards:
                positions: Sequence[int] = range(len(staged))
                commits = staged
                if len(shards) > 1:
                    positions = [at for at in positions if staged[at].known.shard == shard]
                    commits = [staged[at] for at in positions]
                groups.commits.add(groups.shards[shard], held, commits, positions)
        connection.hold(held)
        if not self._requests.timed:
            self._stats.versions[staged[0].known.version] += len(staged)
            return
        held.stats, held.size, held.began_s = self._stats, staged[0].known.size, connection.began_s
        if held.done:
            held.over()
        else:
            connection.waiting = held

    def _refuse(self, commit: OneCommit, answer: bytes, code: ErrorCode) -> bytes:
        """What stands for `answer` if the commit is refused."""
        known: KnownCommit = commit.known
        self._stats.error(code, len(known.places))
        (correlation_id,) = _CORRELATION.unpack_from(answer, 4)
        response = error_response(known.request, known.version, code, None)
        return _encode(response, known.version, correlation_id)

    def _learn(
        self,
        connection: CommitConnection,
        frame: bytes,
        position: int,
        version: int,
        request: OffsetCommitRequest,
    ) -> None:
        cache = connection.commit_cache
        if cache is None:
            cache = connection.commit_cache = KnownCommits()

        def look() -> KnownCommit | None:
            topics = [_find(self._services, version, topic) for topic in request.topics]
            holes = find_holes(frame, position, request, version)
            if holes is None or not topics:
                return None
            found = [topic for topic in topics if topic is not None]
            if len(found) < len(topics):
                return None
            limit = self._services.groups.limits.offset_metadata_bytes_max // 2  # counted in UTF-16
            texts = (each.committed_metadata for topic in request.topics for each in topic.partitions)
            if any(len(text or "") > limit for text in texts):
                return None
            answer = _encode(error_response(request, version, ErrorCode.NONE, None), version, 0)
            return KnownCommit(frame, holes, request, version, found, answer)

        if cache.remember(len(frame), look) and _OFFSET_COMMIT not in connection.fast:
            if connection.produce_cache is None:
                connection.staged = []  # Produce has given it one of its own, else
            connection.fast = {**connection.fast, _OFFSET_COMMIT: self.fast}


class _Answers(HeldCommits):
    """Held answers that are counted when they leave."""

    __slots__ = ("began_s", "size", "stats")

    stats: ApiStats
    size: int
    began_s: float

    def over(self) -> None:
        """They leave."""
        stats, began_s, times = self.stats, self.began_s, len(self.commits)
        version = self.commits[0].known.version
        if stats.now_s() - began_s < _AT_ONCE_S:
            stats.done(version, self.size, began_s, times)
        else:
            stats.wait(version, self.size, began_s, times).over()


def _encode(response: OffsetCommitResponse, version: int, correlation_id: int) -> bytes:
    out = bytearray(9 if version >= _FLEXIBLE_SINCE else 8)
    response.encode_into(out, version)
    _SIZE_AND_CORRELATION.pack_into(out, 0, len(out) - 4, correlation_id)
    return bytes(out)


def handle(
    services: Services, context: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Deferred[OffsetCommitResponse]:
    """Topics are checked first: what does not exist is refused whatever the group says, the rest
    committed.
    """
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
    if context.version == 0:
        # There is no ZooKeeper to write to; clients that can speak no later version stop here.
        return error_response(request, 0, ErrorCode.UNSUPPORTED_VERSION, None)
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
            return _filled(response, places, _told(services, outcome.result()))
    except ApiError as error:
        return _filled(response, places, [error.code] * len(places))
    answer: Deferred[OffsetCommitResponse] = Deferred()

    def committed(done: Deferred[list[ErrorCode]]) -> None:
        try:
            codes = _told(services, done.result())
        except ApiError as error:
            codes = [error.code] * len(places)
        except Exception as error:
            answer.fail(error)
            return
        answer.resolve(_filled(response, places, codes))

    outcome.then(committed)
    return answer


def _told(services: Services, codes: list[ErrorCode]) -> list[ErrorCode]:
    """Before 4.0 groups were kept by another coordinator, which told no difference."""
    if ErrorCode.GROUP_ID_NOT_FOUND in codes and is_before(services.compatibility, (4, 0)):
        return [
            ErrorCode.ILLEGAL_GENERATION if code is ErrorCode.GROUP_ID_NOT_FOUND else code for code in codes
        ]
    return codes


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
