"""Whether the indexes of a segment are true, as far as a look at few batches can tell.

Law of this file: nothing is changed here. What is found to be wrong is built anew by the segment, from the
batches, which are always right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError
from kbroker.storage.time_index import NO_TIMESTAMP

if TYPE_CHECKING:
    from kbroker.storage.segment import Segment

#: How far behind the last entry of a time index it is checked that nothing is younger.
_TIMES_BYTES = 1 << 20


def indexes_hold(segment: Segment) -> bool:
    """Whether offset and time index can be true: their sizes, and the last entry of each."""
    try:
        good = segment.offset_index.fits(segment.size) and segment.time_index.fits()
        # Messages of format 0 have no times, and a segment of them no entries.
        timeless = len(segment.time_index) == 0 and segment.first_timestamp() != NO_TIMESTAMP
        return good and not timeless and _last_entries_hold(segment)
    except (IndexError, ApiError):
        return False


def entry_holds(segment: Segment, relative: int, position: int) -> bool:
    """Whether an offset entry is true: a batch begins there, and it has no larger offset.

    It may have smaller ones: followers of old brokers wrote one entry for several batches.
    """
    for batch in segment.walk(position):
        return segment.base_offset <= batch.base_offset <= batch.last_offset <= segment.base_offset + relative
    return False


def _last_entries_hold(segment: Segment) -> bool:
    """Whether the last entry of each index is true, and no batch behind them is younger."""
    count = len(segment.offset_index)
    tail = 0
    if count:
        relative, tail = segment.offset_index.entry(count - 1)
        if not entry_holds(segment, relative, tail):
            return False
    timestamp, offset = segment.time_index.last()
    if any(batch.max_timestamp > timestamp for batch in segment.walk(tail)):
        return False
    named = -1
    for batch in segment.walk(segment.offset_index.position_for(offset)):
        if batch.last_offset < offset:
            continue
        if named < 0:
            # Old brokers name the record itself, newer ones the last of its batch; recovery counts the
            # time of a batch without records, compaction does not.
            if batch.max_timestamp not in (timestamp, NO_TIMESTAMP):
                return False
            named = batch.position
        elif batch.max_timestamp > timestamp:
            return False  # the index was cut, and what came last is older
        if batch.position - named > _TIMES_BYTES:
            break
    return named >= 0
