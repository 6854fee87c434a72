"""Control records: transaction markers, and what raft writes into its own log and snapshots.

A control batch has the control bit, and records whose key is {version: int16, type: int16}. They take
offsets, no client sees them, and a reader steps over types that it does not know.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import message_class
from kbroker.protocol.primitives import Message
from kbroker.protocol.record_batch import InvalidRecord, Record, build_batch

_KEY = Struct(">hh")
_END_TXN = Struct(">hi")
_VERSION = Struct(">h")


class ControlType(IntEnum):
    """The second number of a control record's key."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_MESSAGES = {
    ControlType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlType.KRAFT_VOTERS: "VotersRecord",
}


class EndTxnMarker(NamedTuple):
    """How a transaction ended on a partition, and the epoch of the coordinator that said so."""

    commit: bool
    coordinator_epoch: int


def control_type(record: Record) -> ControlType:
    """The record's type; `UNKNOWN` for one that a later Kafka may have added.

    Raises:
        InvalidRecord: the key is missing or too short.
    """
    key = record.key
    if key is None or len(key) < _KEY.size:
        raise InvalidRecord(f"Invalid value size found for control record key: {len(key or b'')} bytes")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise InvalidRecord(f"Invalid version found for control record: {version}")
    try:
        return ControlType(number)
    except ValueError:
        return ControlType.UNKNOWN


def control_key(kind: ControlType) -> bytes:
    """The key of a record of that type, version 0."""
    return _KEY.pack(0, kind)


def parse_end_txn_marker(record: Record) -> EndTxnMarker:
    """The marker in an `ABORT` or `COMMIT` record.

    Raises:
        InvalidRecord: another type, or the value is missing or too short.
    """
    kind = control_type(record)
    if kind not in (ControlType.ABORT, ControlType.COMMIT):
        raise InvalidRecord(f"Invalid control record type {kind.name} for a transaction marker")
    value = record.value
    if value is None or len(value) < _END_TXN.size:
        raise InvalidRecord(f"Invalid value size found for end transaction marker: {len(value or b'')} bytes")
    version, coordinator_epoch = _END_TXN.unpack_from(value)
    if version < 0:
        raise InvalidRecord(f"Invalid version found for end transaction marker: {version}")
    return EndTxnMarker(kind == ControlType.COMMIT, coordinator_epoch)


def build_end_txn_batch(
    marker: EndTxnMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytes:
    """The batch that ends a producer's transaction on one partition; `timestamp` in ms."""
    key = control_key(ControlType.COMMIT if marker.commit else ControlType.ABORT)
    value = _END_TXN.pack(0, marker.coordinator_epoch)
    return build_batch(
        [Record(timestamp=timestamp, key=key, value=value)],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )


def decode_control_message(record: Record) -> tuple[ControlType, Message | EndTxnMarker | None]:
    """Type and content of a control record; (UNKNOWN, None) for a later type.

    Raises:
        InvalidRecord: damaged, or of a version that we do not know.
    """
    kind = control_type(record)
    if kind in (ControlType.ABORT, ControlType.COMMIT):
        return kind, parse_end_txn_marker(record)
    name = _MESSAGES.get(kind)
    if name is None:
        return kind, None
    value = record.value
    if value is None or len(value) < _VERSION.size:
        raise InvalidRecord(f"Control record {kind.name} has no value")
    (version,) = _VERSION.unpack_from(value)
    try:
        return kind, message_class(name).decode(value, version)
    except ProtocolError as error:
        raise InvalidRecord(f"Control record {kind.name}: {error}") from None


def control_record(kind: ControlType, message: Message, *, timestamp: int, version: int = 0) -> Record:
    """A raft control record around a generated message (its own `version` field is set by the caller)."""
    return Record(timestamp=timestamp, key=control_key(kind), value=message.encode(version))


def build_control_batch(records: list[Record], *, base_offset: int, leader_epoch: int) -> bytes:
    """A batch of raft control records."""
    return build_batch(records, base_offset=base_offset, leader_epoch=leader_epoch, control=True)
