"""Which log directory a replica lies in (KIP-858): what a broker tells, as records.

A cluster that knows it can tell a replica whose directory is gone from one that was never made.
"""

from __future__ import annotations

from collections.abc import Mapping

from kbroker.controller.brokers import registered
from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import PartitionRef, elect_anew
from kbroker.controller.partition_change import Wanted, change_partition
from kbroker.controller.partitions import DIRECTORY_LEVEL
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.types import Uuid

_DEFAULT_RULES = ElectionRules()


def assign_replicas(
    image: ClusterImage,
    broker_id: int,
    broker_epoch: int,
    directories: Mapping[tuple[Uuid, int], Uuid],
    rules: ElectionRules = _DEFAULT_RULES,
) -> Decision[dict[tuple[Uuid, int], ErrorCode]]:
    """AssignReplicasToDirs: `broker_id` keeps these partitions, by topic id and index, in these directories.

    One that lies in a directory which is not online leaves its ISR at once. The answer has a code for each.

    Raises:
        ApiError: STALE_BROKER_EPOCH, or UNSUPPORTED_VERSION at an old level.
    """
    if image.metadata_version < DIRECTORY_LEVEL:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, "Directory assignment is not supported yet.")
    broker = registered(image, broker_id, broker_epoch)
    codes: dict[tuple[Uuid, int], ErrorCode] = {}
    records: list[PartitionChangeRecord] = []
    offline: list[tuple[Uuid, int]] = []
    for (topic_id, index), directory in directories.items():
        code, record = _assign(image, broker_id, topic_id, index, directory, rules)
        codes[topic_id, index] = code
        if record is not None:
            records.append(record)
        if code is ErrorCode.NONE and not broker.has_online(directory):
            offline.append((topic_id, index))
    if offline:
        after = image.apply(records)
        lost = [
            PartitionRef(topic, index)
            for topic_id, index in offline
            if (topic := after.topics.by_id(topic_id)) is not None
        ]
        records += elect_anew(after, rules, lost, gone=broker_id)
    return Decision(codes, records, atomic=False)


def _assign(
    image: ClusterImage, broker_id: int, topic_id: Uuid, index: int, directory: Uuid, rules: ElectionRules
) -> tuple[ErrorCode, PartitionChangeRecord | None]:
    topic = image.topics.by_id(topic_id)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID, None
    if not 0 <= index < len(topic.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
    partition = topic.partitions[index]
    if broker_id not in partition.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER, None
    if partition.directory_of(broker_id) == directory:
        return ErrorCode.NONE, None
    wanted = Wanted(directories={broker_id: directory})
    # Where a replica lies says nothing of who leads: the draft keeps the leader as long as it may lead.
    return ErrorCode.NONE, change_partition(image, rules, topic, index, wanted)
