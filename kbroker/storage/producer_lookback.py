"""Earlier batches of a producer, looked up in the log: a snapshot keeps only the last one of its five.

After a restart, or a truncation, the state of producers comes from a snapshot. A producer that did not hear
of its last five requests sends them all again, and the first four would be refused for their sequence, which
no client survives without a gap or a record twice. Apache Kafka refuses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.append_checks import AppendError
from kbroker.storage.batch_scan import scan_batches
from kbroker.storage.producer_state import BATCHES_KEPT, SEQUENCE_MAX, BatchMemory, ProducerEntry

if TYPE_CHECKING:
    from kbroker.storage.log import Log
    from kbroker.storage.segment import Segment

#: How much of a segment, and how many segments, are read. It is done once for a producer and snapshot.
_LOOK_BYTES = 4 << 20
_LOOK_SEGMENTS = 2


def sent_before(
    log: Log, error: ApiError, producer_id: int, epoch: int, first_sequence: int, last_sequence: int
) -> BatchMemory:
    """The batch that one which the producer state refuses with `error` repeats, if the log has it.

    Raises:
        AppendError: it repeats none.
        StorageError: the log cannot be read.
    """
    entry = log.producers.entries.get(producer_id)
    if (
        error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        and entry is not None
        and entry.is_cut
        and entry.epoch == epoch
    ):
        _remember_more(log, entry)
        seen = log.producers.find_duplicate(producer_id, epoch, first_sequence, last_sequence)
        if seen is not None:
            return seen
    raise AppendError(error.code, error.message, log_start_offset=log.log_start_offset)


def _remember_more(log: Log, entry: ProducerEntry) -> None:
    entry.is_cut = False
    missing = BATCHES_KEPT - len(entry.batches)
    if missing <= 0 or not entry.batches:
        return
    first = entry.batches[0].first_offset
    if first <= log.log_start_offset:
        return
    at = log.segments.index_of(first - 1)
    found: list[BatchMemory] = []
    try:
        for index in range(at, max(at - _LOOK_SEGMENTS, -1), -1):
            found = _batches_of(log.segments[index], entry, first) + found
            if len(found) >= missing:
                break
    except OSError as error:
        raise log.directory.fail(error) from error
    # Only what leads up to what is known without a gap.
    for memory in reversed(found[-missing:]):
        if (memory.last_sequence + 1) & SEQUENCE_MAX != entry.batches[0].first_sequence:
            return
        entry.batches.insert(0, memory)


def _batches_of(segment: Segment, entry: ProducerEntry, end_offset: int) -> list[BatchMemory]:
    """The producer's batches in the last part of the segment below `end_offset`."""
    segment.trust_indexes()
    index = segment.offset_index
    start = index.position_before(max(index.position_for(end_offset) - _LOOK_BYTES, 0))
    found = []
    for _, header in scan_batches(segment.file().read, segment.size, start):
        if header.base_offset >= end_offset:
            break
        same = header.producer_id == entry.producer_id and header.producer_epoch == entry.epoch
        if same and not header.is_control and header.base_sequence >= 0:
            delta = header.last_offset_delta
            found.append(BatchMemory(header.last_sequence, header.last_offset, delta, header.max_timestamp))
    return found
