"""Fetch (1): read records, wait for more.

Versions: 4 (0.11) transactions · 5 log start offset · 7 sessions (KIP-227) · 9 leader epochs (KIP-320) · 10
zstd · 11 rack (KIP-392) · 12 flexible, last fetched epoch (KIP-595) · 13 topic ids (KIP-516) · 15 replica
state (KIP-903) · 16 leaders on errors (KIP-951) · 17 directory id (KIP-853) · 18 the fetcher's high
watermark (KIP-1166).

A raw path: the answer is made of header bytes and slices of segment files. A parked Fetch holds no data;
when it is woken it reads everything anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kbroker.broker.deferred import Deferred
from kbroker.broker.read_replicas import ReadReplicas
from kbroker.errors import ErrorCode, ProtocolError
from kbroker.handlers.context import ConnectionContext, RequestContext
from kbroker.handlers.fetch_access import ReadAccess
from kbroker.handlers.fetch_encode import FetchEncoder, Leader, Node
from kbroker.handlers.fetch_known import VERSION_MIN, KnownFetches
from kbroker.handlers.fetch_read import PartitionRead, PartitionReader
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.generated.fetch_request import FetchRequest
from kbroker.protocol.releases import asked_release
from kbroker.replication.delayed_fetch import DelayedFetch
from kbroker.security.authorizer import Undecided

if TYPE_CHECKING:
    from kbroker.broker.fetch_session import FetchContext, FetchedPartition
    from kbroker.broker.services import Services
    from kbroker.metrics.requests import ApiStats, Waiting
    from kbroker.storage.log_reader import FileSlice

FetchAnswer: TypeAlias = "bytes | list[bytes | FileSlice] | Deferred[bytes | list[bytes | FileSlice]]"

VERSIONS = (4, 18)

_log = logging.getLogger(__name__)

_FETCH = 1
_READ_COMMITTED = 1
_CONSUMER = -1
#: Of an answer, and of a partition in it, besides the records; for the quota.
_ANSWER_BYTES, _PARTITION_BYTES = 24, 50
#: First version in which a consumer says where it is (KIP-392).
_ANY_REPLICA_SINCE = 11
_WRONG_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class FetchConnection(Protocol):
    """What the path keeps at a connection."""

    context: ConnectionContext
    fetch_cache: KnownFetches | None
    waiting: Waiting | None
    answered: ApiStats | None
    began_s: float
    is_follower: bool
    fast: Mapping[int, Callable[[Any, memoryview, int, int], Any]]


def raw_path(services: Services) -> FetchPath:
    """The path of this node."""
    if asked_release(services.compatibility) is not None:
        from kbroker.handlers.manners.data import OlderFetchPath

        return OlderFetchPath(services)
    return FetchPath(services)


class FetchPath:
    """Takes Fetch frames, gives whole answers."""

    _reader_type = PartitionReader

    def __init__(self, services: Services) -> None:
        self._services = services
        self._requests = services.requests
        self._of_consumers = services.requests.of("FetchConsumer")
        self._of_followers = services.requests.of("FetchFollower")

    def request(
        self, connection: FetchConnection, frame: bytes, position: int, context: RequestContext
    ) -> FetchAnswer:
        """Answer now, or when there is enough."""
        request, _ = decode_request(FetchRequest, frame, context.version, position)
        replica_id = _replica_id(request, context.version)
        connection.is_follower = replica_id >= 0
        if context.version >= VERSION_MIN:
            self._learn(connection, frame, position, request, context)
        answer = self._answer(request, context, replica_id)
        self._note(connection, context.version, len(frame), replica_id, answer)
        return answer

    def _note(
        self, connection: FetchConnection, version: int, size: int, replica_id: int, answer: FetchAnswer
    ) -> None:
        """For the metrics."""
        stats = self._of_consumers if replica_id < 0 else self._of_followers
        if not self._requests.timed:
            stats.versions[version] += 1
            return
        connection.answered = stats
        log = self._services.request_log
        if log is not None:
            now_s, is_parked = stats.now_s(), isinstance(answer, Deferred)
            log.note(
                connection.context,
                stats.name,
                version,
                size,
                connection.began_s,
                now_s,
                is_parked=is_parked,
            )
        if isinstance(answer, Deferred):
            connection.waiting = stats.wait(version, size, connection.began_s)
        else:
            stats.done_one(version, size, connection.began_s)

    def fast(self, connection: FetchConnection, data: memoryview, start: int, end: int) -> FetchAnswer | None:
        """Answer the request at `data[start:end]` if its like was seen before; None: parse it."""
        cache = connection.fetch_cache
        known = cache.by_size.get(end - start) if cache is not None else None
        correlation_id = known.recognise(data, start) if known is not None else None
        if known is None or correlation_id is None:
            return None
        context = RequestContext(connection.context, _FETCH, known.version, correlation_id, known.client_id)
        replica_id = _replica_id(known.request, known.version)
        try:
            answer = self._answer(known.request, context, replica_id)
        except Exception as error:
            _log.exception("a Fetch failed")
            raise ProtocolError(f"Fetch failed here: {error}") from None
        if self._requests.timed:
            self._note(connection, known.version, end - start, replica_id, answer)
        else:
            stats = self._of_consumers if replica_id < 0 else self._of_followers
            stats.versions[known.version] += 1
        return answer

    def _learn(
        self,
        connection: FetchConnection,
        frame: bytes,
        position: int,
        request: FetchRequest,
        context: RequestContext,
    ) -> None:
        cache = connection.fetch_cache
        if cache is None:
            cache = connection.fetch_cache = KnownFetches()
        if cache.learn(frame, position, request, context.version, context.client_id):
            connection.fast = {**connection.fast, _FETCH: self.fast}

    def _answer(self, request: FetchRequest, context: RequestContext, replica_id: int) -> FetchAnswer:
        services = self._services
        served = services.fetch_sessions.begin(
            request, context.version, replica_id >= 0, services.topic_name_of
        )
        if served.error is not ErrorCode.NONE:
            return FetchEncoder(context.version, context.correlation_id).encode([], served.error, 0)
        if replica_id >= 0 and served.session is not None:
            served.session.asked_under(request.replica_state.replica_epoch)
        reader = self._reader(request, context, replica_id)
        return OneFetch(services, request, context, served, reader).answer_or_park()

    def _reader(self, request: FetchRequest, context: RequestContext, replica_id: int) -> PartitionReader:
        services = self._services
        prefer = None
        if request.rack_id and services.chooses_read_replica and replica_id == _CONSUMER:
            prefer = ReadReplicas(services.metadata.image, request.rack_id).preferred
        return self._reader_type(
            services.metadata,
            services.replicas,
            replica_id,
            request.isolation_level == _READ_COMMITTED,
            request.replica_state.replica_epoch if replica_id >= 0 else -1,
            replica_id < 0 and context.version >= _ANY_REPLICA_SINCE,
            prefer,
            None if services.authorizer is None else ReadAccess(services.authorizer, context, replica_id),
        )


class OneFetch:
    """One request on its way."""

    __slots__ = (
        "_bytes_max",
        "_context",
        "_deferred",
        "_min_bytes",
        "_reader",
        "_request",
        "_served",
        "_services",
    )

    def __init__(
        self,
        services: Services,
        request: FetchRequest,
        context: RequestContext,
        served: FetchContext,
        reader: PartitionReader,
    ) -> None:
        self._services = services
        self._request = request
        self._context = context
        self._served = served
        self._reader = reader
        replica_id = reader.replica_id
        # A follower sets its own limits; a consumer's are bounded by fetch.max.bytes.
        limit = request.max_bytes if replica_id >= 0 else min(request.max_bytes, services.fetch_bytes_max)
        meter = None if replica_id >= 0 else context.connection.meter
        if meter is not None:
            limit = int(min(limit, meter.fetch_bytes_max(context.client_id)))
        self._bytes_max = max(limit, 0)
        self._min_bytes = min(request.min_bytes, self._bytes_max)
        self._deferred: Deferred[bytes | list[bytes | FileSlice]] | None = None

    def answer_or_park(self) -> FetchAnswer:
        """Read; answer unless there is too little and time to wait."""
        try:
            reads, quiet = self._read_all()
        except Undecided as undecided:
            return self._ask(undecided)
        waiting = [read for read in reads if not (read.error and read.is_unknown)]
        if self._must_answer(waiting, quiet):
            return self._encode(reads)
        deferred = self._deferred = Deferred()
        if self._by_news:
            self._wait_for_news(waiting, deferred)
            return deferred
        purgatory = self._services.replicas.fetches
        by_key: dict[Hashable, FetchedPartition] = {}
        readable: dict[Hashable, int] = {}
        for read in waiting:
            key = (read.wanted.topic, read.wanted.partition)
            by_key[key] = read.wanted
            readable[key] = read.size
        for wanted in quiet:
            key = (wanted.topic, wanted.partition)
            by_key[key] = wanted
            readable[key] = 0
        operation = DelayedFetch(
            self._min_bytes,
            readable,
            lambda key: self._reader.readable_bytes(by_key[key], self._min_bytes),
            self._finish,
        )
        purgatory.park(operation, by_key, self._request.max_wait_ms)
        deferred.on_cancel = lambda: purgatory.remove(operation)
        return deferred

    def _ask(self, undecided: Undecided) -> Deferred[bytes | list[bytes | FileSlice]]:
        """Answer with what there is when somebody outside has decided; the session has gone on already."""
        authorizer = self._services.authorizer
        assert authorizer is not None
        assert authorizer.ask is not None
        if self._deferred is None:
            self._deferred = Deferred()
        authorizer.ask(undecided.questions).then(lambda _: self._finish())
        return self._deferred

    @property
    def _by_news(self) -> bool:
        """A follower's session, whose partitions tell it when they have news."""
        session = self._served.session
        return self._served.incremental and session is not None and session.news is not None

    def _wait_for_news(self, waiting: list[PartitionRead], deferred: Deferred[Any]) -> None:
        """Park without a look at the partitions that have nothing."""
        session, purgatory = self._served.session, self._services.replicas.fetches
        assert session is not None
        operation = DelayedFetch(
            self._min_bytes,
            {read.wanted: read.size for read in waiting},
            lambda wanted: self._reader.readable_bytes(wanted, self._min_bytes),  # type: ignore[arg-type]
            self._finish,
        )

        def tell(wanted: FetchedPartition) -> None:
            if operation.try_complete(wanted):
                purgatory.remove(operation)

        def forget() -> None:
            if session.on_news is tell:
                session.on_news = None
            purgatory.remove(operation)

        session.on_news = tell
        purgatory.park(operation, (operation,), self._request.max_wait_ms)
        deferred.on_cancel = forget

    def _must_answer(self, reads: list[PartitionRead], quiet: list[FetchedPartition]) -> bool:
        if self._request.max_wait_ms <= 0 or not (reads or quiet or self._by_news):
            return True
        size = 0
        # A follower that consumers read from has to know of what is committed at once (KIP-392).
        hurries = self._services.chooses_read_replica and self._reader.replica_id >= 0
        for read in reads:
            if (
                read.error is not ErrorCode.NONE
                or read.diverging is not None
                or read.preferred_replica >= 0
                or (hurries and read.high_watermark != read.wanted.sent_high_watermark)
            ):
                return True
            size += read.size
        return size >= self._min_bytes

    def _finish(self) -> None:
        assert self._deferred is not None
        self._reader.notes_fetches = False
        if self._served.session is not None:
            self._served.session.on_news = None
        try:
            answer = self._encode(self._read_all()[0])
        except Undecided as undecided:
            self._ask(undecided)
        except Exception as error:
            # Whoever woke this Fetch (a producer) must not suffer for it.
            _log.exception("a parked Fetch failed")
            self._deferred.fail(ProtocolError(f"Fetch failed here: {error}"))
        else:
            self._deferred.resolve(answer)

    def _read_all(self) -> tuple[list[PartitionRead], list[FetchedPartition]]:
        """What was read, and the partitions that need no look because they have no news."""
        left, min_one = self._bytes_max, True
        reads: list[PartitionRead] = []
        unknown: list[PartitionRead] = []
        quiet: list[FetchedPartition] = []
        incremental, session = self._served.incremental, self._served.session
        if session is not None and session.news is None:
            session = None  # a consumer's: nobody tells of news
        # A copy: what a follower's offset releases may be another request of this session.
        for wanted in tuple(self._served.partitions):
            if incremental and self._reader.is_quiet(wanted):
                if session is not None:
                    self._reader.watch(wanted)
                    session.settle(wanted)
                else:
                    quiet.append(wanted)
                continue
            read = self._reader.read(wanted, max(min(wanted.bytes_max, left), 0), min_one)
            if session is not None:
                self._reader.watch(wanted)
            if read.size:
                min_one = False
                left = max(left - read.size, 0)
            (unknown if read.error and read.is_unknown else reads).append(read)
        return reads + unknown if unknown else reads, quiet

    def _encode(self, reads: list[PartitionRead]) -> bytes | list[bytes | FileSlice]:
        served, context = self._served, self._context
        meter = context.connection.meter
        if meter is not None and self._reader.replica_id < 0:
            delay_ms = meter.fetched(context.client_id, _size_of(reads))
            if delay_ms:
                return self._throttled(delay_ms)
        is_consumer = self._reader.replica_id < 0
        for read in reads:
            partition = read.wanted.served_by
            if read.error or partition is None:
                self._count_apart(read)
                continue
            stats = partition.stats
            stats.fetch_requests += 1
            if is_consumer:
                stats.bytes_out += read.size
            else:
                stats.replicated_out += read.size
                if partition.adding and self._reader.replica_id in partition.adding:
                    stats.reassigned_out += read.size
        if served.session is not None:
            reads = self._note_in_session(reads)
        encoder = FetchEncoder(context.version, context.correlation_id)
        for read in reads:
            if read.error:
                self._adapt_error(read, encoder)
        return encoder.encode(reads, ErrorCode.NONE, served.session_id)

    def _throttled(self, delay_ms: int) -> bytes | list[bytes | FileSlice]:
        """Nothing, and wait: what was read is read again. A session that has just been made never was."""
        served, context = self._served, self._context
        session_id = served.session_id
        if served.session is not None and not served.incremental:
            self._services.fetch_sessions.forget(served.session)
            session_id = 0
        encoder = FetchEncoder(context.version, context.correlation_id)
        return encoder.encode([], ErrorCode.NONE, session_id, delay_ms)

    def _count_apart(self, read: PartitionRead) -> None:
        """For the metrics: a partition that sends no records, or is not here."""
        wanted = read.wanted
        topics = self._services.replicas.topic_stats
        stats = topics.of(wanted.topic or "") if wanted.served_by is None else wanted.served_by.stats
        stats.fetch_requests += 1
        if read.error:
            stats.failed_fetch += 1
            name = "FetchConsumer" if self._reader.replica_id < 0 else "FetchFollower"
            self._services.requests.of(name).error(read.error)

    def _adapt_error(self, read: PartitionRead, encoder: FetchEncoder) -> None:
        version = self._context.version
        if read.error in _WRONG_LEADER and version >= 16:
            self._name_leader(read.wanted, encoder)
        elif read.error is ErrorCode.KAFKA_STORAGE_ERROR and version <= 5:
            read.error = ErrorCode.NOT_LEADER_OR_FOLLOWER

    def _note_in_session(self, reads: list[PartitionRead]) -> list[PartitionRead]:
        """What has to be in the answer; the session remembers it, partitions with data go to its end."""
        session, incremental = self._served.session, self._served.incremental
        assert session is not None
        news: list[PartitionRead] = []
        for read in reads:
            wanted = read.wanted
            has_news = (
                read.size > 0
                or read.error is not ErrorCode.NONE
                or read.high_watermark != wanted.sent_high_watermark
                or read.log_start_offset != wanted.sent_log_start
                or read.diverging is not None
                or read.preferred_replica >= 0
                or read.removable_to != wanted.sent_removable
            )
            if not (has_news or not incremental):
                continue
            news.append(read)
            # After an error the partition is named again as soon as the error is gone. Who has to cut its log
            # takes nothing else of the answer.
            unheard = read.error or read.diverging is not None
            wanted.sent_high_watermark = -1 if unheard else read.high_watermark
            wanted.sent_log_start = read.log_start_offset
            wanted.sent_removable = read.removable_to
            if read.size and incremental:
                session.move_to_end(wanted)
        return news

    def _name_leader(self, wanted: FetchedPartition, encoder: FetchEncoder) -> None:
        image = self._services.metadata.image
        state = image.topics.partition(wanted.topic or "", wanted.partition)
        if state is None:
            return
        encoder.leaders[(wanted.topic, wanted.partition)] = Leader(state.leader, state.leader_epoch)
        broker = image.brokers.get(state.leader)
        endpoint = broker.endpoint(self._context.listener_name) if broker is not None else None
        if broker is not None and endpoint is not None:
            encoder.nodes[broker.id] = Node(broker.id, endpoint.host, endpoint.port, broker.rack)


def _replica_id(request: FetchRequest, version: int) -> int:
    """The follower that asks; negative: a consumer."""
    return request.replica_state.replica_id if version >= 15 else request.replica_id


def _size_of(reads: list[PartitionRead]) -> int:
    """About the bytes of an answer, header and all: within a few of each partition."""
    return _ANSWER_BYTES + sum([read.size + _PARTITION_BYTES for read in reads])
