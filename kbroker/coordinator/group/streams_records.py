"""The records of a streams group in `__consumer_offsets`, as Kafka 4.4 writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kbroker.coordinator.group.streams_member import (
    NO_TASKS,
    Held,
    MemberState,
    StreamsMember,
    Target,
    Tasks,
    Wanted,
)
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.protocol.generated.streams_group_current_member_assignment_key import (
    StreamsGroupCurrentMemberAssignmentKey,
)
from kbroker.protocol.generated.streams_group_current_member_assignment_value import (
    StreamsGroupCurrentMemberAssignmentValue,
    TaskIds as HeldTasks,
)
from kbroker.protocol.generated.streams_group_member_metadata_key import StreamsGroupMemberMetadataKey
from kbroker.protocol.generated.streams_group_member_metadata_value import (
    Endpoint,
    KeyValue,
    StreamsGroupMemberMetadataValue,
)
from kbroker.protocol.generated.streams_group_metadata_key import StreamsGroupMetadataKey
from kbroker.protocol.generated.streams_group_metadata_value import (
    LastAssignmentConfig,
    StreamsGroupMetadataValue,
)
from kbroker.protocol.generated.streams_group_target_assignment_member_key import (
    StreamsGroupTargetAssignmentMemberKey,
)
from kbroker.protocol.generated.streams_group_target_assignment_member_value import (
    StreamsGroupTargetAssignmentMemberValue,
    TaskIds as TargetTasks,
)
from kbroker.protocol.generated.streams_group_target_assignment_metadata_key import (
    StreamsGroupTargetAssignmentMetadataKey,
)
from kbroker.protocol.generated.streams_group_target_assignment_metadata_value import (
    StreamsGroupTargetAssignmentMetadataValue,
)
from kbroker.protocol.generated.streams_group_topology_key import StreamsGroupTopologyKey
from kbroker.protocol.generated.streams_group_topology_value import StreamsGroupTopologyValue

#: Key type to the classes of key and value.
KINDS: dict[int, tuple[Any, Any]] = {
    17: (StreamsGroupMetadataKey, StreamsGroupMetadataValue),
    19: (StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue),
    20: (StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue),
    21: (StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue),
    22: (StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue),
    23: (StreamsGroupTopologyKey, StreamsGroupTopologyValue),
}
_STATES = {each.value: each for each in MemberState}


def epoch_record(
    group_id: str, epoch: int, metadata_hash: int, validated: int, configs: Mapping[str, str]
) -> CoordinatorRecord:
    """The group's epoch; what its topics looked like; the epoch of the topology whose topics were found
    good; and the settings that the next assignment follows.
    """
    value = StreamsGroupMetadataValue(
        epoch=epoch,
        metadata_hash=metadata_hash,
        validated_topology_epoch=validated,
        last_assignment_configs=[LastAssignmentConfig(key=key, value=text) for key, text in configs.items()],
    )
    return CoordinatorRecord(StreamsGroupMetadataKey(group_id=group_id), value)


def member_record(group_id: str, member: StreamsMember) -> CoordinatorRecord:
    """What a member said of itself."""
    endpoint = member.endpoint
    value = StreamsGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else Endpoint(host=endpoint[0], port=endpoint[1]),
        client_tags=[KeyValue(key=key, value=text) for key, text in member.tags],
    )
    key = StreamsGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, value)


def described(value: StreamsGroupMemberMetadataValue, member: StreamsMember) -> StreamsMember:
    """The member with what `member_record` keeps."""
    endpoint = value.user_endpoint
    return member.but(
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topology_epoch=value.topology_epoch,
        process_id=value.process_id,
        endpoint=None if endpoint is None else (endpoint.host, endpoint.port),
        tags=tuple((each.key, each.value) for each in value.client_tags),
    )


def topology_record(group_id: str, topology: StreamsGroupTopologyValue) -> CoordinatorRecord:
    """The application's topology."""
    return CoordinatorRecord(StreamsGroupTopologyKey(group_id=group_id), topology)


def target_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
    """For which group epoch the target assignment was made, and when."""
    value = StreamsGroupTargetAssignmentMetadataValue(
        assignment_epoch=epoch, assignment_timestamp=timestamp_ms
    )
    return CoordinatorRecord(StreamsGroupTargetAssignmentMetadataKey(group_id=group_id), value)


def target_record(group_id: str, member_id: str, target: Target) -> CoordinatorRecord:
    """What a member is to have."""
    value = StreamsGroupTargetAssignmentMemberValue(
        active_tasks=_wanted(target.active),
        standby_tasks=_wanted(target.standby),
        warmup_tasks=_wanted(target.warmup),
    )
    key = StreamsGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    return CoordinatorRecord(key, value)


def _wanted(wanted: Wanted) -> list[TargetTasks]:
    return [
        TargetTasks(subtopology_id=subtopology, partitions=sorted(wanted[subtopology]))
        for subtopology in sorted(wanted)
    ]


def target_of(value: StreamsGroupTargetAssignmentMemberValue) -> Target:
    """The inverse of `target_record`."""
    parts = (value.active_tasks, value.standby_tasks, value.warmup_tasks)
    return Target(*({each.subtopology_id: frozenset(each.partitions) for each in part} for part in parts))


def standing_record(group_id: str, member: StreamsMember) -> CoordinatorRecord:
    """Where a member stands, and what it holds."""
    value = StreamsGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        active_tasks=_held(member.assigned.active, epochs=True),
        standby_tasks=_held(member.assigned.standby),
        warmup_tasks=_held(member.assigned.warmup),
        active_tasks_pending_revocation=_held(member.revoking.active, epochs=True),
        standby_tasks_pending_revocation=_held(member.revoking.standby),
        warmup_tasks_pending_revocation=_held(member.revoking.warmup),
    )
    key = StreamsGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, value)


def _held(held: Held, epochs: bool = False) -> list[HeldTasks]:
    found = []
    for subtopology in sorted(held):
        partitions = sorted(held[subtopology])
        at = [held[subtopology][each] for each in partitions] if epochs else None
        found.append(HeldTasks(subtopology_id=subtopology, partitions=partitions, assignment_epochs=at))
    return found


def standing(value: StreamsGroupCurrentMemberAssignmentValue, member: StreamsMember) -> StreamsMember:
    """The member with what `standing_record` keeps."""
    epoch = value.member_epoch
    return member.but(
        epoch=epoch,
        previous_epoch=value.previous_member_epoch,
        state=_STATES.get(value.state, MemberState.UNKNOWN),
        assigned=Tasks(
            _held_of(value.active_tasks, epoch),
            _held_of(value.standby_tasks, 0),
            _held_of(value.warmup_tasks, 0),
        ),
        revoking=Tasks(
            _held_of(value.active_tasks_pending_revocation, epoch),
            _held_of(value.standby_tasks_pending_revocation, 0),
            _held_of(value.warmup_tasks_pending_revocation, 0),
        ),
    )


def _held_of(recorded: Iterable[HeldTasks], epoch: int) -> Held:
    """Older Kafkas did not tell when a task was assigned: the member's own epoch counts."""
    found: dict[str, dict[int, int]] = {}
    for each in recorded:
        epochs = each.assignment_epochs
        if epochs is None or len(epochs) != len(each.partitions):
            epochs = [max(epoch, 0)] * len(each.partitions)
        found[each.subtopology_id] = dict(zip(each.partitions, epochs))
    return found


def nowhere(member: StreamsMember) -> StreamsMember:
    """The member without what `standing_record` keeps."""
    return member.but(
        epoch=0, previous_epoch=0, state=MemberState.STABLE, assigned=NO_TASKS, revoking=NO_TASKS
    )


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """A member is gone."""
    return [
        _tombstone(StreamsGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)),
        _tombstone(StreamsGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)),
        _tombstone(StreamsGroupMemberMetadataKey(group_id=group_id, member_id=member_id)),
    ]


def group_tombstones(group_id: str, member_ids: Iterable[str]) -> list[CoordinatorRecord]:
    """The group is gone, with the members it still has."""
    records = [record for each in member_ids for record in member_tombstones(group_id, each)]
    return [
        *records,
        _tombstone(StreamsGroupTargetAssignmentMetadataKey(group_id=group_id)),
        _tombstone(StreamsGroupTopologyKey(group_id=group_id)),
        _tombstone(StreamsGroupMetadataKey(group_id=group_id)),
    ]


def _tombstone(key: Any) -> CoordinatorRecord:
    return CoordinatorRecord(key, None)
