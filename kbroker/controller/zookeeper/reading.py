"""From znodes to the records that the rest of kbroker speaks: what a controller reads when it takes over.

What ZooKeeper does not keep is made up, from what it does keep, so that whoever reads the same makes the
same: ids of topics from before 2.8, of access control entries, of a broker's incarnation.
A znode that makes no sense is told in `problems` and left out; the others count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kbroker.controller.zookeeper import entities, paths
from kbroker.controller.zookeeper.cluster_znodes import FeatureZnode, ProducerIdsZnode
from kbroker.controller.zookeeper.entities import made_id
from kbroker.controller.zookeeper.node_znodes import BrokerZnode, ControllerZnode, decode_cluster_id
from kbroker.controller.zookeeper.topic_znodes import Assignment, PartitionState
from kbroker.controller.zookeeper.values import ZnodeError, number_of
from kbroker.metadata.image import NO_LEADER, ClusterImage
from kbroker.plain import made, plain
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.producer_ids_record import ProducerIdsRecord
from kbroker.protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree
    from kbroker.metadata.records import MetadataRecord

#: The `metadata.version` whose rules suit a cluster in ZooKeeper: partitions recover (KIP-704), a smaller ISR
#: that its leader proposes begins no new epoch, replicas have no directory ids, nobody is an ELR.
DECISION_LEVEL = 16
#: Epochs of a partition that has no state yet: its first state is the next one, 0.
_UNBORN = -1


@plain()
class Reading:
    """What the tree says.

    Attributes:
        controller: who is it, None: nobody.
        controller_epoch: with the version of its znode; (0, -1) where there is none.
        without_id: topics from before 2.8, which got an id here that is nowhere written.
        unborn: partitions that nobody has chosen a leader for: there is no state znode.
        deletions: topics that are to be deleted, in `records` nevertheless.
        problems: znodes left out.
    """

    cluster_id: str | None = None
    controller: ControllerZnode | None = None
    controller_epoch: tuple[int, int] = (0, -1)
    records: list[MetadataRecord] = made(default_factory=list)
    without_id: list[str] = made(default_factory=list)
    unborn: list[TopicPartition] = made(default_factory=list)
    deletions: list[str] = made(default_factory=list)
    problems: list[ZnodeError] = made(default_factory=list)

    def image(self) -> ClusterImage:
        """The cluster."""
        controller = NO_LEADER if self.controller is None else self.controller.broker_id
        return ClusterImage(self.cluster_id or "", controller_id=controller).apply(self.records)

    def take(self, read: Callable[..., Iterable[MetadataRecord]], *arguments: Any) -> None:
        """Add the records that `read` gives; one more problem, and none of them, if it raises ZnodeError."""
        try:
            self.records += list(read(*arguments))
        except ZnodeError as error:
            self.problems.append(error)


def read(tree: Tree, level: int = DECISION_LEVEL) -> Reading:
    """All of it. `level` is the `metadata.version` that the image is to have."""
    found = Reading()
    found.records.append(FeatureLevelRecord(name="metadata.version", feature_level=level))
    for read_part in (_read_id, _read_controller, _read_controller_epoch):
        found.take(read_part, tree, found)
    found.take(feature_records, tree)
    for name in tree.children(paths.BROKER_IDS):
        found.take(broker_records, tree, name)
    for name in tree.children(paths.TOPICS):
        found.take(topic_records, tree, name, found)
    found.deletions = tree.children(paths.DELETE_TOPICS)
    for resource_type, name in entities.config_resources(tree):
        found.take(entities.config_records, tree, resource_type, name)
    for entity in entities.quota_entities(tree):
        found.take(entities.quota_records, tree, entity)
    for user in entities.users(tree):
        found.take(entities.scram_records, tree, user)
    found.take(producer_id_records, tree)
    for folder, type_name, pattern in entities.acl_folders(tree):
        for name in tree.children(folder):
            found.take(entities.acl_records, tree, type_name, name, pattern)
    for token_id in tree.children(paths.TOKENS):
        found.take(entities.token_records, tree, token_id)
    return found


def _read_id(tree: Tree, found: Reading) -> Iterable[MetadataRecord]:
    data = tree.data(paths.CLUSTER_ID)
    if data is not None:
        found.cluster_id = decode_cluster_id(data)
    return ()


def _read_controller(tree: Tree, found: Reading) -> Iterable[MetadataRecord]:
    data = tree.data(paths.CONTROLLER)
    if data is not None:
        found.controller = ControllerZnode.decode(data)
    return ()


def _read_controller_epoch(tree: Tree, found: Reading) -> Iterable[MetadataRecord]:
    node = tree.get(paths.CONTROLLER_EPOCH)
    if node is not None:
        found.controller_epoch = number_of(paths.CONTROLLER_EPOCH, node.data), node.version
    return ()


def feature_records(tree: Tree) -> Iterable[MetadataRecord]:
    """Finalized levels, in a cluster that has any."""
    data = tree.data(paths.FEATURE)
    if not data:
        return
    feature = FeatureZnode.decode(data)
    for name, level in feature.levels.items() if feature.enabled else ():
        yield FeatureLevelRecord(name=name, feature_level=level)


def producer_id_records(tree: Tree) -> Iterable[MetadataRecord]:
    """The first producer id that is free."""
    block = ProducerIdsZnode.decode(tree.data(paths.PRODUCER_IDS))
    if block is not None and block.last >= 0:
        yield ProducerIdsRecord(broker_id=block.broker, broker_epoch=-1, next_producer_id=block.last + 1)


def broker_records(tree: Tree, name: str) -> Iterable[MetadataRecord]:
    """A broker that is there, so it is not fenced; its epoch is the znode's czxid.

    Raises:
        ZnodeError: it is none.
    """
    path = f"{paths.BROKER_IDS}/{name}"
    if not name.isascii() or not name.isdigit() or len(name) > 10:
        raise ZnodeError(path, "is no broker id")
    node = tree.get(path)
    if node is None:
        return
    broker = BrokerZnode.decode(path, node.data)
    yield RegisterBrokerRecord(
        broker_id=int(name),
        incarnation_id=made_id("broker", name, str(node.czxid)),
        broker_epoch=node.czxid,
        end_points=[
            BrokerEndpoint(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
            for e in broker.endpoints
        ],
        features=[
            BrokerFeature(name=feature, min_supported_version=low, max_supported_version=high)
            for feature, (low, high) in broker.features.items()
        ],
        rack=broker.rack,
        fenced=False,
    )


def topic_records(tree: Tree, name: str, found: Reading | None = None) -> Iterable[MetadataRecord]:
    """A topic with its partitions; what is peculiar to it is noted in `found`.

    Raises:
        ZnodeError: its assignment or a state makes no sense: a topic is read whole or not at all.
    """
    path = paths.topic(name)
    node = tree.get(path)
    if node is None:
        return []
    assignment = Assignment.decode(path, node.data)
    topic_id = assignment.topic_id or made_id("topic", name, str(node.czxid))
    records: list[MetadataRecord] = [TopicRecord(name=name, topic_id=topic_id)]
    unborn = []
    for index, replicas in sorted(assignment.replicas.items()):
        record = PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=list(replicas),
            adding_replicas=list(assignment.adding.get(index, ())),
            removing_replicas=list(assignment.removing.get(index, ())),
            leader=NO_LEADER,
            leader_epoch=_UNBORN,
            partition_epoch=_UNBORN,
        )
        if not _add_state(tree, name, record):
            unborn.append(TopicPartition(name, index))
        records.append(record)
    if found is not None:
        found.unborn += unborn
        if assignment.topic_id is None:
            found.without_id.append(name)
    return records


def _add_state(tree: Tree, topic: str, record: PartitionRecord) -> bool:
    """Whether the partition has a state."""
    path = paths.state(topic, record.partition_id)
    node = tree.get(path)
    if node is None:
        return False
    state = PartitionState.decode(path, node.data)
    record.leader = state.leader
    record.leader_epoch = state.leader_epoch
    record.isr = list(state.isr)
    record.leader_recovery_state = state.recovery_state
    record.partition_epoch = node.version
    return True
