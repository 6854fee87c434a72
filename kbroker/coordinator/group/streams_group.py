"""A streams group (KIP-1071): its members, its topology, its target assignment, and what of them lies in the
log.

Everything here but timers and what is only told to members becomes true by records (`apply`), on the live
coordinator and on replay alike; streams_requests.py decides which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, ClassVar

from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.coordinator.group.streams_member import NO_TARGET, StreamsMember, Target
from kbroker.coordinator.group.streams_records import (
    described,
    group_tombstones,
    nowhere,
    standing,
    target_of,
)
from kbroker.coordinator.group.streams_topology import input_topics, required_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.coordinator.group.offsets import CommittedOffset
    from kbroker.coordinator.group.streams_topology import Configured
    from kbroker.coordinator.shard import CoordinatorRecord, Outcome
    from kbroker.coordinator.timers import Timer
    from kbroker.protocol.generated.streams_group_heartbeat_request import TaskOffset
    from kbroker.protocol.generated.streams_group_topology_value import StreamsGroupTopologyValue

EMPTY, NOT_READY, ASSIGNING = "Empty", "NotReady", "Assigning"
RECONCILING, STABLE = "Reconciling", "Stable"

#: Version of OffsetCommit from which a member may commit.
_COMMIT_SINCE = 9
#: The epoch of a group that was never written.
FIRST_EPOCH = 1


class MemberTimers:
    """What runs for one member; never in the log."""

    __slots__ = ("rebalance", "session")

    def __init__(self) -> None:
        self.session: Timer[Outcome] | None = None
        self.rebalance: Timer[Outcome] | None = None

    def cancel(self) -> None:
        """The member is gone."""
        for timer in (self.session, self.rebalance):
            if timer is not None:
                timer.cancel()


class StreamsGroup:
    """One streams group.

    Invariants: `static_members` maps the instance id of each static member to its member id; `active` maps
    each task that a member holds as active (or has still to give up) to that member's process, `copies` to
    the processes with a standby or warm-up copy.
    """

    TYPE: ClassVar[str] = "streams"

    __slots__ = (
        "active",
        "assignment_epoch",
        "assignment_timestamp_ms",
        "configs",
        "configured",
        "copies",
        "endpoint_epoch",
        "epoch",
        "group_id",
        "initial_delay",
        "members",
        "metadata_hash",
        "refresh_ms",
        "shutdown_by",
        "static_members",
        "targets",
        "task_offsets",
        "timers",
        "topology",
        "validated",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        #: Epoch of the topology whose topics were found good, -1 for none.
        self.validated = -1
        #: Settings that the last assignment followed.
        self.configs: dict[str, str] = {}
        self.topology: StreamsGroupTopologyValue | None = None
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.members: dict[str, StreamsMember] = {}
        self.static_members: dict[str, str] = {}
        self.targets: dict[str, Target] = {}
        self.active: dict[tuple[str, int], str] = {}
        self.copies: dict[tuple[str, int], set[str]] = {}
        self.timers: dict[str, MemberTimers] = {}
        self.initial_delay: Timer[Outcome] | None = None
        #: What the cluster's topics make of the topology; None: to be found out.
        self.configured: Configured | None = None
        #: When the topics are to be looked at again; 0: at the next occasion.
        self.refresh_ms = 0
        #: Goes up when who can be asked for which partition has changed (interactive queries).
        self.endpoint_epoch = 0
        #: Who asked that the whole application stops.
        self.shutdown_by: str | None = None
        #: What members told last of their tasks' changelogs: offsets, and end offsets.
        self.task_offsets: dict[str, tuple[list[TaskOffset], list[TaskOffset]]] = {}

    # -- what every group answers (Group) --------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """Empty, NotReady, Assigning, Reconciling or Stable."""
        if not self.members:
            return EMPTY
        if self.topology is None or self.validated != self.topology.epoch or self._has_problem():
            return NOT_READY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        epoch = self.assignment_epoch
        if all(member.has_reached(epoch) for member in self.members.values()):
            return STABLE
        return RECONCILING

    def _has_problem(self) -> bool:
        return self.configured is not None and self.configured.problem is not None

    @property
    def protocol_type_name(self) -> str:
        """`streams`."""
        return "streams"

    @property
    def removable(self) -> bool:
        """Nobody is in it."""
        return not self.members

    def tombstones(self) -> list[CoordinatorRecord]:
        """Records that end the group."""
        return group_tombstones(self.group_id, self.members)

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, version: int, transactional: bool
    ) -> Callable[[str, Uuid, int], ErrorCode] | None:
        """A member commits with its epoch. An older one is good for what its active tasks read, if they were
        assigned at that epoch or before: the answer is then a test of each partition.

        Raises:
            ApiError: UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH.
        """
        if generation < 0 and not self.members:
            return None
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not transactional and version < _COMMIT_SINCE:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        if generation == member.epoch:
            return None
        if generation > member.epoch or generation < 0:
            raise ApiError(ErrorCode.STALE_MEMBER_EPOCH)
        held, readers = member, self._readers()

        def check(topic: str, topic_id: Uuid, partition: int) -> ErrorCode:
            subtopology = readers.get(topic, "")
            for part in (held.assigned.active, held.revoking.active):
                at = part.get(subtopology, {}).get(partition)
                if at is not None and at <= generation:
                    return ErrorCode.NONE
            return ErrorCode.STALE_MEMBER_EPOCH

        return check

    def _readers(self) -> dict[str, str]:
        """Which subtopology reads a topic."""
        if self.topology is None:
            return {}
        return {
            topic: each.subtopology_id for each in self.topology.subtopologies for topic in input_topics(each)
        }

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """A member reads with its epoch, anybody else without one.

        Raises:
            ApiError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH.
        """
        if member_id is None and member_epoch < 0:
            return
        member = self.members.get(member_id or NO_MEMBER)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member_epoch != member.epoch:
            raise ApiError(ErrorCode.STALE_MEMBER_EPOCH)

    def check_delete(self) -> None:
        """NON_EMPTY_GROUP unless the group is empty."""
        if self.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_offset_delete(self) -> None:
        """What is read is known, so nothing is against it."""

    def subscriptions(self) -> Callable[[str], bool]:
        """Which topics the members read."""
        readers = self._readers() if self.members else {}
        return lambda topic: topic in readers

    def offset_age_base(self) -> Callable[[CommittedOffset], int] | None:
        """Since the commit; what is read does not age."""
        return lambda offset: offset.commit_timestamp_ms

    # -- reading ---------------------------------------------------------------------------------------------

    def static_member(self, instance_id: str) -> StreamsMember | None:
        """The member of that instance id."""
        member_id = self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def target(self, member_id: str) -> Target:
        """What a member is to have."""
        return self.targets.get(member_id, NO_TARGET)

    def active_process(self, subtopology: str, partition: int) -> str | None:
        """The process that holds a task as active."""
        return self.active.get((subtopology, partition))

    def copy_processes(self, subtopology: str, partition: int) -> Collection[str]:
        """The processes with another copy of a task."""
        return self.copies.get((subtopology, partition), ())

    def has_endpoints(self) -> bool:
        """Somebody can be asked for the state of tasks."""
        return any(member.endpoint is not None for member in self.members.values())

    def needs(self) -> set[str]:
        """The topics that it depends on."""
        return set() if self.topology is None else required_topics(self.topology)

    def timers_of(self, member_id: str) -> MemberTimers:
        """What runs for a member."""
        timers = self.timers.get(member_id)
        if timers is None:
            timers = self.timers[member_id] = MemberTimers()
        return timers

    def stop(self) -> None:
        """Nothing runs for a group that is no more."""
        for timers in self.timers.values():
            timers.cancel()
        if self.initial_delay is not None:
            self.initial_delay.cancel()

    # -- changing, by records only ---------------------------------------------------------------------------

    def apply(self, record: CoordinatorRecord) -> None:
        """Make true what a record of this group says, except that the group is gone."""
        _APPLIERS[record.key.API_KEY](self, record.key, record.value)

    def _apply_epoch(self, key: Any, value: Any) -> None:
        if value is not None:
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            self.validated = value.validated_topology_epoch
            self.configs = {each.key: each.value for each in value.last_assignment_configs or ()}

    def _apply_topology(self, key: Any, value: Any) -> None:
        self.topology, self.configured = value, None

    def _apply_target_epoch(self, key: Any, value: Any) -> None:
        self.assignment_epoch = FIRST_EPOCH if value is None else value.assignment_epoch
        self.assignment_timestamp_ms = 0 if value is None else value.assignment_timestamp

    def _apply_target(self, key: Any, value: Any) -> None:
        if value is None:
            self.targets.pop(key.member_id, None)
        else:
            self.targets[key.member_id] = target_of(value)

    def _apply_member(self, key: Any, value: Any) -> None:
        """Without a value the member is gone."""
        old = self.members.get(key.member_id)
        if value is None:
            if old is not None:
                self._forget(old)
            return
        new = described(value, old if old is not None else StreamsMember(key.member_id))
        self._change(old, new)
        if new.instance_id is not None:
            self.static_members[new.instance_id] = new.member_id

    def _apply_standing(self, key: Any, value: Any) -> None:
        old = self.members.get(key.member_id)
        if old is None:
            if value is None:
                return
            # Compaction may leave this record before the member's own.
            old = StreamsMember(key.member_id)
        self._change(old, nowhere(old) if value is None else standing(value, old))

    def _change(self, old: StreamsMember | None, new: StreamsMember) -> None:
        if old is not None:
            self._release(old)
        self.members[new.member_id] = new
        for part in (new.assigned, new.revoking):
            for subtopology, partitions in part.active.items():
                for partition in partitions:
                    self.active[subtopology, partition] = new.process_id
            for copies in (part.standby, part.warmup):
                for subtopology, partitions in copies.items():
                    for partition in partitions:
                        self.copies.setdefault((subtopology, partition), set()).add(new.process_id)

    def _release(self, member: StreamsMember) -> None:
        process_id = member.process_id
        for part in (member.assigned, member.revoking):
            for subtopology, partitions in part.active.items():
                for partition in partitions:
                    if self.active.get((subtopology, partition)) == process_id:
                        del self.active[subtopology, partition]
            for copies in (part.standby, part.warmup):
                for subtopology, partitions in copies.items():
                    for partition in partitions:
                        self._release_copy((subtopology, partition), process_id)

    def _release_copy(self, task: tuple[str, int], process_id: str) -> None:
        holders = self.copies.get(task)
        if holders is not None:
            holders.discard(process_id)
            if not holders:
                del self.copies[task]

    def _forget(self, member: StreamsMember) -> None:
        self._release(member)
        member_id, instance_id = member.member_id, member.instance_id
        del self.members[member_id]
        if instance_id is not None and self.static_members.get(instance_id) == member_id:
            del self.static_members[instance_id]
        self.task_offsets.pop(member_id, None)
        timers = self.timers.pop(member_id, None)
        if timers is not None:
            timers.cancel()
        if not self.members:
            self.shutdown_by = None
            if self.initial_delay is not None:
                self.initial_delay.cancel()


#: What a record means, by its key type.
_APPLIERS: dict[int, Callable[[StreamsGroup, Any, Any], None]] = {
    17: StreamsGroup._apply_epoch,
    19: StreamsGroup._apply_member,
    20: StreamsGroup._apply_target_epoch,
    21: StreamsGroup._apply_target,
    22: StreamsGroup._apply_standing,
    23: StreamsGroup._apply_topology,
}
