"""TxnOffsetCommit (28): what a group has consumed, true if a transaction commits (KIP-98).

v0 first; v1 throttling before the answer; v2 leader epoch (KIP-320); v3 flexible, generation and member
(KIP-447); v4 TRANSACTION_ABORTABLE (KIP-890); v5 the group's partition joins the transaction by itself
(transaction version 2); v6 topic ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kbroker.broker.auto_topics import GROUP_OFFSETS
from kbroker.broker.deferred import Deferred
from kbroker.broker.txn_verifier import ClientLevel
from kbroker.coordinator.group.offset_requests import Commit, Committing
from kbroker.coordinator.shard import write_error
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kbroker.protocol.releases import is_before

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import TopicImage
    from kbroker.protocol.generated.txn_offset_commit_request import (
        TxnOffsetCommitRequest,
        TxnOffsetCommitRequestPartition,
        TxnOffsetCommitRequestTopic,
    )

VERSIONS = (0, 6)

_ABORTABLE_SINCE, _ADDS_SINCE, _TOPIC_IDS_SINCE = 4, 5, 6


def handle(
    services: Services, context: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Deferred[TxnOffsetCommitResponse]:
    """What does not exist is refused; the rest is committed, all of it or nothing."""
    response = TxnOffsetCommitResponse()
    accepted: list[TxnOffsetCommitResponseTopic] = []
    commits: list[Commit] = []
    by_id = context.version >= _TOPIC_IDS_SINCE
    topics = services.metadata.image.topics
    for topic in request.topics:
        known = topics.by_id(topic.topic_id) if by_id else topics.get(topic.name)
        right, wrong = _sorted_out(known, topic)
        if wrong:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if known is None and by_id:
                code = ErrorCode.UNKNOWN_TOPIC_ID
            response.topics.append(_answer(topic, wrong, code))
        if known is not None and right:
            commits += (_commit(known, partition) for partition in right)
            accepted.append(_answer(topic, right, ErrorCode.NONE))
    if not commits:
        return response
    places = [place for answer in accepted for place in answer.partitions]
    _join(response, accepted)
    return _commit_all(services, context, request, commits, places, response)


def _sorted_out(
    known: TopicImage | None, topic: TxnOffsetCommitRequestTopic
) -> tuple[list[TxnOffsetCommitRequestPartition], list[TxnOffsetCommitRequestPartition]]:
    """The partitions that exist, and those that do not."""
    count = 0 if known is None else len(known.partitions)
    right = [each for each in topic.partitions if 0 <= each.partition_index < count]
    return right, [each for each in topic.partitions if not 0 <= each.partition_index < count]


def _join(response: TxnOffsetCommitResponse, accepted: Iterable[TxnOffsetCommitResponseTopic]) -> None:
    """Add topics; the partitions of one that is there already go to it."""
    present = {(topic.name, topic.topic_id): topic for topic in response.topics}
    for topic in accepted:
        same = present.get((topic.name, topic.topic_id))
        if same is None:
            response.topics.append(topic)
        else:
            same.partitions += topic.partitions


def _commit_all(
    services: Services,
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    commits: list[Commit],
    places: list[TxnOffsetCommitResponsePartition],
    response: TxnOffsetCommitResponse,
) -> Deferred[TxnOffsetCommitResponse]:
    answer: Deferred[TxnOffsetCommitResponse] = Deferred()

    def fill(codes: Iterable[ErrorCode]) -> None:
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

    def verified(done: Deferred[ErrorCode]) -> None:
        try:
            code = done.result()
            if code is not ErrorCode.NONE:
                raise ApiError(code)
            services.groups.commit(_committing(request, context.version, commits)).then(committed)
        except ApiError as error:
            fill([error.code] * len(places))

    try:
        if not request.group_id:
            raise ApiError(ErrorCode.INVALID_GROUP_ID)
        verify(services, context.version, request).then(verified)
    except ApiError as error:
        fill([error.code] * len(places))
    return answer


def verify(services: Services, version: int, request: TxnOffsetCommitRequest) -> Deferred[ErrorCode]:
    """Whether the group's partition belongs to the transaction; new clients' groups join it now (KIP-890).

    Raises:
        ApiError: this broker does not keep the group, or not yet.
    """
    if services.metadata.image.topics.get(GROUP_OFFSETS) is None and not is_before(
        services.compatibility, (4, 0)
    ):
        # Kafka finds out when it verifies, where it is a topic that is not there.
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    tp = services.groups.partition_of(request.group_id)
    producers = services.replicas.led(tp.topic, tp.partition).online_log().producers
    level = _level(version)
    verdict: Deferred[ErrorCode] = Deferred()
    producer_id, epoch = request.producer_id, request.producer_epoch
    verifier = services.txns.verifier
    if producers.has_open_txn(producer_id, epoch) or not verifier.wants(level):
        verdict.resolve(ErrorCode.NONE)
        return verdict
    # See produce_txn.py: for new clients the epoch tells what a guard has to tell for old ones.
    guard = producers.guard(producer_id) if level is not ClientLevel.ADDS else None

    def answered(codes: Deferred[dict[tuple[str, int], ErrorCode]]) -> None:
        code = codes.result()[tp.topic, tp.partition]
        is_void = guard is not None and not producers.release(producer_id, guard)
        if is_void and code is ErrorCode.NONE:
            code = ErrorCode.INVALID_TXN_STATE
        if code is ErrorCode.NETWORK_EXCEPTION:
            # Old clients know no such answer, and ask again after this one.
            code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        verdict.resolve(write_error(code))

    verifier.verify(request.transactional_id, producer_id, epoch, [(tp.topic, tp.partition)], level).then(
        answered
    )
    return verdict


def _level(version: int) -> ClientLevel:
    if version >= _ADDS_SINCE:
        return ClientLevel.ADDS
    return ClientLevel.ABORTABLE if version >= _ABORTABLE_SINCE else ClientLevel.OLD


def _committing(request: TxnOffsetCommitRequest, version: int, commits: list[Commit]) -> Committing:
    return Committing(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        version,
        commits,
        producer=(request.producer_id, request.producer_epoch),
    )


def _commit(topic: TopicImage, partition: TxnOffsetCommitRequestPartition) -> Commit:
    return Commit(
        topic.name,
        topic.id,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata,
    )


def _answer(
    topic: TxnOffsetCommitRequestTopic,
    partitions: Iterable[TxnOffsetCommitRequestPartition],
    code: ErrorCode,
) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
            for each in partitions
        ],
    )


def error_response(
    request: TxnOffsetCommitRequest, version: int, code: ErrorCode, message: str | None
) -> TxnOffsetCommitResponse:
    """Every partition refused alike."""
    return TxnOffsetCommitResponse(
        topics=[_answer(topic, topic.partitions, code) for topic in request.topics]
    )
