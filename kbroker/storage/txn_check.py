"""Whether old transaction indexes tell the truth, found out on first use and for as much as is used.

A `.txnindex` is written once and trusted for ever by Apache Kafka. If it was lost, zeroed or cut, a reader
with read_committed would be shown aborted records. So before an index that comes from the disk is used for
a range, the batch headers of that range are walked, and on to the markers that end the transactions in it.
An abort that the index does not tell, or one that it invents, means that it is built anew from the segment.

The law of this file: each part of a log is walked about once in the life of a process, and only if somebody
reads it with read_committed. Segments that were written or recovered in this life are never walked.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    CONTROL_BIT,
    LOG_OVERHEAD,
    TRANSACTIONAL_BIT,
    parse_batch_header,
)
from kbroker.storage.producer_replay import ABORT, COMMIT, read_marker, rebuild_txn_index
from kbroker.storage.segment import Segment
from kbroker.storage.txn_index import AbortedTxn

if TYPE_CHECKING:
    from kbroker.storage.log import Log

logger = logging.getLogger(__name__)

#: Readers at different places of one log whose progress is remembered.
_WALKS = 4
_STEP_BYTES = 1 << 20
_CHUNK_BYTES = 4096
_HEADER = Struct(">qi4xb4xhi16xq")


class _Batch(NamedTuple):
    position: int
    size: int
    base_offset: int
    next_offset: int
    attributes: int
    producer_id: int


class _Walk:
    """What was seen from `start` to `end`. `open`: transactions without a marker so far, by producer, and
    where their first batch lies."""

    __slots__ = ("end", "open", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.open: dict[int, int] = {}

    def covers(self, end: int) -> bool:
        """Whether the fate of every batch before `end` is known."""
        return self.end >= end and not any(first < end for first in self.open.values())


class TxnCheck:
    """The walks through one log.

    Args:
        trusted_from: the indexes of segments from this offset on were made in this life.
    """

    __slots__ = ("_trusted_from", "_walks")

    def __init__(self, trusted_from: int = 0) -> None:
        self._trusted_from = trusted_from
        self._walks: list[_Walk] = []

    def check(self, log: Log, start: int, end: int) -> None:
        """Make sure that the indexes tell every abort of a transaction with a batch in [start, end).

        Raises:
            OSError: the disk failed.
        """
        if start >= self._trusted_from:
            return
        walk = self._walk_from(start)
        while not walk.covers(end) and walk.end < self._trusted_from:
            segment = log.segments[log.segments.index_of(walk.end)]
            before = walk.end
            self._step(log, segment, walk, end)
            if walk.end == before:
                walk.end = self._end_of(log, segment)
                if walk.end <= before:
                    return

    def cut(self, end_offset: int) -> None:
        """The log now ends there: offsets behind it may come to mean other batches."""
        self._walks.clear()
        self._trusted_from = min(self._trusted_from, end_offset)

    def _walk_from(self, start: int) -> _Walk:
        for walk in self._walks:
            if walk.start <= start <= walk.end:
                return walk
        walk = _Walk(start)
        self._walks.insert(0, walk)
        del self._walks[_WALKS:]
        return walk

    @staticmethod
    def _end_of(log: Log, segment: Segment) -> int:
        following = log.segments.index_of(segment.base_offset) + 1
        return log.segments[following].base_offset if following < len(log.segments) else log.log_end_offset

    def _step(self, log: Log, segment: Segment, walk: _Walk, end: int) -> None:
        """Walk on in the segment, until enough is known or a good deal was read."""
        start = walk.end
        found = segment.locate(start)
        if found is None:
            return
        aborts: dict[int, int] = {}
        missed = False
        expected = _told(segment)
        for batch in _batches(segment, found.position):
            if walk.covers(end) or batch.position - found.position > _STEP_BYTES:
                break
            walk.end = max(batch.next_offset, walk.end)
            if not batch.attributes & TRANSACTIONAL_BIT:
                continue
            producer = batch.producer_id
            if not batch.attributes & CONTROL_BIT:
                walk.open.setdefault(producer, batch.base_offset)
                continue
            kind = _marker_of(segment, batch)
            if kind not in (ABORT, COMMIT):
                continue
            first = walk.open.pop(producer, None)
            if kind == ABORT:
                aborts[batch.base_offset] = producer
                told = expected.get(batch.base_offset) if expected is not None else None
                if told is None:
                    missed |= first is not None
                else:
                    missed |= first is not None and (
                        told.producer_id != producer or told.first_offset > first
                    )
                    # A reader stops looking where an entry says that all before is settled.
                    missed |= told.last_stable_offset > min(walk.open.values(), default=batch.next_offset)
        invented = expected is not None and any(
            start <= offset < walk.end and aborts.get(offset) != txn.producer_id
            for offset, txn in expected.items()
        )
        if expected is None or missed or invented:
            rebuild_txn_index(log, segment)


def _told(segment: Segment) -> dict[int, AbortedTxn] | None:
    """The entries by the offset of their marker; None if the index cannot be read."""
    try:
        return {txn.last_offset: txn for txn in segment.aborted_txns()}
    except ValueError:
        return None


def _marker_of(segment: Segment, batch: _Batch) -> int:
    data = segment.file().read(batch.position, batch.size)
    header = parse_batch_header(data)
    if header.record_count == 0:
        return -1  # compaction has removed the marker, and all that it ended
    try:
        return read_marker(data, header)[0]
    except ApiError as error:
        logger.warning("%s: the marker at %d cannot be read: %s", segment.path, batch.base_offset, error)
        return -1


def _batches(segment: Segment, position: int) -> Iterator[_Batch]:
    """The headers from the batch at `position` on; messages of old formats have no transactions."""
    file, size = segment.file(), segment.size
    chunk, start = b"", position
    while position + BATCH_OVERHEAD <= size:
        at = position - start
        if at + BATCH_OVERHEAD > len(chunk):
            chunk, start, at = file.read(position, _CHUNK_BYTES), position, 0
            if len(chunk) < BATCH_OVERHEAD:
                return
        base, length, magic, attributes, delta, producer_id = _HEADER.unpack_from(chunk, at)
        if length <= 0:
            return
        if magic >= 2:
            yield _Batch(position, length + LOG_OVERHEAD, base, base + delta + 1, attributes, producer_id)
        position += length + LOG_OVERHEAD
