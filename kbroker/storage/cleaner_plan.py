"""Which log is worth compacting next, and what of it may be compacted; pure, over the logs as they are."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import NamedTuple

from kbroker.storage.cleaner_job import CleanJob, SourceSegment
from kbroker.storage.log import Log
from kbroker.storage.log_config import MAX_LONG
from kbroker.storage.segment import Segment
from kbroker.types import TopicPartition, Uuid

logger = logging.getLogger(__name__)

_OFFSET_ENTRY_BYTES = 8
_TIME_ENTRY_BYTES = 12


class CleanerLimits(NamedTuple):
    """log.cleaner.…: memory for keys (of one worker), how full it may get, and bytes read at once."""

    map_bytes: int = 128 << 20
    load_factor: float = 0.9
    io_bytes: int = 512 << 10


class Candidate(NamedTuple):
    """A log that could be compacted, from `first_dirty` up to `upper_bound`."""

    log: Log
    first_dirty: int
    upper_bound: int
    clean_bytes: int
    cleanable_bytes: int
    #: Its oldest dirty record is older than max.compaction.lag.ms.
    due: bool

    @property
    def dirty_ratio(self) -> float:
        """The share of bytes that were never compacted."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0


class CleanerState:
    """How far each log is compacted, and what else is remembered between rounds.

    A log is known by its topic id, too: one that was deleted and made anew begins from nothing.
    """

    def __init__(self) -> None:
        self._offsets: dict[TopicPartition, tuple[Uuid, int]] = {}
        #: When the last tombstone or marker that waits in the log may go.
        self._horizons: dict[TopicPartition, int] = {}
        #: Why a log is not compacted any more; until the broker starts again.
        self.uncleanable: dict[TopicPartition, str] = {}
        #: The largest share of uncompacted bytes that the last look at the logs found.
        self.dirtiest_ratio = 0.0

    def checkpoint(self, log: Log) -> int | None:
        """Everything below this offset was compacted once; None if nothing was."""
        topic_id, offset = self._offsets.get(log.topic_partition, (log.topic_id, -1))
        return offset if topic_id == log.topic_id and offset >= 0 else None

    def set_checkpoint(self, log: Log, offset: int) -> None:
        """The log is compacted up to `offset`."""
        self._offsets[log.topic_partition] = (log.topic_id, offset)

    def set_horizon(self, log: Log, latest_ms: int) -> None:
        """See `CleanResult.latest_horizon_ms`."""
        if latest_ms < 0:
            self._horizons.pop(log.topic_partition, None)
        else:
            self._horizons[log.topic_partition] = latest_ms

    def truncated(self, log: Log, offset: int) -> None:
        """The log lost everything from `offset` on."""
        checkpoint = self.checkpoint(log)
        if checkpoint is not None and checkpoint > offset:
            self.set_checkpoint(log, offset)

    def forget(self, log: Log) -> None:
        """The log is gone."""
        for known in (self._offsets, self._horizons, self.uncleanable):
            known.pop(log.topic_partition, None)

    def choose(self, logs: Iterable[Log], now_ms: int) -> Candidate | None:
        """The log that needs it most; None if none is worth it now.

        Beyond Kafka's order (too old, then dirtiest) one whose tombstones have had their time is taken when
        there is nothing else to do.
        """
        found = [
            candidate
            for log in logs
            if len(log.segments) > 1
            and log.config.compact
            and not log.directory.offline
            and log.topic_partition not in self.uncleanable
            and (candidate := self._consider(log, now_ms)) is not None
        ]
        self.dirtiest_ratio = max((candidate.dirty_ratio for candidate in found), default=0.0)
        worth = [
            candidate
            for candidate in found
            if candidate.cleanable_bytes
            and (candidate.due or candidate.dirty_ratio > candidate.log.config.min_cleanable_dirty_ratio)
        ]
        if not worth:
            worth = [
                candidate
                for candidate in found
                if self._horizons.get(candidate.log.topic_partition, MAX_LONG) <= now_ms
            ]
        return max(worth, key=lambda candidate: (candidate.due, candidate.dirty_ratio), default=None)

    def _consider(self, log: Log, now_ms: int) -> Candidate | None:
        segments = log.segments
        active = segments.active
        first_dirty = self._first_dirty(log)
        # What is not durable yet supersedes nothing: a power cut may take it, and the key must be left then.
        upper = max(min(log.last_stable_offset, active.base_offset, log.durable_end), first_dirty)
        lag_ms = log.config.min_compaction_lag_ms
        dirty = [segment for segment in segments.from_offset(first_dirty) if segment is not active]
        if lag_ms > 0:
            for segment in dirty:
                if segment.largest_timestamp() > now_ms - lag_ms:
                    upper = max(min(upper, segment.base_offset), first_dirty)
                    break
        # Whole segments only.
        upper = segments[segments.index_of(upper)].base_offset
        clean = sum(segment.size for segment in segments if segment.base_offset < first_dirty)
        cleanable = sum(segment.size for segment in dirty if segment.base_offset < upper)
        if not clean + cleanable or upper <= segments.first.base_offset:
            return None
        return Candidate(log, first_dirty, upper, clean, cleanable, _is_due(log, dirty, now_ms))

    def _first_dirty(self, log: Log) -> int:
        checkpoint = self.checkpoint(log)
        start = log.log_start_offset
        if checkpoint is None:
            return start
        if checkpoint < start:
            return start
        if checkpoint > log.log_end_offset:
            logger.warning(
                "%s ends at %d, before the offset %d up to which it was compacted: compacting it from its "
                "start",
                log.topic_partition,
                log.log_end_offset,
                checkpoint,
            )
            self.set_checkpoint(log, start)
            return start
        return checkpoint


def _is_due(log: Log, dirty: list[Segment], now_ms: int) -> bool:
    lag_ms = log.config.max_compaction_lag_ms
    if lag_ms >= now_ms:
        return False
    firsts = [first for segment in dirty if (first := segment.first_timestamp()) is not None and first > 0]
    return min(firsts, default=MAX_LONG) < now_ms - lag_ms


def make_job(
    candidate: Candidate, limits: CleanerLimits, now_ms: int, removable_to: int = MAX_LONG
) -> tuple[CleanJob, list[Segment]]:
    """The job for a worker, and the segments that it is about, for the swap.

    Raises StorageError.
    """
    log = candidate.log
    config = log.config
    segments = [segment for segment in log.segments if segment.base_offset < candidate.upper_bound]
    job = CleanJob(
        directory=log.path,
        segments=[
            SourceSegment(
                segment.base_offset,
                segment.size,
                len(segment.offset_index) * _OFFSET_ENTRY_BYTES,
                len(segment.time_index) * _TIME_ENTRY_BYTES,
            )
            for segment in segments
        ],
        first_dirty=min(candidate.first_dirty, candidate.upper_bound),
        upper_bound=candidate.upper_bound,
        aborted=log.aborted_txns(segments[0].base_offset, candidate.upper_bound),
        producers={
            entry.producer_id: (entry.last_offset, entry.epoch)
            for entry in log.producers.entries.values()
            if entry.last_offset < candidate.upper_bound
        },
        segment_bytes=config.segment_bytes,
        segment_index_bytes=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
        delete_retention_ms=config.delete_retention_ms,
        now_ms=now_ms,
        removable_to=removable_to,
        map_bytes=limits.map_bytes,
        load_factor=limits.load_factor,
        io_bytes=limits.io_bytes,
        seal_with=config.encryption_key,
    )
    return job, segments
