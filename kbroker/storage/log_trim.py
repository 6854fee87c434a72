"""Cutting a log at either end, and making it durable: truncation, DeleteRecords, retention, fsync."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.disk import Disk, DiskFile
from kbroker.storage.file_names import LEADER_EPOCHS, PARTITION_METADATA, SNAPSHOT, offset_name
from kbroker.storage.log_config import MAX_LONG, UNLIMITED
from kbroker.storage.producer_replay import rebuild_producers
from kbroker.storage.producer_state import ProducerState
from kbroker.storage.segment import Segment

if TYPE_CHECKING:
    from kbroker.storage.log import Log


class FsyncJob:
    """All it takes to make a log durable up to `offset`, cut loose from the log: run it in any thread."""

    __slots__ = ("_cuts", "_directories", "_disk", "_files", "offset")

    def __init__(
        self, disk: Disk, directories: list[str], files: list[DiskFile], offset: int, cuts: int
    ) -> None:
        self._disk = disk
        self._directories = directories
        self._files = files
        self._cuts = cuts
        self.offset = offset

    def durable_offset(self, log: Log) -> int:
        """What is durable once it ran: nothing that can be told if the log was cut back meanwhile."""
        return self.offset if log.cuts == self._cuts else 0

    def run(self) -> int:
        """fsync; the offset below which all is durable. Raises OSError."""
        for file in self._files:
            file.sync()
        for directory in self._directories:
            self._disk.sync_dir(directory)
        return self.offset


def fsync_job(log: Log) -> FsyncJob:
    """What makes all that is written durable: `run` it anywhere, then `fsynced`. Raises StorageError."""
    log.directory.check()
    disk = log.directory.disk
    paths: list[str] = []
    directories = [log.path]
    if log.metadata_dirty:
        # The partition itself is new: its name must arrive, too.
        paths.append(f"{log.path}/{PARTITION_METADATA}")
        directories.append(log.directory.path)
    for segment in log.segments.from_offset(log.recovery_point):
        paths += segment.paths
    # That of a clean stop above all: a start takes it for what it is by its size.
    snapshots = [offset for offset in log.snapshots if offset >= log.recovery_point]
    paths += [f"{log.path}/{offset_name(offset, SNAPSHOT)}" for offset in snapshots]
    try:
        # Not in the thread: it must not race with the next change. But the disk is waited for there, as a
        # thousand logs may have a new leader together; one that is found damaged is told by the batches.
        log.write_epochs(durable=False)
        files = [log.directory.files.get(path) for path in paths if disk.exists(path)]
        epochs = f"{log.path}/{LEADER_EPOCHS}"
        if log.epochs_unsynced and disk.exists(epochs):
            files.append(disk.open(epochs))
    except OSError as error:
        raise log.directory.fail(error) from error
    log.metadata_dirty = log.epochs_unsynced = False
    log.wants_sync = False
    return FsyncJob(disk, directories, files, log.log_end_offset, log.cuts)


def fsynced(log: Log, offset: int, now_ms: int = 0) -> None:
    """A job has made everything below `offset` durable."""
    log.sync_running = False
    log.recovery_point = max(log.recovery_point, min(offset, log.log_end_offset))
    log.durable_end = max(log.durable_end, log.recovery_point)
    log.last_sync_ms = now_ms or log.directory.now_ms
    if 0 < offset >= log.cut_at:
        log.cut_at = MAX_LONG


def fsync(log: Log) -> int:
    """Make everything written durable here and now; the offset that is covered. Raises StorageError."""
    job = log.fsync_job()
    try:
        offset = job.run()
    except OSError as error:
        raise log.directory.fail_for_good(error) from error
    log.fsynced(offset)
    return offset


def drop_staged(log: Log) -> None:
    """The disk had no room for what is staged: take all of it back, as if it had never come.

    Part of it may be in the file; producers, epochs and indexes have counted it in.
    """
    end = log.log_end_offset
    try:
        active = log.segments.active
        if active.size or log.directory.disk.exists(active.path):
            active.file().truncate(active.size)
        active.forget_from(end)
        log.epochs.truncate_from_end(end)
        log.txn_check.cut(end)
        log.restart_tail()
        _reload_producers(log)
        log.high_watermark = log.high_watermark  # tells the new state
    except OSError as error:
        log.directory.fail_for_good(error)


def truncate_to(log: Log, offset: int, *, sync: bool = True) -> bool:
    """Cut off the batch of `offset` and all behind it; False: the log ends before. Raises StorageError.

    Args:
        sync: wait until the disk has it. Else the next sync of the log makes it durable, and a power cut
            before that may leave what is written now with the rest of what was cut off behind it: in another
            leader epoch, so that it is found when it is compared with the leader's log (recovery.py).
    """
    log.flush_staged()
    if offset >= log.log_end_offset:
        # An epoch in which we led and wrote nothing is not the leader's.
        log.epochs.truncate_from_end(log.log_end_offset)
        return False
    if offset < log.segments.first.base_offset or offset < log.log_start_offset:
        truncate_fully_and_start_at(log, offset, log.directory.now_ms)
        return True
    try:
        index = log.segments.index_of(offset)
        # A crash on the way must find a start that reads from here on, not one that trusts what is left. What
        # is synced later begins with this segment, though it may end right here.
        base = log.segments[index].base_offset
        if log.recovery_point > offset or (log.recovery_point == offset and not sync):
            log.recovery_point = offset if sync else base
            log.directory.on_recovery_point_lowered()
        if not sync:
            log.durable_end = min(log.durable_end, base)
            log.cut_at = min(log.cut_at, offset)
            log.wants_sync = True
        for segment in reversed(log.segments.remove_from(index + 1)):
            _drop(log, segment)
        log.segments[index].truncate_to(offset)
        if sync:
            # The next one may begin behind this segment: what was cut off must not come back.
            log.segments[index].sync()
            log.directory.disk.sync_dir(log.path)
        else:
            log.names_dirty = True
        # The end is that of the last batch kept: an end inside a batch that is gone, or in a gap, would not
        # outlive a restart.
        end = log.segments[index].last_batch_end()[1]
        if end < log.log_start_offset:
            truncate_fully_and_start_at(log, log.log_start_offset, log.directory.now_ms)
            return True
        _end_at(log, end)
        _reload_producers(log)
        log.write_epochs(durable=sync)
    except OSError as error:
        raise log.directory.fail_for_good(error) from error
    return True


def truncate_fully_and_start_at(log: Log, offset: int, now_ms: int = 0) -> None:
    """Drop all records; the log begins and ends at `offset`. Raises StorageError."""
    log.flush_staged()
    try:
        for segment in log.segments.remove_from(0):
            _drop(log, segment)
        for snapshot in list(log.snapshots):
            _drop_snapshot(log, snapshot)
        segment = Segment(log.directory.files, log.path, offset, {}, now_ms or log.directory.now_ms)
        segment.file()
        log.segments.add(segment)
        log.producers = ProducerState()
        log.producers.end_offset = offset
        log.epochs.clear()
        log.log_start_offset = offset
        _end_at(log, offset)
        log.write_epochs()
    except OSError as error:
        raise log.directory.fail_for_good(error) from error


def _end_at(log: Log, offset: int) -> None:
    log.log_end_offset = offset
    log.cuts += 1
    log.durable_end = min(log.durable_end, offset)
    if log.recovery_point > offset:
        log.recovery_point = offset
        log.directory.on_recovery_point_lowered()
    log.epochs.truncate_from_end(offset)
    log.txn_check.cut(offset)
    if log.high_watermark > offset or log.high_watermark < log.log_start_offset:
        log.high_watermark = max(min(log.high_watermark, offset), log.log_start_offset)
    log.restart_tail()


def _reload_producers(log: Log) -> None:
    """The producer state as of the new end: the newest snapshot below it, and the batches since."""
    for snapshot in [offset for offset in log.snapshots if offset > log.log_end_offset]:
        _drop_snapshot(log, snapshot)
    log.producers = rebuild_producers(
        log.directory,
        log.path,
        log.segments,
        log.snapshots,
        log.log_end_offset,
        log.config.producer_id_expiration_ms,
    )


def _drop(log: Log, segment: Segment) -> None:
    for path in segment.paths:
        log.directory.remove_later(path, log.config.file_delete_delay_ms)
    _drop_snapshot(log, segment.base_offset)


def _drop_snapshot(log: Log, offset: int) -> None:
    if offset in log.snapshots:
        del log.snapshots[offset]
        log.directory.remove_later(
            f"{log.path}/{offset_name(offset, SNAPSHOT)}", log.config.file_delete_delay_ms
        )


def delete_records_to(log: Log, offset: int) -> int:
    """DeleteRecords (KIP-107): the new log start offset; -1 means the high watermark.

    Raises:
        ApiError: OFFSET_OUT_OF_RANGE.
    """
    if offset == -1:
        offset = log.high_watermark
    if offset < 0 or offset > log.high_watermark:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"The specified offset {offset} is higher than the high watermark {log.high_watermark}",
        )
    log.directory.check()
    advance_log_start(log, offset)
    return log.log_start_offset


def advance_log_start(log: Log, offset: int) -> None:
    """Records below `offset` are no longer part of the log; the next retention run removes their segments."""
    if offset > log.log_start_offset:
        log.log_start_offset = offset
        log.epochs.truncate_from_start(offset)
        log.read_hints.clear()


def delete_old_segments(log: Log, now_ms: int) -> int:
    """Apply retention; how many segments went. Raises StorageError."""
    log.settle()
    log.directory.check()
    try:
        count = _by_log_start(log)
        if log.config.delete:
            count = max(count, _by_time(log, now_ms))
            count = max(count, _by_size(log))
        return _remove_oldest(log, count, now_ms) if count else 0
    except OSError as error:
        raise log.directory.fail(error) from error


def _deletable(log: Log) -> list[tuple[Segment, int]]:
    """(segment, next segment's base) of those that end at or below the high watermark."""
    bases = [*log.segments.bases[1:], log.log_end_offset]
    found = []
    for segment, end in zip(log.segments, bases):
        if end > log.high_watermark:
            break
        found.append((segment, end))
    # An empty active segment has nothing to delete.
    if found and found[-1][0] is log.segments.active and log.segments.active.is_empty:
        found.pop()
    return found


def _by_log_start(log: Log) -> int:
    count = 0
    for segment, end in _deletable(log):
        if end > log.log_start_offset or segment is log.segments.active:
            break
        count += 1
    return count


def _by_time(log: Log, now_ms: int) -> int:
    retention_ms = log.config.retention_ms
    if retention_ms == UNLIMITED:
        return 0
    count = 0
    for segment, _ in _deletable(log):
        if now_ms - segment.largest_timestamp() <= retention_ms:
            break
        count += 1
    return count


def _by_size(log: Log) -> int:
    retention_bytes = log.config.retention_bytes
    if retention_bytes == UNLIMITED:
        return 0
    excess = log.size - retention_bytes
    count = 0
    for segment, _ in _deletable(log):
        if excess < segment.size:
            break
        excess -= segment.size
        count += 1
    return count


def _remove_oldest(log: Log, count: int, now_ms: int) -> int:
    if count == len(log.segments):
        log.roll(None, now_ms)
    removed = log.segments.remove_first(count)
    # The start moves first: a checkpoint that names it must not point before what is still there.
    advance_log_start(log, log.segments.first.base_offset)
    for segment in removed:
        _drop(log, segment)
    log.read_hints.clear()
    return len(removed)
