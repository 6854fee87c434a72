"""The controller on this node: feeds decisions with the speculative image, writes their records, answers.

One request walks: `decide(speculative image)` -> records appended in one batch -> folded into the next
speculative image -> durable and committed (`raft_driver`) -> published (`MetadataCache`: logs appear,
coordinators hear) -> the requester's `Deferred` resolves. See controller/decision.py for the two images.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.broker.producer_ids import ProducerIdSource
from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.controller.features import METADATA_VERSION
from kbroker.controller.producer_ids import ProducerIdBlock, allocate_block
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.delta import ClusterDelta, full_delta
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import encode_record
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.raft.voter_set import QuorumVoter

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.records import MetadataRecord

T = TypeVar("T")

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


class QuorumStatus(NamedTuple):
    """The metadata quorum as its leader sees it."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    log_end_offset: int
    voters: tuple[QuorumVoter, ...]


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

    last_offset: int
    image: ClusterImage
    delta: ClusterDelta


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
        cache: where committed images are published.
        timer: for request time-outs.
        loaded: the image that the log on this node's disk comes to.
    """

    def __init__(self, node_id: int, cache: MetadataCache, timer: Timer, loaded: ClusterImage) -> None:
        self.node_id = node_id
        self._cache = cache
        self._timer = timer
        self._writer: MetadataWriter | None = None
        self._epoch = -1
        self._committed = loaded
        self._speculative = loaded
        self._pending: deque[_Pending] = deque()
        self._waiting: deque[_Waiting] = deque()
        self._publishing = False
        #: Producer ids for this broker, from blocks of its own.
        self.producer_ids = ProducerIdSource(self._allocate_producer_ids)
        #: How the quorum stands; set by who wires the node.
        self.quorum_status: Callable[[], QuorumStatus] = _no_quorum
        #: Called when this node becomes the active controller, to bring itself into the cluster.
        self.on_active: Callable[[], None] = _nothing
        #: Called after a commit with the committed image.
        self.on_commit: Callable[[ClusterImage], None] = _ignore

    @property
    def active(self) -> bool:
        """Whether this node is the active controller."""
        return self._writer is not None

    @property
    def committed_image(self) -> ClusterImage:
        """The cluster as committed; published from `publish_from_now` on."""
        return self._committed

    # -- requests --------------------------------------------------------------------------------------------

    def append_records(
        self, decide: Callable[[ClusterImage], Decision[T]], timeout_ms: float | None = None
    ) -> Deferred[T]:
        """Decide on the speculative image; resolved with the response when its records are applied here.

        Args:
            decide: pure; an ApiError it raises fails the Deferred.
            timeout_ms: how long to wait for the commit at most. REQUEST_TIMED_OUT after that, and the records
                may still become true; with 0 or less nothing is done at all. None waits for ever.
        """
        deferred: Deferred[T] = Deferred()
        try:
            if self._writer is None:
                raise ApiError(ErrorCode.NOT_CONTROLLER)
            if timeout_ms is not None and timeout_ms <= 0:
                raise ApiError(ErrorCode.REQUEST_TIMED_OUT)
            decision = decide(self._speculative)
            last_offset = self._append(self._writer, decision)
        except ApiError as error:
            deferred.fail(error)
            return deferred
        if last_offset <= self._committed.offset:
            deferred.resolve(decision.response)
            return deferred
        handle = None
        if timeout_ms is not None:
            handle = self._timer.call_later(
                timeout_ms, lambda: deferred.fail(ApiError(ErrorCode.REQUEST_TIMED_OUT))
            )
        self._waiting.append(_Waiting(last_offset, deferred, decision.response, handle))
        return deferred

    def _append(self, writer: MetadataWriter, decision: Decision[Any]) -> int:
        """Append the records; the offset that has to be committed before the answer holds."""
        for part in _batches(decision, self._speculative.metadata_version):
            self._append_batch(writer, part)
        # Without records the answer may still rest on what is not committed yet.
        return self._pending[-1].last_offset if self._pending else self._committed.offset

    def _append_batch(self, writer: MetadataWriter, part: _Batch) -> None:
        delta = ClusterDelta(self._speculative)
        for record in part.records:
            delta.replay(record)
        values = part.values
        # The image exists before the batch: whatever a flush commits in between finds its pending entry.
        last_offset = writer.end_offset + len(values) - 1
        image = delta.image(last_offset, self._epoch)
        before, self._speculative = self._speculative, image
        self._pending.append(_Pending(last_offset, image, delta))
        try:
            writer.append(values)
        except ApiError:
            self._pending.pop()
            self._speculative = before
            raise

    def next_producer_id(self) -> Deferred[int]:
        """A producer id that nobody else gets."""
        return self.producer_ids.next_id()

    def _allocate_producer_ids(self) -> Deferred[ProducerIdBlock]:
        broker = self._committed.brokers.get(self.node_id)
        epoch = -1 if broker is None else broker.epoch
        return self.append_records(lambda image: allocate_block(image, self.node_id, epoch))

    # -- what the quorum tells -------------------------------------------------------------------------------

    def lead_with(self, writer: MetadataWriter, epoch: int) -> None:
        """This node is the active controller of `epoch`; everything before is committed."""
        self._writer = writer
        self._epoch = epoch
        self._committed = replace(
            self._committed, offset=writer.end_offset - 1, epoch=epoch, controller_id=self.node_id
        )
        self._speculative = self._committed
        self.on_active()

    def committed(self, high_watermark: int) -> None:
        """Publish what is committed now, then give the answers that waited for it."""
        while self._pending and self._pending[0].last_offset < high_watermark:
            pending = self._pending.popleft()
            self._committed = pending.image
            if self._publishing:
                self._cache.publish(pending.image, pending.delta)
        while self._waiting and self._waiting[0].last_offset < high_watermark:
            waiting = self._waiting.popleft()
            if waiting.timeout is not None:
                waiting.timeout.cancel()
            waiting.deferred.resolve(waiting.response)
        self.on_commit(self._committed)

    def publish_from_now(self) -> None:
        """Publish the committed image with all it holds, and every one after it.

        Until then replayed history and the node's own registration stay private: subscribers see each log
        created, led and fenced again only as what is true in the end.
        """
        self._publishing = True
        self._cache.publish(self._committed, full_delta(self._committed))

    def publish_no_more(self) -> None:
        """What is still committed is nobody's business here: the node stops."""
        self._publishing = False

    def resigned(self) -> None:
        """This node is no controller any more: whoever waits has to ask the next one."""
        self._writer = None
        self._speculative = self._committed
        self._pending.clear()
        while self._waiting:
            waiting = self._waiting.popleft()
            if waiting.timeout is not None:
                waiting.timeout.cancel()
            waiting.deferred.fail(ApiError(ErrorCode.NOT_CONTROLLER))


def _nothing() -> None:
    """Nobody asked to be called."""


def _no_quorum() -> QuorumStatus:
    raise ApiError(ErrorCode.NOT_CONTROLLER)


def _ignore(image: ClusterImage) -> None:
    """Nobody asked to hear of commits."""
