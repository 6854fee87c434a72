"""ProducerSnapshot, version 1.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    null_field,
    too_many,
)

pack_Ii = Layout(">Ii").pack
unpack_Ii = Layout(">Ii").unpack_from
pack_qhiqiqiq = Layout(">qhiqiqiq").pack
unpack_qhiqiqiq = Layout(">qhiqiqiq").unpack_from


class ProducerEntry(Struct):
    """Part of ProducerSnapshot."""

    __slots__ = (
        "producer_id",
        "epoch",
        "last_sequence",
        "last_offset",
        "offset_delta",
        "timestamp",
        "coordinator_epoch",
        "current_txn_first_offset",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset


class ProducerSnapshot(Message):
    """ProducerSnapshot, version 1."""

    __slots__ = (
        "crc",
        "producer_entries",
    )
    NAME = "ProducerSnapshot"
    API_KEY = None
    MIN_VERSION = 1
    MAX_VERSION = 1
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        crc: int = 0,
        producer_entries: list[ProducerEntry] = UNSET,
    ) -> None:
        self.crc = crc
        self.producer_entries: list[ProducerEntry] = [] if producer_entries is UNSET else producer_entries


def _decode_producer_entry_v1(buf: Buffer, pos: int, count: int) -> tuple[list[ProducerEntry], int]:
    items: list[ProducerEntry] = []
    for _ in range(count):
        o = ProducerEntry.__new__(ProducerEntry)
        items.append(o)
        (
            o.producer_id,
            o.epoch,
            o.last_sequence,
            o.last_offset,
            o.offset_delta,
            o.timestamp,
            o.coordinator_epoch,
            o.current_txn_first_offset,
        ) = unpack_qhiqiqiq(buf, pos)
        pos += 46
    return items, pos


def _encode_producer_entry_v1(out: bytearray, items: Iterable[ProducerEntry]) -> None:
    for o in items:
        out += pack_qhiqiqiq(
            o.producer_id,
            o.epoch,
            o.last_sequence,
            o.last_offset,
            o.offset_delta,
            o.timestamp,
            o.coordinator_epoch,
            o.current_txn_first_offset,
        )


def _decode_producer_snapshot_v1(buf: Buffer, pos: int) -> tuple[ProducerSnapshot, int]:
    o = ProducerSnapshot.__new__(ProducerSnapshot)
    o.crc, n = unpack_Ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("producerEntries")
    if n * 46 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.producer_entries, pos = _decode_producer_entry_v1(buf, pos, n)
    return o, pos


def _encode_producer_snapshot_v1(out: bytearray, o: ProducerSnapshot) -> None:
    out += pack_Ii(o.crc, len(o.producer_entries))
    _encode_producer_entry_v1(out, o.producer_entries)


ProducerSnapshot.DECODERS = {
    1: _decode_producer_snapshot_v1,
}
ProducerSnapshot.ENCODERS = {
    1: _encode_producer_snapshot_v1,
}
