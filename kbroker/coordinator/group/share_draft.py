"""What one heartbeat makes of a share group, step by step, before any of it is true.

A draft collects records; the group itself stays as it is until they are applied. Its steps come in Kafka's
order: the group's epoch, the target assignment, the member's own standing, and the partitions for which state
has to begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kbroker.coordinator.group import share_records as write
from kbroker.coordinator.group.share_assignor import assign
from kbroker.coordinator.group.share_group import ShareGroup
from kbroker.coordinator.group.share_records import Places, ShareMember, StateTopics
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.types import Uuid


class ShareGroupSettings(NamedTuple):
    """What holds for a group."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000
    max_size: int = 200
    initialize_retry_ms: int = 30_000


class ShareDraft:
    """See the top of the file; `member` is the one that was heard, as it describes itself now."""

    def __init__(self, group: ShareGroup, topics: TopicView, member: ShareMember, now_ms: int) -> None:
        self.group = group
        self.topics = topics
        self.member = member
        self.now_ms = now_ms
        self.members = {**group.members, member.member_id: member}
        self.records: list[CoordinatorRecord] = []
        self.epoch = group.epoch
        self.assignment_epoch = group.assignment_epoch
        self.targets: Mapping[str, Places] = group.targets
        self.refreshed = False

    def settle_epoch(self, bumps: bool) -> None:
        """A new epoch if subscriptions, topics, or what may be read of them changed."""
        group = self.group
        metadata_hash = group.metadata_hash
        if bumps or self.now_ms >= group.refresh_ms:
            self.refreshed = True
            names = {name for member in self.members.values() for name in member.topics}
            metadata_hash = self.topics.group_hash(names)
        if metadata_hash != group.metadata_hash or (self.epoch == self.assignment_epoch and self._has_new()):
            bumps = True
        if bumps:
            self.epoch += 1
            self.records.append(write.epoch_record(group.group_id, self.epoch, metadata_hash))

    def _has_new(self) -> bool:
        """There are partitions that may be read by now, and that nobody has."""
        taken: dict[Uuid, set[int]] = {}
        for target in self.targets.values():
            for topic_id, partitions in target.items():
                taken.setdefault(topic_id, set()).update(partitions)
        return any(
            not readable <= taken.get(topic_id, set())
            for member in self.members.values()
            for topic_id, readable in self._readable(member).items()
        )

    def _readable(self, member: ShareMember) -> Places:
        found = {}
        for name in member.topics:
            topic = self.topics.get(name)
            if topic is not None:
                partitions = self.group.initialized(topic.id)
                if partitions:
                    found[topic.id] = partitions
        return found

    def settle_target(self, settings: ShareGroupSettings) -> None:
        """A new target assignment, if there is a new epoch and the last assignment is old enough."""
        group = self.group
        if self.epoch <= self.assignment_epoch:
            return
        since = self.now_ms - group.assignment_timestamp_ms
        if group.assignment_timestamp_ms and 0 <= since < settings.assignment_interval_ms:
            return
        wanted = {each: _listed(self._readable(member)) for each, member in self.members.items()}
        assigned = assign(wanted, {each: _listed(target) for each, target in self.targets.items()})
        targets = {}
        for member_id, places in assigned.items():
            by_topic: dict[Uuid, set[int]] = {}
            for topic_id, partition in places:
                by_topic.setdefault(topic_id, set()).add(partition)
            target = targets[member_id] = {each: frozenset(found) for each, found in by_topic.items()}
            if self.targets.get(member_id) != target:
                self.records.append(write.target_record(group.group_id, member_id, target))
        self.targets = targets
        self.assignment_epoch = self.epoch
        self.records.append(write.target_epoch_record(group.group_id, self.epoch, self.now_ms))

    def reconcile(self, before: ShareMember) -> None:
        """The member takes what its target gives it, and drops what it no longer subscribes to."""
        member = self.member
        if member.epoch != self.assignment_epoch:
            target = self.targets.get(member.member_id, {})
            readable = self._readable(member)
            assigned = {each: found for each, found in target.items() if each in readable}
            member = member._replace(
                epoch=self.assignment_epoch, previous_epoch=member.epoch, assigned=assigned
            )
        elif member.topics != before.topics:
            readable = self._readable(member)
            kept = {each: found for each, found in member.assigned.items() if each in readable}
            if kept == member.assigned:
                return
            member = member._replace(assigned=kept)
        else:
            return
        self.member = member
        self.records.append(write.standing_record(self.group.group_id, member))

    def begin_state(self, settings: ShareGroupSettings) -> dict[Uuid, frozenset[int]]:
        """Partitions for which the share coordinator has to be asked now."""
        group, state = self.group, self.group.state
        since = group.initializing_since_ms
        again = since < 0 or self.now_ms - since >= settings.initialize_retry_ms
        begin: dict[Uuid, frozenset[int]] = {}
        initializing = dict(state.initializing)
        names = {name for member in self.members.values() for name in member.topics}
        for name in sorted(names):
            topic = self.topics.get(name)
            if topic is None:
                continue
            asked = initializing.get(topic.id, ("", frozenset()))[1]
            known = group.initialized(topic.id)
            if len(known) + len(asked) >= len(topic.partitions) and not (asked and again):
                continue
            missing = frozenset(range(len(topic.partitions))) - known
            if not again:
                missing -= asked
            if missing:
                begin[topic.id] = missing
                initializing[topic.id] = (name, asked | missing)
        if begin and initializing != state.initializing:
            deleting = {each: name for each, name in state.deleting.items() if each not in begin}
            self.records.append(
                write.state_record(group.group_id, StateTopics(initializing, state.initialized, deleting))
            )
        return begin


def _listed(places: Mapping[Uuid, Iterable[int]]) -> list[tuple[Uuid, int]]:
    return [(topic_id, each) for topic_id, partitions in places.items() for each in sorted(partitions)]
