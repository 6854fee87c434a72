"""The records of one partition that a share group has in flight: who holds which, how often each was given.

Law of this file: a record is ACQUIRED by at most one member, until that member acknowledges it or its lock
ends. A lock that ends gives the record back with its count of deliveries, or archives it after the last one
that is allowed. Where the group keeps dead letters, a record that is given up is first ARCHIVING, until its
dead letter is written. Where the records are is `in_flight.py`, which ones are given `acquisition.py`, what a
member may say about them `acknowledgement.py`.

What is acknowledged is true at once for everybody but the log: its spans are `pending` until the share
coordinator has written them, then `settle` moves the start, or gives them back to whom they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from kbroker.coordinator.share.acknowledgement import ACCEPT, GAP, REJECT, RELEASE, RENEW, AckBatch, checked
from kbroker.coordinator.share.acquisition import Wish, choose, told
from kbroker.coordinator.share.dead_letters import Cause, DeadLetters, resumed
from kbroker.coordinator.share.in_flight import InFlight, ShareLimits
from kbroker.coordinator.share.spans import Acquired, RecordState, Span, StateBatch

_AVAILABLE, _ACQUIRED, _ARCHIVING = RecordState.AVAILABLE, RecordState.ACQUIRED, RecordState.ARCHIVING
_NEXT = {
    GAP: RecordState.ARCHIVED,
    ACCEPT: RecordState.ACKNOWLEDGED,
    RELEASE: _AVAILABLE,
    REJECT: RecordState.ARCHIVED,
}


class Change:
    """Spans in a state that has still to be written, and what each was before."""

    __slots__ = ("batches", "before", "complete_count", "dead", "spans", "start_offset")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.before: list[tuple[RecordState, int, str, int]] = []
        #: What to write; empty: nothing, and there is nothing to settle.
        self.batches: list[StateBatch] = []
        #: What wants dead letters once it is written.
        self.dead: list[DeadLetters] = []
        self.start_offset = 0
        self.complete_count = 0


class SharePartition(InFlight):
    """See the top of the file; arguments as of `InFlight`."""

    __slots__ = ("_deadlines",)

    def __init__(
        self, start_offset: int, kept: Iterable[StateBatch] = (), limits: ShareLimits | None = None
    ) -> None:
        super().__init__(start_offset, kept, limits)
        self._deadlines: list[int] = []

    @property
    def is_locked(self) -> bool:
        """Somebody holds records, or what became of some is still being written."""
        return any(span.state in (_ACQUIRED, _ARCHIVING) or span.pending for span in self.spans)

    # -- giving out ------------------------------------------------------------------------------------------

    def acquire(
        self,
        member: str,
        fetch_offset: int,
        log_batches: Sequence[tuple[int, int]],
        wish: Wish,
        now_ms: int,
    ) -> list[Acquired]:
        """Give free records of what was read to a member.

        Args:
            fetch_offset: where the log was read from; it has nothing between that and the first batch.
            log_batches: first and last offset of each batch that was read, in order.
        """
        if not log_batches:
            return []
        self.pass_over(fetch_offset, log_batches[0][0] - 1)
        deadline = now_ms + self.limits.lock_ms
        given = choose(self, log_batches, wish)
        for each in given:
            each.state = _ACQUIRED
            each.count += 1
            each.member = member
            each.deadline_ms = deadline
        if given:
            self._remind(deadline)
        return list(told(given, log_batches, wish.batch_size))

    def archive(self, first: int, last: int) -> None:
        """Records just acquired that their member must not see: those of an aborted transaction."""
        for span in self.carved(first, last):
            if span.state is _ACQUIRED and not span.pending:
                self._set(span, RecordState.ARCHIVED)
        self.advance()

    # -- acknowledging ---------------------------------------------------------------------------------------

    def acknowledge(self, member: str, batches: Iterable[AckBatch], now_ms: int) -> Change:
        """Take what a member says about records it holds: all of it, or nothing.

        The batches are in order and apart. Write `Change.batches` if there are any, then `settle`.

        Raises:
            ApiError: INVALID_REQUEST, or INVALID_RECORD_STATE.
        """
        wanted = [part for batch in batches for part in checked(self, member, batch)]
        change = Change()
        for first, last, kind in wanted:
            for span in self.carved(first, last):
                if kind == RENEW:
                    span.deadline_ms = now_ms + self.limits.lock_ms
                    self._remind(span.deadline_ms)
                elif kind == REJECT and self.limits.dead_letters:
                    self._decide(change, span, _ARCHIVING, Cause.REJECTED)
                else:
                    self._decide(change, span, _NEXT[kind])
        return self._to_write(change)

    def release(self, member: str) -> Change:
        """A member's session ended: it gives back what it holds; the deliveries count, as in Kafka."""
        change = Change()
        for span in self.spans:
            if span.state is _ACQUIRED and span.member == member and not span.pending:
                self._decide(change, span, _AVAILABLE)
        return self._to_write(change)

    def expire(self, now_ms: int) -> list[StateBatch]:
        """Locks that have ended: their records are free again, or archived. What to write; nothing waits for
        it."""
        while self._deadlines and self._deadlines[0] <= now_ms:
            heappop(self._deadlines)
        ended: list[StateBatch] = []
        for span in self.spans:
            if span.state is _ACQUIRED and not span.pending and span.deadline_ms <= now_ms:
                self._set(span, self._after_release(span))
                ended.append(span.kept())
        if ended:
            self.advance()
        return ended

    def archived(self, first: int, last: int) -> list[StateBatch]:
        """Dead letters of these records are written, or cannot be. What to write; nothing waits for it."""
        done = [span for span in self.carved(first, last) if span.state is _ARCHIVING and not span.pending]
        for span in done:
            self._set(span, RecordState.ARCHIVED)
        batches = [span.kept() for span in done]
        if done:
            self.advance()
        return batches

    def dead_letters(self) -> list[DeadLetters]:
        """Of a state that was loaded: what somebody else gave up, and did not come to the end with."""
        most = self.limits.max_deliveries
        return [resumed(span.kept(), most) for span in self.spans if span.state is _ARCHIVING]

    def deadline(self) -> int | None:
        """When to call `expire`: never too late, maybe too early."""
        return self._deadlines[0] if self._deadlines else None

    def settle(self, change: Change, written: bool) -> None:
        """The change is in the log, or could not be written: then the records are whose they were."""
        for span, (state, count, member, deadline_ms) in zip(change.spans, change.before):
            span.pending = False
            if not written:
                span.state, span.count, span.member, span.deadline_ms = state, count, member, deadline_ms
                self._remind(deadline_ms)
            elif span.state is _AVAILABLE:
                self._may_have_free = True
        self.advance()

    def _decide(self, change: Change, span: Span, state: RecordState, cause: Cause = Cause.EXCEEDED) -> None:
        change.spans.append(span)
        change.before.append((span.state, span.count, span.member, span.deadline_ms))
        if state is _AVAILABLE:
            state = self._after_release(span)
        self._set(span, state)
        span.pending = True
        change.batches.append(span.kept())
        if state is _ARCHIVING:
            change.dead.append(DeadLetters(span.first, span.last, span.count, cause))

    def _to_write(self, change: Change) -> Change:
        if change.batches:
            change.start_offset = self.start_offset
            change.complete_count = self.complete_count
        return change

    def _after_release(self, span: Span) -> RecordState:
        if span.count < self.limits.max_deliveries:
            return _AVAILABLE
        return _ARCHIVING if self.limits.dead_letters else RecordState.ARCHIVED

    def _set(self, span: Span, state: RecordState) -> None:
        span.state = state
        span.member = ""
        span.deadline_ms = 0
        if state is _AVAILABLE:
            self._may_have_free = True

    def _remind(self, deadline_ms: int) -> None:
        if deadline_ms and (
            not self._deadlines or deadline_ms not in (self._deadlines[0], self._deadlines[-1])
        ):
            heappush(self._deadlines, deadline_ms)
