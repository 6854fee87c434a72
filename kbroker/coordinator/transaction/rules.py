"""Who may do what with a transactional id, and what is refused: producer ids, epochs, states.

Law of this file: each rule looks at one transaction and at what a client says of itself, refuses as Kafka
does (in its order, where more than one thing is wrong), and changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from kbroker.coordinator.transaction.state import LAST_EPOCH, NO_EPOCH, NO_PRODUCER_ID, State, Transaction
from kbroker.errors import ApiError, ErrorCode


class NeedsProducerId(Exception):
    """The decision needs a producer id that nobody has; ask again with one."""


class Producer(NamedTuple):
    """A producer as clients know it."""

    producer_id: int
    epoch: int


NOBODY = Producer(NO_PRODUCER_ID, NO_EPOCH)


def may_be(txn: Transaction, expected: Producer) -> bool:
    """Whether a client that names itself may own the id; its epoch is looked at later.

    The previous producer id, with its last epoch, is one that did not hear of its new id.
    """
    return (
        txn.producer_epoch == NO_EPOCH
        or expected.producer_id == txn.producer_id
        or (expected.producer_id == txn.previous_producer_id and expected.epoch >= LAST_EPOCH)
    )


def initialized(
    txn: Transaction, timeout_ms: int, expected: Producer | None, new_id: int | None, now_ms: int
) -> Transaction:
    """The next epoch of an id without an open transaction, or the same to a client that asks again.

    Raises:
        ApiError: PRODUCER_FENCED.
        NeedsProducerId: the epochs are used up, and `new_id` is None.
    """
    if txn.is_epoch_exhausted and (expected is None or expected.epoch == txn.producer_epoch):
        if new_id is None:
            raise NeedsProducerId
        return txn.rotated(new_id, timeout_ms, now_ms, keep_last=expected is not None)
    if expected is None:
        return txn.reinitialized(txn.producer_epoch + 1, NO_EPOCH, timeout_ms, now_ms)
    if txn.producer_epoch in (NO_EPOCH, expected.epoch):
        return txn.reinitialized(txn.producer_epoch + 1, txn.producer_epoch, timeout_ms, now_ms)
    if expected.epoch == txn.last_epoch:
        return txn.reinitialized(txn.producer_epoch, txn.last_epoch, timeout_ms, now_ms)
    raise ApiError(ErrorCode.PRODUCER_FENCED)


def joinable(txn: Transaction | None, producer: Producer) -> Transaction:
    """The transaction that partitions may join.

    Raises:
        ApiError: not by this producer, or not now. What is ending comes first: the end may bring a new id.
    """
    if txn is None:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if txn.state.is_ending:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if txn.producer_id != producer.producer_id:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if txn.producer_epoch != producer.epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    return txn


def ends_v1(txn: Transaction, producer: Producer, commit: bool) -> bool:
    """EndTxn before version 5: True: it ends now; False: it has ended so.

    Raises:
        ApiError: not by this producer, not now, or not so.
    """
    if txn.producer_id != producer.producer_id:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if txn.producer_epoch != producer.epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    if txn.state.is_ending:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if txn.state is State.ONGOING:
        return True
    if txn.state is (State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT):
        return False
    raise ApiError(ErrorCode.INVALID_TXN_STATE)


def ends(txn: Transaction, producer: Producer, commit: bool) -> bool:
    """EndTxn since version 5: as `ends_v1`.

    Each transaction has its own epoch, so a retry is known by the epoch before the present one, and an abort
    with the present one is the next end: of a transaction that wrote nothing that we know of.
    """
    if txn.state.is_ending:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    settled = txn.state in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT)
    retries_over_ids = (
        settled
        and txn.previous_producer_id == producer.producer_id
        and producer.epoch == LAST_EPOCH
        and txn.producer_epoch == 0
    )
    if txn.producer_id != producer.producer_id and not retries_over_ids:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    is_retry = retries_over_ids or (settled and txn.producer_epoch == producer.epoch + 1)
    if not is_retry and producer.epoch != txn.producer_epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    if txn.state is State.ONGOING:
        return True
    if is_retry:
        if txn.state is (State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT):
            return False
    elif not commit:
        return True
    raise ApiError(ErrorCode.INVALID_TXN_STATE)


def now_known_as(txn: Transaction) -> Producer:
    return Producer(txn.producer_id, txn.producer_epoch)
