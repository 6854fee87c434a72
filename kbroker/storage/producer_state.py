"""What a partition knows of its producers: which batch comes next, which were seen, which transactions are
open.

Pure: it is told of every batch with a producer id, in offset order, and gives a verdict before an append. The
last five batches of a producer are kept, because that is how many a client has in flight (KIP-98); a snapshot
file (`producer_snapshot.py`) holds only the last one.

The law of transactions: a transaction is *open* from its first batch to its marker, and *undecided here*
until the marker is replicated. The last stable offset is the first offset of the oldest one in either state.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from kbroker.errors import ApiError, ErrorCode

NO_SEQUENCE = -1
NO_EPOCH = -1
NO_OFFSET = -1
_EPOCH_MAX = 32_767
SEQUENCE_MAX = 0x7FFF_FFFF
BATCHES_KEPT = 5


class BatchMemory(NamedTuple):
    """What is remembered of a producer's batch."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_offset(self) -> int:
        """The batch's base offset."""
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        """The batch's first sequence; it may lie before a wrap."""
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MAX


class CompletedTxn(NamedTuple):
    """A transaction whose marker was just appended at `last_offset`."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class ProducerEntry:
    """One producer. `batches` are its last five, oldest first."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "current_txn_first_offset",
        "epoch",
        "is_cut",
        "last_timestamp",
        "producer_id",
    )

    def __init__(self, producer_id: int, epoch: int = NO_EPOCH) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = -1
        self.current_txn_first_offset = NO_OFFSET
        self.last_timestamp = -1
        self.batches: list[BatchMemory] = []
        #: It comes from a snapshot, so that earlier batches may be known to the log alone.
        self.is_cut = False

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record, -1 if none of this epoch is known."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        """Offset of the last data record, -1 if none is known."""
        return self.batches[-1].last_offset if self.batches else NO_OFFSET


class VerificationGuard:
    """A question to the coordinator that is under way: whether a producer has an open transaction here.

    Void when the producer's marker comes in between: the answer is about a transaction that is over.
    """

    __slots__ = ("holders",)

    def __init__(self) -> None:
        self.holders = 0


class ProducerState:
    """The producers of one log.

    `end_offset` is the offset up to which batches have been counted in.
    """

    __slots__ = (
        "_guards",
        "_undecided",
        "end_offset",
        "entries",
        "first_unstable",
        "open_txns",
        "strangers_wait",
    )

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        #: First offset -> producer id of transactions without a marker, in offset order.
        self.open_txns: dict[int, int] = {}
        #: First offset -> marker offset of transactions whose marker is above the high watermark.
        self._undecided: dict[int, int] = {}
        #: First offset of the oldest open or undecided transaction; None if there is none.
        self.first_unstable: int | None = None
        self.end_offset = 0
        self._guards: dict[int, VerificationGuard] = {}
        #: Who is not known has to begin with sequence 0; see `Partition.lead`.
        self.strangers_wait = False

    # -- verification ----------------------------------------------------------------------------------------

    def has_open_txn(self, producer_id: int, epoch: int) -> bool:
        """The producer has written here in a transaction of this epoch that is not over."""
        entry = self.entries.get(producer_id)
        return entry is not None and entry.current_txn_first_offset != NO_OFFSET and entry.epoch == epoch

    def guard(self, producer_id: int) -> VerificationGuard:
        """Begin to ask the coordinator; `release` must follow."""
        guard = self._guards.get(producer_id)
        if guard is None:
            guard = self._guards[producer_id] = VerificationGuard()
        guard.holders += 1
        return guard

    def release(self, producer_id: int, guard: VerificationGuard) -> bool:
        """The answer is there; False if it is void."""
        guard.holders -= 1
        if self._guards.get(producer_id) is not guard:
            return False
        if not guard.holders:
            del self._guards[producer_id]
        return True

    # -- appends ---------------------------------------------------------------------------------------------

    def verdict(
        self, producer_id: int, epoch: int, first_sequence: int, offset_delta: int, transactional: bool
    ) -> BatchMemory | None:
        """What becomes of a client's batch: None, it may be appended; else it repeats the batch given.

        Raises:
            ApiError: as `check`.
        """
        entry = self.entries.get(producer_id)
        if entry is None and epoch >= NO_EPOCH:
            if self.strangers_wait and first_sequence > 0:
                raise ApiError(
                    ErrorCode.NOT_ENOUGH_REPLICAS,
                    f"What producer {producer_id} sent before sequence {first_sequence} is not here yet.",
                )
            return None  # a producer that nobody knows may begin anywhere (KIP-360)
        if entry is None:
            self._raise_fenced(ProducerEntry(producer_id), epoch)
        batches = entry.batches
        if (
            entry.epoch == epoch
            and batches
            and first_sequence == batches[-1][0] + 1
            and (transactional or entry.current_txn_first_offset == NO_OFFSET)
        ):
            return None  # the next one, as nearly always
        last_sequence = (first_sequence + offset_delta) & SEQUENCE_MAX
        seen = self.find_duplicate(producer_id, epoch, first_sequence, last_sequence)
        if seen is None:
            self.check(producer_id, epoch, first_sequence, transactional)
        return seen

    def find_duplicate(
        self, producer_id: int, epoch: int, first_sequence: int, last_sequence: int
    ) -> BatchMemory | None:
        """The batch with these sequences if it is one of the producer's last five of this epoch."""
        entry = self.entries.get(producer_id)
        if entry is None or entry.epoch != epoch:
            return None
        for batch in reversed(entry.batches):
            if batch[0] == last_sequence and (batch[0] - batch[2]) & SEQUENCE_MAX == first_sequence:
                return batch
        return None

    def check(self, producer_id: int, epoch: int, first_sequence: int, transactional: bool) -> None:
        """May a client append this batch now? Look for a duplicate first.

        Raises:
            ApiError: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER or INVALID_TXN_STATE.
        """
        entry = self.entries.get(producer_id)
        if entry is None:
            return  # a producer that nobody knows may begin anywhere (KIP-360)
        self._check_epoch(entry, epoch)
        if epoch != entry.epoch:
            if first_sequence != 0 and entry.epoch != NO_EPOCH:
                raise ApiError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Invalid sequence number for new epoch of producer {producer_id}: {epoch} (request "
                    f"epoch), {first_sequence} (seq. number), {entry.epoch} (current producer epoch)",
                )
        elif epoch != NO_EPOCH:  # without an epoch a producer's sequences are not looked at
            last = entry.last_sequence
            if first_sequence != last + 1 and not (first_sequence == 0 and last == SEQUENCE_MAX):
                raise ApiError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Out of order sequence number for producer {producer_id}: {first_sequence} (incoming "
                    f"seq. number), {last} (current end sequence number)",
                )
        self.check_txn_state(entry, transactional)

    def check_coordinator_batch(self, producer_id: int, epoch: int, transactional: bool) -> None:
        """As `check`, without the sequence: a coordinator's own batches have none.

        Raises:
            ApiError: INVALID_PRODUCER_EPOCH or INVALID_TXN_STATE.
        """
        entry = self.entries.get(producer_id)
        if entry is not None:
            self._check_epoch(entry, epoch)
            self.check_txn_state(entry, transactional)

    @staticmethod
    def check_txn_state(entry: ProducerEntry, transactional: bool) -> None:
        """While a transaction is open, only its own batches may follow.

        Raises:
            ApiError: INVALID_TXN_STATE.
        """
        if entry.current_txn_first_offset != NO_OFFSET and not transactional:
            raise ApiError(
                ErrorCode.INVALID_TXN_STATE,
                f"Expected transactional write from producer with producerId {entry.producer_id}",
            )

    def check_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, transaction_version: int
    ) -> None:
        """May a transaction marker be appended?

        Raises:
            ApiError: INVALID_PRODUCER_EPOCH, or TRANSACTION_COORDINATOR_FENCED for an old coordinator's
                marker.
        """
        if epoch < 0:
            raise ApiError(ErrorCode.INVALID_PRODUCER_EPOCH, f"A marker cannot have epoch {epoch}")
        entry = self.entries.get(producer_id)
        known_coordinator = NO_EPOCH if entry is None else entry.coordinator_epoch
        if entry is not None:
            self._check_marker_epoch(entry, epoch, transaction_version)
        if coordinator_epoch < known_coordinator:
            raise ApiError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producerId {producer_id}: {coordinator_epoch} (zombie), "
                f"{known_coordinator} (current)",
            )

    def _check_marker_epoch(self, entry: ProducerEntry, epoch: int, transaction_version: int) -> None:
        # KIP-890: in version 2 the marker carries an epoch that is higher than that of the data, except when
        # it comes once more, or the epochs are used up.
        if transaction_version >= 2 and entry.current_txn_first_offset != NO_OFFSET and epoch < _EPOCH_MAX:
            if epoch <= entry.epoch:
                self._raise_fenced(entry, epoch)
        else:
            self._check_epoch(entry, epoch)

    def _check_epoch(self, entry: ProducerEntry, epoch: int) -> None:
        if epoch < entry.epoch:
            self._raise_fenced(entry, epoch)

    @staticmethod
    def _raise_fenced(entry: ProducerEntry, epoch: int) -> NoReturn:
        raise ApiError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"Epoch of producer {entry.producer_id} is {epoch}, which is smaller than the last seen epoch "
            f"{entry.epoch}",
        )

    def add_batch(
        self,
        producer_id: int,
        epoch: int,
        last_sequence: int,
        base_offset: int,
        offset_delta: int,
        timestamp: int,
        transactional: bool,
    ) -> None:
        """Count a data batch in, as it was appended."""
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = self.entries[producer_id] = ProducerEntry(producer_id, epoch)
        batches = entry.batches
        if entry.epoch != epoch:
            entry.epoch = epoch
            batches.clear()
        elif len(batches) == BATCHES_KEPT:
            del batches[0]
        # Made like this because it is half the cost, and comes with every batch.
        memory = (last_sequence, base_offset + offset_delta, offset_delta, timestamp)
        batches.append(tuple.__new__(BatchMemory, memory))
        entry.last_timestamp = timestamp
        if transactional and entry.current_txn_first_offset == NO_OFFSET:
            entry.current_txn_first_offset = base_offset
            self.open_txns[base_offset] = producer_id
            if self.first_unstable is None:
                self.first_unstable = base_offset

    def add_marker(
        self,
        producer_id: int,
        epoch: int,
        coordinator_epoch: int,
        offset: int,
        timestamp: int,
        aborted: bool,
    ) -> CompletedTxn | None:
        """Count a transaction marker in; the transaction that it ends, if one was open.

        An aborted one belongs into the transaction index with `stable_offset_after` it; then call `complete`.
        """
        self._guards.pop(producer_id, None)
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = self.entries[producer_id] = ProducerEntry(producer_id, epoch)
        if entry.epoch != epoch:
            entry.epoch = epoch
            entry.batches.clear()
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp = timestamp
        first = entry.current_txn_first_offset
        entry.current_txn_first_offset = NO_OFFSET
        return CompletedTxn(producer_id, first, offset, aborted) if first != NO_OFFSET else None

    def stable_offset_after(self, completed: CompletedTxn) -> int:
        """The last stable offset once `completed` is replicated: where the oldest other open one began."""
        for first, producer_id in self.open_txns.items():
            if producer_id != completed.producer_id:
                return first
        return completed.last_offset + 1

    def complete(self, completed: CompletedTxn) -> None:
        """The transaction is no longer open, but unstable until its marker is below the high watermark."""
        if self.open_txns.pop(completed.first_offset, None) is not None:
            self._undecided[completed.first_offset] = completed.last_offset
            self.find_first_unstable()

    def on_high_watermark(self, high_watermark: int) -> None:
        """Markers below `high_watermark` are replicated."""
        if self._undecided:
            for first in [f for f, last in self._undecided.items() if last < high_watermark]:
                del self._undecided[first]
            self.find_first_unstable()

    def find_first_unstable(self) -> None:
        """Transactions have begun, ended or come back: which one is the oldest."""
        # Transactions open in offset order, so the first of the dict is the oldest; they end in any order.
        oldest = min(self._undecided, default=None)
        first_open = next(iter(self.open_txns), None)
        if oldest is None or (first_open is not None and first_open < oldest):
            oldest = first_open
        self.first_unstable = oldest

    # -- expiry ----------------------------------------------------------------------------------------------

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers without an open transaction that have been silent for `expiration_ms`."""
        for producer_id in [
            entry.producer_id
            for entry in self.entries.values()
            if entry.current_txn_first_offset == NO_OFFSET and now_ms - entry.last_timestamp >= expiration_ms
        ]:
            del self.entries[producer_id]
