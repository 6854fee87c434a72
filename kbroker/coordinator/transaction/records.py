"""The records of `__transaction_state`, in Kafka's format: one a transactional id, the newest counts."""

from __future__ import annotations

from struct import Struct

from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.coordinator.transaction.state import NO_PARTITIONS, State, Transaction, partitions_of
from kbroker.errors import ProtocolError
from kbroker.protocol.generated.transaction_log_key import TransactionLogKey
from kbroker.protocol.generated.transaction_log_value import PartitionsSchema, TransactionLogValue

_INT16 = Struct(">h")
_TYPE = TransactionLogKey.API_KEY


class TransactionValue:
    """A `Transaction` as a record's value: encoded for the log, taken over as it is by the shard that wrote
    it.
    """

    __slots__ = ("transaction",)

    def __init__(self, transaction: Transaction) -> None:
        self.transaction = transaction

    def encode(self, version: int) -> bytes:
        """The bytes of version 0, or 1 (flexible, since `transaction.version` 1)."""
        txn = self.transaction
        partitions = None
        if txn.state is not State.EMPTY:
            partitions = [
                PartitionsSchema(topic=topic, partition_ids=sorted(indexes))
                for topic, indexes in txn.partitions.items()
            ]
        value = TransactionLogValue(
            producer_id=txn.producer_id,
            producer_epoch=txn.producer_epoch,
            transaction_timeout_ms=txn.timeout_ms,
            transaction_status=txn.state,
            transaction_partitions=partitions,
            transaction_last_update_timestamp_ms=txn.last_update_ms,
            transaction_start_timestamp_ms=txn.start_ms,
        )
        if version >= 1:
            value.previous_producer_id = txn.previous_producer_id
            value.next_producer_id = txn.next_producer_id
            value.client_transaction_version = txn.client_version
        return value.encode(version)


def transaction_record(transaction: Transaction, server_version: int) -> CoordinatorRecord:
    """What is now true of a transactional id; `server_version` is the level of `transaction.version`."""
    key = TransactionLogKey(transactional_id=transaction.transactional_id)
    return CoordinatorRecord(key, TransactionValue(transaction), 1 if server_version >= 1 else 0)


def tombstone(transactional_id: str) -> CoordinatorRecord:
    """The id is forgotten."""
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), None)


def decode_record(key: bytes, value: bytes | None) -> CoordinatorRecord | None:
    """A record as it lies in the log; None if it is of a kind or version that is not known here.

    Raises:
        ProtocolError: it is of a known kind, but damaged.
    """
    if len(key) < _INT16.size:
        raise ProtocolError("a record key of __transaction_state has no type")
    if _INT16.unpack_from(key)[0] != _TYPE:
        return None
    decoded = TransactionLogKey.decode(key, 0, _INT16.size)
    if value is None:
        return CoordinatorRecord(decoded, None)
    if len(value) < _INT16.size:
        raise ProtocolError("a record value of __transaction_state has no version")
    (version,) = _INT16.unpack_from(value)
    if not TransactionLogValue.MIN_VERSION <= version <= TransactionLogValue.MAX_VERSION:
        return None
    found = TransactionLogValue.decode(value, version, _INT16.size)
    try:
        state = State(found.transaction_status)
    except ValueError:
        raise ProtocolError(f"a transaction has the unknown state {found.transaction_status}") from None
    transaction = Transaction(
        decoded.transactional_id,
        found.producer_id,
        found.producer_epoch,
        found.transaction_timeout_ms,
        state,
        partitions_of((each.topic, each.partition_ids) for each in found.transaction_partitions or ())
        if found.transaction_partitions
        else NO_PARTITIONS,
        found.transaction_last_update_timestamp_ms,
        found.transaction_start_timestamp_ms,
        found.previous_producer_id,
        found.next_producer_id,
        found.client_transaction_version,
    )
    return CoordinatorRecord(decoded, TransactionValue(transaction), version)
