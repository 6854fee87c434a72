"""What a member says about records it holds: the kinds, and what Kafka refuses, in its words.

Law of this file: an acknowledgement is looked at as a whole before any of it counts. Records before the start
are passed over without a word; every other one must be held by the member, and not be written just now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kbroker.coordinator.share.in_flight import InFlight
from kbroker.coordinator.share.spans import RecordState, Span
from kbroker.errors import ApiError, ErrorCode

#: As Kafka numbers them in requests.
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)


class AckBatch(NamedTuple):
    """Acknowledged records: one kind for all, or one for each."""

    first: int
    last: int
    kinds: Sequence[int]


def checked(records: InFlight, member: str, batch: AckBatch) -> Iterator[tuple[int, int, int]]:
    """(first, last, kind) of those that were acknowledged alike, without what lies before the start.

    Raises:
        ApiError: INVALID_REQUEST, or INVALID_RECORD_STATE.
    """
    first, last, kinds = batch
    start, spans = records.start_offset, records.spans
    if last < start:
        return
    index = records.index_at(first)
    if index < 0 and not first < start <= last:
        raise _invalid("Batch record not found. The request batch offsets are not found in the cache.")
    end = records.index_at(last)
    if end < 0 or spans[end].last < first:
        raise _invalid("Batch record not found. The first offset in request is past acquired records.")
    if spans[end].last < last:
        raise _invalid("Batch record not found. The last offset in request is past acquired records.")
    begin = max(first, start)
    for span in spans[max(index, 0) : end + 1]:
        if span.last >= begin:
            _check_held(span, member, covered=first <= span.first and span.last <= last and len(kinds) == 1)
    if RENEW in kinds and not records.limits.may_renew:
        raise ApiError(
            ErrorCode.INVALID_RECORD_STATE, "Renewing acquisition locks is not enabled for the group."
        )
    if len(kinds) == 1:
        yield begin, last, kinds[0]
        return
    alike = 0
    for at in range(1, len(kinds) + 1):
        if at == len(kinds) or kinds[at] != kinds[alike]:
            if first + at - 1 >= start:
                yield max(first + alike, start), first + at - 1, kinds[alike]
            alike = at


def _check_held(span: Span, member: str, covered: bool) -> None:
    """INVALID_RECORD_STATE unless the member holds the span."""
    if span.pending:
        text = "The record state is invalid. The acknowledgement of delivery could not be completed."
    elif span.state is not RecordState.ACQUIRED:
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
