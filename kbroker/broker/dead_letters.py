"""Writes the dead letters of share groups to their topics (KIP-1191).

Letters for one partition go out one batch at a time, together with whatever has come meanwhile. How much can
wait is bounded by the groups' locks: a record that waits here is still in flight. The records themselves are
read when their letters are written, not before.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.auto_topics import create_topics_of_our_own
from kbroker.broker.dead_originals import Originals
from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed
from kbroker.config.topic_config import topic_value
from kbroker.coordinator.share.dead_letters import DeadLetters, Envelope, Origin
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreatableTopicConfig
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.storage.disk import StorageError
from kbroker.storage.log_types import AppendOrigin
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.broker.share_settings import ShareSettings
    from kbroker.protocol.generated.produce_response import ProduceResponse

_log = logging.getLogger(__name__)

_ENABLE = "errors.deadletterqueue.group.enable"
_TIMEOUT_MS = 30_000
_TRIES, _PAUSE_MS, _PAUSE_MAX_MS, _JITTER = 5, 1_000, 30_000, 0.2
#: A later try may do better. (Kafka gives up at once at some of them.)
_AGAIN = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
)


class _Job:
    """Dead letters of neighbours, of which those before `next` are written."""

    __slots__ = ("answer", "dead", "next", "origin", "source", "tries")

    def __init__(self, origin: Origin, source: Partition, dead: DeadLetters) -> None:
        self.origin = origin
        self.source = source
        self.dead = dead
        self.next = dead.first
        self.tries = 0
        self.answer: Deferred[None] = Deferred()

    @property
    def is_done(self) -> bool:
        return self.next > self.dead.last


class _Part(NamedTuple):
    """What of a job is in a batch: its letters to before `end`."""

    job: _Job
    end: int


class DeadLetterQueue:
    """Of one broker."""

    def __init__(self, services: Services, settings: ShareSettings) -> None:
        self._services = services
        self._settings = settings
        self._inbox: list[_Job] = []
        #: By topic: who waits until it is there.
        self._unborn: dict[str, list[_Job]] = {}
        self._waiting: dict[TopicPartition, list[_Job]] = {}
        self._closed = False
        #: By group: letters written, parts of requests, those that were given up.
        self.written: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def put(self, group_id: str, source: Partition, dead: DeadLetters) -> Deferred[None]:
        """Done when the letters are written; fails with ApiError when they cannot be, for good.

        Args:
            source: where the records are.
        """
        origin = Origin(group_id, *source.topic_partition)
        job = _Job(origin, source, dead)
        if not self._inbox:
            # Whoever gives records up may be in the midst of something: nothing is written behind its back.
            self._services.timer.call_later(0, self._open_inbox)
        self._inbox.append(job)
        return job.answer

    def close(self) -> None:
        """The broker stops. Who takes over the partitions begins anew with what is not written."""
        self._closed = True

    def _open_inbox(self) -> None:
        jobs, self._inbox = self._inbox, []
        for job in jobs:
            self._start(job)

    # -- where to ------------------------------------------------------------------------------------------

    def _start(self, job: _Job) -> None:
        if self._closed:
            return
        topics = self._services.metadata.image.topics
        try:
            name = self._topic_of(job.origin.group_id)
        except ApiError as error:
            self._give_up(job, error)
            return
        topic = topics.get(name)
        if topic is None:
            self._create(name, job)
            return
        place = TopicPartition(name, job.origin.partition % len(topic.partitions))
        waiting = self._waiting.get(place)
        if waiting is not None:
            waiting.append(job)
        else:
            self._waiting[place] = [job]
            self._services.timer.call_later(0, lambda: self._send(place))

    def _topic_of(self, group_id: str) -> str:
        """The name of the group's topic; ApiError(INVALID_CONFIG) if it is none for dead letters."""
        config, image = self._services.config, self._services.metadata.image
        name = self._settings.dead_letter_topic(group_id)
        prefix = config.get_str("errors.deadletterqueue.topic.name.prefix")
        problem = ""
        if not name:
            problem = "no topic is set"
        elif name.startswith("__"):
            problem = f"{name} begins with __"
        elif not name.startswith(prefix):
            problem = f"{name} does not begin with {prefix}"
        elif image.topics.get(name) is not None:
            if image.topic_config(name).get(_ENABLE, "false").lower() != "true":
                problem = f"{name} does not take any ({_ENABLE})"
        elif not config.get_bool("errors.deadletterqueue.auto.create.topics.enable"):
            problem = f"{name} does not exist, and none is created"
        if problem:
            raise ApiError(ErrorCode.INVALID_CONFIG, problem)
        return name

    def _create(self, name: str, job: _Job) -> None:
        waiting = self._unborn.get(name)
        if waiting is not None:
            waiting.append(job)
            return
        self._unborn[name] = [job]
        settings = {_ENABLE: "true", "message.timestamp.type": "CreateTime"}
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in settings.items()],
        )

        def created(done: Deferred[dict[str, tuple[ErrorCode, str | None]]]) -> None:
            code, text = done.result()[name]
            if not code and self._services.metadata.image.topics.get(name) is None:
                code, text = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
            for each in self._unborn.pop(name):
                if code:
                    self._refused(each, ApiError(code, text))
                else:
                    self._start(each)

        create_topics_of_our_own(self._services, [topic]).then(created)

    # -- writing -------------------------------------------------------------------------------------------

    def _send(self, place: TopicPartition) -> None:
        """Write what has its turn; while anything is in `_waiting[place]`, this is on its way."""
        if self._closed:
            return
        services, waiting = self._services, self._waiting[place]
        overrides = services.metadata.image.topic_config(place.topic)
        most = topic_value(services.config, overrides, "max.message.bytes")
        assert isinstance(most, int)
        envelope, originals = Envelope(services.clock.now_ms(), most), Originals(most)
        parts = []
        for job in waiting:
            parts.append(_Part(job, self._fill(envelope, job, originals)))
            if envelope.is_full or parts[-1].end <= job.dead.last:
                break
        if parts[-1].end == parts[-1].job.next:
            parts.pop()
        for part in parts:
            self.sent[part.job.origin.group_id] += 1
        self._write(place, envelope.batch()).then(lambda done: self._heard(place, parts, done))

    def _fill(self, envelope: Envelope, job: _Job, originals: Originals) -> int:
        dead = job.dead
        if not self._settings.copies_dead_letters(job.origin.group_id):
            return envelope.fill(job.origin, dead, job.next, {}, dead.last + 1)
        found, end = originals.read(job.source, job.next, dead.last)
        return envelope.fill(job.origin, dead, job.next, found, end)

    def _write(self, place: TopicPartition, batch: bytes) -> Deferred[None]:
        """Done when the batch is committed; fails with ApiError."""
        services = self._services
        topic = services.metadata.image.topics.get(place.topic)
        if topic is None or place.partition >= len(topic.partitions):
            return failed(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        leader = topic.partitions[place.partition].leader
        if leader < 0:
            return failed(ApiError(ErrorCode.LEADER_NOT_AVAILABLE))
        if leader != services.broker_id:
            data = PartitionProduceData(index=place.partition, records=batch)
            topics = [TopicProduceData(name=place.topic, topic_id=topic.id, partition_data=[data])]
            request = ProduceRequest(acks=-1, timeout_ms=_TIMEOUT_MS, topic_data=topics)
            return services.txns.link.send(leader, request).map(_check)
        try:
            result = services.replicas.append_internal(place, bytearray(batch), origin=AppendOrigin.CLIENT)
            return services.replicas.when_committed(place, result.last_offset)
        except ApiError as error:
            return failed(error.with_traceback(None))
        except StorageError as error:
            return failed(ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)))

    def _heard(self, place: TopicPartition, parts: list[_Part], done: Deferred[None]) -> None:
        refused: ApiError | None = None
        try:
            done.result()
        except ApiError as error:
            refused = error
        left = self._waiting[place][len(parts) :]
        for job, end in reversed(parts):
            if refused is not None:
                self._refused(job, refused)
                continue
            self.written[job.origin.group_id] += end - job.next
            job.next, job.tries = end, 0
            if not job.is_done:
                left.insert(0, job)
        if left:
            self._waiting[place] = left
            self._services.timer.call_later(0, lambda: self._send(place))
        else:
            del self._waiting[place]
        for job, _ in parts:
            if job.is_done:
                job.answer.resolve(None)

    # -- what went wrong -----------------------------------------------------------------------------------

    def _refused(self, job: _Job, error: ApiError) -> None:
        job.tries += 1
        if error.code not in _AGAIN or job.tries >= _TRIES:
            self.failed[job.origin.group_id] += 1
            self._give_up(job, error)
            return
        pause = min(_PAUSE_MS * 2**job.tries, _PAUSE_MAX_MS)
        pause *= 1 - _JITTER + 2 * _JITTER * int.from_bytes(self._services.new_uuid()[:2], "big") / 0xFFFF
        self._services.timer.call_later(pause, lambda: self._start(job))

    def _give_up(self, job: _Job, error: ApiError) -> None:
        origin, dead = job.origin, job.dead
        _log.error(
            "no dead letters of share group %s for records %d to %d of %s-%d: %s",
            *(origin.group_id, job.next, dead.last, origin.topic, origin.partition, error),
        )
        job.answer.fail(error)


def _check(response: ProduceResponse) -> None:
    for topic in response.responses:
        for part in topic.partition_responses:
            if part.error_code:
                raise ApiError(error_code(part.error_code), part.error_message)
