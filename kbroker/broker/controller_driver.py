"""The controller on this node: feeds decisions with the speculative image, writes their records, answers.

One request walks: `decide(speculative image)` -> records appended in one batch -> folded into the next
speculative image -> durable and committed (`raft_driver`) -> published (`MetadataCache`: logs appear,
coordinators hear) -> the requester's `Deferred` resolves. See controller/decision.py for the two images.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.controller.decision import Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import encode_record

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.records import MetadataRecord

T = TypeVar("T")

#: Records a batch: followers read whole batches, so they stay small; atomic decisions are one batch.
MAX_BATCH_RECORDS = 10_000


class MetadataWriter(Protocol):
    """What the controller needs of the quorum (broker/raft_driver.py)."""

    def append(self, values: Sequence[bytes]) -> int:
        """Append one batch of record values in the current leader epoch; the offset of its last record.

        Durable and committed later: `ControllerDriver.committed` is called then.
        """
        ...


class _Pending(NamedTuple):
    """An appended batch that is not committed yet: what to publish, and whom to answer."""

    last_offset: int
    image: ClusterImage
    delta: ClusterDelta
    done: Callable[[], None] | None


class ControllerDriver:
    """The active controller while this node leads the quorum; refuses with NOT_CONTROLLER otherwise.

    Args:
        writer: the quorum.
        cache: where committed images are published.
        timer: for request time-outs.
    """

    def __init__(self, writer: MetadataWriter, cache: MetadataCache, timer: Timer) -> None:
        self._writer = writer
        self._cache = cache
        self._timer = timer
        self._leading = False
        self._epoch = -1
        self._speculative = cache.image
        self._pending: deque[_Pending] = deque()
        self._waiting: deque[tuple[int, Deferred[Any], Any]] = deque()

    @property
    def active(self) -> bool:
        """Whether this node is the active controller."""
        return self._leading

    @property
    def speculative(self) -> ClusterImage:
        """The image that decisions are made on: all that was appended."""
        return self._speculative

    # -- requests ------------------------------------------------------------------------------------------

    def append_records(
        self, decide: Callable[[ClusterImage], Decision[T]], timeout_ms: float | None = None
    ) -> Deferred[T]:
        """Decide on the speculative image; resolved with the decision's response when its records are
        applied.

        Args:
            decide: pure; an ApiError it raises fails the Deferred.
            timeout_ms: how long to wait for the commit at most (REQUEST_TIMED_OUT after that; the records may
                still become true). None waits for ever.
        """
        deferred: Deferred[T] = Deferred()
        if not self._leading:
            deferred.fail(ApiError(ErrorCode.NOT_CONTROLLER))
            return deferred
        try:
            decision = decide(self._speculative)
            last_offset = self._append(decision)
        except ApiError as error:
            deferred.fail(error)
            return deferred
        if last_offset is None:
            # Nothing to write, but the answer may rest on records that are not committed yet.
            last_offset = self._pending[-1].last_offset if self._pending else self._cache.image.offset
        if last_offset <= self._cache.image.offset:
            deferred.resolve(decision.response)
            return deferred
        self._waiting.append((last_offset, deferred, decision.response))
        if timeout_ms is not None:
            self._arm(deferred, timeout_ms)
        return deferred

    def _arm(self, deferred: Deferred[Any], timeout_ms: float) -> None:
        self._timer.call_later(timeout_ms, lambda: deferred.fail(ApiError(ErrorCode.REQUEST_TIMED_OUT)))

    def _append(self, decision: Decision[Any]) -> int | None:
        """Append the records; the offset of the last one, None if there are none."""
        records = decision.records
        if not records:
            return None
        if decision.atomic and len(records) > MAX_BATCH_RECORDS:
            raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
        last_offset = None
        for start in range(0, len(records), MAX_BATCH_RECORDS):
            last_offset = self._append_batch(records[start : start + MAX_BATCH_RECORDS])
        return last_offset

    def _append_batch(self, records: Sequence[MetadataRecord]) -> int:
        image = self._speculative
        delta = ClusterDelta(image)
        for record in records:
            delta.replay(record)
        level = delta.metadata_version
        offset = self._writer.append([encode_record(record, level) for record in records])
        self._speculative = delta.image(offset, self._epoch)
        self._pending.append(_Pending(offset, self._speculative, delta, None))
        return offset
