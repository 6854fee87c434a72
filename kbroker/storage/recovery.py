"""Opening a partition's directory: after a clean stop by listing it, after a crash by reading its end.

What recovery trusts: everything below the recovery point was synced. From the segment that holds it on, every
batch header and CRC is read; the log ends before the first batch that is not whole. Indexes of those
segments, producer state and leader epochs are built anew from the batches.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from typing import NamedTuple

from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    LOG_OVERHEAD,
    check_crc,
)
from kbroker.storage import producer_snapshot
from kbroker.storage.batch_scan import scan_batches
from kbroker.storage.checkpoints import parse_epochs, parse_partition_metadata
from kbroker.storage.file_names import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    SNAPSHOT,
    offset_name,
)
from kbroker.storage.leader_epochs import LeaderEpochs
from kbroker.storage.log import LoadedLog, Log
from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_listing import LogListing, list_log
from kbroker.storage.log_segments import LogSegments
from kbroker.storage.producer_replay import count_batch, rebuild_producers
from kbroker.storage.producer_state import ProducerState
from kbroker.storage.recovery_progress import RecoveryProgress
from kbroker.storage.segment import Segment
from kbroker.storage.strays import keep_aside, keep_rest_aside
from kbroker.types import ZERO_UUID, TopicPartition, Uuid

logger = logging.getLogger(__name__)


class LogHistory(NamedTuple):
    """What the checkpoints of the log directory say of one log.

    `clean`: the last stop was clean. Offsets are None where a checkpoint does not name the log.
    `no_producers_at`: with this end no producer was known; there is no snapshot that says so.
    """

    clean: bool
    recovery_point: int | None = None
    log_start_offset: int | None = None
    cleaned_to: int | None = None
    no_producers_at: int | None = None


def create_log(
    log_dir: LogDir, tp: TopicPartition, topic_id: Uuid, config: LogConfig, now_ms: int = 0
) -> Log:
    """A new, empty log: its directory and partition.metadata; segment files come with the first batch.

    Raises StorageError.
    """
    path = f"{log_dir.path}/{tp}"
    try:
        log_dir.disk.make_dir(path)
        segments = LogSegments([Segment(log_dir.files, path, 0, {}, now_ms or log_dir.now_ms)])
        loaded = LoadedLog(segments, LeaderEpochs(), ProducerState(), 0, 0, 0, sealed=True)
        log = Log(tp, topic_id, log_dir, config, loaded)
        log.write_partition_metadata()
    except OSError as error:
        raise log_dir.fail(error) from error
    return log


def open_log(
    log_dir: LogDir,
    tp: TopicPartition,
    config: LogConfig,
    history: LogHistory,
    now_ms: int = 0,
    listing: LogListing | None = None,
    progress: RecoveryProgress | None = None,
) -> Log:
    """Open the directory of a log that exists, recovering it if it was not stopped cleanly.

    `listing`: what `list_log` says of the directory. Raises OSError.
    """
    path = f"{log_dir.path}/{tp}"
    listing, progress = listing or list_log(log_dir, path), progress or RecoveryProgress()
    topic_id = _read_topic_id(log_dir, path) if listing.has_metadata else ZERO_UUID
    segments = [
        Segment(log_dir.files, path, base, sizes, now_ms) for base, sizes in sorted(listing.segments.items())
    ] or [Segment(log_dir.files, path, history.log_start_offset or 0, {}, now_ms)]
    epochs = _read_epochs(log_dir, path) if listing.has_epochs else None
    log_start = max(history.log_start_offset or 0, segments[0].base_offset)
    recovery_point = history.recovery_point or 0
    epochs_told = epochs is not None
    if epochs is None:
        # Recovery adds the epochs of what it reads itself.
        epochs = _epochs_of_batches(
            segments if history.clean else segments[: _first_unsynced(segments, recovery_point)]
        )
    snapshots = dict.fromkeys(listing.snapshots)
    recovered: ProducerState | None = None
    unsynced = segments[_first_unsynced(segments, recovery_point)]
    indexed_from = unsynced.base_offset
    end = _clean_end(segments[-1]) if history.clean else None
    if end is None:
        position = _synced_bytes(unsynced, recovery_point, snapshots) if epochs_told else 0
        indexed_from = recovery_point if position else indexed_from
        progress.skip(position)
        end, recovered = _recover(
            log_dir, path, segments, epochs, snapshots, history, config, now_ms, progress, position
        )
    begun_anew = end < log_start
    if begun_anew:
        logger.warning("%s ends at %d, before its start %d: beginning anew there", tp, end, log_start)
        segments = _begin_anew(log_dir, path, segments, epochs, log_start, config, now_ms)
        end, recovered = log_start, ProducerState()
    epochs.truncate_from_end(end + 1)
    epochs.truncate_from_start(log_start)
    all_segments = LogSegments(segments)
    _remove_stray_snapshots(log_dir, path, all_segments.bases, snapshots, log_start, end)
    if recovered is not None:
        producers = recovered
    elif _knows_no_producers(listing, history, end):
        producers = ProducerState()
    else:
        producers = rebuild_producers(
            log_dir, path, all_segments, snapshots, end, config.producer_id_expiration_ms, now_ms
        )
    producers.end_offset = end
    if recovered is None:
        indexed_from = end
    synced = end if history.clean else min(recovery_point, end)
    sealed = history.clean and recovered is None
    loaded = LoadedLog(all_segments, epochs, producers, log_start, end, synced, sealed, indexed_from)
    log = Log(tp, topic_id, log_dir, config, loaded)
    log.snapshots.update(snapshots)
    log.encrypted = listing.encrypted
    if begun_anew:
        # No batch is left that could tell.
        log.write_epochs(durable=False)
    return log


def _knows_no_producers(listing: LogListing, history: LogHistory, end: int) -> bool:
    if end in listing.snapshots:
        return listing.snapshots[end] == producer_snapshot.EMPTY_SIZE
    return end == history.no_producers_at


def _begin_anew(
    log_dir: LogDir,
    path: str,
    segments: list[Segment],
    epochs: LeaderEpochs,
    start: int,
    config: LogConfig,
    now_ms: int,
) -> list[Segment]:
    """An empty segment in the place of all others, and no epoch: those that are known are not that of what
    was there last, and a leader that has more of them would have the log cut below what was deleted.
    """
    log_dir.cut = True
    epochs.clear()
    for segment in segments:
        for name in segment.paths:
            log_dir.remove_later(name, config.file_delete_delay_ms)
    made = Segment(log_dir.files, path, start, {}, now_ms)
    made.file()
    return [made]


def _read_topic_id(log_dir: LogDir, path: str) -> Uuid:
    try:
        return parse_partition_metadata(log_dir.disk.read_file(f"{path}/{PARTITION_METADATA}").decode())
    except ValueError as error:
        logger.warning(
            "%s/%s is damaged, the topic id is taken from the metadata: %s", path, PARTITION_METADATA, error
        )
        return ZERO_UUID


def _read_epochs(log_dir: LogDir, path: str) -> LeaderEpochs | None:
    """None if the file does not tell: damaged, or empty as a power cut or a Kafka before 4 may leave it."""
    text = log_dir.disk.read_file(f"{path}/{LEADER_EPOCHS}").decode("utf-8", "replace")
    try:
        return LeaderEpochs(parse_epochs(text)) if text else None
    except ValueError as error:
        logger.warning("%s/%s is damaged, reading all batches for it: %s", path, LEADER_EPOCHS, error)
        return None


def _epochs_of_batches(segments: list[Segment]) -> LeaderEpochs:
    epochs = LeaderEpochs()
    for segment in segments:
        if segment.size:
            for _, header in scan_batches(segment.file().read, segment.size, 0):
                if header.leader_epoch > epochs.latest:
                    epochs.assign(header.leader_epoch, header.base_offset)
    return epochs


def _clean_end(active: Segment) -> int | None:
    """The offset behind the last batch; None if the segment does not end with a whole batch."""
    position, end = active.last_batch_end()
    return end if position == active.size else None


def _first_unsynced(segments: list[Segment], recovery_point: int) -> int:
    """Index of the segment that holds the recovery point."""
    bases = [segment.base_offset for segment in segments]
    return max(bisect_right(bases, recovery_point) - 1, 0)


def _synced_bytes(segment: Segment, recovery_point: int, snapshots: dict[int, None]) -> int:
    """How much of the segment that holds the recovery point need not be read.

    All below the recovery point if the log was sealed at that very offset, for a stop or at rest: snapshot,
    indexes and epochs were synced then, as the batches were.
    """
    if recovery_point <= segment.base_offset or recovery_point not in snapshots:
        return 0
    return segment.place_of(recovery_point) or 0


def _recover(
    log_dir: LogDir,
    path: str,
    segments: list[Segment],
    epochs: LeaderEpochs,
    snapshots: dict[int, None],
    history: LogHistory,
    config: LogConfig,
    now_ms: int,
    progress: RecoveryProgress,
    position: int,
) -> tuple[int, ProducerState]:
    """Read the segments from the recovery point on; (log end, producer state). Cuts `segments` in place.

    `position`: so many bytes of the segment that holds it are known to be good, with all that tells of them.

    A log that is whole costs no write: its active segment's indexes, snapshot and epochs stay in memory, as
    those of any log in use, until a roll or a clean stop.
    """
    recovery_point = history.recovery_point or 0
    first = _first_unsynced(segments, recovery_point)
    start = recovery_point if position else segments[first].base_offset
    for offset in [offset for offset in snapshots if offset > max(start, recovery_point)]:
        log_dir.disk.remove(f"{path}/{offset_name(offset, SNAPSHOT)}")
        del snapshots[offset]
    producers = rebuild_producers(
        log_dir,
        path,
        LogSegments(segments[: first + 1]),
        snapshots,
        start,
        config.producer_id_expiration_ms,
        now_ms,
    )
    unread = [entry for entry in epochs.entries() if entry[1] >= start]
    epochs.truncate_from_end(start)
    # Compaction removes whole batches; else what a segment's name skips was lost from the one before it.
    gaps_below = MAX_LONG if config.compact else history.cleaned_to or 0
    end = start
    for index in range(first, len(segments)):
        segment = segments[index]
        base = segment.base_offset
        if index > first and (base < end or (base > end and base > gaps_below)):
            logger.warning("%s does not continue the log, which ends at %d", segment.path, end)
            log_dir.cut = True
            _drop_from(log_dir, segments, index)
            break
        if index > first:
            name = f"{path}/{offset_name(segment.base_offset, SNAPSHOT)}"
            log_dir.disk.write_file(name, producer_snapshot.encode(producers), durable=False)
            snapshots[segment.base_offset] = None
        good = position if index == first else 0
        end, whole = _recover_segment(segment, epochs, producers, config, progress, good, end)
        if index + 1 < len(segments):
            segment.seal()
        if not whole:
            log_dir.cut = True
            _drop_from(log_dir, segments, index + 1)
            break
    for epoch, epoch_start in unread:
        # Begun at the very end, so no batch tells of it.
        if epoch_start == end and epoch > epochs.latest:
            epochs.assign(epoch, epoch_start)
    return end, producers


def _drop_from(log_dir: LogDir, segments: list[Segment], index: int) -> None:
    for segment in segments[index:]:
        for name in segment.paths:
            log_dir.files.forget(name)
            kept = keep_aside(log_dir.disk, name)
            if name == segment.path:
                logger.warning("segment %s lies behind the damage and is kept as %s", name, kept)
    del segments[index:]


def _recover_segment(
    segment: Segment,
    epochs: LeaderEpochs,
    producers: ProducerState,
    config: LogConfig,
    progress: RecoveryProgress,
    position: int,
    end: int,
) -> tuple[int, bool]:
    """Rebuild what a segment's batches tell and cut its damaged tail: (end offset, was it whole).

    Those before `position`, below `end`, are known.
    """
    if position:
        segment.go_on_at(end)
    else:
        segment.reset_indexes()
        end = segment.base_offset
    file = segment.file()
    limit = segment.base_offset + 0x7FFF_FFFF
    interval = config.index_interval_bytes
    for buf, header in scan_batches(progress.counted(file.read), segment.size, position):
        base, length, epoch, magic, crc, _, delta, _, newest, producer_id, _, _, _, at = header
        size, last = length + LOG_OVERHEAD, base + delta
        good = crc32c(buf[at + 21 : at + size]) == crc if magic == 2 else check_crc(buf, header)
        # A compressed message of an old format carries the offset of its last inner one.
        if not good or not end <= last <= limit or (base < end and magic == 2):
            break
        if position == 0:
            segment.set_first_timestamp(newest)
        segment.note_batch(position, size, last, newest, interval)
        if epoch > epochs.latest:
            epochs.assign(epoch, base)
        elif 0 <= epoch < epochs.latest:
            epochs.back_to(epoch, base)
        if producer_id >= 0:
            aborted = count_batch(producers, buf, header, base)
            if aborted is not None:
                segment.add_aborted(aborted)
        position += size
        end = last + 1
    whole = position == segment.size
    if not whole:
        logger.warning(
            "cutting %s from %d to %d bytes, the rest is no whole batch", segment.path, segment.size, position
        )
        kept = keep_rest_aside(segment.files.disk, file, segment.size, position, end)
        if kept is not None:
            logger.warning("there are whole batches behind the damage; they are kept in %s", kept)
        file.truncate(position)
        segment.size = position
    segment.bytes_since_index_entry = 0
    return end, whole


def _remove_stray_snapshots(
    log_dir: LogDir, path: str, bases: list[int], snapshots: dict[int, None], start: int, end: int
) -> None:
    """Keep those at a segment's begin, and the newest one if it lies in the active segment.

    Also one below the log's start at which the first segment begins: it tells what the removed ones told.

    The others below the end are true as well, of a stop before; there is no hurry to remove them.
    """
    keep = set(bases)
    newest = max((offset for offset in snapshots if offset <= end), default=None)
    if newest is not None and newest >= bases[-1]:
        keep.add(newest)
    for offset in [offset for offset in snapshots if offset not in keep or not bases[0] <= offset <= end]:
        name = f"{path}/{offset_name(offset, SNAPSHOT)}"
        if start < offset <= end:
            log_dir.remove_at_leisure(name)
        else:
            log_dir.disk.remove(name)
        del snapshots[offset]
