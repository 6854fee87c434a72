"""The log of one partition: append, flush, read.

How an append walks: `append_as_leader` checks the batch by its header and CRC, asks `producer_state`, patches
base offset and leader epoch and *stages* the bytes; `flush_staged` writes all that is staged with one call.
Only then does `log_end_offset` move and a reader see it.

The law of this file:
- What is staged is in order and complete: offsets, producer state and indexes count it in at once. If the
  write then fails, the directory goes offline and nothing of this memory is used any more.
- log_start_offset <= high_watermark <= log_end_offset <= staged_end_offset; recovery_point <= log_end_offset.
- No call looks at single records unless the topic's config or a suspicious header demands it.
"""

from __future__ import annotations

from contextlib import suppress
from struct import Struct

from kbroker.errors import ApiError, ErrorCode
from kbroker.metrics.topics import Appended
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    CONTROL_BIT,
    LOG_OVERHEAD,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    parse_batch_header,
)
from kbroker.protocol.sealed_batch import SEALED_BIT
from kbroker.storage import follower_append, log_append, log_files, log_reader, log_roll, log_trim
from kbroker.storage.append_checks import (
    AppendError,
    BatchLook,
    check_payload_start,
    needs_record_checks,
    not_one_batch,
    refuse_header,
    the_one_batch,
)
from kbroker.storage.disk import Buffer, StorageError
from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_encryption import encryption_of
from kbroker.storage.log_reader import LogSlice
from kbroker.storage.log_trim import FsyncJob
from kbroker.storage.log_types import AppendOrigin, AppendResult, LoadedLog
from kbroker.storage.producer_lookback import sent_before
from kbroker.storage.recent_batches import RecentBatches
from kbroker.storage.segment import TimestampOffset
from kbroker.storage.time_search import NewestSearch, TimeSearch, found_at_once
from kbroker.storage.txn_check import TxnCheck
from kbroker.storage.txn_index import AbortedTxn
from kbroker.types import TopicPartition, Uuid

__all__ = ["AppendOrigin", "AppendResult", "FsyncJob", "LoadedLog", "Log"]

_HEADER = Struct(">qiibIhiqqqhii")
_PREFIX = Struct(">qii")
_INT_MAX = 0x7FFF_FFFF
_COMPRESSED_BITS = 0x07
_NOT_OF_CLIENTS = CONTROL_BIT | SEALED_BIT
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

    def append_as_leader(
        self,
        records: memoryview,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        look: BatchLook | None = None,
    ) -> AppendResult:
        """Check and stage one produced batch; `flush_staged` must follow before anybody is answered.

        `records` is kept until then, and its first 16 bytes are patched in place if it is writable. Time is
        in ms since 1970. `look`: what a job of `long_look` for these records found.
        Raises ApiError: AppendError, CannotOpen (no key), StorageError (the directory is offline).
        """
        if self.directory.refusal is not None:
            self.directory.check_append(origin)
        if origin is not AppendOrigin.CLIENT:
            return log_append.append_trusted(self, records, leader_epoch, now_ms, origin)
        config = self._config
        size = len(records)
        if size < BATCH_OVERHEAD:
            raise not_one_batch(records)
        base, length, _, magic, crc, attributes, delta, _, max_ts, producer_id, epoch, sequence, count = (
            _HEADER.unpack_from(records)
        )
        if magic != 2 or length != size - LOG_OVERHEAD:
            records = the_one_batch(records)
            size = len(records)
        if base:
            raise refuse_header(parse_batch_header(records), self.topic_partition, self.log_start_offset)
        if size > config.max_message_bytes:
            raise log_append.larger_than_allowed(self, size)
        if crc32c(records[21:]) != crc:
            raise AppendError(ErrorCode.CORRUPT_MESSAGE, "Record is corrupt: its CRC does not match")
        wrong = delta + 1 != count or count <= 0 or (producer_id >= 0 and sequence < 0)
        if wrong or attributes & _NOT_OF_CLIENTS:
            raise refuse_header(parse_batch_header(records), self.topic_partition, self.log_start_offset)
        if attributes & _COMPRESSED_BITS:
            check_payload_start(records, attributes, self.log_start_offset)
        append_time = -1
        if (
            self._needs_look[attributes & _COMPRESSED_BITS]
            or max_ts - now_ms > config.message_timestamp_after_max_ms
            or attributes & TIMESTAMP_TYPE_BIT
        ):
            records, max_ts, append_time = log_append.looked_into(self, records, look, now_ms)
            size = len(records)
        if size > config.segment_bytes:
            raise log_append.larger_than_segment(self, size)
        base = self.staged_end_offset
        last = base + delta
        if self.encryption is not None:
            records = self.encryption.seal(records, base)
            size = len(records)
        if producer_id >= 0:
            transactional = attributes & TRANSACTIONAL_BIT != 0
            last_sequence = (sequence + delta) & _INT_MAX
            try:
                seen = self.producers.verdict(producer_id, epoch, sequence, delta, transactional)
            except ApiError as error:
                seen = sent_before(self, error, producer_id, epoch, sequence, last_sequence)
            if seen is not None:
                return log_append.duplicate(self, seen)
            self.stage(records, size, base, last, max_ts, leader_epoch, now_ms)
            self.producers.add_batch(producer_id, epoch, last_sequence, base, delta, max_ts, transactional)
        else:
            self.stage(records, size, base, last, max_ts, leader_epoch, now_ms)
        # Twice as fast as calling the named tuple.
        return tuple.__new__(AppendResult, (base, last, append_time, self.log_start_offset, False))

    def long_look(self, records: memoryview | bytes, now_ms: int) -> BatchLook | None:
        """A job for a thread, if `append_as_leader` would look into so much that others had to wait."""
        return log_append.long_look(self, records, now_ms)

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
            position = self._make_room(size, last, max_ts, now_ms)
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
        for index in range(self._kept, len(staged)):
            staged[index] = bytes(staged[index])
        self._kept = len(staged)
        return True

    def settle(self) -> None:
        """Write what was left to a sync; if that fails, `lost` says so to those who wait."""
        if self._kept:
            with suppress(StorageError):
                self.flush_staged()

    def append_as_follower(self, records: memoryview, now_ms: int) -> AppendResult:
        """Stage batches fetched from the leader, as they are; then `flush_staged`.

        Raises:
            AppendError: CORRUPT_MESSAGE, or OFFSET_OUT_OF_RANGE when they do not continue the log.
            StorageError: the directory is offline.
        """
        start = self.staged_end_offset
        follower_append.stage_as_follower(self, records, now_ms)
        return AppendResult(start, self.staged_end_offset - 1, -1, self.log_start_offset)

    # -- rolling ---------------------------------------------------------------------------------------------

    def _start_on_active(self) -> None:
        self._active = self.segments.active
        self._staged_position = self._active.size
        self._recent = RecentBatches(self.staged_end_offset, self._active.size)
        self._set_roll_limits()

    def _set_roll_limits(self) -> None:
        limits = log_roll.limits(self._config, self._active, self._staged_position, self.topic_partition)
        self._roll_bytes, self._roll_offset, self._roll_timestamp, self._roll_now_ms = limits

    def _make_room(self, size: int, last: int, max_ts: int, now_ms: int) -> int:
        """Roll if the batch must not go into the active segment; the position where it goes."""
        if self._roll_timestamp == log_roll.UNRESOLVED:
            log_roll.resolve(self)
            self._set_roll_limits()
        position = self._staged_position
        if (
            position > self._roll_bytes - size
            or max_ts > self._roll_timestamp
            or now_ms > self._roll_now_ms
            or last > self._roll_offset
        ):
            # Named by the log's end even if a follower's next batch lies behind a gap, so that recovery can
            # tell a segment whose predecessor lost its tail.
            self.roll(max(self.staged_end_offset, last - _INT_MAX), now_ms)
            return self._staged_position
        return position

    def roll(self, base_offset: int | None = None, now_ms: int = 0) -> None:
        """Begin a new segment at the log's end (0 for `now_ms`: the last tick). Raises StorageError."""
        try:
            self.flush_staged()
        except StorageError as error:
            if not self._staged:
                # Those who staged it will ask for the flush, and must hear.
                self._dropped = error
            raise
        base = self.staged_end_offset if base_offset is None else base_offset
        now_ms = now_ms or self.directory.now_ms
        active = self._active
        if active.base_offset == base and not active.size:
            active.reset_indexes()
            active.created_ms = now_ms
            return
        log_roll.next_segment(self, base, now_ms)
        self._sealed_end = -1
        self.names_dirty = True
        self.staged_end_offset = max(self.staged_end_offset, base)
        self._start_on_active()
        self.wants_sync = True

    def write_snapshot(self, offset: int) -> None:
        """Write the producer state as of `offset`, once. Raises OSError."""
        log_files.write_snapshot(self, offset)

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

    def read(self, offset: int, max_bytes: int, max_offset: int, min_one_message: bool = True) -> LogSlice:
        """Whole batches from the one that holds `offset` on, below `max_offset`, of one segment.

        At most `max_bytes`, but the first one whole if `min_one_message`. Empty from `max_offset` to the end.

        Raises:
            ApiError: OFFSET_OUT_OF_RANGE.
            StorageError: the directory is offline, or the read failed.
        """
        if self.directory.failure is not None:
            self.directory.check()
        if self._kept:
            self.settle()
        return log_reader.read(self, self._recent, offset, max_bytes, max_offset, min_one_message)

    def aborted_txns(self, start_offset: int, end_offset: int) -> list[AbortedTxn]:
        """Aborted transactions that overlap [start, end), for read_committed."""
        return log_reader.aborted_txns(self, start_offset, end_offset)

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

    def write_epochs(self, *, durable: bool = True) -> None:
        """Write the leader-epoch-checkpoint if it lags. Raises OSError."""
        log_files.write_epochs(self, durable=durable)

    # -- cutting ---------------------------------------------------------------------------------------------

    def truncate_to(self, offset: int, *, sync: bool = True) -> bool:
        """See `log_trim.truncate_to`. Raises StorageError."""
        return log_trim.truncate_to(self, offset, sync)

    def truncate_fully_and_start_at(self, offset: int, now_ms: int = 0) -> None:
        """Drop all records; the log begins and ends at `offset`. Raises StorageError."""
        log_trim.truncate_fully_and_start_at(self, offset, now_ms)

    def delete_records_to(self, offset: int) -> int:
        """DeleteRecords (KIP-107): the new log start offset. Raises ApiError OFFSET_OUT_OF_RANGE."""
        return log_trim.delete_records_to(self, offset)

    def delete_old_segments(self, now_ms: int) -> int:
        """Apply retention; how many segments went. Raises StorageError."""
        return log_trim.delete_old_segments(self, now_ms)

    # -- durability ------------------------------------------------------------------------------------------

    def fsync_job(self) -> FsyncJob:
        """What makes all that is written durable: `run` it anywhere, then `fsynced`. Raises StorageError."""
        return log_trim.fsync_job(self)

    def fsynced(self, offset: int, now_ms: int = 0) -> None:
        """A job has made everything below `offset` durable."""
        log_trim.fsynced(self, offset, now_ms)

    def fsync(self) -> int:
        """Make everything written durable here and now; the offset that is covered. Raises StorageError."""
        return log_trim.fsync(self)

    @property
    def is_sealed(self) -> bool:
        """Whether the files are as a clean stop leaves them, durable, but for an epoch that wrote nothing."""
        return self._sealed_end == self.recovery_point == self.staged_end_offset

    def seal(self, *, sparing: bool = False) -> None:
        """What a stop leaves but epochs and (`sparing`) snapshots that say nothing. Raises StorageError."""
        self.flush_staged()
        log_files.seal(self, sparing)
        self._sealed_end = self.log_end_offset

    def close(self) -> None:
        """Clean stop: write all and make it durable. Raises StorageError."""
        if not self.is_sealed:
            self.seal()
            self.fsync()

    def write_partition_metadata(self) -> None:
        """Name the topic id in the directory; durable with the next sync. Raises OSError."""
        log_files.write_partition_metadata(self)
