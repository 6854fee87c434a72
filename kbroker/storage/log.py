"""The log of one partition: its state, and its end, where batches are staged and written.

How an append walks: `append_as_leader` checks the batch and asks `producer_state`; `stage` patches base
offset and leader epoch and keeps the bytes; `flush_staged` writes all that is staged with one call. Only then
does `log_end_offset` move and a reader see it. Whatever else a log does is a function of the module for it,
which the class takes in by name.

The law of this file:
- What is staged is in order and complete: offsets, producer state and indexes count it in at once. If the
  write then fails, the directory goes offline and nothing of this memory is used any more.
- log_start_offset <= high_watermark <= log_end_offset <= staged_end_offset; recovery_point <= log_end_offset.
"""

from __future__ import annotations

from contextlib import suppress
from struct import Struct

from kbroker.metrics.topics import Appended
from kbroker.protocol.record_batch import LOG_OVERHEAD
from kbroker.storage import (
    follower_append,
    leader_append,
    log_append,
    log_files,
    log_reader,
    log_roll,
    log_trim,
)
from kbroker.storage.append_checks import needs_record_checks
from kbroker.storage.disk import Buffer, StorageError
from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_encryption import encryption_of
from kbroker.storage.log_trim import FsyncJob
from kbroker.storage.log_types import AppendOrigin, AppendResult, LoadedLog
from kbroker.storage.recent_batches import RecentBatches
from kbroker.storage.segment import TimestampOffset
from kbroker.storage.time_search import NewestSearch, TimeSearch, found_at_once
from kbroker.storage.txn_check import TxnCheck
from kbroker.types import TopicPartition, Uuid

__all__ = ["AppendOrigin", "AppendResult", "FsyncJob", "LoadedLog", "Log"]

_PREFIX = Struct(">qii")
#: Parts of more bytes on average go to the system as they are; smaller ones are joined, which is faster.
_JOIN_PART_BYTES = 3 * 1024
#: More than this is not left to the next sync: copying it would cost more than the write that it saves.
_LEFT_BYTES_MAX = 32 * 1024


class Log:
    """One partition's log. Touch it on one thread; only `FsyncJob.run` may run elsewhere.

    Args:
        topic_partition: its name.
        topic_id: its topic's id; ZERO_UUID if unknown.
        directory: the log directory it lies in.
        config: the topic's numbers.
        loaded: its state.
    """

    __slots__ = (
        "_active",
        "_config",
        "_dropped",
        "_high_watermark",
        "_kept",
        "_needs_look",
        "_recent",
        "_roll_bytes",
        "_roll_now_ms",
        "_roll_offset",
        "_roll_timestamp",
        "_sealed_end",
        "_snapshots",
        "_staged",
        "_staged_position",
        "counts",
        "cut_at",
        "cuts",
        "directory",
        "durable_end",
        "encrypted",
        "encryption",
        "epochs",
        "epochs_unsynced",
        "flush_messages",
        "last_sync_ms",
        "log_end_offset",
        "log_start_offset",
        "lost",
        "metadata_dirty",
        "names_dirty",
        "path",
        "producers",
        "read_hints",
        "recovery_point",
        "segments",
        "staged_end_offset",
        "sync_running",
        "topic_id",
        "topic_partition",
        "txn_check",
        "wants_sync",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: Uuid,
        directory: LogDir,
        config: LogConfig,
        loaded: LoadedLog,
        path: str | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.directory = directory
        self.path = path or f"{directory.path}/{topic_partition}"
        self.segments = loaded.segments
        self.epochs = loaded.epochs
        self.producers = loaded.producers
        self.log_start_offset = loaded.log_start_offset
        #: End of what is written and readable.
        self.log_end_offset = loaded.log_end_offset
        #: Everything below is on stable storage.
        self.recovery_point = loaded.recovery_point
        #: The batches below are on stable storage, whatever the indexes are: what answers may rely on.
        self.durable_end = loaded.recovery_point
        self.names_dirty = True  # files have come whose names are not durable yet
        #: How often the end was cut back: a sync that began before says nothing about what came after.
        self.cuts = 0
        #: Where it was cut, until that is durable: a power cut may leave something else above than is there.
        self.cut_at = MAX_LONG
        self.last_sync_ms = directory.now_ms
        #: A segment was closed since the last sync: the driver should run an `fsync_job`.
        self.wants_sync = False
        #: A job of `LogManager.sync_jobs` is under way.
        self.sync_running = False
        #: The partition.metadata file, and that of the epochs, is written but not synced.
        self.metadata_dirty = self.epochs_unsynced = False
        self.staged_end_offset = loaded.log_end_offset
        self.txn_check = TxnCheck(loaded.indexed_from)
        self.read_hints: dict[int, tuple[int, int]] = {}
        #: Where what is written is counted.
        self.counts = Appended()
        self._high_watermark = loaded.log_start_offset
        self._staged: list[Buffer] = []
        #: How many staged parts are left to a sync (`leave_staged`).
        self._kept = 0
        #: Why what was left to a sync is not in the log; the sync asks, and sets it back.
        self.lost: StorageError | None = None
        #: What was staged is gone since a roll could not write it; the next flush says so.
        self._dropped: StorageError | None = None
        self._snapshots: dict[int, None] = {}
        #: It may have encrypted batches; what encrypts those of clients, if anything does.
        self.encrypted = False
        #: Where the log ended when its files were last sealed, -1: not as they are now.
        self._sealed_end = loaded.log_end_offset if loaded.sealed else -1
        self._active = loaded.segments.active
        self._recent = RecentBatches(0, 0)
        self._staged_position = self._roll_bytes = self._roll_offset = 0
        self._roll_timestamp = self._roll_now_ms = MAX_LONG
        self.config = config
        self._start_on_active()

    # -- plain facts -----------------------------------------------------------------------------------------

    @property
    def config(self) -> LogConfig:
        """The topic's numbers; assign to change them on the live log."""
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self.flush_messages = config.flush_messages
        self.encryption = encryption_of(self)
        self._needs_look = needs_record_checks(config)
        self._set_roll_limits()

    @property
    def high_watermark(self) -> int:
        """End of what is committed; the partition moves it."""
        return self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        self._high_watermark = offset
        if self.producers.first_unstable is not None:
            self.producers.on_high_watermark(offset)

    @property
    def last_stable_offset(self) -> int:
        """Where a read_committed reader must stop."""
        unstable = self.producers.first_unstable
        if unstable is None or unstable >= self._high_watermark:
            return self._high_watermark
        return max(unstable, self.log_start_offset)

    @property
    def latest_epoch(self) -> int:
        """The latest leader epoch, -1 if none."""
        return self.epochs.latest

    @property
    def size(self) -> int:
        """Bytes of all segments, without indexes."""
        return sum(segment.size for segment in self.segments)

    @property
    def committable_end(self) -> int:
        """The log's end; the end of what is durable when flush.messages or more are not.

        So never more than flush.messages - 1 records are acknowledged, or shown, that a power cut may take.
        """
        end = self.log_end_offset
        return end if end - self.durable_end < self.flush_messages else self.durable_end

    @property
    def has_staged(self) -> bool:
        """Whether `flush_staged` has something to write."""
        return bool(self._staged)

    # -- append ----------------------------------------------------------------------------------------------

    append_as_leader = leader_append.append_as_leader
    long_look = leader_append.long_look
    looked_into_here = leader_append.looked_into_here
    append_as_follower = follower_append.append_as_follower

    def stage(
        self,
        records: memoryview,
        size: int,
        base: int,
        last: int,
        max_ts: int,
        leader_epoch: int,
        now_ms: int,
    ) -> None:
        """Put one whole batch at the end: patch it, keep it for the flush, count it in."""
        position = self._staged_position
        if (
            position > self._roll_bytes - size
            or max_ts > self._roll_timestamp
            or now_ms > self._roll_now_ms
            or last > self._roll_offset
        ):
            position = log_roll.make_room(self, size, last, max_ts, now_ms)
        if leader_epoch > self.epochs.latest:
            self.epochs.assign(leader_epoch, base)
        if records.readonly:
            self._staged += (_PREFIX.pack(base, size - LOG_OVERHEAD, leader_epoch), records[16:])
        else:
            _PREFIX.pack_into(records, 0, base, size - LOG_OVERHEAD, leader_epoch)
            self._staged.append(records)
        active = self._active
        newest = active.max_timestamp
        if newest is None or active.bytes_since_index_entry > self._config.index_interval_bytes:
            try:
                active.note_batch(position, size, last, max_ts, self._config.index_interval_bytes)
            except OSError as error:
                raise self.directory.fail_for_good(error) from error
            if active.is_index_full(self._config.segment_index_bytes):
                self._roll_bytes = -1
        else:
            if max_ts > newest:
                active.max_timestamp = max_ts
                active.max_timestamp_offset = last
            active.bytes_since_index_entry += size
        recent = self._recent
        recent.lasts.append(last)
        recent.positions.append(position)
        self._staged_position = recent.end = position + size
        self.staged_end_offset = last + 1
        if position == 0:
            log_files.begin_segment(self, max_ts)
            self._set_roll_limits()

    def flush_staged(self) -> None:
        """Write everything staged with one call; afterwards `log_end_offset` covers it and readers see it.

        Raises:
            StorageError: the write failed, nothing of it is in the log. The directory is offline, or full.
        """
        staged = self._staged
        if not staged:
            if self._dropped is not None:
                dropped, self._dropped = self._dropped, None
                raise dropped
            return
        active = self._active
        start = active.size
        try:
            file = self.directory.files.get(active.path)
            if len(staged) == 1:
                file.write(start, staged[0])
            elif self._staged_position - start > _JOIN_PART_BYTES * len(staged):
                file.write_many(start, staged)
            else:
                file.write(start, b"".join(staged))
        except OSError as error:
            raise log_append.not_written(self, error) from error
        staged.clear()
        self._kept = 0
        counts = self.counts
        counts.bytes += self._staged_position - start
        counts.messages += self.staged_end_offset - self.log_end_offset
        active.size = self._staged_position
        self.log_end_offset = self.staged_end_offset
        self.producers.end_offset = self.staged_end_offset
        self._recent.trim()

    def leave_staged(self) -> bool:
        """Leave what is staged to a sync that will flush it; False if that is too much, or nothing.

        Only appends see it until then: whatever else is asked of the log flushes first (`settle`).
        """
        staged = self._staged
        size = self._staged_position - self._active.size
        if not staged or size > _LEFT_BYTES_MAX or self._dropped is not None:
            return False
        for index in range(self._kept, len(staged)):  # as `log_append.own`, without the call
            staged[index] = bytes(staged[index])
        self._kept = len(staged)
        return True

    def settle(self) -> None:
        """Write what was left to a sync; if that fails, `lost` says so to those who wait."""
        if self._kept:
            with suppress(StorageError):
                self.flush_staged()

    # -- rolling ---------------------------------------------------------------------------------------------

    def _start_on_active(self) -> None:
        self._active = self.segments.active
        self._staged_position = self._active.size
        self._recent = RecentBatches(self.staged_end_offset, self._active.size)
        self._set_roll_limits()

    def _set_roll_limits(self) -> None:
        limits = log_roll.limits(self._config, self._active, self._staged_position, self.topic_partition)
        self._roll_bytes, self._roll_offset, self._roll_timestamp, self._roll_now_ms = limits

    roll = log_roll.roll
    write_snapshot = log_files.write_snapshot

    @property
    def snapshots(self) -> dict[int, None]:
        """Offsets of the producer snapshots on disk."""
        return self._snapshots

    def restart_tail(self) -> None:
        """After segments were cut or replaced: forget positions, go on at the active segment's end."""
        self.read_hints.clear()
        self._staged.clear()
        self._kept = 0
        self._sealed_end = -1
        self.staged_end_offset = self.log_end_offset
        self._start_on_active()

    # -- read ------------------------------------------------------------------------------------------------

    read = log_reader.read
    aborted_txns = log_reader.aborted_txns

    def offset_for_timestamp(self, timestamp: int, end_offset: int | None = None) -> TimestampOffset | None:
        """The first record, in offset order, not older than `timestamp` (ms) and below `end_offset`."""
        return found_at_once(TimeSearch(self, timestamp, end_offset))

    def max_timestamp_offset(self) -> TimestampOffset | None:
        """The first record with the largest timestamp (KIP-734); None if no record has one."""
        return found_at_once(NewestSearch(self))

    # -- epochs ----------------------------------------------------------------------------------------------

    def assign_epoch(self, epoch: int, start_offset: int) -> None:
        """A leader epoch begins; the file follows with the next checkpoint or sync."""
        self.epochs.assign(epoch, start_offset)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(epoch, end offset) as OffsetForLeaderEpoch answers; (-1, -1) if unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    write_epochs = log_files.write_epochs
    write_partition_metadata = log_files.write_partition_metadata

    # -- cutting ---------------------------------------------------------------------------------------------

    truncate_to = log_trim.truncate_to
    truncate_fully_and_start_at = log_trim.truncate_fully_and_start_at
    delete_records_to = log_trim.delete_records_to
    delete_old_segments = log_trim.delete_old_segments

    # -- durability ------------------------------------------------------------------------------------------

    fsync_job = log_trim.fsync_job
    fsynced = log_trim.fsynced
    fsync = log_trim.fsync

    @property
    def is_sealed(self) -> bool:
        """Whether the files are as a clean stop leaves them, durable, but for an epoch that wrote nothing."""
        return self._sealed_end == self.recovery_point == self.staged_end_offset

    seal = log_files.seal

    def close(self) -> None:
        """Clean stop: write all and make it durable. Raises StorageError."""
        if not self.is_sealed:
            self.seal()
            self.fsync()
