"""One transactional id: its states, and every transition between them, as values.

Law of this file: a `Transaction` never changes; a transition gives the next one, which becomes true when its
record is in the log. Of a transition to PREPARE_*, the markers follow; only when all are written comes
COMPLETE_*. A producer's epoch grows with each InitProducerId, with each abort by the coordinator, and, for
clients of transaction version 2, with each end (KIP-890), so that each transaction has an epoch of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

NO_PRODUCER_ID = -1
NO_EPOCH = -1
NO_TIME = -1
#: The last epoch that a producer is given: one more is needed to fence it.
LAST_EPOCH = 32_766
#: Clients from this transaction version on get a new epoch at each end.
EPOCH_BUMPS_SINCE = 2

#: Topic -> its partitions.
Partitions = Mapping[str, frozenset[int]]
NO_PARTITIONS: Partitions = {}


class State(IntEnum):
    """The state of a transactional id, numbered as in the log. The last one is never written."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """As tools show it: "PrepareCommit"."""
        return _LABELS[self]

    @property
    def is_settled(self) -> bool:
        """No transaction is open or ending: the id may begin one, or expire."""
        return self in _SETTLED

    @property
    def is_ending(self) -> bool:
        """The end is decided, markers are being written."""
        return self in (State.PREPARE_COMMIT, State.PREPARE_ABORT)


_LABELS = {state: state.name.title().replace("_", "") for state in State}
STATES_BY_LABEL = {label: state for state, label in _LABELS.items()}
_SETTLED = frozenset({State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT})

#: From which states each may follow. An abort of nothing is possible since KIP-890: it makes sure that what
#: an unknown write left behind ends, and that its epoch is over.
VALID_BEFORE: Mapping[State, frozenset[State]] = {
    State.EMPTY: _SETTLED,
    State.ONGOING: _SETTLED | {State.ONGOING},
    State.PREPARE_COMMIT: frozenset({State.ONGOING}),
    State.PREPARE_ABORT: _SETTLED | {State.ONGOING},
    State.COMPLETE_COMMIT: frozenset({State.PREPARE_COMMIT}),
    State.COMPLETE_ABORT: frozenset({State.PREPARE_ABORT}),
    State.DEAD: _SETTLED,
}


class Transaction(NamedTuple):
    """What is known of a transactional id; times in ms since 1970.

    `last_epoch` is the epoch that the present client had before, if it told so (KIP-360); it is not in the
    log. `previous_producer_id` and `next_producer_id` tell of a change of ids when epochs ran out (KIP-890).
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: State
    partitions: Partitions
    last_update_ms: int
    start_ms: int = NO_TIME
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    client_version: int = 0
    last_epoch: int = NO_EPOCH

    @property
    def is_epoch_exhausted(self) -> bool:
        """The producer id is used up."""
        return self.producer_epoch >= LAST_EPOCH

    @property
    def bumps_epochs(self) -> bool:
        """The transaction is one of version 2."""
        return self.client_version >= EPOCH_BUMPS_SINCE

    def has(self, partitions: Partitions) -> bool:
        """All of `partitions` belong to the transaction."""
        mine = self.partitions
        return all(indexes <= mine.get(topic, frozenset()) for topic, indexes in partitions.items())

    # -- transitions -----------------------------------------------------------------------------------------

    def reinitialized(self, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int) -> Transaction:
        """A producer took over, or went on, with `epoch`."""
        return self._moved(
            State.EMPTY,
            now_ms,
            producer_epoch=epoch,
            last_epoch=last_epoch,
            timeout_ms=timeout_ms,
            partitions=NO_PARTITIONS,
            start_ms=NO_TIME,
        )

    def rotated(self, producer_id: int, timeout_ms: int, now_ms: int, *, keep_last: bool) -> Transaction:
        """The epochs are used up: another producer id; `keep_last`: the client told who it is."""
        return self._moved(
            State.EMPTY,
            now_ms,
            producer_id=producer_id,
            producer_epoch=0,
            last_epoch=self.producer_epoch if keep_last else NO_EPOCH,
            timeout_ms=timeout_ms,
            partitions=NO_PARTITIONS,
            start_ms=NO_TIME,
        )

    def extended(self, partitions: Partitions, client_version: int, now_ms: int) -> Transaction:
        """More partitions; the first ones begin the transaction."""
        merged = dict(self.partitions)
        for topic, indexes in partitions.items():
            merged[topic] = merged.get(topic, frozenset()) | indexes
        return self._moved(
            State.ONGOING,
            now_ms,
            partitions=merged,
            start_ms=self.start_ms if self.state is State.ONGOING else now_ms,
            client_version=client_version,
        )

    def ending(
        self, commit: bool, client_version: int, now_ms: int, next_producer_id: int = NO_PRODUCER_ID
    ) -> Transaction:
        """The end is decided. In version 2 with a new epoch; `next_producer_id` if there is none left."""
        epoch, last_epoch = self.producer_epoch, self.last_epoch
        if client_version >= EPOCH_BUMPS_SINCE:
            epoch, last_epoch = epoch + 1, epoch
        return self._moved(
            State.PREPARE_COMMIT if commit else State.PREPARE_ABORT,
            now_ms,
            producer_epoch=epoch,
            last_epoch=last_epoch,
            next_producer_id=next_producer_id,
            start_ms=self.start_ms if self.state is State.ONGOING else now_ms,
            client_version=client_version,
        )

    def fenced(self, server_version: int, now_ms: int) -> Transaction:
        """The coordinator aborts, with an epoch that nobody has."""
        if server_version >= EPOCH_BUMPS_SINCE:
            return self.ending(False, server_version, now_ms)
        bumped = self._replace(producer_epoch=self.producer_epoch + 1, last_epoch=NO_EPOCH)
        return bumped.ending(False, 0, now_ms)

    def completed(self, now_ms: int) -> Transaction:
        """All markers are written."""
        producer_id, epoch = self.producer_id, self.producer_epoch
        if self.bumps_epochs and self.next_producer_id != NO_PRODUCER_ID:
            producer_id, epoch = self.next_producer_id, 0
        return self._moved(
            State.COMPLETE_COMMIT if self.state is State.PREPARE_COMMIT else State.COMPLETE_ABORT,
            now_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
            next_producer_id=NO_PRODUCER_ID,
            partitions=NO_PARTITIONS,
        )

    def _moved(self, state: State, now_ms: int, **changes: object) -> Transaction:
        assert self.state in VALID_BEFORE[state], f"{self.state.label} to {state.label}"
        changes.setdefault("next_producer_id", NO_PRODUCER_ID)
        return self._replace(
            state=state,
            last_update_ms=now_ms,
            previous_producer_id=self.producer_id,
            **changes,  # type: ignore[arg-type]
        )


def newborn(transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int) -> Transaction:
    """An id that nobody has used; its first epoch comes with `reinitialized`."""
    return Transaction(
        transactional_id, producer_id, NO_EPOCH, timeout_ms, State.EMPTY, NO_PARTITIONS, now_ms
    )


def partitions_of(pairs: Iterable[tuple[str, Iterable[int]]]) -> Partitions:
    """Topics and their partitions, joined by topic."""
    joined: dict[str, frozenset[int]] = {}
    for topic, indexes in pairs:
        joined[topic] = joined.get(topic, frozenset()) | frozenset(indexes)
    return joined
