"""Reading one partition for a share group: what is free, and which batches of the log hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kbroker.protocol.control_records import EndTxnMarker, decode_control_message
from kbroker.protocol.record_batch import BatchHeader, decode_records, iter_batches
from kbroker.storage.log_encryption import opened

if TYPE_CHECKING:
    from kbroker.broker.share_partitions import LiveShare
    from kbroker.coordinator.share.acquisition import Wish
    from kbroker.coordinator.share.spans import Acquired
    from kbroker.storage.log import Log


class ShareRead(NamedTuple):
    """Acquired records, and the batches that hold them."""

    records: bytes | memoryview
    acquired: list[Acquired]
    total: int


NOTHING = ShareRead(b"", [], 0)


def read_share(live: LiveShare, member: str, wish: Wish, bytes_max: int, committed_only: bool) -> ShareRead:
    """Give the member up to so many free records; raises ApiError."""
    core = live.refresh()
    log = live.partition.online_log()
    end = log.last_stable_offset if committed_only else log.high_watermark
    offset = core.next_fetch_offset()
    if wish.records <= 0 or bytes_max <= 0 or offset >= end or not core.can_acquire():
        return NOTHING
    found = log.read(max(offset, log.log_start_offset), bytes_max, end, True)
    if not found.size:
        return NOTHING
    data = opened(log, found).data if log.encrypted else b"".join(part.read() for part in found.parts)
    headers = list(iter_batches(data))
    bounds = [(each.base_offset, each.last_offset) for each in headers]
    acquired = live.acquire(member, offset, bounds, wish)
    if not acquired:
        return NOTHING
    if committed_only:
        acquired = _without_aborted(live, log, data, headers, acquired)
        if not acquired:
            return read_share(live, member, wish, bytes_max, committed_only)
    total = sum(each.last - each.first + 1 for each in acquired)
    return ShareRead(_slice(data, headers, acquired[0].first, acquired[-1].last), acquired, total)


def readable_bytes(live: LiveShare, wanted: int, committed_only: bool) -> int:
    """How many bytes of the log lie from the next free record on, `wanted` if there are more; none is read.

    As in Kafka, what reaches into another segment is enough. Raises ApiError.
    """
    core = live.refresh()
    log = live.partition.online_log()
    end = log.last_stable_offset if committed_only else log.high_watermark
    offset = core.next_fetch_offset()
    if offset >= end or not core.can_acquire():
        return 0
    found = log.read(max(offset, log.log_start_offset), wanted, end, True)
    return found.size if found.next_offset >= end else max(found.size, wanted)


def _slice(data: bytes, headers: list[BatchHeader], first: int, last: int) -> bytes | memoryview:
    """The batches that hold records from `first` to `last`."""
    begin = next((each.position for each in headers if each.last_offset >= first), 0)
    end = next((each.position for each in headers if each.base_offset > last), len(data))
    if begin == 0 and end == len(data):
        return data
    return memoryview(data)[begin:end]


def _without_aborted(
    live: LiveShare, log: Log, data: bytes, headers: list[BatchHeader], acquired: list[Acquired]
) -> list[Acquired]:
    """Records of aborted transactions are done with, whoever was given them."""
    aborted = log.aborted_txns(headers[0].base_offset, headers[-1].next_offset)
    if not aborted:
        return acquired
    starts = sorted((txn.first_offset, txn.producer_id) for txn in aborted)
    for first, last in _aborted_batches(data, headers, starts):
        live.core.archive(first, last)
        acquired = [piece for each in acquired for piece in _minus(each, first, last)]
    return acquired


def _aborted_batches(
    data: bytes, headers: Iterable[BatchHeader], starts: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    open_now: set[int] = set()
    for header in headers:
        while starts and starts[0][0] <= header.last_offset:
            open_now.add(starts.pop(0)[1])
        if header.producer_id not in open_now:
            continue
        if not header.is_control:
            if header.is_transactional:
                yield header.base_offset, header.last_offset
            continue
        for record in decode_records(data, header):
            marker = decode_control_message(record)[1]
            if isinstance(marker, EndTxnMarker) and not marker.commit:
                open_now.discard(header.producer_id)


def _minus(acquired: Acquired, first: int, last: int) -> Iterator[Acquired]:
    if last < acquired.first or first > acquired.last:
        yield acquired
        return
    if acquired.first < first:
        yield acquired._replace(last=first - 1)
    if acquired.last > last:
        yield acquired._replace(first=last + 1)
