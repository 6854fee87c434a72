"""While a cluster goes from ZooKeeper to KRaft (KIP-866): copying the one, and keeping it like the other.

`copied` makes the records of all that is in ZooKeeper. From then on the quorum's log decides, and `mirrored`
makes the operations that lead from what ZooKeeper has to what the log says: one change, or all of them where
a controller takes over and knows only the tree. Whoever still reads ZooKeeper finds it as its own controller
would have left it, so that there is a way back: the version of a state's znode stays the partition's epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from kbroker.controller.zookeeper import entity_writing, paths
from kbroker.controller.zookeeper.cluster_znodes import MigrationZnode, ProducerIdsZnode
from kbroker.controller.zookeeper.draft import Draft
from kbroker.controller.zookeeper.reading import Reading
from kbroker.controller.zookeeper.topic_znodes import PartitionState
from kbroker.controller.zookeeper.tree import SetData, ZkOp
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.controller.zookeeper.writing import Claim, assignment
from kbroker.errors import ApiError
from kbroker.metadata.difference import difference
from kbroker.metadata.image import (
    CONFIG_TOPIC,
    DIRECTORY_MIGRATING,
    NO_LEADER,
    ClusterImage,
    PartitionImage,
    QuotaEntity,
    TopicImage,
    TopicsImage,
)
from kbroker.plain import replace
from kbroker.security.acl import Acl

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree
    from kbroker.metadata.records import MetadataRecord
    from kbroker.types import Uuid

_BLOCK = 1000
#: What the quorum knows by itself: who is there, and which features are finalized.
_ITS_OWN = ("RegisterBrokerRecord", "FeatureLevelRecord")


def copied(found: Reading, brokers: Collection[int], metadata_version: int) -> list[MetadataRecord]:
    """The records of all that is to be copied, in an order in which they can be folded.

    Args:
        brokers: who lives: of these comes the first leader of a partition that has no state yet.
        metadata_version: of the quorum.
    """
    topics = {record.name for record in found.records if record.NAME == "TopicRecord"}  # type: ignore[attr-defined]
    records = []
    for record in found.records:
        if record.NAME not in _ITS_OWN and not _is_nobodys(record, topics):
            if record.NAME == "PartitionRecord":
                _complete(record, brokers, metadata_version)
            records.append(record)
    return records


def _is_nobodys(record: Any, topics: Collection[str]) -> bool:
    """Configs of a topic that is not there."""
    is_of_topic = record.NAME == "ConfigRecord" and record.resource_type == CONFIG_TOPIC
    return is_of_topic and record.resource_name not in topics


#: PartitionRecord names directories (3.7-IV2).
_DIRECTORY_LEVEL = 17


def _complete(record: Any, brokers: Collection[int], metadata_version: int) -> None:
    """What ZooKeeper does not say of a partition."""
    if record.partition_epoch < 0:
        live = [each for each in record.replicas if each in brokers]
        record.isr = live or list(record.replicas)
        record.leader = live[0] if live else NO_LEADER
        record.leader_epoch = record.partition_epoch = 0
    if metadata_version >= _DIRECTORY_LEVEL:
        record.directories = [DIRECTORY_MIGRATING] * len(record.replicas)


def comparable(image: ClusterImage) -> ClusterImage:
    """The image with as much as ZooKeeper keeps of partitions."""
    topics = [
        topic._replace(
            partitions=tuple(p._replace(directories=(), elr=(), last_known_elr=()) for p in topic.partitions)
        )
        for topic in image.topics
    ]
    return replace(image, topics=TopicsImage().changed([], topics))


def mirrored(
    before: ClusterImage,
    after: ClusterImage,
    tree: Tree,
    claim: Claim,
    progress: MigrationZnode,
    *,
    also: Collection[str] = (),
    problems: list[Exception] | None = None,
) -> list[ZkOp]:
    """Makes of a tree that comes to `before` one that comes to `after`, and notes how far that is.

    Args:
        before: as `comparable`, where it was read.
        also: topics whose assignment is written in any case: they had no id.
        problems: gets what cannot be in ZooKeeper, and is left out: a ZnodeError where a znode that would
            have to be changed makes no sense, an ApiError where a name can be no part of a path.
    """
    draft = Draft(tree)
    _Mirror(draft, before, after, claim, [] if problems is None else problems).write(also)
    return [claim.check, *draft.ops, SetData(paths.MIGRATION, progress.encode())]


class _Mirror:
    def __init__(
        self,
        draft: Draft,
        before: ClusterImage,
        after: ClusterImage,
        claim: Claim,
        problems: list[Exception],
    ) -> None:
        self._draft = draft
        self._before = before
        self._after = after
        self._claim = claim
        self._problems = problems
        self._delta = difference(before, after)

    def write(self, also: Collection[str]) -> None:
        draft, before, after = self._draft, self._before, self._after
        for gone in self._delta.deleted_topics.values():
            draft.delete_all(paths.topic(gone.name))
            draft.delete(f"{paths.CONFIG}/topics/{gone.name}")
            draft.delete(paths.topic_deletion(gone.name))
        born = set()
        for change in self._delta.topics.values():
            if change.new is not None:
                self._topic(change.old, change.new, change.partitions.keys(), change.new.name in also)
                if change.old is None:
                    born.add(change.new.name)
        for name in also:
            topic = after.topics.get(name)
            if topic is not None and topic.id not in self._delta.topics:
                draft.put(paths.topic(name), assignment(topic))
        for number, name in self._delta.configs:
            if number != CONFIG_TOPIC or (name in after.topics and name not in born):
                self._try(entity_writing.write_configs, number, name)
        for entity in self._entities():
            self._try(entity_writing.write_quotas, entity)
        for entries in self._acls():
            self._try(entity_writing.write_acls, entries)
        for token_id in _changed(before.tokens, after.tokens):
            self._try(entity_writing.write_token, token_id)
        if before.next_producer_id < after.next_producer_id:
            last = after.next_producer_id - 1
            draft.put(paths.PRODUCER_IDS, ProducerIdsZnode(-1, max(last + 1 - _BLOCK, 0), last).encode())

    def _try(self, write: Callable[..., None], *what: Any, **how: Any) -> None:
        try:
            write(self._draft, self._after, *what, **how)
        except (ZnodeError, ApiError) as error:
            self._problems.append(error)

    def _topic(
        self, old: TopicImage | None, new: TopicImage, changed: Collection[int], has_no_id: bool
    ) -> None:
        draft = self._draft
        if old is None:
            self._try(entity_writing.write_configs, CONFIG_TOPIC, new.name, notify=False)
        if old is None or has_no_id or _assigned(old) != _assigned(new):
            draft.put(paths.topic(new.name), assignment(new))
        for index in changed:
            self._state(new.name, index, new.partitions[index])

    def _state(self, topic: str, index: int, partition: PartitionImage) -> None:
        """One set for each change, so that the znode's version stays the partition's epoch."""
        path = paths.state(topic, index)
        data = PartitionState(
            self._claim.epoch,
            partition.leader,
            partition.leader_epoch,
            partition.isr,
            partition.leader_recovery_state,
        ).encode()
        node = self._draft.get(path)
        if node is None:
            self._draft.create(path, data)
            version = 0
        else:
            self._draft.set(path, data, node.version)
            version = node.version + 1
        for each in range(version, partition.partition_epoch):
            self._draft.set(path, data, each)

    def _entities(self) -> list[QuotaEntity]:
        """Whose quotas or SCRAM credentials are others."""
        entities = dict.fromkeys(_changed(self._before.quotas, self._after.quotas))
        for user, _ in _changed(self._before.scram, self._after.scram):
            entities[(("user", user),)] = None
        return list(entities)

    def _acls(self) -> list[dict[Uuid, Any]]:
        """Entries that came or went, by resource. In ZooKeeper an entry is what it says, not its id."""
        old = {Acl.of(each): each for each in self._changed_acls(self._before)}
        new = {Acl.of(each): each for each in self._changed_acls(self._after)}
        found: dict[tuple[Any, ...], dict[Uuid, Any]] = {}
        for acl, record in {**old, **new}.items():
            if acl not in old or acl not in new:
                resource = acl.resource_type, acl.name, acl.pattern
                found.setdefault(resource, {})[record.id] = record
        return list(found.values())

    def _changed_acls(self, image: ClusterImage) -> Iterator[Any]:
        return (image.acls[each] for each in self._delta.acls if each in image.acls)


def _assigned(topic: TopicImage) -> list[tuple[Any, ...]]:
    return [(p.replicas, p.adding_replicas, p.removing_replicas) for p in topic.partitions]


def _changed(old: Any, new: Any) -> list[Any]:
    """Keys that came, went or stand for something else."""
    return [key for key in {**old, **new} if old.get(key) != new.get(key)]


def forgotten_deletions(tree: Tree, claim: Claim) -> list[ZkOp]:
    """Topics that were to be deleted when the quorum took over live on, as with Kafka's: the marks go."""
    draft = Draft(tree)
    for name in tree.children(paths.DELETE_TOPICS):
        draft.delete(f"{paths.DELETE_TOPICS}/{name}")
    return [claim.check, *draft.ops] if draft.ops else []
