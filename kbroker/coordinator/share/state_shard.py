"""One partition of `__share_group_state`: how far share groups are in the partitions that they read.

The leader of a partition keeps the records in flight itself (share_partition.py) and writes here what has to
outlive it: the start, and the state of records behind it. A ShareSnapshot holds all of a key's state, the
ShareUpdates after it only what changed; after so many updates there is a new snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from struct import Struct
from typing import Any, NamedTuple

from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket
from kbroker.coordinator.share.spans import StateBatch
from kbroker.coordinator.share.state_batches import combined
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.generated.share_snapshot_key import ShareSnapshotKey
from kbroker.protocol.generated.share_snapshot_value import ShareSnapshotValue, StateBatch as SnapshotBatch
from kbroker.protocol.generated.share_update_key import ShareUpdateKey
from kbroker.protocol.generated.share_update_value import ShareUpdateValue, StateBatch as UpdateBatch
from kbroker.types import Uuid, uuid_to_string

_INT16 = Struct(">h")
_KINDS: dict[int, tuple[Any, Any]] = {
    0: (ShareSnapshotKey, ShareSnapshotValue),
    1: (ShareUpdateKey, ShareUpdateValue),
}
UNKNOWN_OFFSET = -1


class ShareKey(NamedTuple):
    """Whose state: a group's in a partition."""

    group_id: str
    topic_id: Uuid
    partition: int

    @property
    def text(self) -> str:
        """By which the partition of the topic is chosen."""
        return f"{self.group_id}:{uuid_to_string(self.topic_id)}:{self.partition}"


class ShareState(NamedTuple):
    """All that is kept of a key."""

    snapshot_epoch: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = UNKNOWN_OFFSET
    complete_count: int = -1
    batches: tuple[StateBatch, ...] = ()
    created_ms: int = 0
    #: Updates since the snapshot.
    updates: int = 0


class Written(NamedTuple):
    """What a leader writes."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: list[StateBatch]


_NOTHING = ShareState()
_UNINITIALIZED = "Read operation on uninitialized share partition not allowed."


class ShareStateShard:
    """See the top of the file. Errors are given as answers: an ApiError instead of a value.

    Args:
        exists: whether a topic's partition does.
        updates_max: updates between two snapshots.
    """

    __slots__ = ("_end", "_exists", "_snapshots", "_updates_max", "states")

    def __init__(self, exists: Callable[[Uuid, int], bool], updates_max: int = 500) -> None:
        self.states: dict[ShareKey, ShareState] = {}
        #: Where the last snapshot of a key lies, and when it was written.
        self._snapshots: dict[ShareKey, tuple[int, int]] = {}
        self._end = 0
        self._exists = exists
        self._updates_max = updates_max

    # -- requests --------------------------------------------------------------------------------------------

    def initialize(
        self, ticket: Ticket, key: ShareKey, state_epoch: int, start_offset: int, now_ms: int
    ) -> Outcome:
        """Begin anew; answers None."""
        refusal = (
            _negative("partition id", key.partition)
            or _negative("state epoch", state_epoch)
            or self._absent(key)
        )
        if refusal is not None:
            return Outcome.answer(ticket, refusal)
        old = self.states.get(key)
        if old is not None and state_epoch < old.state_epoch:
            return Outcome.answer(ticket, _error(ErrorCode.FENCED_STATE_EPOCH))
        state = ShareState(
            0 if old is None else old.snapshot_epoch + 1,
            state_epoch,
            0 if old is None else old.leader_epoch,
            start_offset,
            -1 if start_offset == UNKNOWN_OFFSET else 0,
            created_ms=now_ms,
        )
        return _recorded(ticket, [_snapshot(key, state, now_ms)], None)

    def write(self, ticket: Ticket, key: ShareKey, what: Written, now_ms: int) -> Outcome:
        """Take over what a leader knows; answers None."""
        refusal = (
            _negative("partition id", key.partition)
            or _negative("leader epoch", what.leader_epoch)
            or _negative("state epoch", what.state_epoch)
        )
        if refusal is not None:
            return Outcome.answer(ticket, refusal)
        old = self.states.get(key)
        if old is None:
            text = "Write operation on uninitialized share partition not allowed."
            return Outcome.answer(ticket, _error(ErrorCode.INVALID_REQUEST, text))
        if what.leader_epoch < old.leader_epoch:
            return Outcome.answer(ticket, _error(ErrorCode.FENCED_LEADER_EPOCH))
        if what.state_epoch < old.state_epoch:
            return Outcome.answer(ticket, _error(ErrorCode.FENCED_STATE_EPOCH))
        absent = self._absent(key)
        if absent is not None:
            return Outcome.answer(ticket, absent)
        # Epochs are those of the last Initialize and Read. A late write: what is done with stays so.
        start = (
            what.start_offset
            if what.start_offset == UNKNOWN_OFFSET
            else max(what.start_offset, old.start_offset)
        )
        what = what._replace(state_epoch=old.state_epoch, leader_epoch=old.leader_epoch, start_offset=start)
        if old.updates >= self._updates_max:
            new = _next_snapshot(_folded(old, what))
            return _recorded(ticket, [_snapshot(key, new, now_ms)], None)
        return _recorded(ticket, [_update(key, old.snapshot_epoch, what)], None)

    def read(self, ticket: Ticket, key: ShareKey, leader_epoch: int) -> Outcome:
        """A new leader takes over: later writes of older ones are refused. Answers a `ShareState`."""
        refusal = _negative("partition id", key.partition) or _negative("leader epoch", leader_epoch)
        if refusal is not None:
            return Outcome.answer(ticket, refusal)
        old = self.states.get(key)
        if old is None:
            return Outcome.answer(ticket, _error(ErrorCode.INVALID_REQUEST, _UNINITIALIZED))
        if leader_epoch < old.leader_epoch:
            return Outcome.answer(ticket, _error(ErrorCode.FENCED_LEADER_EPOCH))
        absent = self._absent(key)
        if absent is not None:
            return Outcome.answer(ticket, absent)
        if leader_epoch == old.leader_epoch:
            return Outcome.answer(ticket, old)
        what = Written(old.state_epoch, leader_epoch, old.start_offset, old.complete_count, [])
        return _recorded(
            ticket, [_update(key, old.snapshot_epoch, what)], old._replace(leader_epoch=leader_epoch)
        )

    def summary(self, key: ShareKey, leader_epoch: int) -> ShareState | ApiError:
        """Where a group is, without becoming its leader."""
        return _negative("partition id", key.partition) or self._absent(key) or self.states.get(key, _NOTHING)

    def delete(self, ticket: Ticket, key: ShareKey) -> Outcome:
        """Forget a key; answers None, also if there was nothing."""
        refusal = _negative("partition id", key.partition) or self._absent(key)
        if refusal is not None:
            return Outcome.answer(ticket, refusal)
        if key not in self.states:
            return Outcome.answer(ticket, None)
        return _recorded(ticket, [_tombstone(key)], None)

    def topics_deleted(self, topic_ids: Iterable[Uuid]) -> Outcome:
        """Topics are gone, and with them what was kept of them."""
        gone = set(topic_ids)
        return Outcome([_tombstone(key) for key in self.states if key.topic_id in gone], atomic=False)

    # -- what the log may lose -------------------------------------------------------------------------------

    @property
    def needed_from(self) -> int:
        """The first record that is still needed: all is in the last snapshots and what follows them."""
        return min((offset for offset, _ in self._snapshots.values()), default=self._end)

    def renewed(self, now_ms: int, age_ms: int) -> Outcome:
        """New snapshots of keys that rest: they had none for so long, and hold old records of others."""
        if self._end - self.needed_from <= 2 * len(self.states):
            return Outcome()
        return Outcome(
            [
                _snapshot(key, _next_snapshot(self.states[key]), now_ms)
                for key, (_, written_ms) in self._snapshots.items()
                if now_ms - written_ms >= age_ms
            ],
            atomic=False,
        )

    def _absent(self, key: ShareKey) -> ApiError | None:
        if self._exists(key.topic_id, key.partition):
            return None
        return _error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    # -- the log (Shard) -------------------------------------------------------------------------------------

    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        """A record of the log; None for one of a kind that is not known here."""
        if len(key) < _INT16.size:
            raise ProtocolError("a record key of __share_group_state has no type")
        kind = _KINDS.get(_INT16.unpack_from(key)[0])
        if kind is None:
            return None
        decoded = kind[0].decode(key, 0, _INT16.size)
        if value is None:
            return CoordinatorRecord(decoded, None)
        if len(value) < _INT16.size:
            raise ProtocolError("a record value of __share_group_state has no version")
        (version,) = _INT16.unpack_from(value)
        if not kind[1].MIN_VERSION <= version <= kind[1].MAX_VERSION:
            return None
        return CoordinatorRecord(decoded, kind[1].decode(value, version, _INT16.size), version)

    def apply(self, record: CoordinatorRecord, offset: int, producer_id: int = -1) -> None:
        """Make true what a record says."""
        key = ShareKey(record.key.group_id, record.key.topic_id, record.key.partition)
        value = record.value
        old = self.states.get(key)
        self._end = offset + 1
        if value is None:
            self.states.pop(key, None)
            self._snapshots.pop(key, None)
        elif record.key.API_KEY == ShareSnapshotKey.API_KEY:
            self._snapshots[key] = offset, value.write_timestamp
            self.states[key] = ShareState(
                value.snapshot_epoch,
                value.state_epoch,
                value.leader_epoch,
                value.start_offset,
                value.delivery_complete_count,
                tuple(_batches(value)),
                value.create_timestamp,
            )
        elif old is not None:
            what = Written(
                old.state_epoch,
                value.leader_epoch,
                value.start_offset,
                value.delivery_complete_count,
                _batches(value),
            )
            self.states[key] = _folded(old, what)._replace(updates=old.updates + 1)

    def apply_marker(self, producer_id: int, committed: bool, offset: int) -> None:
        """There are no transactions here."""

    def committed(self, end: int) -> None:
        """All answers wait until what they say is committed."""

    def loaded(self, now_ms: int) -> Outcome:
        """Nothing runs by time."""
        return Outcome()

    def deadline(self) -> int | None:
        """Nothing runs by time."""
        return None

    def tick(self, now_ms: int) -> Outcome | None:
        """Nothing runs by time."""
        return None


def _next_snapshot(state: ShareState) -> ShareState:
    return state._replace(snapshot_epoch=state.snapshot_epoch + 1, updates=0)


def _folded(old: ShareState, what: Written) -> ShareState:
    start = what.start_offset if what.start_offset != UNKNOWN_OFFSET else old.start_offset
    return old._replace(
        leader_epoch=what.leader_epoch if what.leader_epoch >= 0 else old.leader_epoch,
        start_offset=start,
        complete_count=what.complete_count,
        batches=tuple(combined(old.batches, what.batches, start)),
    )


def _batches(value: Any) -> list[StateBatch]:
    return [
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in value.state_batches
    ]


def _snapshot(key: ShareKey, state: ShareState, now_ms: int) -> CoordinatorRecord:
    value = ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.complete_count,
        create_timestamp=state.created_ms,
        write_timestamp=now_ms,
        state_batches=[_wire(SnapshotBatch, each) for each in state.batches],
    )
    return CoordinatorRecord(ShareSnapshotKey(**key._asdict()), value)


def _update(key: ShareKey, snapshot_epoch: int, what: Written) -> CoordinatorRecord:
    value = ShareUpdateValue(
        snapshot_epoch=snapshot_epoch,
        leader_epoch=what.leader_epoch,
        start_offset=what.start_offset,
        delivery_complete_count=what.complete_count,
        state_batches=[_wire(UpdateBatch, each) for each in combined((), what.batches, what.start_offset)],
    )
    return CoordinatorRecord(ShareUpdateKey(**key._asdict()), value)


def _tombstone(key: ShareKey) -> CoordinatorRecord:
    return CoordinatorRecord(ShareSnapshotKey(**key._asdict()), None)


def _wire(kind: Any, batch: StateBatch) -> Any:
    first, last, state, count = batch
    return kind(first_offset=first, last_offset=last, delivery_state=state, delivery_count=count)


def _recorded(ticket: Ticket, records: list[CoordinatorRecord], answer: Any) -> Outcome:
    return Outcome(
        records,
        refused=lambda code: Outcome.answer(ticket, _error(ErrorCode.COORDINATOR_NOT_AVAILABLE)),
        then=lambda: Outcome.answer(ticket, answer),
    )


def _negative(name: str, value: int) -> ApiError | None:
    if value >= 0:
        return None
    return _error(ErrorCode.INVALID_REQUEST, f"The {name} cannot be a negative number.")


def _error(code: ErrorCode, text: str | None = None) -> ApiError:
    return ApiError(code, text)
