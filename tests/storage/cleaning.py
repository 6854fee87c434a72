"""Cleaning a log in this process, and what can be read of it afterwards."""

from __future__ import annotations

from kbroker.protocol.record_batch import BatchHeader, Record, check_crc, decode_records, iter_batches
from kbroker.storage.cleaner import Cleaner
from kbroker.storage.cleaner_job import CleanResult, decode_job, encode_job
from kbroker.storage.cleaner_plan import Candidate, CleanerLimits, CleanerState, make_job
from kbroker.storage.cleaner_seals import Seals
from kbroker.storage.cleaner_swap import swap_in
from kbroker.storage.log import Log
from kbroker.storage.log_config import MAX_LONG

COMPACT = frozenset({"compact"})


def clean(
    log: Log,
    state: CleanerState,
    now_ms: int,
    *,
    map_bytes: int = 1 << 16,
    io_bytes: int = 1 << 16,
    removable_to: int = MAX_LONG,
) -> CleanResult | None:
    """One round as the broker does it; None if the log is not worth it."""
    log.fsync()  # as housekeeping does when a segment is closed
    candidate = state.choose([log], now_ms)
    if candidate is None:
        return None
    return clean_candidate(candidate, state, now_ms, map_bytes, io_bytes, removable_to)


def clean_candidate(
    candidate: Candidate,
    state: CleanerState,
    now_ms: int,
    map_bytes: int = 1 << 16,
    io_bytes: int = 1 << 16,
    removable_to: int = MAX_LONG,
) -> CleanResult:
    log = candidate.log
    job, segments = make_job(candidate, CleanerLimits(map_bytes, 0.9, io_bytes), now_ms, removable_to)
    # As the worker gets it.
    found = log.directory.files.data_keys
    seals = None if found is None else Seals(*found)
    cleaner = Cleaner(log.directory.disk, decode_job(encode_job(job)), seals=seals)
    by_base = {segment.base_offset: segment for segment in segments}
    for group in cleaner.run():
        if group.sizes:
            assert swap_in(
                log, [by_base[source.base_offset] for source in group.sources], group.sizes, now_ms
            )
    result = cleaner.result
    assert result.end_offset > job.first_dirty or job.first_dirty >= candidate.upper_bound
    state.set_checkpoint(log, max(result.end_offset, candidate.first_dirty))
    state.set_horizon(log, result.latest_horizon_ms)
    return result


def force(
    log: Log, state: CleanerState, now_ms: int, *, synced: bool = True, **how: int
) -> CleanResult | None:
    """One round even if it is not worth it."""
    if synced:
        log.fsync()  # as housekeeping does when a segment is closed
    candidate = state._consider(log, now_ms)
    return None if candidate is None else clean_candidate(candidate, state, now_ms, **how)


def batches(log: Log, start: int | None = None) -> list[tuple[BatchHeader, list[Record]]]:
    """Every batch that reads give, checked: header and records."""
    found = []
    offset = log.log_start_offset if start is None else start
    while offset < log.log_end_offset:
        part = log.read(offset, 1 << 20, log.log_end_offset)
        if not part.parts:
            break
        data = part.parts[0].read()
        for header in iter_batches(data):
            assert check_crc(data, header)
            found.append((header, decode_records(data, header)))
        assert part.next_offset > offset
        offset = part.next_offset
    return found


def records(log: Log) -> dict[int, Record]:
    """Every data record by offset."""
    found: dict[int, Record] = {}
    for header, content in batches(log):
        for record in content:
            assert record.offset not in found
            if not header.is_control:
                found[record.offset] = record
    return found


def committed(log: Log) -> list[Record]:
    """What a read_committed consumer gets, as Kafka's clients work it out."""
    stop = log.last_stable_offset
    aborted = sorted(log.aborted_txns(log.log_start_offset, stop), key=lambda txn: txn.first_offset)
    active: set[int] = set()
    found: list[Record] = []
    for header, content in batches(log):
        if header.base_offset >= stop:
            break
        while aborted and aborted[0].first_offset <= header.last_offset:
            active.add(aborted.pop(0).producer_id)
        if header.is_control:
            if content and content[0].key[2:4] == b"\x00\x00":
                active.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in active):
            found += content
    return found


def table(content: list[Record]) -> dict[bytes, bytes]:
    """The last value of each key; a tombstone is no value."""
    found: dict[bytes, bytes] = {}
    for record in content:
        if record.value is None:
            found.pop(record.key, None)
        else:
            found[record.key] = record.value
    return found
