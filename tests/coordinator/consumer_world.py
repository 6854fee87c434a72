"""A world of consumer groups: the shard with topics around it, and what its groups must always keep."""

from __future__ import annotations

from types import SimpleNamespace

from kbroker.coordinator.group.consumer_draft import ConsumerLimits, GroupSettings
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.consumer_requests import Beating
from kbroker.coordinator.group.group_shard import GroupShard
from kbroker.coordinator.group.limits import Surroundings
from kbroker.protocol.generated.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kbroker.protocol.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kbroker.protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from tests.coordinator.group_world import NO_DELAY, World


class Topics:
    """As much of TopicsImage as a coordinator asks for."""

    def __init__(self) -> None:
        self.by_name: dict[str, SimpleNamespace] = {}

    def get(self, name):
        return self.by_name.get(name)

    def by_id(self, topic_id):
        return next((topic for topic in self.by_name.values() if topic.id == topic_id), None)

    def names(self):
        return sorted(self.by_name)


class ConsumerWorld(World):
    """`settings` and `rules` may be replaced before the first request."""

    UNIQUE = "{:032x}"

    def __init__(self, limits=NO_DELAY, *, interval_ms=0, **rules) -> None:
        self.image = SimpleNamespace(topics=Topics(), brokers={}, offset=0)
        self.settings = GroupSettings(assignment_interval_ms=interval_ms)
        self.rules = rules
        self.epochs: dict[str, int] = {}
        self._topic_ids = 0
        super().__init__(limits)

    def new_shard(self):
        def consumer_limits():
            return ConsumerLimits(settings=lambda group_id: self.settings, **self.rules)

        return GroupShard(
            self.limits, Surroundings(image=lambda: self.image, consumer_limits=consumer_limits)
        )

    # -- topics ------------------------------------------------------------------------------------------

    def topic(self, name, partitions=4, racks=()):
        """Create a topic, or give it more partitions."""
        old = self.image.topics.get(name)
        if old is None:
            self._topic_ids += 1
        topic_id = self._topic_ids.to_bytes(16, "big") if old is None else old.id
        parts = [SimpleNamespace(replicas=(1,)) for _ in range(partitions)]
        self.image.topics.by_name[name] = SimpleNamespace(id=topic_id, name=name, partitions=parts)
        self.image.offset += 1
        self.shard.topics_changed([name], old is None, False)
        return topic_id

    def delete_topic(self, name):
        del self.image.topics.by_name[name]
        self.image.offset += 1
        self.shard.topics_changed([name], False, False)
        for outcome in self.shard.topics_deleted([name]):
            self.perform(outcome)

    # -- requests ----------------------------------------------------------------------------------------

    def beat(self, member, epoch, topics=None, owned=None, group="g", version=1, **fields):
        """A heartbeat's answer; `owned` maps topic ids to partitions."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=member,
            member_epoch=epoch,
            instance_id=fields.pop("instance", None),
            rack_id=fields.pop("rack", None),
            rebalance_timeout_ms=fields.pop("rebalance", 60_000 if epoch == 0 else -1),
            subscribed_topic_names=topics,
            subscribed_topic_regex=fields.pop("regex", None),
            server_assignor=fields.pop("assignor", None),
            topic_partitions=None
            if owned is None
            else [TopicPartitions(topic_id=t, partitions=sorted(p)) for t, p in owned.items() if p],
        )
        visible = fields.pop("visible", None)
        assert not fields
        ticket = self.ticket()
        beating = Beating(request, version, "app", "/127.0.0.1", f"made-{ticket}", visible)
        self.perform(self.shard.consumer_heartbeat(ticket, beating, self.now))
        return self.answers[ticket]

    def enter(self, member, *topics, **fields):
        """Join; the epoch and the assignment (topic id to partitions)."""
        answer = self.beat(member, 0, list(topics), {}, **fields)
        assert answer.error_code == 0, answer
        return answer.member_epoch, held(answer)

    # -- looking -----------------------------------------------------------------------------------------

    def consumer(self, group="g") -> ConsumerGroup:
        return self.shard.groups[group]

    def check(self) -> None:
        super().check()
        for group in self.shard.groups.values():
            if isinstance(group, ConsumerGroup):
                self._check_consumer(group)
        groups = self.shard.groups
        for group_id in [each for each in self.epochs if not isinstance(groups.get(each), ConsumerGroup)]:
            del self.epochs[group_id]

    def _check_consumer(self, group: ConsumerGroup) -> None:
        owners: dict[tuple[bytes, int], str] = {}
        for member_id, member in group.members.items():
            assert member.member_id == member_id
            for part in (member.assigned, member.revoking):
                for topic_id, partitions in part.items():
                    for partition in partitions:
                        assert (topic_id, partition) not in owners, "two members own a partition"
                        owners[topic_id, partition] = member_id
                        assert group.held[topic_id][partition] == member.epoch
        assert sum(map(len, group.held.values())) == len(owners)
        names: dict[str, int] = {}
        for member in group.members.values():
            for name in member.topics:
                names[name] = names.get(name, 0) + 1
        assert group.names == names
        assert group.classic_members == sum(m.classic is not None for m in group.members.values())
        assert set(group.targets) <= set(group.members)
        assert all(
            group.members[each].instance_id == instance for instance, each in group.static_members.items()
        )
        assert group.epoch >= group.assignment_epoch
        assert group.epoch >= self.epochs.get(group.group_id, 0)
        self.epochs[group.group_id] = group.epoch

    def same_after_replay(self) -> None:
        """Another coordinator that reads the log knows the same."""
        other = self.replayed()
        assert other.groups.keys() == self.shard.groups.keys()
        for group_id, group in self.shard.groups.items():
            if isinstance(group, ConsumerGroup):
                assert state_of(other.groups[group_id]) == state_of(group)
            assert type(other.groups[group_id]) is type(group)
            assert other.offsets.topics(group_id) == self.shard.offsets.topics(group_id)


def state_of(group: ConsumerGroup):
    """All that lies in the log."""
    return {
        "epoch": group.epoch,
        "hash": group.metadata_hash,
        "assignment": (group.assignment_epoch, group.assignment_timestamp_ms),
        "members": {
            each: (member.description(), member.standing()) for each, member in group.members.items()
        },
        "static": group.static_members,
        "targets": group.targets,
        "held": group.held,
        "regexes": group.regexes,
        "counts": (group.names, group.patterns, group.classic_members),
    }


def held(answer):
    """The assignment of an answer; None if it has none."""
    if answer.assignment is None:
        return None
    return {each.topic_id: set(each.partitions) for each in answer.assignment.topic_partitions}


def subscription(*topics, owned=None, version=1):
    """What a classic member embeds in JoinGroup; `owned` maps topic names to partitions."""
    message = ConsumerProtocolSubscription(
        topics=list(topics),
        user_data=None,
        owned_partitions=[
            TopicPartition(topic=name, partitions=sorted(each)) for name, each in (owned or {}).items()
        ],
        rack_id=None,
    )
    return version.to_bytes(2, "big") + message.encode(version)


def assignment(data):
    """What a classic member reads in SyncGroup's answer: topic names to partitions."""
    message = ConsumerProtocolAssignment.decode(data, int.from_bytes(data[:2], "big"), 2)
    return {each.topic: set(each.partitions) for each in message.assigned_partitions}
