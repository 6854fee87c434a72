"""One member of a streams group (KIP-1071), and how it moves towards its target assignment.

A member is a value, as a consumer group's is (consumer_member.py), and moves through the same states; what
it holds are tasks: a subtopology's partition, as active, standby or warm-up copy.

Law: an active task is given to a member only once no member holds it as such; a copy is given to a member
only once no other member of its process holds a copy of the same task; and a member enters the target's epoch
only once it has given up what is no longer its own. A member converts its own copies at once: an active task
into a standby one while it closes the former, a standby one into an active one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from enum import IntEnum
from typing import Any, NamedTuple

#: Partitions of subtopologies, each with the epoch at which it was assigned (copies: 0).
Held = Mapping[str, Mapping[int, int]]
#: Partitions of subtopologies.
Wanted = Mapping[str, Collection[int]]

_NOTHING: dict[str, dict[int, int]] = {}


class Tasks(NamedTuple):
    """Tasks that a member holds."""

    active: Held = _NOTHING
    standby: Held = _NOTHING
    warmup: Held = _NOTHING


class Target(NamedTuple):
    """Tasks that a member is to have, or says it has."""

    active: Wanted = _NOTHING
    standby: Wanted = _NOTHING
    warmup: Wanted = _NOTHING

    def shares(self, tasks: Tasks) -> bool:
        """Some task is in both, as the same kind of copy."""
        return any(
            partition in held.get(subtopology, ())
            for mine, held in zip(self, tasks)
            for subtopology, partitions in mine.items()
            for partition in partitions
        )


NO_TASKS, NO_TARGET = Tasks(), Target()
ACTIVE, STANDBY, WARMUP = range(3)


class MemberState(IntEnum):
    """As in StreamsGroupCurrentMemberAssignmentValue."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127


class StreamsMember:
    """A member: what it said of itself, where it stands, and what it holds.

    `assigned` it may use; `revoking` it was told to give up and has not confirmed yet.
    """

    __slots__ = (
        "assigned",
        "client_host",
        "client_id",
        "endpoint",
        "epoch",
        "instance_id",
        "member_id",
        "previous_epoch",
        "process_id",
        "rack_id",
        "rebalance_timeout_ms",
        "revoking",
        "state",
        "tags",
        "topology_epoch",
    )

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.instance_id: str | None = None
        self.rack_id: str | None = None
        self.client_id = ""
        self.client_host = ""
        self.rebalance_timeout_ms = -1
        self.topology_epoch = -1
        self.process_id = ""
        #: Host and port for interactive queries.
        self.endpoint: tuple[str, int] | None = None
        self.tags: tuple[tuple[str, str], ...] = ()
        self.epoch = 0
        self.previous_epoch = 0
        self.state = MemberState.STABLE
        self.assigned = NO_TASKS
        self.revoking = NO_TASKS

    def but(self, **changes: Any) -> StreamsMember:
        """The same member with these fields changed."""
        other = copy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def description(self) -> tuple[Any, ...]:
        """What it said of itself: what StreamsGroupMemberMetadataValue keeps."""
        return (
            self.instance_id,
            self.rack_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.topology_epoch,
            self.process_id,
            self.endpoint,
            self.tags,
        )

    def standing(self) -> tuple[Any, ...]:
        """Where it stands: what StreamsGroupCurrentMemberAssignmentValue keeps."""
        return self.epoch, self.previous_epoch, self.state, self.assigned, self.revoking

    def has_reached(self, epoch: int) -> bool:
        """It holds all that the target of that epoch gives it, and nothing else."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def holds_at_most(self, owned: Target | None) -> bool:
        """The active tasks that it says it owns are part of those it was assigned."""
        if owned is None:
            return False
        active = self.assigned.active
        return all(
            partition in active.get(subtopology, ())
            for subtopology, partitions in owned.active.items()
            for partition in partitions
        )


class Move(NamedTuple):
    """What `reconciled` needs besides the member.

    Args:
        epoch: of the target assignment.
        target: what the member is to have.
        owned: what the client says it owns; None: it did not say.
        active_process: which process holds a task as active; None: none does.
        copy_processes: which processes hold a standby or warm-up copy of a task.
    """

    epoch: int
    target: Target
    owned: Target | None
    active_process: Callable[[str, int], str | None]
    copy_processes: Callable[[str, int], Collection[str]]

    def is_free(self, member: StreamsMember, kind: int, subtopology: str, partition: int) -> bool:
        """The member may get this copy of a task now; its own other copy is no hindrance, it converts it."""
        holder = self.active_process(subtopology, partition)
        if holder is not None and kind == ACTIVE:
            return False
        parts = (member.assigned, member.revoking)
        if holder == member.process_id and not any(
            _has(part.active, subtopology, partition) for part in parts
        ):
            return False
        if member.process_id not in self.copy_processes(subtopology, partition):
            return True
        return any(_has(held, subtopology, partition) for part in parts for held in part[1:])


def reconciled(member: StreamsMember, move: Move) -> StreamsMember:
    """The member one step nearer to its target; itself if nothing changes."""
    if member.state is MemberState.STABLE:
        return member if member.epoch == move.epoch else _next(member, member.epoch, move)
    if member.state is MemberState.UNREVOKED_TASKS:
        if move.owned is None or move.owned.shares(member.revoking):
            return member
        return _next(member, member.epoch, move)
    if member.state is MemberState.UNRELEASED_TASKS:
        return _next(member, member.epoch, move)
    # A later Kafka's state: who comes with nothing in hand begins anew.
    return _next(member, move.epoch, move)


def _next(member: StreamsMember, epoch: int, move: Move) -> StreamsMember:
    parts = [_differ(held, wanted) for held, wanted in zip(member.assigned, move.target)]
    kept = [part[0] for part in parts]
    for kind in (STANDBY, WARMUP):
        _keep_for_conversion(parts[kind], move)
    revoking = Tasks(*(part[1] for part in parts))
    if any(revoking) and (move.owned is None or move.owned.shares(revoking)):
        for kind, subtopology, partition in _missing(kept, move.target):
            if kind != ACTIVE and _has(revoking.active, subtopology, partition):
                kept[kind].setdefault(subtopology, {})[partition] = 0
        return member.but(
            state=MemberState.UNREVOKED_TASKS,
            epoch=epoch,
            previous_epoch=member.epoch,
            assigned=Tasks(*kept),
            revoking=revoking,
        )
    unreleased = False
    for kind, subtopology, partition in _missing(kept, move.target):
        if move.is_free(member, kind, subtopology, partition):
            at = move.epoch if kind == ACTIVE else 0
            kept[kind].setdefault(subtopology, {})[partition] = at
            if kind == ACTIVE:
                _drop_copies(kept, subtopology, partition)
        else:
            unreleased = True
    return member.but(
        state=MemberState.UNRELEASED_TASKS if unreleased else MemberState.STABLE,
        epoch=move.epoch,
        previous_epoch=member.epoch,
        assigned=Tasks(*kept),
        revoking=NO_TASKS,
    )


def _keep_for_conversion(
    part: tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]], move: Move
) -> None:
    """A copy that is to become active is not given up: it stays until it is converted."""
    stays, goes = part
    for subtopology, partitions in list(goes.items()):
        for partition in list(partitions):
            if partition in move.target.active.get(subtopology, ()):
                stays.setdefault(subtopology, {})[partition] = partitions.pop(partition)
        if not partitions:
            del goes[subtopology]


def _drop_copies(kept: list[dict[str, dict[int, int]]], subtopology: str, partition: int) -> None:
    for held in kept[1:]:
        copies = held.get(subtopology)
        if copies is not None and copies.pop(partition, None) is not None and not copies:
            del held[subtopology]


def _has(held: Held, subtopology: str, partition: int) -> bool:
    return partition in held.get(subtopology, ())


def _differ(held: Held, wanted: Wanted) -> tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]]:
    """What of `held` stays, and what goes."""
    stays: dict[str, dict[int, int]] = {}
    goes: dict[str, dict[int, int]] = {}
    for subtopology, partitions in held.items():
        keep = wanted.get(subtopology, ())
        for partition, at in partitions.items():
            part = stays if partition in keep else goes
            part.setdefault(subtopology, {})[partition] = at
    return stays, goes


def _missing(kept: list[dict[str, dict[int, int]]], target: Target) -> Iterator[tuple[int, str, int]]:
    for kind, wanted in enumerate(target):
        for subtopology, partitions in wanted.items():
            for partition in sorted(partitions):
                if partition not in kept[kind].get(subtopology, ()):
                    yield kind, subtopology, partition
