"""The records of a consumer group in `__consumer_offsets`, as Kafka 4.4 writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kbroker.coordinator.group.consumer_member import (
    NO_PARTITIONS,
    ClassicSide,
    ConsumerMember,
    Held,
    MemberState,
    Target,
)
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.protocol.generated.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from kbroker.protocol.generated.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kbroker.protocol.generated.consumer_group_member_metadata_key import ConsumerGroupMemberMetadataKey
from kbroker.protocol.generated.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from kbroker.protocol.generated.consumer_group_metadata_key import ConsumerGroupMetadataKey
from kbroker.protocol.generated.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kbroker.protocol.generated.consumer_group_partition_metadata_key import (
    ConsumerGroupPartitionMetadataKey,
)
from kbroker.protocol.generated.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
)
from kbroker.protocol.generated.consumer_group_regular_expression_key import ConsumerGroupRegularExpressionKey
from kbroker.protocol.generated.consumer_group_regular_expression_value import (
    ConsumerGroupRegularExpressionValue,
)
from kbroker.protocol.generated.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from kbroker.protocol.generated.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kbroker.protocol.generated.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from kbroker.protocol.generated.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kbroker.types import Uuid

#: Key type to the classes of key and value.
KINDS: dict[int, tuple[Any, Any]] = {
    3: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    4: (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    16: (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
}
_VERSION = 0


class ResolvedRegex(NamedTuple):
    """Which topics a pattern stood for, by which version of the metadata, and when that was found out."""

    topics: frozenset[str]
    version: int
    timestamp_ms: int


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The group's epoch, and what its topics looked like (KIP-1101)."""
    value = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return CoordinatorRecord(ConsumerGroupMetadataKey(group_id=group_id), value, _VERSION)


def member_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """What a member said of itself."""
    classic = None
    if member.classic is not None:
        classic = ClassicMemberMetadata(
            session_timeout_ms=member.classic.session_timeout_ms,
            supported_protocols=[
                ClassicProtocol(name=name, metadata=metadata) for name, metadata in member.classic.protocols
            ],
        )
    value = ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topics),
        subscribed_topic_regex=member.regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        classic_member_metadata=classic,
    )
    key = ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, value, _VERSION)


def described(value: ConsumerGroupMemberMetadataValue, member: ConsumerMember) -> ConsumerMember:
    """The member with what `member_record` keeps."""
    classic = value.classic_member_metadata
    return member.but(
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=tuple(sorted(set(value.subscribed_topic_names))),
        regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        assignor=value.server_assignor,
        classic=None if classic is None else _classic_side(classic),
    )


def _classic_side(classic: ClassicMemberMetadata) -> ClassicSide:
    protocols = tuple((each.name, each.metadata) for each in classic.supported_protocols)
    return ClassicSide(classic.session_timeout_ms, protocols)


def target_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
    """For which group epoch the target assignment was made, and when (KIP-1263)."""
    value = ConsumerGroupTargetAssignmentMetadataValue(
        assignment_epoch=epoch, assignment_timestamp=timestamp_ms
    )
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), value, _VERSION)


def target_record(group_id: str, member_id: str, target: Target) -> CoordinatorRecord:
    """What a member is to have."""
    value = ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[
            TopicPartition(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in target.items()
        ]
    )
    key = ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    return CoordinatorRecord(key, value, _VERSION)


def target_of(value: ConsumerGroupTargetAssignmentMemberValue) -> dict[Uuid, frozenset[int]]:
    """The inverse of `target_record`."""
    return {each.topic_id: frozenset(each.partitions) for each in value.topic_partitions}


def standing_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """Where a member stands, and what it holds."""
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_held(member.assigned),
        partitions_pending_revocation=_held(member.revoking),
    )
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, value, _VERSION)


def _held(held: Held) -> list[TopicPartitions]:
    found = []
    for topic_id, partitions in held.items():
        indexes = sorted(partitions)
        found.append(
            TopicPartitions(
                topic_id=topic_id,
                partitions=indexes,
                assignment_epochs=[partitions[index] for index in indexes],
            )
        )
    return found


def standing(value: ConsumerGroupCurrentMemberAssignmentValue, member: ConsumerMember) -> ConsumerMember:
    """The member with what `standing_record` keeps."""
    states = {each.value: each for each in MemberState}
    return member.but(
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=states.get(value.state, MemberState.UNKNOWN),
        assigned=_held_of(value.assigned_partitions, value.member_epoch),
        revoking=_held_of(value.partitions_pending_revocation, value.member_epoch),
    )


def nowhere(member: ConsumerMember) -> ConsumerMember:
    """The member without what `standing_record` keeps."""
    return member.but(
        epoch=0, previous_epoch=0, state=MemberState.STABLE, assigned=NO_PARTITIONS, revoking=NO_PARTITIONS
    )


def _held_of(recorded: Iterable[TopicPartitions], epoch: int) -> Held:
    """Before Kafka 4.3 nothing told when a partition was assigned: the member's own epoch counts."""
    found: dict[Uuid, dict[int, int]] = {}
    for each in recorded:
        epochs = each.assignment_epochs
        if not epochs or len(epochs) != len(each.partitions):
            epochs = [max(epoch, 0)] * len(each.partitions)
        found[each.topic_id] = dict(zip(each.partitions, epochs))
    return found or NO_PARTITIONS


def regex_record(
    group_id: str, regex: str, topics: Iterable[str], version: int, timestamp_ms: int
) -> CoordinatorRecord:
    """Which topics a pattern stands for; `version` is that of the cluster's metadata."""
    value = ConsumerGroupRegularExpressionValue(topics=list(topics), version=version, timestamp=timestamp_ms)
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    return CoordinatorRecord(key, value, _VERSION)


def resolved_regex(value: ConsumerGroupRegularExpressionValue) -> ResolvedRegex:
    """The inverse of `regex_record`."""
    return ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)


def regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    """Nobody subscribes to the pattern any more."""
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    return CoordinatorRecord(key, None)


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """A member is gone."""
    return [
        _tombstone(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)),
        _tombstone(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)),
        _tombstone(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id)),
    ]


def group_tombstones(
    group_id: str, members: Iterable[str] = (), regexes: Iterable[str] = ()
) -> list[CoordinatorRecord]:
    """The group is gone, with the members and patterns it still has. Key type 4 was written before 4.1."""
    ids = list(members)
    standings = [ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=each) for each in ids]
    targets = [ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=each) for each in ids]
    descriptions = [ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=each) for each in ids]
    return [
        *map(_tombstone, standings),
        *map(_tombstone, targets),
        _tombstone(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)),
        *map(_tombstone, descriptions),
        *(regex_tombstone(group_id, each) for each in regexes),
        _tombstone(ConsumerGroupPartitionMetadataKey(group_id=group_id)),
        _tombstone(ConsumerGroupMetadataKey(group_id=group_id)),
    ]


def _tombstone(key: Any) -> CoordinatorRecord:
    return CoordinatorRecord(key, None)
