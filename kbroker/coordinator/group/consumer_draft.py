"""What one request makes of a consumer group, step by step, before any of it is true.

A draft collects records; the group itself stays as it is until they are applied. Its steps come in Kafka's
order: the member's description, the group's epoch, the target assignment, the member's own standing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import NamedTuple

from kbroker.coordinator.group import consumer_records as write
from kbroker.coordinator.group.assignors import ASSIGNORS, Subscriber
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.consumer_member import ConsumerMember, Move, reconciled
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.plain import plain
from kbroker.types import Uuid

_INT32_MAX = 2**31 - 1
#: How long a group trusts what it knows of its topics although nobody said that they changed.
METADATA_REFRESH_MS = 600_000


class GroupSettings(NamedTuple):
    """What may be set for each group."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    #: The least time between two target assignments (KIP-1263).
    assignment_interval_ms: int = 1_000


_DEFAULTS = GroupSettings()


@plain(frozen=True, kw_only=True)
class ConsumerLimits:
    """Settings of consumer groups; defaults are Kafka's."""

    enabled: bool = True
    max_size: int = _INT32_MAX
    assignors: tuple[str, ...] = ("uniform", "range")
    may_upgrade: bool = True
    may_downgrade: bool = True
    #: Classic members may join a consumer group that has members.
    may_mix: bool = True
    regex_refresh_ms: int = 600_000
    settings: Callable[[str], GroupSettings] = lambda group_id: _DEFAULTS


class Draft:
    """One request to one group.

    Args:
        group: as it is (or, while it is being converted, as it will be).
        member: the asking member as it is; a new one has no description yet.
        known: the log has (or will have) a description of it.
        records: what has been decided already.
    """

    __slots__ = (
        "assignment_epoch",
        "before",
        "bumped",
        "epoch",
        "gone",
        "group",
        "known",
        "limits",
        "member",
        "metadata_hash",
        "records",
        "refreshed",
        "replaced",
        "subscription_changed",
        "targets",
        "topics",
    )

    def __init__(
        self,
        group: ConsumerGroup,
        member: ConsumerMember | None,
        records: list[CoordinatorRecord],
        topics: TopicView,
        limits: ConsumerLimits,
        known: bool = True,
    ) -> None:
        self.group = group
        self.before = member
        self.member = member
        self.known = known
        #: Members that leave with this draft, or whose place the asking member takes.
        self.gone: set[str] = set()
        self.records = records
        self.topics = topics
        self.limits = limits
        self.epoch = group.epoch
        self.metadata_hash = group.metadata_hash
        self.assignment_epoch = group.assignment_epoch
        self.targets = group.targets
        self.bumped = False
        self.refreshed = False
        #: The static member whose place the asking one takes.
        self.replaced: str | None = None
        self.subscription_changed = False

    # -- who is in it ----------------------------------------------------------------------------------------

    def members(self) -> dict[str, ConsumerMember]:
        """The members as they will be."""
        found = {each: member for each, member in self.group.members.items() if each not in self.gone}
        if self.member is not None:
            found[self.member.member_id] = self.member
        return found

    def subscribed_topics(self) -> set[str]:
        """What they will subscribe to; patterns as they are resolved now."""
        names, patterns = self.group.names, self.group.patterns
        lost: Counter[str] = Counter()
        lost_patterns: Counter[str] = Counter()
        for member_id in self.gone | ({self.before.member_id} if self.before is not None else set()):
            old = self.group.members.get(member_id)
            if old is not None:
                lost.update(old.topics)
                lost_patterns.update((old.regex,) if old.regex else ())
        found = {name for name, count in names.items() if count > lost[name]}
        left = {regex for regex, count in patterns.items() if count > lost_patterns[regex]}
        if self.member is not None:
            found.update(self.member.topics)
            if self.member.regex:
                left.add(self.member.regex)
        for regex in left:
            resolved = self.group.regexes.get(regex)
            if resolved is not None:
                found |= resolved.topics
        return found

    # -- steps -----------------------------------------------------------------------------------------------

    def describe(self, member: ConsumerMember) -> None:
        """The member said this of itself."""
        before = self.before
        assert before is not None
        self.member = member
        if self.known and (member is before or member.description() == before.description()):
            return
        self.records.append(write.member_record(self.group.group_id, member))
        self.subscription_changed = member.topics != before.topics
        if self.subscription_changed or member.assignor != before.assignor:
            self.bumped = True
        if member.regex != before.regex:
            self.subscription_changed = True

    def settle_epoch(self, now_ms: int) -> None:
        """A new epoch if the subscriptions or the topics changed."""
        if not self.bumped and now_ms < self.group.refresh_ms:
            return
        self.refreshed = True
        metadata_hash = self.topics.group_hash(self.subscribed_topics())
        if metadata_hash != self.metadata_hash:
            self.bumped = True
        if self.bumped:
            self.bump(metadata_hash)

    def bump(self, metadata_hash: int | None = None) -> None:
        """The next epoch."""
        if metadata_hash is None:
            metadata_hash = self.topics.group_hash(self.subscribed_topics())
        self.epoch += 1
        self.metadata_hash = metadata_hash
        self.records.append(write.epoch_record(self.group.group_id, self.epoch, metadata_hash))

    def settle_target(self, now_ms: int) -> None:
        """A new target assignment, if there is a new epoch and the last assignment is old enough."""
        group = self.group
        if self.epoch <= self.assignment_epoch:
            return
        interval = self.limits.settings(group.group_id).assignment_interval_ms
        if group.assignment_timestamp_ms and 0 <= now_ms - group.assignment_timestamp_ms < interval:
            return
        members = self.members()
        subscribers, sizes = self._subscribers(members)
        assigned = ASSIGNORS[self.assignor(members)](subscribers, sizes)
        targets = dict(self.targets)
        for member_id in members:
            target = assigned.get(member_id, {})
            old = targets.get(member_id)
            targets[member_id] = target
            if old is None or old != target:
                self.records.append(write.target_record(group.group_id, member_id, target))
        self.targets = targets
        self.assignment_epoch = self.epoch
        self.records.append(write.target_epoch_record(group.group_id, self.epoch, now_ms))

    def assignor(self, members: dict[str, ConsumerMember]) -> str:
        """What most members ask for; without a wish the first one of the settings."""
        wishes = Counter(member.assignor for member in members.values() if member.assignor)
        for name, _ in wishes.most_common(1):
            if name in ASSIGNORS:
                return name
        return next((name for name in self.limits.assignors if name in ASSIGNORS), "uniform")

    def _subscribers(
        self, members: dict[str, ConsumerMember]
    ) -> tuple[dict[str, Subscriber], dict[Uuid, int]]:
        sizes: dict[Uuid, int] = {}
        by_subscription: dict[tuple[tuple[str, ...], str], frozenset[Uuid]] = {}
        found = {}
        for member_id, member in members.items():
            subscription = member.topics, member.regex
            ids = by_subscription.get(subscription)
            if ids is None:
                ids = by_subscription[subscription] = frozenset(self._ids(member))
                for topic_id in ids:
                    topic = self.topics.by_id(topic_id)
                    sizes[topic_id] = len(topic.partitions) if topic is not None else 0
            found[member_id] = Subscriber(ids, self.targets.get(member_id, {}), member.instance_id)
        return found, sizes

    def _ids(self, member: ConsumerMember) -> Collection[Uuid]:
        topics = (self.topics.get(name) for name in self.group.topics_of(member))
        return {topic.id for topic in topics if topic is not None}

    def reconcile(self, owned: list[tuple[Uuid, Collection[int]]] | None) -> bool:
        """The member moves towards its target; whether its standing changed."""
        member = self.member
        assert member is not None
        if member.has_reached(self.assignment_epoch) and not self.subscription_changed:
            return False
        move = Move(
            self.assignment_epoch,
            self.targets.get(member.member_id, {}),
            owned,
            self.group.epoch_of,
            self._ids(member),
            self.subscription_changed,
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
        left: Counter[str] = Counter(
            group.members[each].regex for each in self.gone if group.members[each].regex
        )
        for regex, count in left.items():
            if group.patterns[regex] == count and regex in group.regexes:
                self.records.append(write.regex_tombstone(group.group_id, regex))
        self.bump()
        if len(group.members) == len(self.gone):
            self.assignment_epoch = self.epoch
            self.records.append(write.target_epoch_record(group.group_id, self.epoch, 0))
