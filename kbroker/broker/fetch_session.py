"""Fetch sessions (KIP-227): what a fetcher asked for last time, so that it need not say it again.

A session holds the fetcher's partitions in the order in which they are served; those that returned data go
to the end, so that a large one does not starve the others. The cache is bounded
(`max.incremental.fetch.session.cache. slots`); who gets no slot fetches without a session, which is always
correct.

A follower may have thousands of partitions here, of which few have news at a time. Its session keeps those
apart (`news`): the partitions tell it (`Partition.watch`), so that a Fetch costs what it answers, not what it
could ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kbroker.errors import ErrorCode
from kbroker.replication.cleaned import read_offset
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
#: An idle session may lose its slot after this time.
EVICTION_MS = 120_000
_EPOCH_MAX = 0x7FFF_FFFF

#: Topic id or name, and partition.
Key: TypeAlias = "tuple[Uuid | str, int]"
Resolve: TypeAlias = Callable[[Uuid], "str | None"]


class FetchedPartition:
    """One partition that a fetcher asks for, and what it was told last."""

    __slots__ = (
        "bytes_max",
        "cleaned_offset",
        "fetch_offset",
        "last_fetched_epoch",
        "leader_epoch",
        "log_start_offset",
        "matched",
        "partition",
        "sent_high_watermark",
        "sent_log_start",
        "sent_removable",
        "served_by",
        "served_epoch",
        "session",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str | None, topic_id: Uuid, wanted: FetchPartition) -> None:
        #: None: an id that nobody knows (yet).
        self.topic = topic
        self.topic_id = topic_id
        self.partition = wanted.partition
        #: Where the partition was found the last time; looked up again when it does not lead any more.
        self.served_by: Partition | None = None
        #: The leader epoch in which it was read the last time.
        self.served_epoch = -1
        #: A follower's session that is to hear of news; None: nobody.
        self.session: FetchSession | None = None
        #: What the fetcher knows; -1 makes the next answer name the partition.
        self.sent_high_watermark = -1
        self.sent_log_start = -1
        self.sent_removable = 0
        self.update(wanted)

    def update(self, wanted: FetchPartition) -> None:
        """Take what the fetcher asks for now."""
        self.fetch_offset = wanted.fetch_offset
        self.bytes_max = wanted.partition_max_bytes
        self.leader_epoch = max(wanted.current_leader_epoch, -1)  # any negative number: not known
        self.last_fetched_epoch = wanted.last_fetched_epoch
        self.log_start_offset = wanted.log_start_offset
        self.cleaned_offset = read_offset(wanted.unknown_tags) if wanted.unknown_tags else 0
        #: A follower's log was found to be the leader's up to the offset.
        self.matched = False


class FetchSession:
    """One fetcher's partitions."""

    __slots__ = (
        "broker_epoch",
        "created_ms",
        "epoch",
        "id",
        "last_used_ms",
        "news",
        "on_news",
        "partitions",
        "privileged",
        "uses_ids",
    )

    def __init__(
        self,
        session_id: int,
        partitions: dict[Key, FetchedPartition],
        uses_ids: bool,
        privileged: bool,
        now_ms: float,
    ) -> None:
        self.id = session_id
        self.partitions = partitions
        self.uses_ids = uses_ids
        self.privileged = privileged
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.epoch = 1
        #: Of the follower's registration.
        self.broker_epoch = -1
        #: A follower's partitions that need a look; None: all of them do.
        self.news: dict[FetchedPartition, None] | None = None
        #: A Fetch that waits for news.
        self.on_news: Callable[[FetchedPartition], object] | None = None
        if privileged:
            self.news = dict.fromkeys(partitions.values())
            for each in partitions.values():
                each.session = self

    @property
    def candidates(self) -> Iterable[FetchedPartition]:
        """The partitions to look at."""
        return self.partitions.values() if self.news is None else self.news

    def add(self, key: Key, partition: FetchedPartition) -> None:
        """Another partition."""
        self.partitions[key] = partition
        if self.news is not None:
            partition.session = self
            self.news[partition] = None

    def forget(self, key: Key) -> None:
        """One less."""
        gone = self.partitions.pop(key, None)
        if gone is not None and self.news is not None:
            gone.session = None
            self.news.pop(gone, None)

    def asked_under(self, broker_epoch: int) -> None:
        """Another registration of the follower, in ZooKeeper also of the same process: each partition has to
        hear of it, or it would count on one that is over (KIP-903)."""
        if self.news is not None and broker_epoch != self.broker_epoch:
            self.broker_epoch = broker_epoch
            self.news.update(dict.fromkeys(self.partitions.values()))

    def settle(self, partition: FetchedPartition) -> None:
        """It has no news, and will tell when it has."""
        if self.news is not None:
            self.news.pop(partition, None)

    def move_to_end(self, partition: FetchedPartition) -> None:
        """Serve the others first the next time: this one had data."""
        key: Key = (partition.topic_id if self.uses_ids else partition.topic or "", partition.partition)
        if self.partitions.pop(key, None) is not None:
            self.partitions[key] = partition
            if self.news is not None:
                self.news.pop(partition, None)
                self.news[partition] = None

    def advance_epoch(self) -> None:
        """The next request must carry the next epoch; after 2^31 - 1 comes 1."""
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1


class FetchContext(NamedTuple):
    """How one Fetch request is to be served.

    `session` is None without one. `incremental`: only partitions with news go into the answer.
    """

    session: FetchSession | None
    incremental: bool
    partitions: Iterable[FetchedPartition]
    error: ErrorCode = ErrorCode.NONE

    @property
    def session_id(self) -> int:
        """For the answer; 0 without a session."""
        return self.session.id if self.session is not None else 0


class FetchSessionCache:
    """The sessions of one node.

    Args:
        slots: how many there may be.
        monotonic_ms: the time.
        new_id: a random number; made positive and unique here.
    """

    def __init__(self, slots: int, monotonic_ms: Callable[[], float], new_id: Callable[[], int]) -> None:
        self.slots = slots
        self._monotonic_ms = monotonic_ms
        self._new_id = new_id
        self._sessions: dict[int, FetchSession] = {}
        #: Sessions that had to make room for others.
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        """Partitions in all sessions."""
        return sum(len(session.partitions) for session in self._sessions.values())

    def begin(self, request: FetchRequest, version: int, is_follower: bool, resolve: Resolve) -> FetchContext:
        """Find or make the session that the request speaks of; `resolve` gives the topic of an id."""
        session_id, epoch = request.session_id, request.session_epoch
        uses_ids = version >= 13
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if session_id:
                self._sessions.pop(session_id, None)
            partitions = _all_wanted(request, uses_ids, resolve)
            session = None
            if epoch == INITIAL_EPOCH:
                session = self._create(partitions, uses_ids, is_follower)
            return FetchContext(session, False, partitions.values())
        session = self._sessions.get(session_id)
        if session is None:
            return FetchContext(None, True, (), ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if epoch != session.epoch:
            return FetchContext(None, True, (), ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if uses_ids != session.uses_ids:
            return FetchContext(None, True, (), ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        _update(session, request, resolve)
        session.advance_epoch()
        session.last_used_ms = self._monotonic_ms()
        if not session.partitions:  # it ends, and the request is served as one without a session
            del self._sessions[session.id]
            return FetchContext(None, False, _all_wanted(request, uses_ids, resolve).values())
        return FetchContext(session, True, session.candidates)

    def forget(self, session: FetchSession) -> None:
        """Its fetcher will not hear of it."""
        self._sessions.pop(session.id, None)

    def _create(
        self, partitions: dict[Key, FetchedPartition], uses_ids: bool, privileged: bool
    ) -> FetchSession | None:
        now = self._monotonic_ms()
        if len(self._sessions) >= self.slots and not self._evict(privileged, len(partitions), now):
            return None
        session_id = 0
        while session_id == 0 or session_id in self._sessions:
            session_id = self._new_id() & _EPOCH_MAX
        session = FetchSession(session_id, partitions, uses_ids, privileged, now)
        self._sessions[session_id] = session
        return session

    def _evict(self, privileged: bool, size: int, now: float) -> bool:
        """Make room: for anybody the stalest session, else a smaller or less privileged one of some age."""
        if not self._sessions:
            return False
        stalest = min(self._sessions.values(), key=lambda session: session.last_used_ms)
        if now - stalest.last_used_ms > EVICTION_MS:
            del self._sessions[stalest.id]
            self.evictions += 1
            return True
        candidates = [s for s in self._sessions.values() if privileged or not s.privileged]
        weakest = min(candidates, key=lambda s: (s.privileged, len(s.partitions)), default=None)
        if weakest is None:
            return False
        outranked = privileged and not weakest.privileged
        if outranked or (now - weakest.created_ms > EVICTION_MS and len(weakest.partitions) < size):
            del self._sessions[weakest.id]
            self.evictions += 1
            return True
        return False


def _all_wanted(request: FetchRequest, uses_ids: bool, resolve: Resolve) -> dict[Key, FetchedPartition]:
    wanted: dict[Key, FetchedPartition] = {}
    for topic in request.topics:
        topic_id = bytes(topic.topic_id) if uses_ids else ZERO_UUID
        name = resolve(topic_id) if uses_ids else topic.topic
        for partition in topic.partitions:
            key: Key = (topic_id if uses_ids else topic.topic, partition.partition)
            wanted[key] = FetchedPartition(name, topic_id, partition)
    return wanted


def _update(session: FetchSession, request: FetchRequest, resolve: Resolve) -> None:
    partitions = session.partitions
    for topic in request.topics:
        topic_id = bytes(topic.topic_id) if session.uses_ids else ZERO_UUID
        for wanted in topic.partitions:
            key: Key = (topic_id if session.uses_ids else topic.topic, wanted.partition)
            known = partitions.get(key)
            if known is not None:
                known.update(wanted)
                if session.news is not None:
                    session.news[known] = None
            else:
                name = resolve(topic_id) if session.uses_ids else topic.topic
                session.add(key, FetchedPartition(name, topic_id, wanted))
    for forgotten in request.forgotten_topics_data:
        for index in forgotten.partitions:
            session.forget((bytes(forgotten.topic_id) if session.uses_ids else forgotten.topic, index))
