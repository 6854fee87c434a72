"""Runs one coordinator shard: loads it from its partition, writes what it decides, answers, keeps its time.

When is a record applied, and when is a request answered? A record is applied the moment it is in our log,
so that the next decision sees it. Every answer, also one that only read, waits until all that was in the
log when it was made is committed, so that nobody hears of what may still be lost; only OffsetFetch is told
what was true at the high watermark, at once (`see_committed`). A record that was
appended can be lost only together with the leadership; then the whole shard is dropped and every request
that waits gets NOT_COORDINATOR; a later leadership reads the log anew. So nothing ever has to be undone.
With one replica a commit is there at once, and none of this costs a wait.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.broker.shard_figures import ShardFigures
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Reply, Shard, Ticket
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch, decode_control_message
from kbroker.protocol.record_batch import (
    BatchHeader,
    CorruptBatch,
    InvalidRecord,
    Record,
    build_batch,
    build_lone_batch,
    decode_records,
    iter_batches,
)
from kbroker.storage.log import AppendOrigin

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.storage.log import AppendResult
    from kbroker.types import TopicPartition

S = TypeVar("S", bound=Shard)

_log = logging.getLogger(__name__)

#: Bytes of log that are replayed in one go before others have their turn: some hundred commits, about 3 ms.
LOAD_BYTES = 64 * 1024
#: Records and bytes of one batch where an outcome does not ask for a single one.
_BATCH_RECORDS, _BATCH_BYTES = 1_000, 512 * 1024


class Replicas(Protocol):
    """What a coordinator needs of its partition (broker/replica_manager.py)."""

    def append_internal(
        self, tp: TopicPartition, batch: bytes | bytearray, *, origin: AppendOrigin
    ) -> AppendResult: ...

    def append_own(
        self, tp: TopicPartition, batch: bytearray, delta: int, timestamp: int
    ) -> tuple[int, bool]: ...

    def when_committed(self, tp: TopicPartition, last_offset: int) -> Deferred[None]: ...

    def high_watermark(self, tp: TopicPartition) -> int: ...

    def read_internal(self, tp: TopicPartition, offset: int, max_bytes: int = LOAD_BYTES) -> bytes: ...


class Unwritten(Protocol):
    """Decisions that wait for others, to be written with them (broker/gathered_commits.py)."""

    def write(self) -> None:
        """Write and apply them now."""
        ...

    def fail(self, code: ErrorCode) -> None:
        """They will not be written; whoever waits hears `code`."""
        ...


class ShardDriver(Generic[S]):
    """One shard and the partition behind it; lives as long as this broker leads the partition.

    Args:
        tp: the partition.
        shard: empty; it is filled by `load_some`.
        now_ms: the time as the shard counts it; never runs backwards.
        commit_timeout_ms: how long an answer waits for its records to be committed.
        figures: of the coordinator.
    """

    def __init__(
        self,
        tp: TopicPartition,
        shard: S,
        replicas: Replicas,
        timer: Timer,
        now_ms: Callable[[], int],
        commit_timeout_ms: int = 5_000,
        figures: ShardFigures | None = None,
    ) -> None:
        self.figures = figures or ShardFigures()
        #: Whether what is decided now was asked for by nobody.
        self._by_time = False
        self.tp = tp
        self.shard = shard
        self.ready = False
        self.closed = False
        self._replicas = replicas
        self._timer = timer
        self.now_ms = now_ms
        #: How long it took until requests could come; None: they cannot yet.
        self.load_ms: int | None = None
        self._made_ms = now_ms()
        #: What was decided and is to be written together, before anything else is decided.
        self.unwritten: Unwritten | None = None
        self._commit_timeout_ms = commit_timeout_ms
        self._load_offset = 0
        self._when_ready: list[Callable[[], None]] = []
        self._skipped = 0
        self._waiting: dict[Ticket, None] = {}
        self._last_offset = -1
        self._committed = True
        #: Why the log takes nothing just now, and how often it has been said to nobody but who asked.
        self._refusal: ErrorCode | None = None
        self._refusals = 0
        self._alarm: TimerHandle | None = None
        self._alarm_ms: int | None = None

    # -- loading ---------------------------------------------------------------------------------------------

    def load_some(self) -> bool:
        """Replay the next part of the log; True when there is no more and requests may come.

        Raises:
            ApiError: NOT_COORDINATOR: the log cannot be read. The next call goes on where this one stopped.
        """
        if self.ready or self.closed:
            return True
        read = 0
        while read < LOAD_BYTES // 2:  # a full read leaves the rest to the next turn
            try:
                data = self._replicas.read_internal(self.tp, self._load_offset, LOAD_BYTES)
            except (ApiError, OSError) as error:
                raise ApiError(ErrorCode.NOT_COORDINATOR, f"the log cannot be read: {error}") from error
            start = self._load_offset
            for header in iter_batches(data):
                self._replay(data, header)
                self._load_offset = header.next_offset
            if self._load_offset == start:
                self._become_ready()
                return True
            read += len(data)
        return False

    def _become_ready(self) -> None:
        self.ready = True
        self.load_ms = self.now_ms() - self._made_ms
        self.shard.committed(self._load_offset)
        if self._skipped:
            _log.warning("%s: passed over %d records of unknown kinds", self.tp, self._skipped)
        self.perform(self.shard.loaded(self.now_ms()))
        waiting, self._when_ready = self._when_ready, []
        for action in waiting:
            action()

    def when_ready(self, action: Callable[[], None]) -> None:
        """Call `action` now, or as soon as the log is replayed."""
        if self.ready:
            action()
        else:
            self._when_ready.append(action)

    def _replay(self, data: bytes, header: BatchHeader) -> None:
        """A batch that cannot be read is named and passed over: the other groups must live."""
        try:
            records = decode_records(data, header)
        except (CorruptBatch, InvalidRecord, ApiError) as error:
            _log.error("%s: the batch at %d cannot be read: %s", self.tp, header.base_offset, error)
            return
        if header.is_control:
            for record in records:
                marker = decode_control_message(record)[1]
                if isinstance(marker, EndTxnMarker):
                    self.shard.apply_marker(header.producer_id, marker.commit, header.base_offset)
            return
        producer_id = header.producer_id if header.is_transactional else -1
        for record in records:
            self._replay_record(record, producer_id)

    def _replay_record(self, record: Record, producer_id: int) -> None:
        if record.key is None:
            self._skipped += 1
            return
        try:
            decoded = self.shard.decode(record.key, record.value)
        except ProtocolError as error:
            _log.error("%s: the record at %d cannot be read: %s", self.tp, record.offset, error)
            return
        if decoded is None:
            self._skipped += 1
        else:
            self.shard.apply(decoded, record.offset, producer_id)

    # -- requests --------------------------------------------------------------------------------------------

    def submit(self, decide: Callable[[Ticket], Outcome]) -> Deferred[Any]:
        """Perform what `decide` says about a request; the shard answers the ticket now or later."""
        began_s = perf_counter() if self.figures.timed else 0.0
        self.settle()
        ticket: Deferred[Any] = Deferred()
        self.perform(decide(ticket))
        if not ticket.done:
            self._waiting[ticket] = None
        if began_s:
            self.figures.deciding.record(int((perf_counter() - began_s) * 1e6))
        return ticket

    def read(self, answer: Any) -> Deferred[Any]:
        """An answer that only read the state; it comes when what it read is committed."""
        ticket: Deferred[Any] = Deferred()
        self._deliver([Reply(ticket, answer)])
        if not ticket.done:
            self._waiting[ticket] = None
        return ticket

    def see_committed(self) -> S:
        """The shard, told how far its log is committed: to read what is committed now, without a wait."""
        if not self._committed:
            self.shard.committed(self._replicas.high_watermark(self.tp))
        return self.shard

    def settle(self) -> None:
        """Write what waits to be written with others."""
        if self.unwritten is not None:
            self.unwritten.write()

    def perform(self, outcome: Outcome | None) -> None:
        """See coordinator/shard.py for the order; afterwards the alarm stands at the next deadline.

        `settle` before what leads to the outcome is decided.
        """
        while outcome is not None:
            if outcome.records:
                try:
                    self._write(outcome)
                except ApiError as error:
                    self._log_refusal(error)
                    outcome = outcome.refused(error.code) if outcome.refused is not None else None
                    continue
                if self._refusal is not None:
                    self._log_end_of_refusals()
                self.figures.wrote(outcome.records, self._by_time)
            if outcome.replies:
                self._deliver(outcome.replies)
            outcome = outcome.then() if outcome.then is not None else None
        self._set_alarm()

    def _log_refusal(self, error: ApiError) -> None:
        """Once for as long as it goes on: a log with too few replicas refuses all that comes."""
        if error.code is self._refusal:
            self._refusals += 1
            return
        if self._refusal is not None:
            self._log_end_of_refusals()
        self._refusal = error.code
        _log.warning("%s: a record was refused: %s", self.tp, error)

    def _log_end_of_refusals(self) -> None:
        if self._refusals and self._refusal is not None:
            name = self._refusal.name
            _log.warning("%s: %d more records were refused: %s", self.tp, self._refusals, name)
        self._refusal, self._refusals = None, 0

    def _write(self, outcome: Outcome) -> None:
        now = self.now_ms()
        if len(outcome.records) == 1 and outcome.producer[0] < 0:
            (lone,) = outcome.records
            key, value = lone.encoded()
            self.shard.apply(lone, self.take(build_lone_batch(now, key, value)))
            return
        batch: list[Record] = []
        records: list[CoordinatorRecord] = []
        size = 0
        for record in outcome.records:
            key, value = record.encoded()
            batch.append(Record(-1, now, key, value, ()))
            records.append(record)
            size += len(key) + len(value or b"")
            if not outcome.atomic and (len(batch) >= _BATCH_RECORDS or size >= _BATCH_BYTES):
                self._append(batch, records, outcome.producer)
                batch, records, size = [], [], 0
        if batch:
            self._append(batch, records, outcome.producer)

    def _append(
        self, batch: list[Record], records: list[CoordinatorRecord], producer: tuple[int, int]
    ) -> None:
        producer_id, epoch = producer
        data = build_batch(
            batch, producer_id=producer_id, producer_epoch=epoch, transactional=producer_id >= 0
        )
        first = self.take(data)
        for offset, record in enumerate(records, first):
            self.shard.apply(record, offset, producer_id)

    def take(self, data: bytes | bytearray) -> int:
        """Append a batch; its first offset. The records have still to be applied.

        Raises:
            ApiError: the batch is refused, or the log cannot be written.
        """
        figures = self.figures
        began_s = perf_counter() if figures.timed else 0.0
        result = self._replicas.append_internal(self.tp, data, origin=AppendOrigin.COORDINATOR)
        if began_s:
            figures.flushing.record(int((perf_counter() - began_s) * 1e6))
        figures.batches += 1
        self._last_offset = result.last_offset
        self._committed = False
        return result.base_offset

    def take_own(self, batch: bytearray, count: int, timestamp: int) -> int:
        """As `take`, for a batch of `count` records of that time and no producer, which was made just now."""
        first, self._committed = self._replicas.append_own(self.tp, batch, count - 1, timestamp)
        self._last_offset = first + count - 1
        self.figures.own += count
        self.figures.batches += 1
        if self._committed:
            self.shard.committed(first + count)
        return first

    def end_transaction(
        self, producer_id: int, producer_epoch: int, marker: EndTxnMarker, timestamp_ms: int
    ) -> Deferred[None]:
        """Write the marker that ends a producer's transaction on this partition; done when it is committed.

        Raises:
            ApiError: the marker is refused, or the log cannot be written.
        """
        self.settle()
        offset = self.take(
            build_end_txn_batch(
                marker, producer_id=producer_id, producer_epoch=producer_epoch, timestamp=timestamp_ms
            )
        )
        self.shard.apply_marker(producer_id, marker.commit, offset)
        return self.read(None)

    @property
    def is_committed(self) -> bool:
        """Whether all that is in the log is known to be committed."""
        return self._committed

    # -- answers ---------------------------------------------------------------------------------------------

    def after_commit(self, action: Callable[[ErrorCode], None]) -> None:
        """Call `action` when what is in the log now is committed, or with the error that the wait ends
        with.
        """
        if not self._committed and self._replicas.when_committed(self.tp, self._last_offset).succeeded:
            self._all_committed()
        if self._committed:
            action(ErrorCode.NONE)
            return

        def committed(done: Deferred[None]) -> None:
            try:
                done.result()
            except ApiError as error:
                action(error.code)
            else:
                action(ErrorCode.NONE)

        self.read(None).then(committed)

    def _deliver(self, replies: list[Reply]) -> None:
        if self._committed:
            self._answer(replies)
            return
        last_offset = self._last_offset
        commit = self._replicas.when_committed(self.tp, last_offset)
        if commit.succeeded:
            self._all_committed()
            self._answer(replies)
            return
        limit: TimerHandle | None = None
        began_s = perf_counter() if self.figures.timed else 0.0

        def committed(done: Deferred[None]) -> None:
            if limit is not None:
                limit.cancel()
            if began_s:
                self.figures.waiting.record(int((perf_counter() - began_s) * 1e6))
            try:
                done.result()
            except ApiError:
                self._fail(replies, ErrorCode.NOT_COORDINATOR)
                return
            if last_offset == self._last_offset:
                self._all_committed()
            self._answer(replies)

        if not commit.done:
            limit = self._timer.call_later(
                self._commit_timeout_ms, lambda: self._fail(replies, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            )
        commit.then(committed)

    def _all_committed(self) -> None:
        self._committed = True
        self.shard.committed(self._last_offset + 1)

    def _answer(self, replies: list[Reply]) -> None:
        for ticket, response in replies:
            self._waiting.pop(ticket, None)
            assert isinstance(ticket, Deferred)
            ticket.resolve(response)

    def _fail(self, replies: list[Reply], code: ErrorCode) -> None:
        for ticket, _ in replies:
            self._waiting.pop(ticket, None)
            assert isinstance(ticket, Deferred)
            ticket.fail(ApiError(code))

    # -- time ------------------------------------------------------------------------------------------------

    def _set_alarm(self) -> None:
        deadline = self.shard.deadline()
        if deadline is None or self.closed or (self._alarm_ms is not None and self._alarm_ms <= deadline):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_ms = deadline
        self._alarm = self._timer.call_later(max(0, deadline - self.now_ms()), self._ring)

    def _ring(self) -> None:
        self._alarm = self._alarm_ms = None
        if self.closed:
            return
        self.settle()
        now = self.now_ms()
        self._by_time = True
        try:
            while (outcome := self.shard.tick(now)) is not None:
                self.perform(outcome)
        finally:
            self._by_time = False
        self._set_alarm()

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self, code: ErrorCode = ErrorCode.NOT_COORDINATOR) -> None:
        """Stop; whoever waits hears `code`."""
        self.closed = True
        self._log_end_of_refusals()
        if self._alarm is not None:
            self._alarm.cancel()
        if self.unwritten is not None:
            self.unwritten.fail(code)
        waiting, self._waiting = self._waiting, {}
        for ticket in waiting:
            assert isinstance(ticket, Deferred)
            ticket.fail(ApiError(code))
