"""Leaders and in-sync replicas: new partitions, fencing, and leaders for those that have none.

Each function returns the records of one change of the cluster; none knows where records become true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import NO_LEADER, BrokerImage, ClusterImage, PartitionImage, TopicImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.types import ZERO_UUID, Uuid

#: Log directory ids with a meaning of their own (KIP-858).
DIRECTORY_UNASSIGNED = ZERO_UUID
DIRECTORY_MIGRATING = bytes(15) + b"\x02"

#: `metadata.version` from which partitions know their replicas' directories (3.7-IV2).
DIRECTORY_LEVEL = 17


def default_directory(broker: BrokerImage | None) -> Uuid:
    """Where a new replica on `broker` goes: its only directory, or unassigned until the broker tells."""
    if broker is None or not broker.log_dirs:
        return DIRECTORY_MIGRATING
    return broker.log_dirs[0] if len(broker.log_dirs) == 1 else DIRECTORY_UNASSIGNED


def new_partition(
    image: ClusterImage, topic_id: Uuid, index: int, replicas: Sequence[int]
) -> PartitionRecord | None:
    """The record of a new partition; None if none of its replicas is active.

    The live replicas are its first ISR, the first of them leads.
    """
    isr = [r for r in replicas if r in image.brokers and image.brokers[r].active]
    if not isr:
        return None
    directories = []
    if image.metadata_version >= DIRECTORY_LEVEL:
        directories = [default_directory(image.brokers.get(r)) for r in replicas]
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=directories,
    )


def check_assignment(image: ClusterImage, replicas: Sequence[int], expected_size: int | None) -> None:
    """A manual replica list as CreateTopics and CreatePartitions accept it.

    Raises:
        ApiError: INVALID_REPLICA_ASSIGNMENT.
    """
    if not replicas:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes an empty replica list.",
        )
    previous = None
    for replica in sorted(replicas):
        if replica not in image.brokers:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes broker {replica}, but no such broker is "
                "registered.",
            )
        if replica == previous:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes the broker {replica} more than once.",
            )
        previous = replica
    if expected_size is not None and len(replicas) != expected_size:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this "
            f"is not consistent with previous partitions, which have {expected_size} replica(s).",
        )


def choose_leader(partition: PartitionImage, isr: Sequence[int], may_lead: Callable[[int], bool]) -> int:
    """The first replica in preferred order that is in sync and may lead; -1 if there is none."""
    for replica in partition.replicas:
        if replica in isr and may_lead(replica):
            return replica
    return NO_LEADER


def _partitions(image: ClusterImage) -> Iterator[tuple[TopicImage, int, PartitionImage]]:
    for topic in image.topics:
        for index, partition in enumerate(topic.partitions):
            yield topic, index, partition


def broker_gone(image: ClusterImage, broker_id: int) -> list[PartitionChangeRecord]:
    """`broker_id` is fenced, restarts or leaves: it gives up its leaderships and leaves the ISRs.

    The last member of an ISR stays in it: only it surely has all committed records, so only its return makes
    the partition available again without loss.
    """

    def may_lead(replica: int) -> bool:
        return replica != broker_id and replica in image.brokers and image.brokers[replica].active

    records = []
    for topic, index, partition in _partitions(image):
        if broker_id not in partition.isr and partition.leader != broker_id:
            continue
        isr = [r for r in partition.isr if r != broker_id] or list(partition.isr)
        change = PartitionChangeRecord(partition_id=index, topic_id=topic.id)
        if tuple(isr) != partition.isr:
            change.isr = isr
        if partition.leader == broker_id or not may_lead(partition.leader):
            leader = choose_leader(partition, isr, may_lead)
            if leader != partition.leader:
                change.leader = leader
        if change.isr is not None or change.leader != -2:
            records.append(change)
    return records


def broker_back(image: ClusterImage, broker_id: int) -> list[PartitionChangeRecord]:
    """`broker_id` is active again: it leads what has no leader and where it is in sync.

    Where the ISR is empty (a folder written with eligible leader replicas, KIP-966) an eligible replica is as
    good as an in-sync one, and the last known leader has what there is: with a single copy there is no other.
    """
    records = []
    for topic, index, partition in _partitions(image):
        if partition.leader != NO_LEADER or broker_id not in partition.replicas:
            continue
        change = PartitionChangeRecord(partition_id=index, topic_id=topic.id, leader=broker_id)
        if broker_id not in partition.isr:
            only_copy = len(partition.replicas) == 1
            if partition.isr or not (broker_id in partition.elr or only_copy):
                continue
            change.isr = [broker_id]
        if partition.elr or partition.last_known_elr:
            change.eligible_leader_replicas = []
            change.last_known_elr = []
        records.append(change)
    return records
