"""The .snapshot files beside segments: producers of a log as of an offset; batches before it need no reading.

Law of this file: the form is Kafka's, version 1; of each producer it has the last batch only. A file is taken
as a whole, or not at all.
"""

from __future__ import annotations

from struct import Struct

from kbroker.protocol.crc import crc32c
from kbroker.storage.producer_state import NO_OFFSET, NO_SEQUENCE, BatchMemory, ProducerEntry, ProducerState

_VERSION = 1
_HEADER = Struct(">hIi")
_CRC_END = 6
_ENTRY = Struct(">qhiqiqiq")
#: Of a file that names nobody.
EMPTY_SIZE = _HEADER.size


def encode(state: ProducerState) -> bytes:
    """The bytes of a .snapshot file."""
    body = bytearray()
    for producer_id in sorted(state.entries):
        entry = state.entries[producer_id]
        last = entry.batches[-1] if entry.batches else BatchMemory(NO_SEQUENCE, NO_OFFSET, 0, -1)
        body += _ENTRY.pack(
            producer_id,
            entry.epoch,
            last.last_sequence,
            last.last_offset,
            last.offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.current_txn_first_offset,
        )
    count = len(state.entries).to_bytes(4, "big")
    return _HEADER.pack(_VERSION, crc32c(count + body), len(state.entries)) + body


def decode(data: bytes, offset: int, now_ms: int, expiration_ms: int) -> ProducerState:
    """The state as of `offset`, without the producers that have expired by `now_ms`.

    Raises:
        ValueError: damaged.
    """
    if len(data) < _HEADER.size:
        raise ValueError(f"only {len(data)} bytes")
    version, crc, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"version {version} is unknown")
    if len(data) != _HEADER.size + count * _ENTRY.size:
        raise ValueError(f"{count} producers do not fit {len(data)} bytes")
    if crc32c(memoryview(data)[_CRC_END:]) != crc:
        raise ValueError("the checksum does not match")
    state = ProducerState()
    state.end_offset = offset
    open_txns: list[tuple[int, int]] = []
    for fields in _ENTRY.iter_unpack(memoryview(data)[_HEADER.size :]):
        producer_id, epoch, sequence, last_offset, delta, timestamp, coordinator_epoch, txn_first = fields
        entry = ProducerEntry(producer_id, epoch)
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp = timestamp
        entry.current_txn_first_offset = txn_first
        if last_offset != NO_OFFSET:
            entry.batches.append(BatchMemory(sequence, last_offset, delta, timestamp))
            entry.is_cut = True
        state.entries[producer_id] = entry
        if txn_first != NO_OFFSET:
            open_txns.append((txn_first, producer_id))
    state.open_txns = dict(sorted(open_txns))
    state.find_first_unstable()
    state.remove_expired(now_ms, expiration_ms)
    return state
