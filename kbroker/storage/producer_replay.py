"""Producer state from batches: counting them in by their headers, and rebuilding it from a log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import BatchHeader, decode_records
from kbroker.storage import producer_snapshot
from kbroker.storage.batch_scan import scan_batches
from kbroker.storage.disk import Buffer
from kbroker.storage.file_names import SNAPSHOT, offset_name
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_segments import LogSegments
from kbroker.storage.producer_state import ProducerState
from kbroker.storage.segment import Segment
from kbroker.storage.txn_index import AbortedTxn

if TYPE_CHECKING:
    from kbroker.storage.log import Log

logger = logging.getLogger(__name__)

ABORT = 0
COMMIT = 1
_NEVER_MS = 1 << 62


def read_marker(records: Buffer, header: BatchHeader) -> tuple[int, int]:
    """(type, coordinator epoch) of a transaction marker's batch.

    Raises:
        ApiError: INVALID_RECORD, it is none.
    """
    found = decode_records(records, header)
    key, value = (found[0].key or b"", found[0].value or b"") if found else (b"", b"")
    if len(key) < 4 or len(value) < 6:
        raise ApiError(ErrorCode.INVALID_RECORD, "Malformed transaction marker")
    return int.from_bytes(key[2:4], "big", signed=True), int.from_bytes(value[2:6], "big", signed=True)


def count_batch(
    producers: ProducerState, records: Buffer, header: BatchHeader, base_offset: int
) -> AbortedTxn | None:
    """Count a batch with a producer id in, unchecked; the transaction index entry if it aborts one."""
    if not header.is_control:
        producers.add_batch(
            header.producer_id,
            header.producer_epoch,
            header.last_sequence,
            base_offset,
            header.last_offset_delta,
            header.max_timestamp,
            header.is_transactional,
        )
        return None
    if header.record_count == 0:
        return None  # compaction has removed the marker
    try:
        kind, coordinator_epoch = read_marker(records, header)
    except ApiError as error:
        logger.warning("ignoring the control batch at offset %d: %s", base_offset, error)
        return None
    if kind not in (ABORT, COMMIT):
        return None
    completed = producers.add_marker(
        header.producer_id,
        header.producer_epoch,
        coordinator_epoch,
        base_offset + header.last_offset_delta,
        header.max_timestamp,
        kind == ABORT,
    )
    if completed is None:
        return None
    stable = producers.stable_offset_after(completed)
    producers.complete(completed)
    if not completed.aborted:
        return None
    return AbortedTxn(completed.producer_id, completed.first_offset, completed.last_offset, stable)


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
            state = producer_snapshot.decode(log_dir.disk.read_file(name), offset, now_ms, expiration_ms)
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
    logger.warning("the transaction index of %s is missing or damaged, building it anew", segment.path)
    state = rebuild_producers(
        log.directory,
        log.path,
        log.segments,
        log.snapshots,
        segment.base_offset,
        _NEVER_MS,
    )
    segment.reset_txn_index()
    for buf, header in scan_batches(segment.file().read, segment.size, 0):
        if header.producer_id >= 0:
            aborted = count_batch(state, buf, header, header.base_offset)
            if aborted is not None:
                segment.add_aborted(aborted)
