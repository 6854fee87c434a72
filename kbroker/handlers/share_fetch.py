"""ShareFetch (78): a member of a share group gets records to work on, and says what became of earlier ones
(KIP-932).

v1 first (v0 was an early access); v2 strict limits (KIP-1206), renewing of locks (KIP-1222).
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed, gather
from kbroker.broker.share_sessions import FINAL_EPOCH, INITIAL_EPOCH, Place, ShareSession
from kbroker.broker.shares import shares
from kbroker.coordinator.share.acquisition import Wish
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.share_acks import acknowledge, check_member, name_leader
from kbroker.handlers.share_read import ShareRead, read_share, readable_bytes
from kbroker.protocol.generated.share_fetch_response import (
    AcquiredRecords,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchResponse,
)
from kbroker.security.acl import Operation, ResourceType
from kbroker.security.authorizer import Undecided

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.share_partitions import LiveShare
    from kbroker.broker.share_sessions import ShareSessions
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.share_fetch_request import ShareFetchRequest

VERSIONS = (1, 2)

_STRICT = 1
_log = logging.getLogger(__name__)


def handle(
    services: Services, context: RequestContext, request: ShareFetchRequest
) -> Deferred[ShareFetchResponse]:
    """Acknowledgements first; then the answer waits for records, or for the time to be over."""
    parts = shares(services)
    parts.settings.check()
    group_id, member_id = check_member(request.group_id, request.member_id)
    epoch = request.share_session_epoch
    acks = {
        (topic.topic_id, each.partition_index): each.acknowledgement_batches
        for topic in request.topics
        for each in topic.partitions
        if each.acknowledgement_batches
    }
    readable = _readable(services, context, request, parts.sessions, group_id, member_id)
    if epoch == INITIAL_EPOCH:
        if acks:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        session = parts.sessions.open(group_id, member_id, context.connection.connection_id)
        parts.partitions.used(group_id)
    else:
        session = parts.sessions.find(group_id, member_id)
        if epoch != FINAL_EPOCH:
            session.check(epoch)
    fetch = OneShareFetch(services, context, request, session, readable)
    written = [
        acknowledge(services, parts, group_id, member_id, place, batches, request.is_renew_ack)
        if readable is None or place[0] in readable
        else failed(ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        for place, batches in acks.items()
    ]
    gather(written).then(lambda done: fetch.acknowledged(list(acks), done.result()))
    return fetch.answer


def _readable(
    services: Services,
    context: RequestContext,
    request: ShareFetchRequest,
    sessions: ShareSessions,
    group_id: str,
    member_id: str,
) -> frozenset[bytes] | None:
    """The ids of topics that may be read, of those asked for now and before; None: nobody decides that."""
    if services.authorizer is None:
        return None
    ids = dict.fromkeys(topic.topic_id for topic in request.topics)
    if request.share_session_epoch != INITIAL_EPOCH:
        ids.update(dict.fromkeys(place[0] for place in sessions.find(group_id, member_id).partitions))
    names = {each: services.topic_name_of(each) for each in ids}
    known = [name for name in names.values() if name is not None]
    allowed = services.authorizer.allowed(context, Operation.READ, ResourceType.TOPIC, known)
    return frozenset(each for each, name in names.items() if name is None or name in allowed)


class OneShareFetch:
    """One request on its way; parked, it is an operation of the purgatory."""

    KIND = "ShareFetch"

    def __init__(
        self,
        services: Services,
        context: RequestContext,
        request: ShareFetchRequest,
        session: ShareSession,
        readable: frozenset[bytes] | None = None,
    ) -> None:
        self.answer: Deferred[ShareFetchResponse] = Deferred()
        self._services = services
        self._parts = shares(services)
        self._context = context
        self._request = request
        self._session = session
        self._readable = readable
        self._final = request.share_session_epoch == FINAL_EPOCH
        self._acks: dict[Place, ApiError | None] = {}
        self._errors: dict[Place, ApiError] = {}
        self._reads: dict[Place, ShareRead] = {}
        self._live: dict[Place, LiveShare] = {}
        self._loading = 0
        self._records = request.max_records
        self._bytes = min(max(request.max_bytes, 0), services.fetch_bytes_max)
        self._wish_strict = request.share_acquire_mode == _STRICT
        self._committed_only = self._parts.settings.committed_only(session.group_id)

    # -- steps -----------------------------------------------------------------------------------------------

    def acknowledged(self, places: list[Place], values: list[ApiError | None]) -> None:
        """The acknowledgements are written, or refused."""
        self._acks = dict(zip(places, values))
        if self._final:
            self._parts.sessions.close(self._session)
            self._finish()
            return
        self._update_session()
        if self._request.is_renew_ack:
            self._finish()
            return
        self._find()

    def _update_session(self) -> None:
        partitions = self._session.partitions
        for topic in self._request.topics:
            for each in topic.partitions:
                partitions.setdefault((topic.topic_id, each.partition_index), True)
        for forgotten in self._request.forgotten_topics_data:
            for index in forgotten.partitions:
                partitions.pop((forgotten.topic_id, index), None)

    def _find(self) -> None:
        """Load what is not here yet; usually nothing."""
        session, missing = self._session, []
        for place in session.partitions:
            if self._readable is not None and place[0] not in self._readable:
                self._errors[place] = ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                continue
            live = self._parts.partitions.here(session.group_id, *place)
            if live is not None:
                self._live[place] = live
            else:
                missing.append(place)
        if not missing:
            self._begin()
            return
        for place in missing:
            error = self._unknown(place)
            if error is not None:
                self._errors[place] = error
        loading = [place for place in missing if place not in self._errors]
        self._loading = len(loading)
        if not loading:
            self._begin()
        for place in loading:
            found = self._parts.partitions.get(session.group_id, *place)
            found.then(lambda done, place=place: self._loaded(place, done))  # type: ignore[misc]

    def _loaded(self, place: Place, done: Deferred[LiveShare]) -> None:
        """One partition's state is here, or is not to be had.

        Records of it need not wait for the others' states: so does Kafka, and librdkafka's tests count on the
        first answer to be of one partition.
        """
        self._loading -= 1
        try:
            self._live[place] = done.result()
        except ApiError as error:
            self._errors[place] = error.with_traceback(None)
        if self._loading == 0:
            self._begin()
        elif not self.answer.done and place in self._live and self._read_all(if_enough=True):
            self._finish()

    def _unknown(self, place: Place) -> ApiError | None:
        topic = self._services.metadata.image.topics.by_id(place[0])
        if topic is None:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        if not 0 <= place[1] < len(topic.partitions):
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return None

    def _begin(self) -> None:
        if self.answer.done:
            return  # nobody waits any more
        may_wait = bool(self._request.max_wait_ms > 0 and self._live)
        if self._read_all(if_enough=may_wait) or not may_wait:
            self._finish()
            return
        purgatory = self._services.replicas.fetches
        keys: list[Hashable] = []
        for live in self._live.values():
            keys += (live.partition.topic_partition, live.key)
        purgatory.park(self, keys, self._request.max_wait_ms)
        self.answer.on_cancel = lambda: purgatory.remove(self)

    def try_complete(self, key: Hashable) -> bool:
        """Something came, was released, or leads no more (see `Operation.try_complete`)."""
        try:
            if not self._read_all(if_enough=True) and all(
                live.is_led and not live.closed for live in self._live.values()
            ):
                return False
            self._finish()
        except Exception as error:
            # Whoever woke this one (a producer) must not suffer for it.
            _log.exception("a parked ShareFetch failed")
            self.answer.fail(error)
        return True

    def expire(self) -> None:
        """See `Operation.expire`."""
        if self._request.min_bytes > 1:
            self._read_all(if_enough=False)
        self._finish()

    def _is_enough(self) -> bool:
        """Whether as many bytes wait as the request wants at least; or a partition has an error to tell."""
        lacking = min(self._request.min_bytes, self._bytes)
        if lacking <= 1:
            return True
        for live in self._live.values():
            if live.closed:
                continue
            if not live.is_led:
                return True
            try:
                lacking -= readable_bytes(live, lacking, self._committed_only)
            except ApiError:
                return True
            if lacking <= 0:
                return True
        return False

    def _read_all(self, if_enough: bool) -> bool:
        """Whether anything was acquired, or there is an error to tell."""
        if if_enough and not self._is_enough():
            return False
        records, size = self._records, self._bytes
        member = self._session.member_id
        for place, live in self._live.items():
            if live.closed:
                continue  # begun anew meanwhile: what this one gives out, the new one would not know
            if not live.is_led:
                self._errors[place] = ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
                continue
            if self._readable is not None and self._is_denied(live.partition.topic_partition.topic):
                self._errors[place] = ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                continue
            wish = Wish(records, max(self._request.batch_size, 1), self._wish_strict)
            try:
                read = read_share(live, member, wish, size, self._committed_only)
            except ApiError as error:
                self._errors[place] = error
                continue
            if read.acquired:
                self._reads[place] = read
                records -= read.total
                size -= len(read.records)
        return bool(self._reads or any(self._session.partitions.get(place, False) for place in self._errors))

    def _is_denied(self, topic: str) -> bool:
        """Whether the topic may not be read any more, since the request came."""
        authorizer = self._services.authorizer
        assert authorizer is not None
        try:
            return not authorizer.allows(self._context, Operation.READ, ResourceType.TOPIC, topic)
        except Undecided:
            return False  # it was allowed, and who asks next will be told

    # -- the answer ------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        if self.answer.done:
            return
        partitions = self._session.partitions
        told: dict[Place, PartitionData] = {}
        for place in list(self._acks) if self._final else [*self._acks, *partitions]:
            if place in told:
                continue
            error, read = self._errors.get(place), self._reads.get(place)
            if place not in self._acks and error is None and read is None and not partitions[place]:
                continue
            told[place] = self._partition(place, error, read)
            if place in partitions and not self._final:
                partitions[place] = error is not None
                if read is not None:
                    self._session.rotate(place)
        self.answer.resolve(self._response(told))

    def _partition(self, place: Place, error: ApiError | None, read: ShareRead | None) -> PartitionData:
        result = PartitionData(partition_index=place[1], records=b"")
        if error is not None:
            result.error_code, result.error_message = error.code, error.message
        refusal = self._acks.get(place)
        if refusal is not None:
            result.acknowledge_error_code, result.acknowledge_error_message = refusal.code, refusal.message
        if read is not None:
            result.records = read.records
            result.acquired_records = [
                AcquiredRecords(
                    first_offset=each.first, last_offset=each.last, delivery_count=each.deliveries
                )
                for each in read.acquired
            ]
        return result

    def _response(self, told: dict[Place, PartitionData]) -> ShareFetchResponse:
        nodes: dict[int, NodeEndpoint] = {}
        topics: dict[bytes, list[Any]] = {}
        for (topic_id, _), result in told.items():
            wrong = ErrorCode.NOT_LEADER_OR_FOLLOWER
            if wrong in (result.error_code, result.acknowledge_error_code):
                name_leader(self._services, self._context, topic_id, result, nodes, NodeEndpoint)
            topics.setdefault(topic_id, []).append(result)
        return ShareFetchResponse(
            acquisition_lock_timeout_ms=self._parts.settings.limits(self._session.group_id).lock_ms,
            responses=[
                ShareFetchableTopicResponse(topic_id=topic_id, partitions=results)
                for topic_id, results in topics.items()
            ],
            node_endpoints=list(nodes.values()),
        )


def error_response(
    request: ShareFetchRequest, version: int, code: ErrorCode, message: str | None
) -> ShareFetchResponse:
    """No partitions."""
    return ShareFetchResponse(error_code=code, error_message=message)
