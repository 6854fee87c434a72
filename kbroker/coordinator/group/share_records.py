"""The records of a share group in `__consumer_offsets`, as Kafka 4.4 writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.protocol.generated.share_group_current_member_assignment_key import (
    ShareGroupCurrentMemberAssignmentKey,
)
from kbroker.protocol.generated.share_group_current_member_assignment_value import (
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kbroker.protocol.generated.share_group_member_metadata_key import ShareGroupMemberMetadataKey
from kbroker.protocol.generated.share_group_member_metadata_value import ShareGroupMemberMetadataValue
from kbroker.protocol.generated.share_group_metadata_key import ShareGroupMetadataKey
from kbroker.protocol.generated.share_group_metadata_value import ShareGroupMetadataValue
from kbroker.protocol.generated.share_group_state_partition_metadata_key import (
    ShareGroupStatePartitionMetadataKey,
)
from kbroker.protocol.generated.share_group_state_partition_metadata_value import (
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)
from kbroker.protocol.generated.share_group_target_assignment_member_key import (
    ShareGroupTargetAssignmentMemberKey,
)
from kbroker.protocol.generated.share_group_target_assignment_member_value import (
    ShareGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kbroker.protocol.generated.share_group_target_assignment_metadata_key import (
    ShareGroupTargetAssignmentMetadataKey,
)
from kbroker.protocol.generated.share_group_target_assignment_metadata_value import (
    ShareGroupTargetAssignmentMetadataValue,
)
from kbroker.types import Uuid

#: Key type to the classes of key and value.
KINDS: dict[int, tuple[Any, Any]] = {
    10: (ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue),
    11: (ShareGroupMetadataKey, ShareGroupMetadataValue),
    12: (ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue),
    13: (ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue),
    14: (ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue),
    15: (ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue),
}

#: Partitions by topic.
Places: TypeAlias = "dict[Uuid, frozenset[int]]"


class ShareMember(NamedTuple):
    """A member: what it says of itself, and where it stands."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Mapping[Uuid, frozenset[int]] = {}

    def description(self) -> tuple[Any, ...]:
        """What ShareGroupMemberMetadataValue keeps."""
        return self.rack_id, self.client_id, self.client_host, self.topics


class StateTopics(NamedTuple):
    """For which partitions the share coordinator keeps state of the group, by topic id with its name."""

    initializing: Mapping[Uuid, tuple[str, frozenset[int]]] = {}
    initialized: Mapping[Uuid, tuple[str, frozenset[int]]] = {}
    deleting: Mapping[Uuid, str] = {}


def member_record(group_id: str, member: ShareMember) -> CoordinatorRecord:
    """What a member says of itself."""
    value = ShareGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topics),
    )
    return CoordinatorRecord(
        ShareGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value
    )


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The group, in a new epoch."""
    value = ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return CoordinatorRecord(ShareGroupMetadataKey(group_id=group_id), value)


def target_record(group_id: str, member_id: str, target: Places) -> CoordinatorRecord:
    """What a member is to have."""
    parts = [TopicPartition(topic_id=each, partitions=sorted(found)) for each, found in target.items()]
    return CoordinatorRecord(
        ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ShareGroupTargetAssignmentMemberValue(topic_partitions=parts),
    )


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> CoordinatorRecord:
    """The epoch of the target assignment, and when it was made (0: the group is empty)."""
    value = ShareGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=now_ms)
    return CoordinatorRecord(ShareGroupTargetAssignmentMetadataKey(group_id=group_id), value)


def standing_record(group_id: str, member: ShareMember) -> CoordinatorRecord:
    """Where a member stands."""
    value = ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=0,
        assigned_partitions=[
            TopicPartitions(topic_id=each, partitions=sorted(found))
            for each, found in member.assigned.items()
        ],
    )
    return CoordinatorRecord(
        ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id), value
    )


def state_record(group_id: str, state: StateTopics) -> CoordinatorRecord:
    """For which partitions there is state."""

    def infos(topics: Mapping[Uuid, tuple[str, frozenset[int]]]) -> list[TopicPartitionsInfo]:
        return [
            TopicPartitionsInfo(topic_id=each, topic_name=name, partitions=sorted(found))
            for each, (name, found) in topics.items()
        ]

    value = ShareGroupStatePartitionMetadataValue(
        initializing_topics=infos(state.initializing),
        initialized_topics=infos(state.initialized),
        deleting_topics=[TopicInfo(topic_id=each, topic_name=name) for each, name in state.deleting.items()],
    )
    return CoordinatorRecord(ShareGroupStatePartitionMetadataKey(group_id=group_id), value)


def state_of(value: ShareGroupStatePartitionMetadataValue) -> StateTopics:
    """What `state_record` wrote."""

    def topics(infos: Iterable[Any]) -> dict[Uuid, tuple[str, frozenset[int]]]:
        return {each.topic_id: (each.topic_name, frozenset(each.partitions)) for each in infos}

    return StateTopics(
        topics(value.initializing_topics),
        topics(value.initialized_topics),
        {each.topic_id: each.topic_name for each in value.deleting_topics},
    )


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """A member is gone."""
    return [
        CoordinatorRecord(ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None),
        CoordinatorRecord(ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None),
        CoordinatorRecord(ShareGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None),
    ]


def group_tombstones(group_id: str) -> list[CoordinatorRecord]:
    """An empty group is gone."""
    return [
        CoordinatorRecord(ShareGroupTargetAssignmentMetadataKey(group_id=group_id), None),
        CoordinatorRecord(ShareGroupStatePartitionMetadataKey(group_id=group_id), None),
        CoordinatorRecord(ShareGroupMetadataKey(group_id=group_id), None),
    ]
