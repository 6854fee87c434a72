"""New partitions: their first leader, in-sync replicas and directories, and what a manual list may hold."""

from __future__ import annotations

from collections.abc import Sequence

from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import DIRECTORY_MIGRATING, DIRECTORY_UNASSIGNED, BrokerImage, ClusterImage
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.types import Uuid

#: `metadata.version` from which partitions know their replicas' directories (3.7-IV2).
DIRECTORY_LEVEL = 17


def default_directory(broker: BrokerImage | None) -> Uuid:
    """Where a new replica on `broker` goes: its only directory, or unassigned until the broker tells."""
    if broker is None or not broker.log_dirs:
        return DIRECTORY_MIGRATING
    return broker.log_dirs[0] if len(broker.log_dirs) == 1 else DIRECTORY_UNASSIGNED


def all_cordoned(broker: BrokerImage) -> bool:
    """Whether every log directory is closed for new replicas (KIP-1066)."""
    return bool(broker.cordoned_log_dirs) and set(broker.log_dirs) <= set(broker.cordoned_log_dirs or ())


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
    """A manual replica list as CreateTopics, CreatePartitions and reassignments accept it.

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
        if all_cordoned(image.brokers[replica]):
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes broker {replica}, but all its log directories are "
                "cordoned.",
            )
        if image.is_left_behind(replica):
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes broker {replica}, but that is still in "
                "ZooKeeper's mode, and the migration to KRaft is over.",
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
