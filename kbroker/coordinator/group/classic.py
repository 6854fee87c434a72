"""A classic group: its states, its members, and what of it lies in the log. Decides nothing.

Between two records the roster lives in memory only, as in Kafka: a coordinator that dies in the middle of a
rebalance forgets who had joined, and the members join again. What a record says becomes true in
`restore`, on the live coordinator and on replay alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from kbroker.coordinator.group.classic_member import ClassicMember
from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.coordinator.group.subscription import subscribed_topics
from kbroker.coordinator.shard import CoordinatorRecord, Outcome
from kbroker.coordinator.timers import Timer
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.group_metadata_key import GroupMetadataKey
from kbroker.protocol.generated.group_metadata_value import GroupMetadataValue
from kbroker.protocol.generated.join_group_response import JoinGroupResponseMember

if TYPE_CHECKING:
    from kbroker.coordinator.group.offsets import CommittedOffset

CONSUMER = "consumer"


class State(Enum):
    """States of a classic group; the values are the names that clients see."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


#: From which states a state may be entered. Into Empty and Stable a group comes by its record only; from
#: Empty to Stable and back directly on replay, which sees no rebalances.
TRANSITIONS: dict[State, frozenset[State]] = {
    State.PREPARING_REBALANCE: frozenset({State.EMPTY, State.COMPLETING_REBALANCE, State.STABLE}),
    State.COMPLETING_REBALANCE: frozenset({State.PREPARING_REBALANCE}),
    State.STABLE: frozenset({State.EMPTY, State.COMPLETING_REBALANCE, State.STABLE}),
    State.EMPTY: frozenset({State.EMPTY, State.PREPARING_REBALANCE, State.STABLE}),
    State.DEAD: frozenset(State),
}


class ClassicGroup:
    """One classic group (KIP-62, KIP-345, KIP-394).

    Invariants: `leader` is a member, or None while there is none; `supported` counts, for each protocol, the
    members that speak it; `awaiting_join` counts the members whose JoinGroup waits; `static_members` maps the
    instance id of each static member to its member id.
    """

    TYPE: ClassVar[str] = "classic"

    __slots__ = (
        "awaiting_join",
        "generation",
        "group_id",
        "initial_delay_ms",
        "initial_remaining_ms",
        "join_timer",
        "leader",
        "members",
        "new_member_added",
        "pending_members",
        "pending_sync",
        "previous_state",
        "protocol",
        "protocol_type",
        "state",
        "state_timestamp_ms",
        "static_members",
        "supported",
        "sync_timer",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = State.EMPTY
        self.previous_state = State.DEAD
        #: When the state was entered; -1 where a record of Kafka before 2.1 does not say.
        self.state_timestamp_ms = -1
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}
        #: Member ids that were given out and did not join yet (KIP-394), each with its time limit.
        self.pending_members: dict[str, Timer[Outcome]] = {}
        #: Members that were told the generation and did not ask for their assignment yet (KAFKA-9752).
        self.pending_sync: dict[str, None] = {}
        self.supported: dict[str, int] = {}
        self.awaiting_join = 0
        self.new_member_added = False
        self.initial_delay_ms = 0
        self.initial_remaining_ms = 0
        self.join_timer: Timer[Outcome] | None = None
        self.sync_timer: Timer[Outcome] | None = None

    # -- state -----------------------------------------------------------------------------------------------

    def enter(self, state: State, now_ms: int) -> None:
        """Change the state along `TRANSITIONS`."""
        assert self.state in TRANSITIONS[state], f"{self.group_id}: {self.state.value} -> {state.value}"
        self.previous_state, self.state, self.state_timestamp_ms = self.state, state, now_ms

    def can_rebalance(self) -> bool:
        """A rebalance may begin (none is gathering members already)."""
        return self.state in TRANSITIONS[State.PREPARING_REBALANCE]

    @property
    def all_joined(self) -> bool:
        """Nobody is missing from the rebalance, not even one who only has an id yet."""
        return self.awaiting_join == len(self.members) and not self.pending_members

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any member asks for."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    # -- roster ----------------------------------------------------------------------------------------------

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """Take in a member; the first one gives the group its protocol type and is its leader."""
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._count(member.protocols, 1)
        if member.join_ticket is not None:
            self.awaiting_join += 1

    def remove(self, member: ClassicMember) -> None:
        """Take out a member; another one leads if it led. Its waiting requests are the caller's to answer."""
        del self.members[member.member_id]
        self._count(member.protocols, -1)
        if member.join_ticket is not None:
            self.awaiting_join -= 1
        if member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)
        if self.leader == member.member_id:
            self.leader = next(iter(self.members), None)
        self.pending_sync.pop(member.member_id, None)
        if member.session is not None:
            member.session.cancel()

    def remove_pending(self, member_id: str) -> None:
        """Forget an id that was given out."""
        self.pending_members.pop(member_id).cancel()

    def set_protocols(self, member: ClassicMember, protocols: dict[str, bytes]) -> None:
        """The member speaks `protocols` from now on."""
        self._count(member.protocols, -1)
        member.protocols = protocols
        self._count(protocols, 1)

    def set_join_ticket(self, member: ClassicMember, ticket: object | None) -> None:
        """The member's JoinGroup waits (or, with None, does not any more)."""
        self.awaiting_join += (ticket is not None) - (member.join_ticket is not None)
        member.join_ticket = ticket

    def replace_static(self, member: ClassicMember, new_id: str) -> None:
        """A static member came back: it goes on under `new_id`, in the same place, with the same
        assignment.
        """
        old_id = member.member_id
        self.members = {
            (new_id if member_id == old_id else member_id): each for member_id, each in self.members.items()
        }
        member.member_id = new_id
        assert member.instance_id is not None
        self.static_members[member.instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        if self.pending_sync.pop(old_id, 0) is None:
            self.pending_sync[new_id] = None

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is a member that joined this rebalance; False if nobody did."""
        leader = self.members.get(self.leader or NO_MEMBER)
        if leader is not None and leader.join_ticket is not None:
            return True
        for member in self.members.values():
            if member.join_ticket is not None:
                self.leader = member.member_id
                return True
        return False

    def _count(self, protocols: Iterable[str], by: int) -> None:
        for name in protocols:
            count = self.supported.get(name, 0) + by
            if count:
                self.supported[name] = count
            else:
                del self.supported[name]

    # -- protocols -------------------------------------------------------------------------------------------

    def speaks(self, protocol_type: str, protocols: Mapping[str, bytes]) -> bool:
        """Can one with these protocols be a member: is there one that all present members speak too?"""
        if self.state is State.EMPTY:
            return protocol_type != "" and len(protocols) > 0
        if protocol_type != self.protocol_type:
            return False
        everybody = len(self.members)
        return any(self.supported.get(name, 0) == everybody for name in protocols)

    def select_protocol(self, instead: tuple[ClassicMember, dict[str, bytes]] | None = None) -> str:
        """By vote: each member's favourite among the protocols that all speak; a tie goes to the first
        counted.

        Args:
            instead: count as if this member had these protocols.
        """
        supported = self.supported
        if instead is not None:
            member, protocols = instead
            supported = {name: count - (name in member.protocols) for name, count in supported.items()}
            for name in protocols:
                supported[name] = supported.get(name, 0) + 1
        everybody = len(self.members)
        candidates = {name for name, count in supported.items() if count == everybody}
        votes: dict[str, int] = {}
        for each in self.members.values():
            if instead is not None and each is instead[0]:
                choice = next(name for name in instead[1] if name in candidates)
            else:
                choice = each.vote(candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=votes.__getitem__)

    def join_members(self) -> list[JoinGroupResponseMember]:
        """All members with their metadata for the chosen protocol, as the leader hears of them."""
        protocol = self.protocol or ""
        return [
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.protocols.get(protocol, b""),
            )
            for member in self.members.values()
        ]

    # -- the log ---------------------------------------------------------------------------------------------

    def record(self, assignments: Mapping[str, bytes] | None = None) -> GroupMetadataValue:
        """The group as the log keeps it.

        Args:
            assignments: by member id, for members not in it empty; None: those that the members have.
        """
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol,
            leader=self.leader,
            current_state_timestamp=self.state_timestamp_ms,
            members=[
                member.recorded(
                    self.protocol,
                    member.assignment if assignments is None else assignments.get(member.member_id, b""),
                )
                for member in self.members.values()
            ],
        )

    def restore(self, value: GroupMetadataValue) -> None:
        """Make true what a record says: Stable with its members and assignments, or Empty without members.

        Members that are known keep what the log does not hold: their other protocols and their waiting
        requests.
        """
        recorded = {member.member_id: member for member in value.members}
        for member in [each for each in self.members.values() if each.member_id not in recorded]:
            renamed = next((m for m in value.members if m.group_instance_id == member.instance_id), None)
            if member.is_static and renamed is not None and renamed.member_id not in self.members:
                self.replace_static(member, renamed.member_id)
            else:
                self.remove(member)
        protocol_type = value.protocol_type or None
        for member_id, each in recorded.items():
            known = self.members.get(member_id)
            if known is None:
                self.add(ClassicMember.from_record(each, value.protocol), value.protocol_type)
                continue
            known.assignment = each.assignment
            if known.recorded(value.protocol, each.assignment) != each:
                self._take_over(known, ClassicMember.from_record(each, value.protocol))
        # In the record's order, so that every coordinator that reads it would choose the same next leader.
        self.members = {member_id: self.members[member_id] for member_id in recorded}
        self.generation = value.generation
        self.protocol_type = protocol_type
        self.protocol = value.protocol
        self.leader = value.leader
        self.enter(State.STABLE if self.members else State.EMPTY, value.current_state_timestamp)

    def _take_over(self, member: ClassicMember, recorded: ClassicMember) -> None:
        self.set_protocols(member, recorded.protocols)
        member.rebalance_timeout_ms = recorded.rebalance_timeout_ms
        member.session_timeout_ms = recorded.session_timeout_ms
        member.client_id, member.client_host = recorded.client_id, recorded.client_host

    # -- what offsets, lists and deletions ask (Group) -------------------------------------------------------

    @property
    def state_name(self) -> str:
        """The state as clients see it."""
        return self.state.value

    @property
    def protocol_type_name(self) -> str:
        """`consumer`, `connect`, …; empty for a group that only holds offsets."""
        return self.protocol_type or ""

    @property
    def removable(self) -> bool:
        """Empty, and nobody holds an id that he may join with."""
        return self.state is State.EMPTY and not self.pending_members

    def check_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        """The member, if it is one and its instance id is still its own.

        Raises:
            ApiError: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if the instance goes by another member id
            (KIP-345).
        """
        if instance_id is not None:
            owner = self.static_members.get(instance_id)
            if owner is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
            if owner != member_id:
                raise ApiError(ErrorCode.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def tombstones(self) -> list[CoordinatorRecord]:
        """The record that ends it."""
        return [CoordinatorRecord(GroupMetadataKey(group=self.group_id), None)]

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, version: int, transactional: bool
    ) -> None:
        """May these offsets be committed now? Without members anybody may who claims no generation.

        Raises:
            ApiError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION or REBALANCE_IN_PROGRESS.
        """
        if generation < 0 and self.state is State.EMPTY:
            return
        if generation >= 0 or member_id != NO_MEMBER or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise ApiError(ErrorCode.ILLEGAL_GENERATION)
        elif not transactional and self.state is not State.EMPTY:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not transactional and self.state is State.COMPLETING_REBALANCE:
            # It knows the new generation, but not yet whether it still has the partition.
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Anybody may read the offsets of a classic group."""

    def check_delete(self) -> None:
        """NON_EMPTY_GROUP unless the group is empty."""
        if self.state is not State.EMPTY:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_offset_delete(self) -> None:
        """NON_EMPTY_GROUP if there are members whose subscriptions cannot be understood (KIP-496)."""
        if self.state is not State.EMPTY and self.protocol_type != CONSUMER:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def subscriptions(self) -> Callable[[str], bool]:
        """Which topics are subscribed to: of a consumer group with unreadable subscriptions, all."""
        topics = self._subscribed_topics()
        if topics is None:
            everything = self.protocol_type == CONSUMER
            return lambda topic: everything
        return topics.__contains__

    def _subscribed_topics(self) -> set[str] | None:
        """None: not known."""
        if self.protocol_type != CONSUMER:
            return None
        if not self.members:
            return set()
        if self.protocol is None:
            return None
        protocol = self.protocol
        return subscribed_topics(member.protocols.get(protocol, b"") for member in self.members.values())

    def offset_age_base(self) -> Callable[[CommittedOffset], int] | None:
        """Since when an offset is unused: since the group is empty, or since the commit (KIP-211)."""
        if self.protocol_type is None:
            return _commit_time
        if self.state is State.EMPTY:
            since = self.state_timestamp_ms
            return _commit_time if since == -1 else lambda offset: since
        if self.state is State.STABLE and self._subscribed_topics() is not None:
            return _commit_time
        return None


def _commit_time(offset: CommittedOffset) -> int:
    return offset.commit_timestamp_ms
