"""Which free records a member is given of what was read from the log, and in which pieces it hears of them.

Laws of this file: new records come in whole batches of the log unless the wish is strict, and never beyond
what may be in flight. What was given out as one and came back as one is given out as one again, until it has
come back often: then what may bring down whoever works on it comes in smaller pieces, at last alone, and
nothing else with it. Nothing here makes a record anybody's: that is `SharePartition.acquire`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kbroker.coordinator.share.in_flight import InFlight
from kbroker.coordinator.share.spans import Acquired, RecordState, Span

#: No record counts as suspect after fewer deliveries than these.
_SUSPECT_SINCE = 2

_AVAILABLE = RecordState.AVAILABLE


class Wish(NamedTuple):
    """How many records a member wants.

    Args:
        records: at most so many; whole batches of the log may go beyond, unless `strict`.
        batch_size: acquired records are told in pieces of about so many.
    """

    records: int
    batch_size: int = 2**31 - 1
    strict: bool = False


def choose(records: InFlight, log_batches: Sequence[tuple[int, int]], wish: Wish) -> list[Span]:
    """The free spans to give, in order, cut to what is wanted; new ones are among the records by then.

    Args:
        log_batches: first and last offset of each batch that was read, in order; not empty.
    """
    position = max(log_batches[0][0], records.start_offset)
    last = log_batches[-1][1]
    given: list[Span] = []
    harmless: tuple[int, int] | None = None
    left = wish.records
    while position <= last and left > 0:
        index = records.index_at(position)
        span = records.spans[index] if index >= 0 else None
        if span is None or span.last < position:
            taken = _new(records, index + 1, position, last, left, log_batches, wish.strict)
            if taken is None:
                break
        elif span.state is _AVAILABLE and not span.pending:
            if span.origin != harmless and _is_suspect(records, index):
                # Nothing else comes with what may bring down whoever works on it.
                return given or list(_few(records, index, position, last, left if wish.strict else None))
            harmless = span.origin
            taken = _again(records, index, position, last, left, wish.strict)
        else:
            position = span.last + 1
            continue
        given.append(taken)
        left -= len(taken)
        position = taken.last + 1
    return given


def told(given: list[Span], log_batches: Sequence[tuple[int, int]], size: int) -> Iterator[Acquired]:
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


def _new(
    records: InFlight,
    index: int,
    first: int,
    last: int,
    left: int,
    log_batches: Sequence[tuple[int, int]],
    strict: bool,
) -> Span | None:
    """A new span from `first` up to the next one; None if there is no room behind the end."""
    if index < len(records.spans):
        last = min(last, records.spans[index].first - 1)
    if last > records.end_offset:
        used = max(first, records.end_offset + 1) - records.start_offset
        left = min(left, records.limits.max_in_flight - used)
        if left <= 0:
            return None
    if last - first + 1 > left:
        end = first + left - 1
        if not strict:
            at = bisect_right(log_batches, end, key=lambda batch: batch[0]) - 1
            end = max(end, log_batches[at][1])
        last = min(last, end)
    span = Span(first, last, _AVAILABLE, 0)
    records.insert(index, span)
    return span


def _suspect_since(records: InFlight) -> int:
    return max(_SUSPECT_SINCE, -(-records.limits.max_deliveries // 2))


def _is_suspect(records: InFlight, index: int) -> bool:
    """Whether records that were acquired as one with this span have often been given out in vain."""
    spans, since = records.spans, _suspect_since(records)
    origin = spans[index].origin
    while index < len(spans) and spans[index].origin == origin:
        span = spans[index]
        if span.count >= since and span.state is _AVAILABLE and not span.pending:
            return True
        index += 1
    return False


def _few(records: InFlight, index: int, position: int, last: int, left: int | None) -> Iterator[Span]:
    """Of what was acquired as one: half of it after half of the deliveries, then a quarter …, at the last
    delivery one record alone, as Kafka does.
    """
    spans, since, most = records.spans, _suspect_since(records), records.limits.max_deliveries
    origin = spans[index].origin
    count = 0
    while index < len(spans) and spans[index].origin == origin:
        span = spans[index]
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
            taken = _again(records, index, max(position, span.first), last, room, True)
            count += len(taken)
            yield taken
            if alone:
                return
            index = spans.index(taken, index)
        index += 1


def _again(records: InFlight, index: int, first: int, last: int, left: int, strict: bool) -> Span:
    """What came back, from `first` on: all of the span, or as much as is wanted."""
    span = records.spans[index]
    if span.whole and not strict and span.first == first and span.last <= last:
        return span
    if span.first < first:
        span = records.cut(index, first)
        index += 1
    end = min(span.last, last, first + left - 1)
    if end < span.last:
        records.cut(index, end + 1)
    return span
