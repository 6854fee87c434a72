"""Old and new state of records, put together: newer ones win, equal neighbours become one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbroker.coordinator.share.spans import StateBatch


def combined(old: Sequence[StateBatch], new: Sequence[StateBatch], start_offset: int) -> list[StateBatch]:
    """Sorted, apart, nothing before `start_offset`.

    Args:
        new: what overrides `old` where both speak of a record; later ones override earlier ones.
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
    found = []
    for each in below:
        if each.last < top.first or each.first > top.last:
            found.append(each)
            continue
        if each.first < top.first:
            found.append(each._replace(last=top.first - 1))
        if each.last > top.last:
            found.append(each._replace(first=top.last + 1))
    found.append(top)
    found.sort()
    return found
