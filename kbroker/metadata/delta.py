"""Folding metadata records into the next image, and what changed between the two.

The same code runs for the leader's own records, for a follower's and on replay. A record that does not fit
the image (a change of an unknown partition) means a damaged log: `MetadataCorruption`, never a silent skip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.metadata.image import (
    CONFIG_TOPIC,
    BrokerImage,
    ClusterImage,
    ControllerImage,
    Endpoint,
    FeatureRange,
    PartitionImage,
    QuotaEntity,
    TopicImage,
)
from kbroker.plain import replace
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.metadata.records import MetadataRecord


class MetadataCorruption(Exception):
    """A metadata record that cannot follow the records before it."""


class TopicDelta(NamedTuple):
    """One topic that changed: `old` is None for a new one, `new` for a deleted one.

    `partitions` holds the new state of each partition that is new or changed.
    """

    old: TopicImage | None
    new: TopicImage | None
    partitions: Mapping[int, PartitionImage]


class _Topic:
    """A topic being changed."""

    __slots__ = ("changed", "id", "name", "old")

    def __init__(self, name: str, topic_id: Uuid, old: TopicImage | None) -> None:
        self.name = name
        self.id = topic_id
        self.old = old
        self.changed: dict[int, PartitionImage] = {}

    def get(self, index: int) -> PartitionImage | None:
        partition = self.changed.get(index)
        if partition is None and self.old is not None and 0 <= index < len(self.old.partitions):
            partition = self.old.partitions[index]
        return partition

    def image(self) -> TopicImage:
        partitions = list(self.old.partitions) if self.old is not None else []
        for index in sorted(self.changed):
            if index < len(partitions):
                partitions[index] = self.changed[index]
            elif index == len(partitions):
                partitions.append(self.changed[index])
            else:
                raise MetadataCorruption(f"topic {self.name!r} lacks partition {len(partitions)}")
        return TopicImage(self.name, self.id, tuple(partitions))


class ClusterDelta:
    """Records on top of a base image. After `image()`: what changed, for subscribers.

    Attributes:
        base: the image before.
        topics: the changed and new topics, by id (filled by `image()`).
        deleted_topics: the deleted ones, by id.
        configs: the (resource type, name) pairs whose configs changed, in order of their first change.
        brokers: ids of brokers that registered, changed or left.
        acls: ids of ACLs that came, changed or went.
        features_changed, acls_changed, scram_changed, tokens_changed, quotas_changed: as they say.
    """

    def __init__(self, base: ClusterImage) -> None:
        self.base = base
        self.topics: dict[Uuid, TopicDelta] = {}
        self.deleted_topics: dict[Uuid, TopicImage] = {}
        self.configs: dict[tuple[int, str], None] = {}
        self.brokers: dict[int, None] = {}
        self.controllers_changed = False
        self.features_changed = False
        self.quotas_changed = False
        self.acls_changed = False
        self.acls: dict[Uuid, None] = {}
        self.scram_changed = False
        self.tokens_changed = False
        self._topics: dict[Uuid, _Topic] = {}
        self._written: dict[str, Any] = {}

    def replay(self, record: MetadataRecord) -> None:
        """Fold one record in. Raises MetadataCorruption where it does not fit."""
        apply = _APPLY.get(record.NAME)
        if apply is None:
            raise MetadataCorruption(f"no such metadata record: {record.NAME}")
        apply(self, record)

    def image(self, offset: int, epoch: int) -> ClusterImage:
        """The successor of `base`, whose last record is at `offset`, written in `epoch`."""
        written = []
        for topic_id, topic in self._topics.items():
            new = topic.image()
            written.append(new)
            self.topics[topic_id] = TopicDelta(topic.old, new, topic.changed)
        for topic_id, old in self.deleted_topics.items():
            self.topics[topic_id] = TopicDelta(old, None, {})
        topics = self.base.topics.changed(list(self.deleted_topics.values()), written)
        return replace(self.base, offset=offset, epoch=epoch, topics=topics, **self._written)

    # -- copy on first write -------------------------------------------------------------------------------

    def _table(self, name: str) -> dict[Any, Any]:
        """This delta's own copy of one of the image's tables."""
        table: dict[Any, Any] | None = self._written.get(name)
        if table is None:
            table = self._written[name] = dict(getattr(self.base, name))
        return table

    def _topic(self, topic_id: Uuid, what: str) -> _Topic:
        topic = self._topics.get(topic_id)
        if topic is None:
            old = None if topic_id in self.deleted_topics else self.base.topics.by_id(topic_id)
            if old is None:
                raise MetadataCorruption(f"{what} of unknown topic id {topic_id.hex()}")
            topic = self._topics[topic_id] = _Topic(old.name, topic_id, old)
        return topic

    # -- topics --------------------------------------------------------------------------------------------

    def _topic_record(self, record: Any) -> None:
        topic_id = record.topic_id
        self._topics[topic_id] = _Topic(record.name, topic_id, None)

    def _remove_topic(self, record: Any) -> None:
        topic_id = record.topic_id
        topic = self._topics.pop(topic_id, None)
        old = topic.old if topic is not None else self.base.topics.by_id(topic_id)
        if topic is None and old is None:
            raise MetadataCorruption(f"removal of unknown topic id {topic_id.hex()}")
        name = topic.name if topic is not None else old.name if old is not None else ""
        if old is not None:
            self.deleted_topics[topic_id] = old
        # A topic's configs go with it; Kafka writes no ConfigRecord for that.
        if (CONFIG_TOPIC, name) in self._current("configs"):
            del self._table("configs")[(CONFIG_TOPIC, name)]
            self.configs[(CONFIG_TOPIC, name)] = None

    def _current(self, name: str) -> Mapping[Any, Any]:
        table: Mapping[Any, Any] | None = self._written.get(name)
        return getattr(self.base, name) if table is None else table

    def _partition(self, record: Any) -> None:
        topic = self._topic(record.topic_id, "partition")
        topic.changed[record.partition_id] = PartitionImage(
            tuple(record.replicas),
            tuple(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            tuple(record.directories),
            tuple(record.adding_replicas),
            tuple(record.removing_replicas),
            tuple(record.eligible_leader_replicas or ()),
            tuple(record.last_known_elr or ()),
            record.leader_recovery_state,
        )

    def _partition_change(self, record: Any) -> None:
        topic = self._topic(record.topic_id, "partition change")
        old = topic.get(record.partition_id)
        if old is None:
            raise MetadataCorruption(f"change of unknown partition {topic.name}-{record.partition_id}")
        topic.changed[record.partition_id] = changed_partition(old, record)

    def _clear_elr(self, record: Any) -> None:
        """KIP-966: the ELR of one topic, or of all when no name is given, is void (min.insync.replicas
        changed).
        """
        for topic in list(self.base.topics):
            if record.topic_name in ("", topic.name) and topic.id not in self.deleted_topics:
                self._clear_elr_of(self._topic(topic.id, "ELR"))
        for changed in list(self._topics.values()):
            if record.topic_name in ("", changed.name):
                self._clear_elr_of(changed)

    @staticmethod
    def _clear_elr_of(topic: _Topic) -> None:
        count = len(topic.old.partitions) if topic.old is not None else 0
        for index in sorted({*range(count), *topic.changed}):
            partition = topic.get(index)
            if partition is not None and (partition.elr or partition.last_known_elr):
                topic.changed[index] = partition._replace(elr=(), last_known_elr=())

    # -- nodes ---------------------------------------------------------------------------------------------

    def _register_broker(self, record: Any) -> None:
        cordoned = record.cordoned_log_dirs
        self._table("brokers")[record.broker_id] = BrokerImage(
            record.broker_id,
            record.broker_epoch,
            record.incarnation_id,
            _endpoints(record),
            _features(record),
            record.rack,
            record.fenced,
            record.in_controlled_shutdown,
            tuple(record.log_dirs),
            None if cordoned is None else tuple(cordoned),
            record.is_migrating_zk_broker,
        )
        self.brokers[record.broker_id] = None

    def _change_broker(self, broker_id: int, epoch: int, **changes: Any) -> None:
        broker: BrokerImage | None = self._current("brokers").get(broker_id)
        if broker is None or broker.epoch != epoch:
            raise MetadataCorruption(
                f"change of broker {broker_id} at epoch {epoch}, which is not registered"
            )
        self._table("brokers")[broker_id] = broker._replace(**changes)
        self.brokers[broker_id] = None

    def _broker_change(self, record: Any) -> None:
        changes: dict[str, Any] = {}
        if record.fenced:
            changes["fenced"] = record.fenced > 0
        if record.in_controlled_shutdown:
            changes["in_controlled_shutdown"] = True
        if record.log_dirs:
            changes["log_dirs"] = tuple(record.log_dirs)
        if record.cordoned_log_dirs is not None:
            changes["cordoned_log_dirs"] = tuple(record.cordoned_log_dirs)
        self._change_broker(record.broker_id, record.broker_epoch, **changes)

    def _unregister_broker(self, record: Any) -> None:
        if self._table("brokers").pop(record.broker_id, None) is None:
            raise MetadataCorruption(f"broker {record.broker_id} leaves, but is not registered")
        self.brokers[record.broker_id] = None

    def _register_controller(self, record: Any) -> None:
        self._table("controllers")[record.controller_id] = ControllerImage(
            record.controller_id,
            record.incarnation_id,
            _endpoints(record),
            _features(record),
            record.zk_migration_ready,
        )
        self.controllers_changed = True

    def _unregister_controller(self, record: Any) -> None:
        self._table("controllers").pop(record.controller_id, None)
        self.controllers_changed = True

    # -- the rest ------------------------------------------------------------------------------------------

    def _config(self, record: Any) -> None:
        key = (record.resource_type, record.resource_name)
        table = self._table("configs")
        values = dict(table.get(key, ()))
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if values:
            table[key] = values
        else:
            table.pop(key, None)
        self.configs[key] = None

    def _feature(self, record: Any) -> None:
        table = self._table("features")
        if record.feature_level == 0:
            table.pop(record.name, None)
        else:
            table[record.name] = record.feature_level
        self.features_changed = True

    def _producer_ids(self, record: Any) -> None:
        self._written["next_producer_id"] = record.next_producer_id

    def _quota(self, record: Any) -> None:
        entity: QuotaEntity = tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))
        table = self._table("quotas")
        values = dict(table.get(entity, ()))
        if record.remove:
            values.pop(record.key, None)
        else:
            values[record.key] = record.value
        if values:
            table[entity] = values
        else:
            table.pop(entity, None)
        self.quotas_changed = True

    def _acl(self, record: Any) -> None:
        self._table("acls")[record.id] = record
        self.acls[record.id] = None
        self.acls_changed = True

    def _remove_acl(self, record: Any) -> None:
        self._table("acls").pop(record.id, None)
        self.acls[record.id] = None
        self.acls_changed = True

    def _scram(self, record: Any) -> None:
        self._table("scram")[(record.name, record.mechanism)] = record
        self.scram_changed = True

    def _remove_scram(self, record: Any) -> None:
        self._table("scram").pop((record.name, record.mechanism), None)
        self.scram_changed = True

    def _token(self, record: Any) -> None:
        self._table("tokens")[record.token_id] = record
        self.tokens_changed = True

    def _remove_token(self, record: Any) -> None:
        self._table("tokens").pop(record.token_id, None)
        self.tokens_changed = True

    def _zk_migration(self, record: Any) -> None:
        self._written["zk_migration_state"] = record.zk_migration_state

    def _nothing(self, record: Any) -> None:
        """A no-op."""


def changed_partition(old: PartitionImage, record: Any) -> PartitionImage:
    """A partition after a PartitionChangeRecord."""
    led = record.leader != -2
    return PartitionImage(
        old.replicas if record.replicas is None else tuple(record.replicas),
        old.isr if record.isr is None else tuple(record.isr),
        record.leader if led else old.leader,
        # Also when the same leader is named again: every leadership gets its own epoch.
        old.leader_epoch + 1 if led else old.leader_epoch,
        old.partition_epoch + 1,
        old.directories if record.directories is None else tuple(record.directories),
        old.adding_replicas if record.adding_replicas is None else tuple(record.adding_replicas),
        old.removing_replicas if record.removing_replicas is None else tuple(record.removing_replicas),
        old.elr if record.eligible_leader_replicas is None else tuple(record.eligible_leader_replicas),
        old.last_known_elr if record.last_known_elr is None else tuple(record.last_known_elr),
        old.leader_recovery_state if record.leader_recovery_state == -1 else record.leader_recovery_state,
    )


def _endpoints(record: Any) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points)


def _features(record: Any) -> dict[str, FeatureRange]:
    return {f.name: FeatureRange(f.min_supported_version, f.max_supported_version) for f in record.features}


_APPLY: dict[str, Callable[[ClusterDelta, Any], None]] = {
    "RegisterBrokerRecord": ClusterDelta._register_broker,
    "UnregisterBrokerRecord": ClusterDelta._unregister_broker,
    "TopicRecord": ClusterDelta._topic_record,
    "PartitionRecord": ClusterDelta._partition,
    "ConfigRecord": ClusterDelta._config,
    "PartitionChangeRecord": ClusterDelta._partition_change,
    "FenceBrokerRecord": lambda self, r: self._change_broker(r.id, r.epoch, fenced=True),
    "UnfenceBrokerRecord": lambda self, r: self._change_broker(r.id, r.epoch, fenced=False),
    "RemoveTopicRecord": ClusterDelta._remove_topic,
    "DelegationTokenRecord": ClusterDelta._token,
    "UserScramCredentialRecord": ClusterDelta._scram,
    "FeatureLevelRecord": ClusterDelta._feature,
    "ClientQuotaRecord": ClusterDelta._quota,
    "ProducerIdsRecord": ClusterDelta._producer_ids,
    "BrokerRegistrationChangeRecord": ClusterDelta._broker_change,
    "AccessControlEntryRecord": ClusterDelta._acl,
    "RemoveAccessControlEntryRecord": ClusterDelta._remove_acl,
    "NoOpRecord": ClusterDelta._nothing,
    # Whoever folds a log holds the records of a transaction back until it ends; here it has ended.
    "BeginTransactionRecord": ClusterDelta._nothing,
    "EndTransactionRecord": ClusterDelta._nothing,
    "AbortTransactionRecord": ClusterDelta._nothing,
    "ZkMigrationStateRecord": ClusterDelta._zk_migration,
    "RemoveUserScramCredentialRecord": ClusterDelta._remove_scram,
    "RemoveDelegationTokenRecord": ClusterDelta._remove_token,
    "RegisterControllerRecord": ClusterDelta._register_controller,
    "ClearElrRecord": ClusterDelta._clear_elr,
    "UnregisterControllerRecord": ClusterDelta._unregister_controller,
}


def full_delta(image: ClusterImage) -> ClusterDelta:
    """The change from nothing to `image`: for the first publication and for late subscribers."""
    delta = ClusterDelta(ClusterImage(image.cluster_id))
    for topic in image.topics:
        delta.topics[topic.id] = TopicDelta(None, topic, dict(enumerate(topic.partitions)))
    delta.configs = dict.fromkeys(image.configs)
    delta.brokers = dict.fromkeys(image.brokers)
    delta.controllers_changed = bool(image.controllers)
    delta.features_changed = bool(image.features)
    delta.quotas_changed = bool(image.quotas)
    delta.acls = dict.fromkeys(image.acls)
    delta.acls_changed = bool(image.acls)
    delta.scram_changed = bool(image.scram)
    delta.tokens_changed = bool(image.tokens)
    return delta
