"""A consumer group (KIP-848): its members, its target assignment, and what of them lies in the log.

Everything here but the timers becomes true by records (`apply`), on the live coordinator and on replay
alike; consumer_requests.py decides which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kbroker.coordinator.group.consumer_member import ConsumerMember, Held
from kbroker.coordinator.group.consumer_records import (
    ResolvedRegex,
    described,
    group_tombstones,
    nowhere,
    resolved_regex,
    standing,
    target_of,
)
from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.coordinator.group.offsets import CommittedOffset
    from kbroker.coordinator.shard import CoordinatorRecord, Outcome
    from kbroker.coordinator.timers import Timer

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"

#: Version of OffsetCommit from which a member of the consumer protocol may commit.
_COMMIT_SINCE = 9
#: The epoch of a group that was never written.
FIRST_EPOCH = 1


class MemberTimers:
    """What runs for one member; never in the log."""

    __slots__ = ("join", "rebalance", "session", "sync")

    def __init__(self) -> None:
        self.session: Timer[Outcome] | None = None
        self.rebalance: Timer[Outcome] | None = None
        self.join: Timer[Outcome] | None = None
        self.sync: Timer[Outcome] | None = None

    def cancel(self) -> None:
        """The member is gone."""
        for timer in (self.session, self.rebalance, self.join, self.sync):
            if timer is not None:
                timer.cancel()


class ConsumerGroup:
    """One consumer group.

    Invariants: `static_members` maps the instance id of each static member to its member id; `held` maps
    every partition that a member holds (or has still to give up) to the epoch of that member; `names` and
    `patterns` count the members that subscribe to each.
    """

    TYPE: ClassVar[str] = "consumer"

    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp_ms",
        "classic_members",
        "epoch",
        "group_id",
        "held",
        "members",
        "metadata_hash",
        "names",
        "patterns",
        "refresh_ms",
        "regex_refresh_ms",
        "regexes",
        "static_members",
        "targets",
        "timers",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ConsumerMember] = {}
        self.static_members: dict[str, str] = {}
        self.classic_members = 0
        self.targets: dict[str, dict[Uuid, frozenset[int]]] = {}
        self.held: dict[Uuid, dict[int, int]] = {}
        self.names: dict[str, int] = {}
        self.patterns: dict[str, int] = {}
        self.regexes: dict[str, ResolvedRegex] = {}
        self.timers: dict[str, MemberTimers] = {}
        #: When the topics are to be looked at again; 0: at the next occasion.
        self.refresh_ms = 0
        #: When patterns were matched last; 0: never by this coordinator.
        self.regex_refresh_ms = 0

    # -- what every group answers (Group) --------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """Empty, Assigning, Reconciling or Stable."""
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        epoch = self.assignment_epoch
        if all(member.has_reached(epoch) for member in self.members.values()):
            return STABLE
        return RECONCILING

    @property
    def protocol_type_name(self) -> str:
        """`consumer`."""
        return "consumer"

    @property
    def removable(self) -> bool:
        """Nobody is in it."""
        return not self.members

    def tombstones(self) -> list[CoordinatorRecord]:
        """Records that end the group."""
        return group_tombstones(self.group_id, self.members, self.regexes)

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, version: int, transactional: bool
    ) -> Callable[[str, Uuid, int], ErrorCode] | None:
        """A member commits with its epoch. An older one is good for partitions that it was assigned at that
        epoch or before (KIP-1251): the answer is then a test of each partition.

        Raises:
            ApiError: UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a
                classic member and in a transaction.
        """
        if generation < 0 and (not self.members or (transactional and member_id == NO_MEMBER)):
            # A tool while nobody is in it; or a producer that does not say for which member it writes.
            return None
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member.classic is None and not transactional and version < _COMMIT_SINCE:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        if generation == member.epoch:
            return None
        new = member.classic is None and not transactional
        stale = ErrorCode.STALE_MEMBER_EPOCH if new else ErrorCode.ILLEGAL_GENERATION
        if generation > member.epoch or generation < 0:
            raise ApiError(stale)
        held = member

        def check(topic: str, topic_id: Uuid, partition: int) -> ErrorCode:
            for part in (held.assigned, held.revoking):
                at = part.get(topic_id, _NOTHING).get(partition)
                if at is not None:
                    return ErrorCode.NONE if at <= generation else stale
            return stale

        return check

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """A member reads with its epoch, anybody else without one.

        Raises:
            ApiError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a classic member.
        """
        if member_id is None and member_epoch < 0:
            return
        member = self.members.get(member_id or NO_MEMBER)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member_epoch != member.epoch:
            classic = member.classic is not None
            raise ApiError(ErrorCode.ILLEGAL_GENERATION if classic else ErrorCode.STALE_MEMBER_EPOCH)

    def check_delete(self) -> None:
        """NON_EMPTY_GROUP unless the group is empty."""
        if self.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_offset_delete(self) -> None:
        """Subscriptions are known, so nothing is against it."""

    def subscriptions(self) -> Callable[[str], bool]:
        """Which topics are subscribed to, by name or by a pattern."""
        names, regexes = self.names, [self.regexes[each] for each in self.patterns if each in self.regexes]
        return lambda topic: topic in names or any(topic in regex.topics for regex in regexes)

    def offset_age_base(self) -> Callable[[CommittedOffset], int] | None:
        """Since the commit; what is subscribed to does not age."""
        return lambda offset: offset.commit_timestamp_ms

    def subscribes_to_any(self, topics: frozenset[str]) -> bool:
        """Whether one of these topics is subscribed to."""
        if not topics.isdisjoint(self.names):
            return True
        regexes = (self.regexes.get(each) for each in self.patterns)
        return any(regex is not None and not topics.isdisjoint(regex.topics) for regex in regexes)

    # -- reading ---------------------------------------------------------------------------------------------

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The names that a member subscribes to, those of its pattern included."""
        resolved = self.regexes.get(member.regex) if member.regex else None
        names = frozenset(member.topics)
        return names if resolved is None else names | resolved.topics

    def epoch_of(self, topic_id: Uuid, partition: int) -> int:
        """The epoch of the member that holds a partition, -1 if nobody does."""
        return self.held.get(topic_id, _NOTHING).get(partition, -1)

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """The member of that instance id."""
        member_id = self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Something of its target is still held by another member."""
        for topic_id, wanted in self.targets.get(member.member_id, {}).items():
            have = member.assigned.get(topic_id, _NOTHING)
            if any(each not in have and self.epoch_of(topic_id, each) != -1 for each in wanted):
                return True
        return False

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

    # -- changing, by records only ---------------------------------------------------------------------------

    def apply(self, record: CoordinatorRecord) -> None:
        """Make true what a record of this group says, except that the group is gone."""
        _APPLIERS[record.key.API_KEY](self, record.key, record.value)

    def _apply_epoch(self, key: Any, value: Any) -> None:
        if value is not None:
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash

    def _apply_partition_metadata(self, key: Any, value: Any) -> None:
        """Of Kafka before 4.1; the hash has taken its place."""

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
        member_id = key.member_id
        old = self.members.get(member_id)
        if value is None:
            if old is not None:
                self._forget(old)
            return
        new = described(value, old if old is not None else ConsumerMember(member_id))
        self._count(old, new)
        self.members[member_id] = new
        if new.instance_id is not None:
            self.static_members[new.instance_id] = member_id

    def _apply_standing(self, key: Any, value: Any) -> None:
        member_id = key.member_id
        old = self.members.get(member_id)
        if old is None:
            if value is None:
                return
            # Compaction may leave this record before the member's own.
            old = ConsumerMember(member_id)
        self._release(old)
        self.members[member_id] = new = nowhere(old) if value is None else standing(value, old)
        for part in (new.assigned, new.revoking):
            for topic_id, partitions in part.items():
                self.held.setdefault(topic_id, {}).update(dict.fromkeys(partitions, new.epoch))

    def _apply_regex(self, key: Any, value: Any) -> None:
        if value is None:
            self.regexes.pop(key.regular_expression, None)
        else:
            self.regexes[key.regular_expression] = resolved_regex(value)

    def _forget(self, member: ConsumerMember) -> None:
        self._release(member)
        self._count(member, None)
        del self.members[member.member_id]
        instance_id = member.instance_id
        if instance_id is not None and self.static_members.get(instance_id) == member.member_id:
            del self.static_members[instance_id]
        timers = self.timers.pop(member.member_id, None)
        if timers is not None:
            timers.cancel()

    def _release(self, member: ConsumerMember) -> None:
        for part in (member.assigned, member.revoking):
            self._release_part(part, member.epoch)

    def _release_part(self, part: Held, epoch: int) -> None:
        for topic_id, partitions in part.items():
            held = self.held.get(topic_id)
            if held is None:
                continue
            for partition in partitions:
                if held.get(partition) == epoch:
                    del held[partition]
            if not held:
                del self.held[topic_id]

    def _count(self, old: ConsumerMember | None, new: ConsumerMember | None) -> None:
        for member, by in ((old, -1), (new, 1)):
            if member is None:
                continue
            self.classic_members += by * (member.classic is not None)
            _add(self.names, member.topics, by)
            _add(self.patterns, (member.regex,) if member.regex else (), by)


_NOTHING: Mapping[int, int] = {}
#: What a record means, by its key type.
_APPLIERS: dict[int, Callable[[ConsumerGroup, Any, Any], None]] = {
    3: ConsumerGroup._apply_epoch,
    4: ConsumerGroup._apply_partition_metadata,
    5: ConsumerGroup._apply_member,
    6: ConsumerGroup._apply_target_epoch,
    7: ConsumerGroup._apply_target,
    8: ConsumerGroup._apply_standing,
    16: ConsumerGroup._apply_regex,
}


def _add(counts: dict[str, int], names: Iterable[str], by: int) -> None:
    for name in names:
        count = counts.get(name, 0) + by
        if count:
            counts[name] = count
        else:
            del counts[name]
