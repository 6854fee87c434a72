"""Which log directory a replica lies in (KIP-858): what a broker tells, as records.

A cluster that knows it can tell a replica whose directory is gone from one that was never made.
"""

from __future__ import annotations

from collections.abc import Mapping

from kbroker.controller.decision import Decision
from kbroker.controller.partitions import DIRECTORY_LEVEL, DIRECTORY_UNASSIGNED
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.types import Uuid


def assign_directories(
    image: ClusterImage, broker_id: int, directories: Mapping[tuple[Uuid, int], Uuid]
) -> Decision[None]:
    """`broker_id` keeps these partitions, by topic id and index, in these directories."""
    if image.metadata_version < DIRECTORY_LEVEL:
        return Decision(None)
    records = []
    for (topic_id, index), directory in directories.items():
        topic = image.topics.by_id(topic_id)
        if topic is None or index >= len(topic.partitions):
            continue
        partition = topic.partitions[index]
        if broker_id not in partition.replicas or partition.directory_of(broker_id) == directory:
            continue
        known = dict(zip(partition.replicas, partition.directories))
        known[broker_id] = directory
        records.append(
            PartitionChangeRecord(
                partition_id=index,
                topic_id=topic_id,
                directories=[known.get(replica, DIRECTORY_UNASSIGNED) for replica in partition.replicas],
            )
        )
    return Decision(None, records, atomic=False)
