"""What is written besides decisions: the first znodes, registrations, the claim to be the controller,
notifications; and what ZooKeeper's brokers need of a decision that KRaft's do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import FeatureZnode
from kbroker.controller.zookeeper.draft import Draft
from kbroker.controller.zookeeper.node_znodes import BrokerZnode, ControllerZnode, encode_log_dir_event
from kbroker.controller.zookeeper.tree import Create, SetData, ZkOp
from kbroker.controller.zookeeper.writing import Claim
from kbroker.metadata.delta import changed_partition
from kbroker.metadata.image import NO_LEADER, ClusterImage, PartitionImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree
    from kbroker.metadata.records import MetadataRecord

_LEADER_UNCHANGED = -2


def missing_roots(tree: Tree, roots: Sequence[str] = paths.ROOTS) -> list[ZkOp]:
    """Folders that are not there yet. One by one, each alone: another broker may make them meanwhile."""
    draft = Draft(tree)
    for path in roots:
        draft.folder(path)
    return draft.ops


def registration(broker_id: int, broker: BrokerZnode) -> list[ZkOp]:
    """A broker says that it is there, as long as its session lasts; the znode's czxid is its epoch."""
    path = paths.broker(broker_id)
    return [Create(path, ephemeral=True), SetData(path, broker.encode(), 0)]


def first_epoch() -> ZkOp:
    """Before anybody ever was the controller; whoever comes second finds it there."""
    return Create(paths.CONTROLLER_EPOCH, b"0")


def claim(broker_id: int, now_ms: int, epoch: int, epoch_version: int) -> tuple[Claim, list[ZkOp]]:
    """The transaction that makes a broker the controller, after one of `epoch`, and what it then claims.

    It fails where there is a controller (node exists), and where another one came and went since the epoch
    was read (bad version).
    """
    controller = ControllerZnode(broker_id, now_ms).encode()
    ops: list[ZkOp] = [
        Create(paths.CONTROLLER, controller, ephemeral=True),
        SetData(paths.CONTROLLER_EPOCH, str(epoch + 1).encode(), epoch_version),
    ]
    return Claim(epoch + 1, epoch_version + 1), ops


def feature_znode(tree: Tree, claimed: Claim) -> list[ZkOp]:
    """What a new controller makes of /feature: it is there, and enabled from 2.7 on. Raises ZnodeError."""
    data = tree.data(paths.FEATURE)
    known = FeatureZnode.decode(data) if data else None
    if known is not None and known.enabled:
        return []
    draft = Draft(tree)
    levels = {} if known is None else known.levels
    draft.put(paths.FEATURE, FeatureZnode(levels).encode())
    return [claimed.check, *draft.ops]


def log_dir_failed(broker_id: int) -> ZkOp:
    """A broker tells the controller to ask which of its replicas are gone."""
    return Create(paths.LOG_DIR_EVENT, encode_log_dir_event(broker_id), sequence=True)


def births(
    image: ClusterImage,
    unborn: Sequence[TopicPartition],
    formers: Mapping[tuple[Uuid, int], PartitionImage] | None = None,
) -> list[MetadataRecord]:
    """First leaders and ISRs of partitions that somebody gave replicas and nobody a state.

    Those without a live replica have to wait for one.

    Args:
        formers: what is known of the states that some of them had: who was in sync there may lead.
    """
    records: list[MetadataRecord] = []
    for name, index in unborn:
        topic = image.topics.get(name)
        if topic is None:
            continue
        brokers = image.brokers
        replicas = topic.partitions[index].replicas
        former = (formers or {}).get((topic.id, index))
        able = replicas if former is None else [each for each in former.isr if each in replicas]
        isr = [each for each in able if each in brokers and brokers[each].active]
        if isr:
            records.append(
                PartitionChangeRecord(partition_id=index, topic_id=topic.id, isr=isr, leader=isr[0])
            )
    return records


def with_leader_epochs(
    records: Sequence[MetadataRecord],
    image: ClusterImage,
    by_leader: bool = False,
    *,
    each_of: Callable[[PartitionImage], bool] | None = None,
) -> list[MetadataRecord]:
    """The records, with a new leader epoch for each change that brokers must hear of.

    A broker of the ZooKeeper era obeys LeaderAndIsr only with a higher leader epoch than it knows; in KRaft
    it reads the log. An ISR that the leader itself proposed (`by_leader`) it learns from the answer.

    Args:
        each_of: of whose changes the leader must hear whatever they are: as long as it does not know of one
            its proposals are refused.
    """
    latest: dict[tuple[Uuid, int], PartitionImage] = {}
    changed: list[MetadataRecord] = []
    for record in records:
        if record.NAME == "PartitionChangeRecord":
            record = _with_leader_epoch(record, image, latest, by_leader, each_of)
        changed.append(record)
    return changed


def _with_leader_epoch(
    record: Any,
    image: ClusterImage,
    latest: dict[tuple[Uuid, int], PartitionImage],
    by_leader: bool,
    each_of: Callable[[PartitionImage], bool] | None,
) -> Any:
    key = (record.topic_id, record.partition_id)
    old = latest.get(key)
    if old is None:
        topic = image.topics.by_id(record.topic_id)
        if topic is None or record.partition_id >= len(topic.partitions):
            return record
        old = topic.partitions[record.partition_id]
    moved = (record.replicas, record.adding_replicas, record.removing_replicas)
    news = any(each is not None for each in moved) or (record.isr is not None and not by_leader)
    news = news or (each_of is not None and not by_leader and each_of(old))
    if news and record.leader == _LEADER_UNCHANGED and old.leader != NO_LEADER:
        record = copy(record)
        record.leader = old.leader
    latest[key] = changed_partition(old, record)
    return record
