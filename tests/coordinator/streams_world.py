"""A world of streams groups: the shard with topics around it, and what its groups must always keep."""

from __future__ import annotations

from kbroker.coordinator.group.group_shard import GroupShard
from kbroker.coordinator.group.limits import Surroundings
from kbroker.coordinator.group.streams_draft import StreamsLimits, StreamsSettings
from kbroker.coordinator.group.streams_group import StreamsGroup
from kbroker.coordinator.group.streams_requests import Beating
from kbroker.protocol.generated import streams_group_heartbeat_request as api
from tests.coordinator.consumer_world import ConsumerWorld

NOTHING: dict[str, list[int]] = {}


def told_topic(name, partitions=0, **configs):
    """An internal topic as a member tells it."""
    pairs = [api.KeyValue(key=key, value=value) for key, value in configs.items()]
    return api.TopicInfo(name=name, partitions=partitions, replication_factor=1, topic_configs=pairs)


def subtopology(key, sources=(), *, logs=(), sinks=(), repartitions=(), together=()):
    """One subtopology; `together`: pairs of indexes of sources and of repartition topics."""
    return api.Subtopology(
        subtopology_id=key,
        source_topics=list(sources),
        state_changelog_topics=list(logs),
        repartition_sink_topics=list(sinks),
        repartition_source_topics=list(repartitions),
        copartition_groups=[
            api.CopartitionGroup(source_topics=list(one), repartition_source_topics=list(other))
            for one, other in together
        ],
    )


class StreamsWorld(ConsumerWorld):
    """`streams` may be replaced before the first request."""

    def __init__(self, **settings) -> None:
        self.streams = StreamsSettings(
            **{"initial_rebalance_delay_ms": 0, "assignment_interval_ms": 0, **settings}
        )
        self.max_size = 1_000
        self.topology = [subtopology("0", ["in"])]
        self.missing = ()
        super().__init__()

    def new_shard(self):
        limits = StreamsLimits(self.max_size, lambda group_id: self.streams)
        return GroupShard(
            self.limits,
            Surroundings(
                image=lambda: self.image, consumer_limits=lambda: None, streams_limits=lambda: limits
            ),
        )

    # -- requests ----------------------------------------------------------------------------------------

    def beat(self, member, epoch, owned=None, group="g", version=1, **fields):
        """A heartbeat's answer; `owned`: active, standby and warm-up tasks, subtopology to partitions."""
        if epoch == 0:
            owned = owned or (NOTHING, NOTHING, NOTHING)
            fields.setdefault("rebalance_timeout_ms", 60_000)
            fields.setdefault("process_id", f"process-{member}")
            fields.setdefault("client_tags", [])
            fields.setdefault("topology", api.Topology(epoch=0, subtopologies=self.topology))
        if owned is not None:
            for name, tasks in zip(("active_tasks", "standby_tasks", "warmup_tasks"), owned):
                fields[name] = [
                    api.TaskIds(subtopology_id=key, partitions=list(held)) for key, held in tasks.items()
                ]
        fields.setdefault("endpoint_information_epoch", 0)
        request = api.StreamsGroupHeartbeatRequest(
            group_id=group, member_id=member, member_epoch=epoch, **fields
        )
        ticket = self.ticket()
        beating = Beating(request, version, "app", "/127.0.0.1")
        self.perform(self.shard.streams_heartbeat(ticket, beating, self.now))
        beat = self.answers[ticket]
        self.missing = beat.missing
        return beat.response

    def make_missing(self):
        """Create the internal topics that are missing."""
        for topic in self.missing:
            self.topic(topic.name, topic.partitions)

    # -- looking -----------------------------------------------------------------------------------------

    def group(self, group="g") -> StreamsGroup:
        return self.shard.groups[group]

    def check(self) -> None:
        for group in self.shard.groups.values():
            if isinstance(group, StreamsGroup):
                self._check_streams(group)

    def _check_streams(self, group: StreamsGroup) -> None:
        active: dict[tuple[str, int], str] = {}
        copies: dict[tuple[str, int], set[str]] = {}
        for member_id, member in group.members.items():
            assert member.member_id == member_id
            for part in (member.assigned, member.revoking):
                for task in tasks_of(part.active):
                    assert task not in active, "two members hold a task as active"
                    active[task] = member.process_id
                for held in part[1:]:
                    for task in tasks_of(held):
                        copies.setdefault(task, set()).add(member.process_id)
            assert not set(tasks_of(member.assigned.active)) & set(tasks_of(member.assigned.standby))
        assert group.active == active
        assert group.copies == copies
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
            assert state_of(other.groups[group_id]) == state_of(group)


def tasks_of(held):
    return [(key, partition) for key, partitions in held.items() for partition in partitions]


def state_of(group: StreamsGroup):
    """All that lies in the log."""
    return {
        "epoch": (group.epoch, group.metadata_hash, group.validated, group.configs),
        "topology": group.topology,
        "assignment": (group.assignment_epoch, group.assignment_timestamp_ms),
        "members": {
            each: (member.description(), member.standing()) for each, member in group.members.items()
        },
        "static": group.static_members,
        "targets": group.targets,
        "held": (group.active, group.copies),
    }


def told(answer):
    """The tasks of an answer: active, standby, warm-up; None if it has none."""
    if answer.active_tasks is None:
        return None
    parts = (answer.active_tasks, answer.standby_tasks, answer.warmup_tasks)
    return tuple({each.subtopology_id: each.partitions for each in part} for part in parts)
