"""One partition of `__transaction_state`: the transactional ids that live there, and what may happen to them.

Deciding reads the state and returns an `Outcome`; `apply` alone makes true what stands in the log (see
coordinator/shard.py). The end of a transaction goes: PREPARE_* is logged, the client is answered, and a
`MarkersDue` leaves once the record is committed; whoever writes the markers comes back with
`markers_written`, and COMPLETE_* is logged. A shard that finds PREPARE_* in its log goes on from there, as
often as it takes: markers may be written twice. Whether a producer may is in `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.coordinator.transaction.records import decode_record, tombstone, transaction_record
from kbroker.coordinator.transaction.rules import (
    NOBODY,
    NeedsProducerId,
    Producer,
    ends,
    ends_v1,
    initialized,
    joinable,
    may_be,
    now_known_as,
)
from kbroker.coordinator.transaction.state import (
    EPOCH_BUMPS_SINCE,
    NO_PRODUCER_ID,
    Partitions,
    State,
    Transaction,
    newborn,
)
from kbroker.errors import ApiError, ErrorCode

#: Ids that one batch of tombstones forgets.
_EXPIRED_AT_ONCE = 1_000


class Initialized(NamedTuple):
    """The answer to InitProducerId."""

    code: ErrorCode
    producer: Producer = NOBODY


class Ended(NamedTuple):
    """The answer to EndTxn; the producer as it goes on from there (`NOBODY` before version 5)."""

    code: ErrorCode
    producer: Producer = NOBODY


class MarkersDue(NamedTuple):
    """The end of a transaction is decided and committed: its partitions must hear."""

    transaction: Transaction
    commit: bool
    coordinator_epoch: int


class Listing(NamedTuple):
    """What ListTransactions asks for: empty filters let everything through; `duration_ms` -1: any."""

    producer_ids: frozenset[int]
    states: frozenset[State] | None
    duration_ms: int
    matches: Callable[[str], bool] | None


class TransactionShard:
    """The transaction coordinator's state for one partition.

    Args:
        coordinator_epoch: the leader epoch of the partition; it goes into the markers.
        server_version: the level of `transaction.version` now.
        waiter: makes the ticket of whoever writes the markers; it is answered when they are due.
    """

    __slots__ = ("_ongoing", "_server_version", "_waiter", "coordinator_epoch", "transactions")

    def __init__(
        self,
        coordinator_epoch: int,
        server_version: Callable[[], int],
        waiter: Callable[[MarkersDue], Ticket],
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self.transactions: dict[str, Transaction] = {}
        #: The ids with an open transaction, so that a look for those out of time is short.
        self._ongoing: dict[str, None] = {}
        self._server_version = server_version
        self._waiter = waiter

    # -- InitProducerId --------------------------------------------------------------------------------------

    def init_producer_id(
        self,
        ticket: Ticket,
        transactional_id: str,
        timeout_ms: int,
        expected: Producer | None,
        new_id: int | None,
        now_ms: int,
    ) -> Outcome:
        """A producer begins, or (`expected`) goes on after an error (KIP-360); answers with `Initialized`.

        Raises:
            NeedsProducerId: `new_id` is None and one is needed.
        """
        txn = self.transactions.get(transactional_id)
        if txn is None:
            if new_id is None:
                raise NeedsProducerId
            txn = newborn(transactional_id, new_id, timeout_ms, now_ms)
        try:
            if txn.state.is_ending:
                raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
            if expected is not None and not may_be(txn, expected):
                raise ApiError(ErrorCode.PRODUCER_FENCED)
            if txn.state is State.ONGOING:
                return self._fence(
                    txn,
                    now_ms,
                    lambda code: Outcome().also(
                        ticket, Initialized(code or ErrorCode.CONCURRENT_TRANSACTIONS)
                    ),
                )
            changed = initialized(txn, timeout_ms, expected, new_id, now_ms)
        except ApiError as error:
            return Outcome.answer(ticket, Initialized(error.code))
        return Outcome(
            [self._record(changed)],
            refused=lambda code: Outcome.answer(ticket, Initialized(write_error(code))),
        ).also(ticket, Initialized(ErrorCode.NONE, Producer(changed.producer_id, changed.producer_epoch)))

    # -- AddPartitionsToTxn, AddOffsetsToTxn -----------------------------------------------------------------

    def add_partitions(
        self,
        ticket: Ticket,
        transactional_id: str,
        producer: Producer,
        partitions: Partitions,
        client_version: int,
        now_ms: int,
    ) -> Outcome:
        """Partitions join the transaction; answers with a code."""
        txn = self.transactions.get(transactional_id)
        try:
            txn = joinable(txn, producer)
        except ApiError as error:
            return Outcome.answer(ticket, error.code)
        if txn.state is State.ONGOING and txn.has(partitions):
            return Outcome.answer(ticket, ErrorCode.NONE)
        changed = txn.extended(partitions, client_version, now_ms)
        return Outcome(
            [self._record(changed)], refused=lambda code: Outcome.answer(ticket, write_error(code))
        ).also(ticket, ErrorCode.NONE)

    def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: Partitions
    ) -> dict[tuple[str, int], ErrorCode]:
        """Which partitions belong to the producer's open transaction (KIP-890); others are refused.

        Raises:
            ApiError: none can, as this producer has no transaction.
        """
        txn = self.transactions.get(transactional_id)
        if txn is None or txn.producer_id != producer.producer_id:
            raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if txn.producer_epoch != producer.epoch:
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        if txn.state.is_ending:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return {
            (topic, index): ErrorCode.NONE
            if index in txn.partitions.get(topic, ())
            else ErrorCode.TRANSACTION_ABORTABLE
            for topic, indexes in partitions.items()
            for index in indexes
        }

    # -- EndTxn ----------------------------------------------------------------------------------------------

    def end(
        self,
        ticket: Ticket,
        transactional_id: str,
        producer: Producer,
        commit: bool,
        client_version: int,
        new_id: int | None,
        now_ms: int,
    ) -> Outcome:
        """Commit or abort; answers with `Ended` as soon as that is decided.

        Raises:
            NeedsProducerId: `new_id` is None and one is needed.
        """
        txn = self.transactions.get(transactional_id)
        try:
            if txn is None:
                raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
            bumps = client_version >= EPOCH_BUMPS_SINCE
            decided = ends(txn, producer, commit) if bumps else ends_v1(txn, producer, commit)
        except ApiError as error:
            return Outcome.answer(ticket, Ended(error.code))
        if not decided:
            # A retry: the answer got lost.
            return Outcome.answer(ticket, Ended(ErrorCode.NONE, now_known_as(txn) if bumps else NOBODY))
        next_id = NO_PRODUCER_ID
        if bumps and txn.is_epoch_exhausted:
            if new_id is None:
                raise NeedsProducerId
            next_id = new_id
        prepared = txn.ending(commit, client_version, now_ms, next_id)
        known = now_known_as(prepared.completed(now_ms)) if bumps else NOBODY
        return self._prepare(
            prepared,
            lambda code: Outcome().also(ticket, Ended(code, known if code is ErrorCode.NONE else NOBODY)),
        )

    def markers_written(self, prepared: Transaction, now_ms: int) -> Outcome:
        """Every partition of a transaction that is ending has its marker, or is gone."""
        if not self.is_ending(prepared):
            return Outcome()
        return Outcome([self._record(self.transactions[prepared.transactional_id].completed(now_ms))])

    def is_ending(self, prepared: Transaction) -> bool:
        """Whether markers of this end are still wanted."""
        return self.transactions.get(prepared.transactional_id) == prepared

    def abort_timed_out(self, now_ms: int) -> Iterator[Outcome]:
        """Abort what has been open for longer than it said. Perform each outcome before the next."""
        for transactional_id in list(self._ongoing):
            txn = self.transactions[transactional_id]
            if txn.state is State.ONGOING and txn.start_ms + txn.timeout_ms < now_ms:
                yield self._fence(txn, now_ms, lambda _: Outcome())

    def _fence(self, txn: Transaction, now_ms: int, answer: Callable[[ErrorCode], Outcome]) -> Outcome:
        """Abort with an epoch that the producer does not have."""
        return self._prepare(txn.fenced(self._server_version(), now_ms), answer)

    def _prepare(self, prepared: Transaction, answer: Callable[[ErrorCode], Outcome]) -> Outcome:
        out = answer(ErrorCode.NONE)
        out.records = [self._record(prepared)]
        out.refused = lambda code: answer(write_error(code))
        due = self._due(prepared)
        return out.also(self._waiter(due), due)

    def _due(self, prepared: Transaction) -> MarkersDue:
        return MarkersDue(prepared, prepared.state is State.PREPARE_COMMIT, self.coordinator_epoch)

    # -- looking ---------------------------------------------------------------------------------------------

    def describe(self, transactional_id: str) -> Transaction:
        """One transactional id.

        Raises:
            ApiError: TRANSACTIONAL_ID_NOT_FOUND.
        """
        txn = self.transactions.get(transactional_id)
        if txn is None:
            raise ApiError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return txn

    def list(self, wanted: Listing, now_ms: int) -> Iterator[Transaction]:
        """The ids that pass all filters. An id without a transaction passes any duration, as in Kafka."""
        for txn in self.transactions.values():
            if wanted.producer_ids and txn.producer_id not in wanted.producer_ids:
                continue
            if wanted.states is not None and txn.state not in wanted.states:
                continue
            if wanted.duration_ms >= 0 and now_ms - txn.start_ms <= wanted.duration_ms:
                continue
            if wanted.matches is None or wanted.matches(txn.transactional_id):
                yield txn

    def expire(self, now_ms: int, expiration_ms: int) -> Iterator[Outcome]:
        """Forget ids that nobody has used for that long. Perform each outcome before the next."""
        limit = now_ms - expiration_ms
        old = [
            txn.transactional_id
            for txn in self.transactions.values()
            if txn.state.is_settled and txn.last_update_ms <= limit
        ]
        for first in range(0, len(old), _EXPIRED_AT_ONCE):
            yield Outcome([tombstone(each) for each in old[first : first + _EXPIRED_AT_ONCE]])

    # -- the log (Shard) -------------------------------------------------------------------------------------

    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        """A record of the log; None for one of a kind that is not known here."""
        return decode_record(key, value)

    def apply(self, record: CoordinatorRecord, offset: int, producer_id: int = -1) -> None:
        """Make true what a record says."""
        transactional_id = record.key.transactional_id
        if record.value is None:
            self.transactions.pop(transactional_id, None)
            self._ongoing.pop(transactional_id, None)
            return
        txn: Transaction = record.value.transaction
        self.transactions[transactional_id] = txn
        if txn.state is State.ONGOING:
            self._ongoing[transactional_id] = None
        else:
            self._ongoing.pop(transactional_id, None)

    def apply_marker(self, producer_id: int, committed: bool, offset: int) -> None:
        """There are no transactions on this topic."""

    def committed(self, end: int) -> None:
        """All answers wait until what they say is committed."""

    # -- time (Shard) ----------------------------------------------------------------------------------------

    def loaded(self, now_ms: int) -> Outcome:
        """The log has been replayed: what was ending goes on."""
        out = Outcome()
        for txn in self.transactions.values():
            if txn.state.is_ending:
                due = self._due(txn)
                out.also(self._waiter(due), due)
        return out

    def deadline(self) -> int | None:
        """Nothing: the driver looks for what is out of time at intervals, as Kafka does."""
        return None

    def tick(self, now_ms: int) -> Outcome | None:
        """Nothing is due."""
        return None

    def _record(self, txn: Transaction) -> CoordinatorRecord:
        return transaction_record(txn, self._server_version())
