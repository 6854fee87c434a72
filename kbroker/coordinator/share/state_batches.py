"""Old and new state of records, put together; equal neighbours become one.

A write that was asked again may come after a later one. So of two states of a record the one with more
deliveries wins, and of those with as many the one that is further on, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kbroker.coordinator.share.spans import StateBatch


def combined(old: Sequence[StateBatch], new: Sequence[StateBatch], start_offset: int) -> list[StateBatch]:
    """Sorted, apart, nothing before `start_offset`.

    Args:
        new: what there is besides; the order does not matter, but for two that are equally far.
    """
    merged = sorted(old)
    for batch in new:
        merged = _laid_over(merged, batch)
    found: list[StateBatch] = []
    for batch in merged:
        if batch.last < start_offset:
            continue
        if batch.first < start_offset:
            batch = batch._replace(first=start_offset)
        if found and found[-1].last + 1 == batch.first and found[-1][2:] == batch[2:]:
            found[-1] = found[-1]._replace(last=batch.last)
        else:
            found.append(batch)
    return found


def _laid_over(below: Iterable[StateBatch], top: StateBatch) -> list[StateBatch]:
    found, pieces = [], [top]
    for each in below:
        if each.last < top.first or each.first > top.last:
            found.append(each)
        elif (each.deliveries, each.state) > (top.deliveries, top.state):
            found.append(each)
            pieces = [piece for other in pieces for piece in _without(other, each)]
        else:
            found += _without(each, top)
    found += pieces
    found.sort()
    return found


def _without(batch: StateBatch, hole: StateBatch) -> Iterator[StateBatch]:
    if batch.last < hole.first or batch.first > hole.last:
        yield batch
        return
    if batch.first < hole.first:
        yield batch._replace(last=hole.first - 1)
    if batch.last > hole.last:
        yield batch._replace(first=hole.last + 1)
