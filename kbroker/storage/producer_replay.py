"""Counting batches into the producer state by their headers: followers, coordinators and recovery."""

from __future__ import annotations

import logging

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import BatchHeader, decode_records
from kbroker.storage.disk import Buffer
from kbroker.storage.producer_state import ProducerState
from kbroker.storage.txn_index import AbortedTxn

logger = logging.getLogger(__name__)

_ABORT = 0
_COMMIT = 1


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
    if kind not in (_ABORT, _COMMIT):
        return None
    completed = producers.add_marker(
        header.producer_id,
        header.producer_epoch,
        coordinator_epoch,
        base_offset + header.last_offset_delta,
        header.max_timestamp,
        kind == _ABORT,
    )
    if completed is None:
        return None
    stable = producers.stable_offset_after(completed)
    producers.complete(completed)
    if not completed.aborted:
        return None
    return AbortedTxn(completed.producer_id, completed.first_offset, completed.last_offset, stable)
