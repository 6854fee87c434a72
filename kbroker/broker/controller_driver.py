"""The controller on this node: feeds decisions with the speculative image, writes their records, answers.

One request walks: `decide(speculative image)` -> records appended in one batch -> folded into the next
speculative image -> durable and committed (`raft_driver`) -> published (`MetadataCache`: logs appear,
coordinators hear) -> the requester's `Deferred` resolves. See controller/decision.py for the two images.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.broker.producer_ids import ProducerIdSource
from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.controller.features import METADATA_VERSION
from kbroker.controller.producer_ids import ProducerIdBlock, allocate_block
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import BEFORE_MIGRATION, ClusterImage
from kbroker.metadata.records import encode_record
from kbroker.metrics.histogram import Histogram
from kbroker.metrics.rates import RecentTimes
from kbroker.plain import replace
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.metadata.records import MetadataRecord

T = TypeVar("T")

#: (records, image before, whether the leaders themselves ask) -> records.
Adapt = Callable[["Sequence[MetadataRecord]", ClusterImage, bool], "Sequence[MetadataRecord]"]

#: Whether a metadata transaction is open after such a record.
_IN_TRANSACTION = {
    "BeginTransactionRecord": True,
    "EndTransactionRecord": False,
    "AbortTransactionRecord": False,
}
#: Followers read whole batches, and take none above 8 MiB.
_MAX_BATCH_BYTES = 4 << 20
#: What a record needs in a batch besides its value, at most.
_RECORD_OVERHEAD = 30


class MetadataWriter(Protocol):
    """What the controller needs of the quorum (broker/raft_driver.py)."""

    @property
    def end_offset(self) -> int:
        """Where the log ends: the next batch's first offset."""
        ...

    def append(self, values: Sequence[bytes]) -> int:
        """Append one batch of record values in the current leader epoch; the offset of its last record.

        Durable and committed later: `ControllerDriver.committed` is called then.
        """
        ...

    def unrivalled(self) -> bool:
        """Whether nobody else can be the active controller by now."""
        ...


class ControllerMemory(Protocol):
    """What the controller needs of the committed image (broker/committed_metadata.py, zk_memory.py)."""

    image: ClusterImage

    def handed_over(self, first_offset: int, image: ClusterImage, delta: ClusterDelta) -> None:
        """A batch of the active controller from `first_offset` on is committed, and comes to `image`."""
        ...

    def controller_is(self, node_id: int) -> None:
        """That node is the active controller."""
        ...

    def when_told(self, then: Callable[[], None]) -> None:
        """Call `then` when all that is committed so far has been told to those it concerns."""
        ...


class ControllerWatcher(Protocol):
    """Who works only while this node is the active controller (broker/controller_chores.py)."""

    def activated(self, image: ClusterImage) -> None:
        """This node is the active controller now, with everything up to `image` committed."""
        ...

    def committed(self, image: ClusterImage) -> None:
        """More is committed; while this node is the active controller."""
        ...

    def resigned(self) -> None:
        """This node is no controller any more."""
        ...


class _Batch(NamedTuple):
    """Records that go into the log together, and their encoding."""

    records: list[MetadataRecord]
    values: list[bytes]


def _batches(decision: Decision[Any], level: int) -> Iterator[_Batch]:
    """The batches of a decision; one for an atomic one.

    Raises:
        ApiError: POLICY_VIOLATION, an atomic decision is larger than a batch may be.
    """
    batch, size = _Batch([], []), 0
    for record in decision.records:
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION:
            level = record.feature_level
        value = encode_record(record, level)
        if len(batch.values) >= MAX_RECORDS_PER_REQUEST or size + len(value) > _MAX_BATCH_BYTES:
            if decision.atomic:
                raise ApiError(
                    ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
                )
            yield batch
            batch, size = _Batch([], []), 0
        batch.records.append(record)
        batch.values.append(value)
        size += len(value) + _RECORD_OVERHEAD
    if batch.values:
        yield batch


class _Pending(NamedTuple):
    """An appended batch that is not committed yet, and what to publish when it is."""

    first_offset: int
    last_offset: int
    image: ClusterImage
    delta: ClusterDelta
    #: A metadata transaction is open after it (KIP-868): nobody may see it before that has ended.
    is_open: bool
    appended_s: float


class _Waiting(NamedTuple):
    """A requester whose answer holds once everything up to `last_offset` is committed and applied."""

    last_offset: int
    deferred: Deferred[Any]
    response: Any
    timeout: TimerHandle | None


class ControllerDriver:
    """The active controller while this node leads the quorum; refuses with NOT_CONTROLLER otherwise.

    Args:
        node_id: this node.
        timer: for request time-outs.
        metadata: the committed image of this node.
    """

    def __init__(self, node_id: int, timer: Timer, metadata: ControllerMemory) -> None:
        self.node_id = node_id
        self._metadata = metadata
        self._timer = timer
        self._writer: MetadataWriter | None = None
        self._epoch = -1
        self._speculative = metadata.image
        self._pending: deque[_Pending] = deque()
        self._in_transaction = False
        self._waiting: deque[_Waiting] = deque()
        #: Decisions asked for, answers that took too long, what deciding and appending takes in µs.
        self.started = self.timed_out = 0
        self.times = Histogram(0.001)
        #: From the append of a batch until it is committed, in ms.
        self.commit_times = RecentTimes(perf_counter)
        #: Producer ids for this broker, from blocks of its own.
        self.producer_ids = ProducerIdSource(self._allocate_producer_ids)
        #: Called when this node becomes the active controller, to bring itself into the cluster.
        self.on_active: Callable[[], None] = _nothing
        #: Called when it is not any more.
        self.on_resigned: Callable[[], None] = _nothing
        self._watchers: list[ControllerWatcher] = []
        #: Makes of a decision's records those that this memory's brokers need (ZooKeeper's do).
        self.adapt: Adapt | None = None

    @property
    def active(self) -> bool:
        """Whether this node is the active controller."""
        return self._writer is not None

    def unrivalled(self) -> bool:
        """Whether this node is the active controller, and no other can be by now."""
        return self._writer is not None and self._writer.unrivalled()

    @property
    def committed_image(self) -> ClusterImage:
        """The cluster as committed, published or not yet."""
        return self._metadata.image

    @property
    def speculative_image(self) -> ClusterImage:
        """The cluster with all that this controller has decided; the committed one where it does not lead."""
        return self._speculative if self._writer is not None else self._metadata.image

    def watch(self, watcher: ControllerWatcher) -> None:
        """Tell `watcher` of activity and commits from now on; at once if this node is active already."""
        self._watchers.append(watcher)
        if self.active:
            watcher.activated(self.committed_image)

    # -- requests --------------------------------------------------------------------------------------------

    def append_records(
        self,
        decide: Callable[[ClusterImage], Decision[T]],
        timeout_ms: float | None = None,
        *,
        by_leader: bool = False,
        always: bool = False,
    ) -> Deferred[T]:
        """Decide on the speculative image; resolved with the response when its records are applied here.

        Args:
            decide: pure; an ApiError it raises fails the Deferred.
            timeout_ms: how long to wait for the commit at most. REQUEST_TIMED_OUT after that, and the records
                may still become true; with 0 or less nothing is done at all. None waits for ever.
            by_leader: the partitions' own leaders ask for it, and learn from the answer.
            always: also while the cluster is still ZooKeeper's (KIP-866): all else is NOT_CONTROLLER then.
        """
        deferred: Deferred[T] = Deferred()
        began_s = perf_counter()
        try:
            if self._writer is None:
                raise ApiError(ErrorCode.NOT_CONTROLLER)
            if self._speculative.zk_migration_state == BEFORE_MIGRATION and not always:
                raise ApiError(ErrorCode.NOT_CONTROLLER, "The controller is in pre-migration mode.")
            self.started += 1
            if timeout_ms is not None and timeout_ms <= 0:
                self.timed_out += 1
                raise ApiError(ErrorCode.REQUEST_TIMED_OUT)
            decision = decide(self._speculative)
            if self.adapt is not None:
                decision = replace(
                    decision, records=self.adapt(decision.records, self._speculative, by_leader)
                )
            last_offset = self._append(self._writer, decision)
            self.times.record(int((perf_counter() - began_s) * 1e6))
        except ApiError as error:
            deferred.fail(error)
            return deferred
        if last_offset <= self._metadata.image.offset:
            self._metadata.when_told(lambda: deferred.resolve(decision.response))
            return deferred
        handle = None
        if timeout_ms is not None:
            handle = self._timer.call_later(timeout_ms, lambda: self._too_late(deferred))
        self._waiting.append(_Waiting(last_offset, deferred, decision.response, handle))
        return deferred

    def _too_late(self, deferred: Deferred[Any]) -> None:
        self.timed_out += 1
        deferred.fail(ApiError(ErrorCode.REQUEST_TIMED_OUT))

    def _append(self, writer: MetadataWriter, decision: Decision[Any]) -> int:
        """Append the records; the offset that has to be committed before the answer holds."""
        if self._in_transaction and decision.records and not decision.in_transaction:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "The controller is in the middle of a transaction.")
        for part in _batches(decision, self._speculative.metadata_version):
            self._append_batch(writer, part)
        # Without records the answer may still rest on what is not committed yet.
        return self._pending[-1].last_offset if self._pending else self._metadata.image.offset

    def _append_batch(self, writer: MetadataWriter, part: _Batch) -> None:
        delta = ClusterDelta(self._speculative)
        is_open = was_open = self._in_transaction
        for record in part.records:
            delta.replay(record)
            is_open = _IN_TRANSACTION.get(record.NAME, is_open)
        values = part.values
        # The image exists before the batch: whatever a flush commits in between finds its pending entry.
        first_offset = writer.end_offset
        last_offset = first_offset + len(values) - 1
        image = delta.image(last_offset, self._epoch)
        before, self._speculative = self._speculative, image
        self._pending.append(_Pending(first_offset, last_offset, image, delta, is_open, perf_counter()))
        self._in_transaction = is_open
        try:
            writer.append(values)
        except ApiError:
            self._pending.pop()
            self._in_transaction = was_open
            self._speculative = before
            raise

    def next_producer_id(self) -> Deferred[int]:
        """A producer id that nobody else gets."""
        return self.producer_ids.next_id()

    def _allocate_producer_ids(self) -> Deferred[ProducerIdBlock]:
        broker = self._metadata.image.brokers.get(self.node_id)
        epoch = -1 if broker is None else broker.epoch
        return self.append_records(lambda image: allocate_block(image, self.node_id, epoch))

    # -- what the quorum tells -------------------------------------------------------------------------------

    def lead_with(self, writer: MetadataWriter, epoch: int) -> None:
        """This node is the active controller of `epoch`; everything before is committed, and folded."""
        self._writer = writer
        self._epoch = epoch
        self._metadata.controller_is(self.node_id)
        self._speculative = self._metadata.image.at(writer.end_offset - 1, epoch)
        for watcher in self._watchers:
            watcher.activated(self._speculative)
        self.on_active()

    def committed(self, high_watermark: int) -> None:
        """Publish what is committed now, then give the answers that waited for it."""
        if self._pending and self._pending[0].last_offset < high_watermark:
            self.commit_times.record((perf_counter() - self._pending[0].appended_s) * 1000)
        while self._pending and self._pending[0].last_offset < high_watermark:
            if self._pending[0].is_open:
                if not self._hand_over_transaction(high_watermark):
                    return
                continue
            pending = self._pending.popleft()
            self._metadata.handed_over(pending.first_offset, pending.image, pending.delta)
        while self._waiting and self._waiting[0].last_offset < high_watermark:
            waiting = self._waiting.popleft()
            if waiting.timeout is not None:
                waiting.timeout.cancel()
            self._metadata.when_told(partial(waiting.deferred.resolve, waiting.response))
        if self.active:
            for watcher in self._watchers:
                watcher.committed(self.committed_image)

    def _hand_over_transaction(self, high_watermark: int) -> bool:
        """The batches of the oldest transaction as one, if its last one is committed, too."""
        last = next((at for at, each in enumerate(self._pending) if not each.is_open), None)
        if last is None or self._pending[last].last_offset >= high_watermark:
            return False
        parts = [self._pending.popleft() for _ in range(last + 1)]
        image = parts[-1].image
        self._metadata.handed_over(parts[0].first_offset, image, difference(self._metadata.image, image))
        return True

    def kraft_version_is(self, level: int) -> None:
        """The quorum has committed that level of kraft.version, which no metadata record says."""
        if self._speculative.kraft_version != level:
            self._speculative = replace(self._speculative, kraft_version=level)

    def resigned(self) -> None:
        """This node is no controller any more: whoever waits has to ask the next one."""
        was_active, self._writer = self.active, None
        self._pending.clear()
        self._in_transaction = False
        while self._waiting:
            waiting = self._waiting.popleft()
            if waiting.timeout is not None:
                waiting.timeout.cancel()
            waiting.deferred.fail(ApiError(ErrorCode.NOT_CONTROLLER))
        if was_active:
            for watcher in self._watchers:
                watcher.resigned()
            self.on_resigned()


def _nothing() -> None:
    """Nobody asked to be called."""
