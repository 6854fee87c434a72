"""What one request makes of a streams group, step by step, before any of it is true.

A draft collects records; the group itself stays as it is until they are applied. Its steps come in Kafka's
order: the member's description, the topology, the group's epoch, the target assignment, the member's own
standing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kbroker.coordinator.group import streams_records as write
from kbroker.coordinator.group.streams_assignor import Runner, assign
from kbroker.coordinator.group.streams_group import StreamsGroup
from kbroker.coordinator.group.streams_heartbeat import invalid
from kbroker.coordinator.group.streams_member import NO_TARGET, Move, StreamsMember, Target, reconciled
from kbroker.coordinator.group.streams_topology import (
    ASSIGNMENT_DELAYED,
    Configured,
    Problem,
    configure,
    required_topics,
)
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.protocol.generated.streams_group_topology_value import StreamsGroupTopologyValue

_INT32_MAX = 2**31 - 1
#: How long a group trusts what it knows of its topics although nobody said that they changed.
METADATA_REFRESH_MS = 600_000

_IN_INITIAL_DELAY = Problem(
    ASSIGNMENT_DELAYED, "Assignment delayed due to the configured initial rebalance delay."
)
_IN_INTERVAL = Problem(ASSIGNMENT_DELAYED, "Assignment delayed due to the configured assignment interval.")


class StreamsSettings(NamedTuple):
    """What may be set for each group."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000
    initial_rebalance_delay_ms: int = 3_000
    num_standby_replicas: int = 0
    task_offset_interval_ms: int = 60_000
    acceptable_recovery_lag: int = 10_000
    rack_tags: tuple[str, ...] = ()

    def assignment_configs(self) -> dict[str, str]:
        """What an assignment follows, as it is recorded."""
        configs = {"num.standby.replicas": str(self.num_standby_replicas)}
        if self.rack_tags:
            configs["rack.aware.assignment.tags"] = ",".join(self.rack_tags)
        return configs


_DEFAULTS = StreamsSettings()


class StreamsLimits(NamedTuple):
    """Settings of streams groups; defaults are Kafka's."""

    max_size: int = _INT32_MAX
    settings: Callable[[str], StreamsSettings] = lambda group_id: _DEFAULTS


class Draft:
    """One request to one group.

    Args:
        group: as it is.
        member: the asking member as it is; a new one has no description yet; None: nobody asks.
        settings: of this group.
        known: the log has (or will have) a description of the member.
    """

    __slots__ = (
        "assignment_epoch",
        "before",
        "bumped",
        "configured",
        "delay",
        "epoch",
        "gone",
        "group",
        "known",
        "member",
        "metadata_hash",
        "records",
        "refreshed",
        "replaced",
        "settings",
        "starts_delay",
        "targets",
        "topics",
        "topology",
        "validated",
    )

    def __init__(
        self,
        group: StreamsGroup,
        member: StreamsMember | None,
        records: list[CoordinatorRecord],
        topics: TopicView,
        settings: StreamsSettings,
        known: bool = True,
    ) -> None:
        self.group = group
        self.before = member
        self.member = member
        self.known = known
        self.gone: set[str] = set()
        self.records = records
        self.topics = topics
        self.settings = settings
        self.epoch = group.epoch
        self.metadata_hash = group.metadata_hash
        self.validated = group.validated
        self.topology = group.topology
        self.configured = group.configured
        self.assignment_epoch = group.assignment_epoch
        self.targets = group.targets
        self.bumped = False
        self.refreshed = False
        #: The static member whose place the asking one takes.
        self.replaced: str | None = None
        #: Why there is no new assignment yet.
        self.delay: Problem | None = None
        self.starts_delay = False

    def size_of(self, topic: str) -> int | None:
        """The partitions of a topic; None: there is none of that name."""
        found = self.topics.get(topic)
        return None if found is None else len(found.partitions)

    def members(self) -> dict[str, StreamsMember]:
        """The members as they will be."""
        found = {each: member for each, member in self.group.members.items() if each not in self.gone}
        if self.member is not None:
            found[self.member.member_id] = self.member
        return found

    # -- steps -----------------------------------------------------------------------------------------------

    def describe(self, member: StreamsMember) -> None:
        """The member said this of itself."""
        before = self.before
        assert before is not None
        self.member = member
        if self.known and member.description() == before.description():
            return
        self.records.append(write.member_record(self.group.group_id, member))
        self.bumped = True

    def settle_topology(self, told: StreamsGroupTopologyValue | None) -> None:
        """The first member brings the topology; the others must have the same.

        Raises:
            ApiError: INVALID_REQUEST.
        """
        if told is None or told == self.topology:
            return
        if self.topology is not None:
            raise invalid("Topology updates are not supported yet.")
        self.topology = told
        self.configured = None
        self.records.append(write.topology_record(self.group.group_id, told))

    def settle_epoch(self, now_ms: int) -> None:
        """A new epoch if members, topics or settings changed.

        Raises:
            ApiError: STREAMS_INVALID_TOPOLOGY.
        """
        assert self.topology is not None
        if self.configured is None or now_ms >= self.group.refresh_ms:
            self.refreshed = True
            metadata_hash = self.topics.group_hash(required_topics(self.topology))
            if metadata_hash != self.metadata_hash:
                self.metadata_hash = metadata_hash
                self.bumped = True
            self.configured = configure(self.topology, self.size_of)
        if self.configured.problem is None and self.validated != self.topology.epoch:
            self.validated = self.topology.epoch
            self.bumped = True
        if self.settings.assignment_configs() != self.group.configs:
            self.bumped = True
        if self.bumped:
            self.starts_delay = not self.group.members
            self.bump()

    def bump(self) -> None:
        """The next epoch."""
        self.epoch += 1
        self.records.append(
            write.epoch_record(
                self.group.group_id,
                self.epoch,
                self.metadata_hash,
                self.validated,
                self.settings.assignment_configs(),
            )
        )

    def settle_target(self, now_ms: int, delay_over: bool = False) -> None:
        """A new target assignment if there is a new epoch, unless the first members are still awaited or the
        last assignment is not old enough.
        """
        group = self.group
        if self.epoch <= self.assignment_epoch:
            return
        waits = group.initial_delay is not None and group.initial_delay.running
        if self.starts_delay and self.settings.initial_rebalance_delay_ms > 0:
            waits = True
        if waits and not delay_over:
            self.delay = _IN_INITIAL_DELAY
            return
        age = now_ms - group.assignment_timestamp_ms
        if group.assignment_timestamp_ms and 0 <= age < self.settings.assignment_interval_ms:
            self.delay = _IN_INTERVAL
            return
        members = self.members()
        assigned = self._assigned(members)
        targets = dict(self.targets)
        for member_id in members:
            target = assigned.get(member_id, NO_TARGET)
            old = targets.get(member_id)
            targets[member_id] = target
            if old is None or old != target:
                self.records.append(write.target_record(group.group_id, member_id, target))
        self.targets = targets
        self.assignment_epoch = self.epoch
        self.records.append(write.target_epoch_record(group.group_id, self.epoch, now_ms))

    def _assigned(self, members: dict[str, StreamsMember]) -> dict[str, Target]:
        configured = self.configured
        if configured is None or configured.problem is not None or self.topology is None:
            return {}
        stateful = [
            each.subtopology_id for each in self.topology.subtopologies if each.state_changelog_topics
        ]
        runners = {
            member_id: Runner(member.process_id, self.targets.get(member_id, NO_TARGET), member.tags)
            for member_id, member in members.items()
        }
        settings = self.settings
        return assign(runners, configured.tasks, stateful, settings.num_standby_replicas, settings.rack_tags)

    def reconcile(self, owned: Target | None) -> bool:
        """The member moves towards its target; whether its standing changed."""
        member = self.member
        assert member is not None
        if member.has_reached(self.assignment_epoch):
            return False
        target = self.targets.get(member.member_id, NO_TARGET)
        if self.delay is _IN_INITIAL_DELAY:
            target = NO_TARGET
        move = Move(
            self.assignment_epoch, target, owned, self.group.active_process, self.group.copy_processes
        )
        moved = reconciled(member, move)
        if moved is member or moved.standing() == member.standing():
            return False
        self.member = moved
        self.records.append(write.standing_record(self.group.group_id, moved))
        return True

    def remove(self, member_ids: list[str]) -> None:
        """Members leave: the others get a new epoch, an empty group also a new, empty assignment."""
        group = self.group
        for member_id in member_ids:
            self.gone.add(member_id)
            self.records += write.member_tombstones(group.group_id, member_id)
        self.bump()
        if len(group.members) == len(self.gone):
            self.assignment_epoch = self.epoch
            self.records.append(write.target_epoch_record(group.group_id, self.epoch, 0))

    def current(self) -> Configured:
        """The topology as it was found."""
        assert self.configured is not None
        return self.configured
