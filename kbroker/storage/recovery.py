"""Opening a partition's directory: after a clean stop by listing it, after a crash by reading the unsynced
part.

What recovery trusts: everything below the recovery point was synced. From the segment that holds it on, every
batch header and CRC is read; the log ends before the first batch that is not whole. Indexes of those
segments, producer state and leader epochs are built anew from the batches.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

from crc32c import crc32c

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    BatchHeader,
    check_crc,
    parse_batch_header,
)
from kbroker.storage.checkpoints import parse_epochs, parse_partition_metadata
from kbroker.storage.file_names import (
    CLEANED,
    DELETED,
    LEADER_EPOCHS,
    LOG,
    PARTITION_METADATA,
    SNAPSHOT,
    SWAP,
    offset_name,
    parse_offset_name,
)
from kbroker.storage.leader_epochs import LeaderEpochs
from kbroker.storage.log import LoadedLog, Log
from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_segments import LogSegments
from kbroker.storage.producer_replay import count_batch
from kbroker.storage.producer_state import EMPTY_SNAPSHOT_SIZE, ProducerState
from kbroker.storage.segment import Segment
from kbroker.types import ZERO_UUID, TopicPartition, Uuid

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 1 << 20
_MAGIC_END = 17
_HEADER = Struct(">qiibIhiqqqhii")


class LogHistory(NamedTuple):
    """What the checkpoints of the log directory say of one log.

    `clean`: the last stop was clean. Offsets are None where a checkpoint does not name the log.
    """

    clean: bool
    recovery_point: int | None = None
    log_start_offset: int | None = None
    cleaned_to: int | None = None


class _Listing:
    """The files of a partition directory by meaning."""

    def __init__(self) -> None:
        self.segments: dict[int, dict[str, int]] = {}
        self.snapshots: dict[int, int] = {}
        self.has_segments = False
        self.has_epochs = False
        self.has_metadata = False


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
        log = Log(
            tp, topic_id, log_dir, config, LoadedLog(segments, LeaderEpochs(), ProducerState(), 0, 0, 0)
        )
        log.write_partition_metadata()
    except OSError as error:
        raise log_dir.fail(error) from error
    return log


def open_log(
    log_dir: LogDir, tp: TopicPartition, config: LogConfig, history: LogHistory, now_ms: int = 0
) -> Log:
    """Open the directory of a log that exists, recovering it if it was not stopped cleanly.

    Raises OSError.
    """
    path = f"{log_dir.path}/{tp}"
    disk = log_dir.disk
    listing = _list(log_dir, path)
    topic_id = _read_topic_id(log_dir, path) if listing.has_metadata else ZERO_UUID
    segments = [
        Segment(log_dir.files, path, base, sizes, now_ms) for base, sizes in sorted(listing.segments.items())
    ]
    if not segments:
        segments = [Segment(log_dir.files, path, history.log_start_offset or 0, {}, now_ms)]
    epochs = _read_epochs(log_dir, path) if listing.has_epochs else None
    log_start = max(history.log_start_offset or 0, segments[0].base_offset)
    recovery_point = history.recovery_point or 0
    if epochs is None:
        # Recovery adds the epochs of what it reads itself.
        epochs = _epochs_of_batches(
            segments if history.clean else segments[: _first_unsynced(segments, recovery_point)]
        )
    snapshots = dict.fromkeys(listing.snapshots)
    recovered: ProducerState | None = None
    end = _clean_end(segments[-1]) if history.clean else None
    if end is None:
        end, recovered = _recover(log_dir, path, segments, epochs, snapshots, history, config, now_ms)
    if end < log_start:
        logger.warning("%s ends at %d, before its start %d: beginning anew there", tp, end, log_start)
        for segment in segments:
            for name in segment.paths:
                log_dir.remove_later(name, config.file_delete_delay_ms)
        segments = [Segment(log_dir.files, path, log_start, {}, now_ms)]
        segments[0].file()
        end, recovered = log_start, ProducerState()
    epochs.truncate_from_end(end + 1)
    epochs.truncate_from_start(log_start)
    all_segments = LogSegments(segments)
    _remove_stray_snapshots(log_dir, path, all_segments.bases, snapshots, log_start, end)
    if recovered is not None:
        producers = recovered
    elif listing.snapshots.get(end) == EMPTY_SNAPSHOT_SIZE:
        producers = ProducerState()
    else:
        producers = rebuild_producers(
            log_dir, path, all_segments, snapshots, end, config.producer_id_expiration_ms, now_ms
        )
    producers.end_offset = end
    synced = end if history.clean else min(recovery_point, end)
    sealed = history.clean and recovered is None and listing.has_segments
    loaded = LoadedLog(all_segments, epochs, producers, log_start, end, synced, sealed)
    log = Log(tp, topic_id, log_dir, config, loaded)
    log.snapshots.update(snapshots)
    if not history.clean and disk.exists(segments[-1].path):
        log.write_snapshot(end)
        log.write_epochs(durable=False)
    return log


# -- listing -------------------------------------------------------------------------------------------------


def _list(log_dir: LogDir, path: str) -> _Listing:
    entries = log_dir.disk.list_dir(path)
    if any(entry.name.endswith((DELETED, CLEANED, SWAP)) for entry in entries):
        _finish_swaps(log_dir, path, [entry.name for entry in entries])
        entries = log_dir.disk.list_dir(path)
    listing = _Listing()
    orphans: dict[int, list[str]] = {}
    for entry in entries:
        parsed = parse_offset_name(entry.name)
        if parsed is None:
            listing.has_epochs |= entry.name == LEADER_EPOCHS
            listing.has_metadata |= entry.name == PARTITION_METADATA
        elif parsed[1] == SNAPSHOT:
            listing.snapshots[parsed[0]] = entry.size
        else:
            listing.segments.setdefault(parsed[0], {})[parsed[1]] = entry.size
    for base in [base for base, sizes in listing.segments.items() if LOG not in sizes]:
        orphans[base] = [offset_name(base, suffix) for suffix in listing.segments.pop(base)]
    for names in orphans.values():
        for name in names:
            logger.warning("removing index file %s/%s, its segment does not exist", path, name)
            log_dir.disk.remove(f"{path}/{name}")
    listing.has_segments = bool(listing.segments)
    return listing


def _finish_swaps(log_dir: LogDir, path: str, names: list[str]) -> None:
    """Complete or undo a cleaner's work: `.cleaned` output is dropped, `.swap` output takes its place."""
    disk = log_dir.disk
    cleaned = [offset for name in names if (offset := _marked_offset(name, CLEANED)) is not None]
    undo_from = min(cleaned, default=None)
    swaps: list[str] = []
    for name in names:
        offset = _marked_offset(name, SWAP)
        undone = offset is not None and undo_from is not None and offset >= undo_from
        if name.endswith((DELETED, CLEANED)) or undone:
            disk.remove(f"{path}/{name}")
        elif offset is not None:
            swaps.append(name)
    for name in swaps:
        base = _marked_offset(name, SWAP)
        if base is None or not name.endswith(LOG + SWAP):
            continue
        replaced = _span_of(log_dir, path, base, name)
        for other in names:
            parsed = parse_offset_name(other)
            if parsed is not None and parsed[1] != SNAPSHOT and base <= parsed[0] < replaced:
                disk.remove(f"{path}/{other}")
    for name in swaps:
        disk.rename(f"{path}/{name}", f"{path}/{name[: -len(SWAP)]}")


def _marked_offset(name: str, mark: str) -> int | None:
    if not name.endswith(mark):
        return None
    parsed = parse_offset_name(name[: -len(mark)])
    return parsed[0] if parsed else None


def _span_of(log_dir: LogDir, path: str, base: int, name: str) -> int:
    """The offset behind the last batch of a swap file."""
    file = log_dir.disk.open(f"{path}/{name}")
    end = base + 1
    for _, header in scan_batches(file.read, file.size(), 0):
        end = header.next_offset
    return end


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


# -- reading batches -----------------------------------------------------------------------------------------


def scan_batches(
    read: Callable[[int, int], bytes], size: int, position: int
) -> Iterator[tuple[memoryview, BatchHeader]]:
    """(buffer, header in it) of the whole batches from `position` on, until one is cut or cannot be one."""
    wanted = _CHUNK_BYTES
    while position + LOG_OVERHEAD < size:
        chunk = memoryview(read(position, min(wanted, size - position)))
        end, at = len(chunk), 0
        while at + _MAGIC_END <= end:
            # By hand: this loop reads gigabytes of small batches after a crash.
            if chunk[at + _MAGIC_END - 1] == 2 and at + BATCH_OVERHEAD <= end:
                fields = _HEADER.unpack_from(chunk, at)
                length = fields[1] + LOG_OVERHEAD
                if length < BATCH_OVERHEAD or position + at + length > size:
                    return
                if at + length > end:
                    break
                header = tuple.__new__(BatchHeader, (*fields, at))
            else:
                length = int.from_bytes(chunk[at + 8 : at + 12], "big", signed=True) + LOG_OVERHEAD
                if length <= LOG_OVERHEAD or position + at + length > size:
                    return
                if at + length > end:
                    break
                try:
                    header = parse_batch_header(chunk, at)
                except ApiError:
                    return
            yield chunk, header
            at += length
        if at == 0:
            # One batch is larger than a chunk, or what is left is smaller than a header.
            if end < _MAGIC_END or wanted >= size - position:
                return
            wanted = length
            continue
        wanted = _CHUNK_BYTES
        position += at


def _first_unsynced(segments: list[Segment], recovery_point: int) -> int:
    """Index of the segment that holds the recovery point."""
    bases = [segment.base_offset for segment in segments]
    return max(bisect_right(bases, recovery_point) - 1, 0)


def _recover(
    log_dir: LogDir,
    path: str,
    segments: list[Segment],
    epochs: LeaderEpochs,
    snapshots: dict[int, None],
    history: LogHistory,
    config: LogConfig,
    now_ms: int,
) -> tuple[int, ProducerState]:
    """Read the segments from the recovery point on; (log end, producer state). Cuts `segments` in place."""
    first = _first_unsynced(segments, history.recovery_point or 0)
    start = segments[first].base_offset
    for offset in [offset for offset in snapshots if offset > start]:
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
        if segment.base_offset < end or (segment.base_offset > end and segment.base_offset > gaps_below):
            logger.warning("%s does not continue the log, which ends at %d", segment.path, end)
            _drop_from(log_dir, segments, index, config)
            break
        if index > first:
            name = f"{path}/{offset_name(segment.base_offset, SNAPSHOT)}"
            log_dir.disk.write_file(name, producers.to_snapshot(), durable=False)
            snapshots[segment.base_offset] = None
        end, whole = _recover_segment(segment, epochs, producers, config)
        if not whole:
            _drop_from(log_dir, segments, index + 1, config)
            break
    for epoch, epoch_start in unread:
        # Begun at the very end, so no batch tells of it.
        if epoch_start == end and epoch > epochs.latest:
            epochs.assign(epoch, epoch_start)
    return end, producers


def _drop_from(log_dir: LogDir, segments: list[Segment], index: int, config: LogConfig) -> None:
    for segment in segments[index:]:
        logger.warning("dropping segment %s behind the damage", segment.path)
        for name in segment.paths:
            log_dir.remove_later(name, config.file_delete_delay_ms)
    del segments[index:]


def _recover_segment(
    segment: Segment, epochs: LeaderEpochs, producers: ProducerState, config: LogConfig
) -> tuple[int, bool]:
    """Rebuild what a segment's batches tell and cut its damaged tail: (end offset, was it whole)."""
    segment.reset_indexes()
    file = segment.file()
    position, end = 0, segment.base_offset
    limit = segment.base_offset + 0x7FFF_FFFF
    interval = config.index_interval_bytes
    for buf, header in scan_batches(file.read, segment.size, 0):
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
        file.truncate(position)
        segment.size = position
    segment.bytes_since_index_entry = 0
    segment.seal()
    return end, whole


# -- producers -----------------------------------------------------------------------------------------------


def rebuild_producers(
    log_dir: LogDir,
    path: str,
    segments: LogSegments,
    snapshots: dict[int, None],
    end_offset: int,
    expiration_ms: int,
    now_ms: int | None = None,
) -> ProducerState:
    """The producer state as of `end_offset`: from the newest good snapshot and the batches since."""
    now_ms = log_dir.now_ms if now_ms is None else now_ms
    state, start = ProducerState(), segments.first.base_offset
    for offset in sorted((o for o in snapshots if o <= end_offset), reverse=True):
        name = f"{path}/{offset_name(offset, SNAPSHOT)}"
        try:
            state = ProducerState.from_snapshot(log_dir.disk.read_file(name), offset, now_ms, expiration_ms)
            start = max(offset, start)
            break
        except ValueError as error:
            logger.warning("removing damaged producer snapshot %s: %s", name, error)
            log_dir.disk.remove(name)
            del snapshots[offset]
    for segment in segments.from_offset(start) if start < end_offset else ():
        if segment.base_offset >= end_offset:
            break
        segment.trust_indexes()
        position = segment.offset_index.position_for(start)
        for buf, header in scan_batches(segment.file().read, segment.size, position):
            if header.base_offset >= end_offset:
                break
            if header.base_offset >= start and header.producer_id >= 0:
                count_batch(state, buf, header, header.base_offset)
    state.end_offset = end_offset
    return state


def rebuild_txn_index(log: Log, segment: Segment) -> None:
    """Write a segment's transaction index anew from the markers in it. Raises OSError."""
    logger.warning("the transaction index of %s is damaged, building it anew", segment.path)
    state = rebuild_producers(
        log.directory,
        log.path,
        log.segments,
        log.snapshots,
        segment.base_offset,
        log.config.producer_id_expiration_ms,
    )
    segment.reset_txn_index()
    for buf, header in scan_batches(segment.file().read, segment.size, 0):
        if header.producer_id >= 0:
            aborted = count_batch(state, buf, header, header.base_offset)
            if aborted is not None:
                segment.add_aborted(aborted)


def _remove_stray_snapshots(
    log_dir: LogDir, path: str, bases: list[int], snapshots: dict[int, None], start: int, end: int
) -> None:
    """Keep those at a segment's begin, and the newest one if it lies in the active segment."""
    keep = set(bases)
    newest = max((offset for offset in snapshots if offset <= end), default=None)
    if newest is not None and newest >= bases[-1]:
        keep.add(newest)
    for offset in [offset for offset in snapshots if offset not in keep or not start < offset <= end]:
        log_dir.disk.remove(f"{path}/{offset_name(offset, SNAPSHOT)}")
        del snapshots[offset]
