"""One member of a consumer group (KIP-848), and how it moves towards its target assignment.

A member is a value: what changes it makes another one, by the records that say so. The move (`reconciled`)
is a small machine of its own:

    STABLE --has to give up--> UNREVOKED --has given up--> STABLE, or UNRELEASED while others still hold
                                                           what it should get

Law: a partition is given to a member only once no member holds it, neither as assigned nor as still to be
given up; and a member enters the target's epoch only once it has given up what is no longer its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from kbroker.types import Uuid

#: Partitions of topics, each with the epoch at which it was assigned (KIP-1251).
Held = Mapping[Uuid, Mapping[int, int]]
#: Partitions that a member is to have.
Target = Mapping[Uuid, Collection[int]]

NO_PARTITIONS: dict[Uuid, dict[int, int]] = {}

#: Member epochs with a meaning: join, leave, leave for a moment (static members).
JOIN, LEAVE, LEAVE_FOR_A_MOMENT = 0, -1, -2


class MemberState(IntEnum):
    """As in ConsumerGroupCurrentMemberAssignmentValue."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


class ClassicSide(NamedTuple):
    """What a member that speaks the classic protocol has besides: its protocols by name, in its order."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


class ConsumerMember:
    """A member: what it said of itself, where it stands, and what it holds.

    `assigned` it may use; `revoking` it was told to give up and has not confirmed yet.
    """

    __slots__ = (
        "assigned",
        "assignor",
        "classic",
        "client_host",
        "client_id",
        "epoch",
        "instance_id",
        "member_id",
        "previous_epoch",
        "rack_id",
        "rebalance_timeout_ms",
        "regex",
        "revoking",
        "state",
        "topics",
    )

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.instance_id: str | None = None
        self.rack_id: str | None = None
        self.client_id = ""
        self.client_host = ""
        #: Subscribed names, sorted; and a pattern besides, empty for none.
        self.topics: tuple[str, ...] = ()
        self.regex = ""
        self.rebalance_timeout_ms = -1
        self.assignor: str | None = None
        #: None: it speaks the consumer protocol.
        self.classic: ClassicSide | None = None
        self.epoch = 0
        self.previous_epoch = 0
        self.state = MemberState.STABLE
        self.assigned: Held = NO_PARTITIONS
        self.revoking: Held = NO_PARTITIONS

    def but(self, **changes: Any) -> ConsumerMember:
        """The same member with these fields changed."""
        other = ConsumerMember.__new__(ConsumerMember)
        for name in _FIELDS:
            setattr(other, name, getattr(self, name))
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def description(self) -> tuple[Any, ...]:
        """What it said of itself: what ConsumerGroupMemberMetadataValue keeps."""
        return (
            self.instance_id,
            self.rack_id,
            self.client_id,
            self.client_host,
            self.topics,
            self.regex,
            self.rebalance_timeout_ms,
            self.assignor,
            self.classic,
        )

    def standing(self) -> tuple[Any, ...]:
        """Where it stands: what ConsumerGroupCurrentMemberAssignmentValue keeps."""
        return self.epoch, self.previous_epoch, self.state, self.assigned, self.revoking

    def has_reached(self, epoch: int) -> bool:
        """It holds all that the target of that epoch gives it, and nothing else."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def holds_at_most(self, owned: Iterable[tuple[Uuid, Collection[int]]] | None) -> bool:
        """What it says it owns is part of what it was assigned."""
        if owned is None:
            return False
        for topic_id, partitions in owned:
            have = self.assigned.get(topic_id)
            if have is None or any(partition not in have for partition in partitions):
                return False
        return True


_FIELDS = ConsumerMember.__slots__


class Move(NamedTuple):
    """What `reconciled` needs besides the member.

    Args:
        epoch: of the target assignment.
        target: what the member is to have.
        owned: what the client says it owns; None: it did not say.
        epoch_of: the epoch at which a partition is held by anybody, -1 if it is free.
        subscribed: only these topics may be held; the target may be older than the subscription.
        changed: the subscription changed just now: what is not in it goes without waiting for a target.
    """

    epoch: int
    target: Target
    owned: list[tuple[Uuid, Collection[int]]] | None
    epoch_of: Callable[[Uuid, int], int]
    subscribed: Collection[Uuid]
    changed: bool = False


def reconciled(member: ConsumerMember, move: Move) -> ConsumerMember:
    """The member one step nearer to its target; itself if nothing changes."""
    if member.state is MemberState.STABLE:
        if member.epoch != move.epoch:
            return _next(member, member.epoch, move)
        return _within_subscription(member, move)
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_owns(member.revoking, move.owned):
            return _within_subscription(member, move)
        return _next(member, member.epoch, move)
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        return _next(member, member.epoch, move)
    # A later Kafka's state: who comes with nothing in hand begins anew.
    return _next(member, move.epoch, move)


def _still_owns(revoking: Held, owned: list[tuple[Uuid, Collection[int]]] | None) -> bool:
    if owned is None:
        return True
    for topic_id, partitions in owned:
        pending = revoking.get(topic_id)
        if pending is not None and any(partition in pending for partition in partitions):
            return True
    return False


def _within_subscription(member: ConsumerMember, move: Move) -> ConsumerMember:
    """Take away what the member no longer subscribes to, without waiting for the next target."""
    if not move.changed:
        return member
    lost = {topic: held for topic, held in member.assigned.items() if topic not in move.subscribed}
    if not lost:
        return member
    kept = {topic: held for topic, held in member.assigned.items() if topic in move.subscribed}
    if member.state is not MemberState.UNREVOKED_PARTITIONS and not _still_owns(lost, move.owned):
        return member.but(assigned=kept)
    revoking = {**member.revoking}
    for topic, held in lost.items():
        revoking[topic] = {**revoking.get(topic, {}), **held}
    return member.but(
        state=MemberState.UNREVOKED_PARTITIONS,
        previous_epoch=member.epoch,
        assigned=kept,
        revoking=revoking,
    )


def _next(member: ConsumerMember, epoch: int, move: Move) -> ConsumerMember:
    target = {topic: wanted for topic, wanted in move.target.items() if topic in move.subscribed}
    kept: dict[Uuid, dict[int, int]] = {}
    revoking: dict[Uuid, dict[int, int]] = {}
    for topic_id, held in member.assigned.items():
        wanted = target.get(topic_id, ())
        stay = {partition: at for partition, at in held.items() if partition in wanted}
        if stay:
            kept[topic_id] = stay
        if len(stay) < len(held):
            revoking[topic_id] = {partition: at for partition, at in held.items() if partition not in wanted}
    if revoking and _still_owns(revoking, move.owned):
        return member.but(
            state=MemberState.UNREVOKED_PARTITIONS,
            epoch=epoch,
            previous_epoch=member.epoch,
            assigned=kept,
            revoking=revoking,
        )
    unreleased = False
    for topic_id, wanted in target.items():
        have = kept.get(topic_id, {})
        added = {}
        for partition in wanted:
            if partition in have:
                continue
            if move.epoch_of(topic_id, partition) == -1:
                added[partition] = move.epoch
            else:
                unreleased = True
        if added:
            kept[topic_id] = {**have, **added}
    return member.but(
        state=MemberState.UNRELEASED_PARTITIONS if unreleased else MemberState.STABLE,
        epoch=move.epoch,
        previous_epoch=member.epoch,
        assigned=kept,
        revoking=NO_PARTITIONS,
    )
