"""From a decision's records to operations on znodes: what makes the decision true in ZooKeeper.

Everything is conditional: on the znode of /controller_epoch, so that a controller that was followed by
another one writes nothing more, and on the version of each znode that is set. A transaction that fails
changed nothing: whoever sent it reads again and decides again.

What ZooKeeper does not keep has no operation: brokers register by themselves, and who is fenced or shutting
down only the controller knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.controller.zookeeper import entity_writing, paths
from kbroker.controller.zookeeper.cluster_znodes import FeatureZnode, ProducerIdsZnode
from kbroker.controller.zookeeper.draft import Draft
from kbroker.controller.zookeeper.topic_znodes import Assignment, PartitionState
from kbroker.controller.zookeeper.tree import Check, ZkOp
from kbroker.metadata.delta import changed_partition
from kbroker.metadata.image import CONFIG_TOPIC, ClusterImage, PartitionImage, QuotaEntity, TopicImage
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree
    from kbroker.metadata.records import MetadataRecord

_METADATA_VERSION = "metadata.version"


class Claim(NamedTuple):
    """What makes a node the controller: its epoch, and the version of the znode that says so."""

    epoch: int
    epoch_version: int

    @property
    def check(self) -> Check:
        """Nobody followed it."""
        return Check(paths.CONTROLLER_EPOCH, self.epoch_version)


def operations(
    records: Sequence[MetadataRecord], image: ClusterImage, tree: Tree, claim: Claim
) -> list[ZkOp]:
    """What makes `records` true; nothing where ZooKeeper keeps nothing of them.

    Args:
        image: what is true before them.
        tree: the znodes as this controller last saw them; a partition epoch is the version of its znode.

    Raises:
        ZnodeError: a znode that would have to be changed makes no sense.
        ApiError: INVALID_REQUEST, a name that can be no part of a path (with a slash, or `..`).
        MetadataCorruption: the records do not fit the image.
    """
    ops = _Writer(records, image, tree, claim).write()
    return [claim.check, *ops] if ops else []


def assignment_operations(topics: Sequence[str], image: ClusterImage, tree: Tree, claim: Claim) -> list[ZkOp]:
    """Writes the znodes of topics as the image has them: the ids of topics from before 2.8."""
    draft = Draft(tree)
    for name in topics:
        topic = image.topics.get(name)
        if topic is not None:
            draft.put(paths.topic(name), assignment(topic))
    return [claim.check, *draft.ops] if draft.ops else []


def assignment(topic: TopicImage) -> bytes:
    partitions = dict(enumerate(topic.partitions))
    return Assignment(
        {index: partition.replicas for index, partition in partitions.items()},
        {index: partition.adding_replicas for index, partition in partitions.items()},
        {index: partition.removing_replicas for index, partition in partitions.items()},
        topic.id,
    ).encode()


class _Writer:
    """Collects from the records what they touch, then writes that as it is after all of them."""

    def __init__(
        self, records: Sequence[MetadataRecord], image: ClusterImage, tree: Tree, claim: Claim
    ) -> None:
        self.before = image
        self.after = image.apply(records)
        self.claim = claim
        self.draft = Draft(tree)
        self.new_topics: dict[Uuid, None] = {}
        self.assigned: dict[Uuid, None] = {}
        self.removed: dict[Uuid, None] = {}
        self.states: list[tuple[Uuid, int, PartitionImage]] = []
        self.configs: dict[tuple[int, str], None] = {}
        self.quotas: dict[QuotaEntity, None] = {}
        self.acls: dict[Uuid, Any] = {}
        self.tokens: dict[str, None] = {}
        self.producer_ids: list[Any] = []
        self.features = False
        self._latest: dict[tuple[Uuid, int], PartitionImage] = {}
        for record in records:
            collect = _COLLECT.get(record.NAME)
            if collect is not None:
                collect(self, record)

    def write(self) -> list[ZkOp]:
        draft = self.draft
        for topic_id in self.new_topics:
            self._new_topic(topic_id)
        for topic_id in self.assigned:
            topic = self.after.topics.by_id(topic_id)
            if topic is not None:
                draft.put(paths.topic(topic.name), assignment(topic))
        self._write_states()
        for topic_id in self.removed:
            old = self.before.topics.by_id(topic_id)
            if old is not None:
                self._remove_topic(old.name)
        for number, name in self.configs:
            if number != CONFIG_TOPIC or name in self.after.topics:
                entity_writing.write_configs(draft, self.after, number, name)
        for entity in self.quotas:
            entity_writing.write_quotas(draft, self.after, entity)
        entity_writing.write_acls(draft, self.after, self.acls)
        for token_id in self.tokens:
            entity_writing.write_token(draft, self.after, token_id)
        self._write_rest()
        return draft.ops

    # -- what the records touch ----------------------------------------------------------------------------

    def _topic(self, record: Any) -> None:
        self.new_topics[record.topic_id] = None

    def _partition(self, record: Any) -> None:
        partition = PartitionImage(
            tuple(record.replicas),
            tuple(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            leader_recovery_state=record.leader_recovery_state,
        )
        self._latest[record.topic_id, record.partition_id] = partition
        if partition.partition_epoch >= 0:  # else nobody has chosen a leader for it yet
            self.states.append((record.topic_id, record.partition_id, partition))
        if record.topic_id not in self.new_topics:
            self.assigned[record.topic_id] = None

    def _partition_change(self, record: Any) -> None:
        key = (record.topic_id, record.partition_id)
        old = self._latest.get(key)
        if old is None:
            topic = self.before.topics.by_id(record.topic_id)
            if topic is None:
                return
            old = topic.partitions[record.partition_id]
        partition = self._latest[key] = changed_partition(old, record)
        self.states.append((record.topic_id, record.partition_id, partition))
        moved = (record.replicas, record.adding_replicas, record.removing_replicas)
        if any(each is not None for each in moved) and record.topic_id not in self.new_topics:
            self.assigned[record.topic_id] = None

    def _remove(self, record: Any) -> None:
        self.removed[record.topic_id] = None

    def _config(self, record: Any) -> None:
        self.configs[record.resource_type, record.resource_name] = None

    def _quota(self, record: Any) -> None:
        parts = sorted((part.entity_type, part.entity_name) for part in record.entity)
        self.quotas[tuple(parts)] = None

    def _scram(self, record: Any) -> None:
        self.quotas[(("user", record.name),)] = None

    def _acl(self, record: Any) -> None:
        self.acls[record.id] = record

    def _remove_acl(self, record: Any) -> None:
        known = self.acls.get(record.id) or self.before.acls.get(record.id)
        if known is not None:
            self.acls[record.id] = known

    def _token(self, record: Any) -> None:
        self.tokens[record.token_id] = None

    def _producer_ids(self, record: Any) -> None:
        self.producer_ids.append(record)

    def _feature(self, record: Any) -> None:
        self.features |= record.name != _METADATA_VERSION

    # -- topics --------------------------------------------------------------------------------------------

    def _new_topic(self, topic_id: Uuid) -> None:
        topic = self.after.topics.by_id(topic_id)
        if topic is None:
            return
        self.configs.pop((CONFIG_TOPIC, topic.name), None)
        # Nobody knows the topic yet: its configs come without a notification.
        entity_writing.write_configs(self.draft, self.after, CONFIG_TOPIC, topic.name, notify=False)
        self.draft.put(paths.topic(topic.name), assignment(topic))

    def _write_states(self) -> None:
        """One operation for each change, so that the znode's version stays the partition's epoch."""
        living = [
            (topic.name, index, partition)
            for topic_id, index, partition in self.states
            if (topic := self.after.topics.by_id(topic_id)) is not None
        ]
        for name, index, partition in living:
            if partition.partition_epoch == 0:
                self.draft.folder(f"{paths.partitions(name)}/{index}")
        for name, index, partition in living:
            state = PartitionState(
                self.claim.epoch,
                partition.leader,
                partition.leader_epoch,
                partition.isr,
                partition.leader_recovery_state,
            )
            path, epoch = paths.state(name, index), partition.partition_epoch
            if epoch == 0:
                self.draft.create(path, state.encode())
            else:
                self.draft.set(path, state.encode(), epoch - 1)

    def _remove_topic(self, name: str) -> None:
        self.draft.delete_all(paths.topic(name))
        self.draft.delete(f"{paths.CONFIG}/topics/{name}")
        self.draft.delete(paths.topic_deletion(name))

    # -- the cluster ---------------------------------------------------------------------------------------

    def _write_rest(self) -> None:
        first = self.before.next_producer_id
        for record in self.producer_ids:
            block = ProducerIdsZnode(record.broker_id, first, record.next_producer_id - 1)
            self.draft.put(paths.PRODUCER_IDS, block.encode())
            first = record.next_producer_id
        if self.features:
            levels = {name: level for name, level in self.after.features.items() if name != _METADATA_VERSION}
            self.draft.put(paths.FEATURE, FeatureZnode(levels).encode())


_COLLECT: dict[str, Callable[[_Writer, Any], None]] = {
    "TopicRecord": _Writer._topic,
    "PartitionRecord": _Writer._partition,
    "PartitionChangeRecord": _Writer._partition_change,
    "RemoveTopicRecord": _Writer._remove,
    "ConfigRecord": _Writer._config,
    "ClientQuotaRecord": _Writer._quota,
    "UserScramCredentialRecord": _Writer._scram,
    "RemoveUserScramCredentialRecord": _Writer._scram,
    "AccessControlEntryRecord": _Writer._acl,
    "RemoveAccessControlEntryRecord": _Writer._remove_acl,
    "DelegationTokenRecord": _Writer._token,
    "RemoveDelegationTokenRecord": _Writer._token,
    "ProducerIdsRecord": _Writer._producer_ids,
    "FeatureLevelRecord": _Writer._feature,
}
