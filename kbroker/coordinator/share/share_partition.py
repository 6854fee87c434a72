"""The records of one partition that a share group has in flight: who holds which, how often each was given.

Between `start_offset` (nothing before it is of interest) and `end_offset` (the last one given to anybody)
lie spans of records, sorted and apart; an offset without a span was never given out. Law of this file: a
record is ACQUIRED by at most one member, until that member acknowledges it or its lock ends. A lock that ends
gives the record back with its count of deliveries, or archives it after the last one that is allowed. Where
the group keeps dead letters, a record that is given up is first ARCHIVING, until its dead letter is written.

What is acknowledged is true at once for everybody but the log: its spans are `pending` until the share
coordinator has written them, then `settle` moves the start, or gives them back to whom they were.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from typing import NamedTuple

from kbroker.coordinator.share.dead_letters import Cause, DeadLetters, resumed
from kbroker.coordinator.share.spans import TERMINAL, Acquired, RecordState, Span, StateBatch
from kbroker.errors import ApiError, ErrorCode

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

#: No record counts as suspect after fewer deliveries than these.
_SUSPECT_SINCE = 2

_FIRST = attrgetter("first")
_AVAILABLE, _ACQUIRED, _ARCHIVING = RecordState.AVAILABLE, RecordState.ACQUIRED, RecordState.ARCHIVING
_NEXT = {
    GAP: RecordState.ARCHIVED,
    ACCEPT: RecordState.ACKNOWLEDGED,
    RELEASE: _AVAILABLE,
    REJECT: RecordState.ARCHIVED,
}


class ShareLimits(NamedTuple):
    """Settings of the group, as they are now."""

    lock_ms: int = 30_000
    max_deliveries: int = 5
    max_in_flight: int = 2_000
    may_renew: bool = True
    #: Whether dead letters are written of records that are given up.
    dead_letters: bool = False


class Wish(NamedTuple):
    """How many records a member wants.

    Args:
        records: at most so many; whole batches of the log may go beyond, unless `strict`.
        batch_size: acquired records are told in pieces of about so many.
    """

    records: int
    batch_size: int = 2**31 - 1
    strict: bool = False


class AckBatch(NamedTuple):
    """Acknowledged records: one kind for all, or one for each."""

    first: int
    last: int
    kinds: Sequence[int]


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


class SharePartition:
    """See the top of the file.

    Args:
        start_offset: where the group begins.
        kept: what the share coordinator knows of the records from there on.
    """

    __slots__ = ("_deadlines", "_may_have_free", "_spans", "end_offset", "limits", "start_offset")

    def __init__(
        self, start_offset: int, kept: Iterable[StateBatch] = (), limits: ShareLimits | None = None
    ) -> None:
        self.limits = limits or ShareLimits()
        self.start_offset = start_offset
        self._spans: list[Span] = []
        self._deadlines: list[int] = []
        for first, last, state, count in sorted(kept):
            first = max(first, start_offset, self._spans[-1].last + 1 if self._spans else first)
            if first <= last:
                self._spans.append(Span(first, last, RecordState(state), count))
        self.end_offset = self._spans[-1].last if self._spans else start_offset - 1
        self._may_have_free = bool(self._spans)
        self._advance()

    # -- what there is ---------------------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """Records between start and end."""
        return self.end_offset - self.start_offset + 1

    @property
    def complete_count(self) -> int:
        """Records in flight that are done with."""
        return sum(len(span) for span in self._spans if span.state in TERMINAL)

    @property
    def is_locked(self) -> bool:
        """Somebody holds records, or what became of some is still being written."""
        return any(span.state in (_ACQUIRED, _ARCHIVING) or span.pending for span in self._spans)

    def spans(self) -> Iterator[Span]:
        """All spans; not to be changed."""
        return iter(self._spans)

    def next_fetch_offset(self) -> int:
        """The first record that may be given out."""
        if self._may_have_free:
            position = self.start_offset
            for span in self._spans:
                if span.first > position:
                    return position
                if span.state is _AVAILABLE and not span.pending:
                    return span.first
                position = span.last + 1
            self._may_have_free = False
        return self.end_offset + 1

    def can_acquire(self) -> bool:
        """There is room for more, or something came back."""
        if self.in_flight < self.limits.max_in_flight:
            return True
        return self.next_fetch_offset() <= self.end_offset

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
        self._pass_over(fetch_offset, log_batches[0][0] - 1)
        position = max(log_batches[0][0], self.start_offset)
        last = log_batches[-1][1]
        deadline = now_ms + self.limits.lock_ms
        given: list[Span] = []
        harmless: tuple[int, int] | None = None
        left = wish.records
        while position <= last and left > 0:
            index = bisect_right(self._spans, position, key=_FIRST) - 1
            span = self._spans[index] if index >= 0 else None
            if span is None or span.last < position:
                taken = self._acquire_new(index + 1, position, last, left, log_batches, wish.strict)
                if taken is None:
                    break
            elif span.state is _AVAILABLE and not span.pending:
                if span.origin != harmless and self._is_suspect(index):
                    # Nothing else comes with what may bring down whoever works on it.
                    given = given or list(self._few(index, position, last, left if wish.strict else None))
                    break
                harmless = span.origin
                taken = self._acquire_again(index, position, last, left, wish.strict)
            else:
                position = span.last + 1
                continue
            given.append(taken)
            left -= len(taken)
            position = taken.last + 1
        for each in given:
            each.state = _ACQUIRED
            each.count += 1
            each.member = member
            each.deadline_ms = deadline
        if given:
            self._remind(deadline)
        return list(_told(given, log_batches, wish.batch_size))

    def _pass_over(self, first: int, last: int) -> None:
        """There are no such records: those that nobody has seen are done with."""
        first = max(first, self.start_offset)
        index = bisect_right(self._spans, first, key=_FIRST)
        if index and self._spans[index - 1].last >= first:
            return
        if index < len(self._spans):
            last = min(last, self._spans[index].first - 1)
        if first <= last:
            self._spans.insert(index, Span(first, last, RecordState.ARCHIVED, 0))
            self.end_offset = max(self.end_offset, last)
            self._advance()

    def archive(self, first: int, last: int) -> None:
        """Records just acquired that their member must not see: those of an aborted transaction."""
        for span in self._carved(first, last):
            if span.state is _ACQUIRED and not span.pending:
                self._set(span, RecordState.ARCHIVED)
        self._advance()

    def _acquire_new(
        self,
        index: int,
        first: int,
        last: int,
        left: int,
        log_batches: Sequence[tuple[int, int]],
        strict: bool,
    ) -> Span | None:
        """A new span from `first` up to the next one; None if there is no room behind the end."""
        if index < len(self._spans):
            last = min(last, self._spans[index].first - 1)
        if last > self.end_offset:
            left = min(
                left, self.limits.max_in_flight - (max(first, self.end_offset + 1) - self.start_offset)
            )
            if left <= 0:
                return None
        if last - first + 1 > left:
            end = first + left - 1
            if not strict:
                at = bisect_right(log_batches, end, key=lambda batch: batch[0]) - 1
                end = max(end, log_batches[at][1])
            last = min(last, end)
        span = Span(first, last, _AVAILABLE, 0)
        self._spans.insert(index, span)
        self.end_offset = max(self.end_offset, last)
        return span

    def _is_suspect(self, index: int) -> bool:
        """Whether records that were acquired as one with this span have often been given out in vain."""
        origin, since = self._spans[index].origin, self._suspect_since
        while index < len(self._spans) and self._spans[index].origin == origin:
            span = self._spans[index]
            if span.count >= since and span.state is _AVAILABLE and not span.pending:
                return True
            index += 1
        return False

    @property
    def _suspect_since(self) -> int:
        return max(_SUSPECT_SINCE, -(-self.limits.max_deliveries // 2))

    def _few(self, index: int, position: int, last: int, left: int | None) -> Iterator[Span]:
        """Of what was acquired as one: half of it after half of the deliveries, then a quarter …, at the last
        delivery one record alone, as Kafka does.
        """
        most, since = self.limits.max_deliveries, self._suspect_since
        origin = self._spans[index].origin
        count = 0
        while index < len(self._spans) and self._spans[index].origin == origin:
            span = self._spans[index]
            if span.first > last:
                return
            if span.state is _AVAILABLE and not span.pending:
                if alone := most > _SUSPECT_SINCE and span.count == most - 1:
                    left = count + 1 if count == 0 else count
                elif span.count >= since:
                    few = max((origin[1] - origin[0] + 1) >> (span.count - since + 1), 1)
                    left = few if left is None else min(left, few)
                room = len(span) if left is None else left - count
                if room <= 0:
                    return
                taken = self._acquire_again(index, max(position, span.first), last, room, True)
                count += len(taken)
                yield taken
                if alone:
                    return
                index = self._spans.index(taken, index)
            index += 1

    def _acquire_again(self, index: int, first: int, last: int, left: int, strict: bool) -> Span:
        span = self._spans[index]
        if span.whole and not strict and span.first == first and span.last <= last:
            return span
        if span.first < first:
            span = self._cut(index, first)
            index += 1
        end = min(span.last, last, first + left - 1)
        if end < span.last:
            self._cut(index, end + 1)
        return span

    # -- acknowledging ---------------------------------------------------------------------------------------

    def acknowledge(self, member: str, batches: Iterable[AckBatch], now_ms: int) -> Change:
        """Take what a member says about records it holds: all of it, or nothing.

        The batches are in order and apart. Write `Change.batches` if there are any, then `settle`.

        Raises:
            ApiError: INVALID_REQUEST, or INVALID_RECORD_STATE.
        """
        wanted = [
            (first, last, kind) for batch in batches for first, last, kind in self._checked(member, batch)
        ]
        change = Change()
        for first, last, kind in wanted:
            for span in self._carved(first, last):
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
        for span in self._spans:
            if span.state is _ACQUIRED and span.member == member and not span.pending:
                self._decide(change, span, _AVAILABLE)
        return self._to_write(change)

    def expire(self, now_ms: int) -> list[StateBatch]:
        """Locks that have ended: their records are free again, or archived. What to write; nothing waits for
        it."""
        while self._deadlines and self._deadlines[0] <= now_ms:
            heappop(self._deadlines)
        ended: list[StateBatch] = []
        for span in self._spans:
            if span.state is _ACQUIRED and not span.pending and span.deadline_ms <= now_ms:
                self._set(span, self._after_release(span))
                ended.append(span.kept())
        if ended:
            self._advance()
        return ended

    def archived(self, first: int, last: int) -> list[StateBatch]:
        """Dead letters of these records are written, or cannot be. What to write; nothing waits for it."""
        done = [span for span in self._carved(first, last) if span.state is _ARCHIVING and not span.pending]
        for span in done:
            self._set(span, RecordState.ARCHIVED)
        batches = [span.kept() for span in done]
        if done:
            self._advance()
        return batches

    def dead_letters(self) -> list[DeadLetters]:
        """Of a state that was loaded: what somebody else gave up, and did not come to the end with."""
        most = self.limits.max_deliveries
        return [resumed(span.kept(), most) for span in self._spans if span.state is _ARCHIVING]

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
        self._advance()

    def log_start_moved(self, log_start: int) -> None:
        """Records before `log_start` are gone."""
        if log_start <= self.start_offset:
            return
        self.start_offset = log_start
        index = bisect_left(self._spans, log_start, key=_FIRST)
        if index and self._spans[index - 1].last >= log_start and not self._spans[index - 1].pending:
            self._cut(index - 1, log_start)
        self._may_have_free = True
        self._advance()

    def _checked(self, member: str, batch: AckBatch) -> Iterator[tuple[int, int, int]]:
        """The parts of one kind each, without what lies before the start."""
        first, last, kinds = batch
        if last < self.start_offset:
            return
        index = bisect_right(self._spans, first, key=_FIRST) - 1
        if index < 0 and not first < self.start_offset <= last:
            raise _invalid("Batch record not found. The request batch offsets are not found in the cache.")
        end = bisect_right(self._spans, last, key=_FIRST) - 1
        if end < 0 or self._spans[end].last < first:
            raise _invalid("Batch record not found. The first offset in request is past acquired records.")
        if self._spans[end].last < last:
            raise _invalid("Batch record not found. The last offset in request is past acquired records.")
        for span in self._spans[max(index, 0) : end + 1]:
            if span.last >= max(first, self.start_offset):
                _check_held(
                    span, member, covered=first <= span.first and span.last <= last and len(kinds) == 1
                )
        for kind in kinds:
            if kind == RENEW and not self.limits.may_renew:
                raise ApiError(
                    ErrorCode.INVALID_RECORD_STATE, "Renewing acquisition locks is not enabled for the group."
                )
        if len(kinds) == 1:
            yield max(first, self.start_offset), last, kinds[0]
            return
        begin = 0
        for at in range(1, len(kinds) + 1):
            if at == len(kinds) or kinds[at] != kinds[begin]:
                if first + at - 1 >= self.start_offset:
                    yield max(first + begin, self.start_offset), first + at - 1, kinds[begin]
                begin = at

    def _carved(self, first: int, last: int) -> list[Span]:
        """The spans from `first` to `last`, cut at both ends."""
        index = max(bisect_right(self._spans, first, key=_FIRST) - 1, 0)
        found = []
        while index < len(self._spans) and self._spans[index].first <= last:
            span = self._spans[index]
            if span.last >= first:
                if span.first < first:
                    span = self._cut(index, first)
                    index += 1
                if span.last > last:
                    self._cut(index, last + 1)
                found.append(span)
            index += 1
        return found

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

    def _cut(self, index: int, offset: int) -> Span:
        rest = self._spans[index].cut(offset)
        self._spans.insert(index + 1, rest)
        return rest

    def _advance(self) -> None:
        """The start goes past what is done with; spans that need not be apart become one."""
        done = 0
        for span in self._spans:
            gone = span.last < self.start_offset
            if span.pending or not (gone or (span.first <= self.start_offset and span.state in TERMINAL)):
                break
            self.start_offset = max(self.start_offset, span.last + 1)
            done += 1
        del self._spans[:done]
        if self.end_offset < self.start_offset - 1:
            self.end_offset = self.start_offset - 1
        if len(self._spans) > 1:
            self._join()

    def _join(self) -> None:
        joined = [self._spans[0]]
        for span in self._spans[1:]:
            if joined[-1].is_like(span):
                joined[-1].last = span.last
                joined[-1].whole = False
            else:
                joined.append(span)
        self._spans = joined


def _told(given: list[Span], log_batches: Sequence[tuple[int, int]], size: int) -> Iterator[Acquired]:
    """Acquired records as the answer names them: neighbours of one count together, new ones cut between
    batches of the log once a piece has `size` records."""
    held: Acquired | None = None
    for span in given:
        if (
            held is not None
            and not span.whole
            and held.last + 1 == span.first
            and held.deliveries == span.count
        ):
            held = Acquired(held.first, span.last, held.deliveries)
            continue
        if held is not None:
            yield held
        held = Acquired(span.first, span.last, span.count)
        if span.whole and span.count == 1 and len(span) > size:
            for base, _ in log_batches:
                if held.first < base <= span.last and base - held.first >= size:
                    yield Acquired(held.first, base - 1, held.deliveries)
                    held = Acquired(base, span.last, held.deliveries)
    if held is not None:
        yield held


def _check_held(span: Span, member: str, covered: bool) -> None:
    """INVALID_RECORD_STATE unless the member holds the span."""
    if span.pending:
        text = "The record state is invalid. The acknowledgement of delivery could not be completed."
    elif span.state is not _ACQUIRED:
        if not span.whole:
            text = "The offset cannot be acknowledged. The offset is not acquired."
        elif covered:
            text = "The batch cannot be acknowledged. The batch is not in the acquired state."
        else:
            text = "The batch cannot be acknowledged. The subset batch is not in the acquired state."
    elif span.member != member:
        text = f"Member is not the owner of {'batch record' if span.whole and covered else 'offset'}"
    else:
        return
    raise ApiError(ErrorCode.INVALID_RECORD_STATE, text)


def _invalid(text: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, text)
