"""Transactional batches of a Produce request: which need the coordinator's word before they are appended.

A partition where the producer's transaction is open takes its batches at once. Otherwise the coordinator is
asked (KIP-890): up to version 11 whether the partition was added, from 12 on to add it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.deferred import Deferred
from kbroker.broker.txn_verifier import ClientLevel
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.produce_answer import VerificationError
from kbroker.handlers.produce_batch import PRODUCER, PRODUCER_AT

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.txn_verifier import Verdicts
    from kbroker.handlers.produce_answer import Item
    from kbroker.storage.producer_state import ProducerState, VerificationGuard

_ABORTABLE_SINCE, _ADDS_SINCE = 11, 12
#: Answers that old clients would not try again after, so that they hear one which makes them do so.
_TRY_AGAIN = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class _Asked(NamedTuple):
    """A batch that waits for the coordinator's word."""

    item: Item
    producers: ProducerState
    guard: VerificationGuard | None

    def is_void(self, producer_id: int) -> bool:
        """The producer's marker came meanwhile; to be asked once."""
        return self.guard is not None and not self.producers.release(producer_id, self.guard)


def verify(
    services: Services, transactional_id: str, items: Sequence[Item], version: int
) -> Deferred[None] | None:
    """Fail those of the transactional `items` that are in no transaction.

    Returns:
        None if that is done, else what it waits for.
    """
    producers = {PRODUCER.unpack_from(item.records or b"", PRODUCER_AT) for item in items}
    if len(producers) > 1:
        for item in items:
            item.fail(
                ApiError(
                    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                    "Transactional records contained more than one producer ID",
                )
            )
        return None
    ((producer_id, epoch),) = producers
    level = _level(version)
    verifier = services.txns.verifier
    if not verifier.wants(level):
        return None
    asked = _to_ask(services, items, producer_id, epoch, level)
    if not asked:
        return None
    places = [(each.item.name, each.item.index) for each in asked]
    verdicts = verifier.verify(transactional_id, producer_id, epoch, places, level)
    if verdicts.done:
        _apply(asked, producer_id, verdicts.result(), level)
        return None
    return verdicts.map(lambda found: _apply(asked, producer_id, found, level))


def _to_ask(
    services: Services, items: Sequence[Item], producer_id: int, epoch: int, level: ClientLevel
) -> list[_Asked]:
    """A marker makes the answer void, except for new clients: what ends their transaction has a higher epoch,
    so that the append is refused; the marker that does come meanwhile is that of the transaction before.
    """
    guards = level is not ClientLevel.ADDS
    asked = []
    for item in items:
        try:
            producers = services.replicas.led(item.name, item.index).online_log().producers
        except ApiError:
            continue  # the append will say so
        if not producers.has_open_txn(producer_id, epoch):
            asked.append(_Asked(item, producers, producers.guard(producer_id) if guards else None))
    return asked


def _apply(asked: Sequence[_Asked], producer_id: int, verdicts: Verdicts, level: ClientLevel) -> None:
    for each in asked:
        item = each.item
        code = verdicts[item.name, item.index]
        if each.is_void(producer_id) and code is ErrorCode.NONE:
            code = ErrorCode.INVALID_TXN_STATE
        if code is not ErrorCode.NONE:
            item.fail(_as_told(code, level))


def _as_told(code: ErrorCode, level: ClientLevel) -> ApiError:
    if code is ErrorCode.INVALID_TXN_STATE:
        return VerificationError(code, "Partition was not added to the transaction")
    busy = code is ErrorCode.CONCURRENT_TRANSACTIONS and level is not ClientLevel.ADDS
    if busy or code in _TRY_AGAIN:
        return VerificationError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            "Unable to verify the partition has been added to the transaction. "
            f"Underlying error: {code.name}",
        )
    return ApiError(code)


def _level(version: int) -> ClientLevel:
    if version >= _ADDS_SINCE:
        return ClientLevel.ADDS
    return ClientLevel.ABORTABLE if version >= _ABORTABLE_SINCE else ClientLevel.OLD
