"""The cluster as one immutable value: what is true up to one offset of the metadata log.

A `ClusterImage` never changes. `ClusterDelta` (delta.py) folds records into a successor that shares
everything the records did not touch, so that a handler may keep one image for a whole request while the
next one is published, and a change of one topic costs one topic (plus a shallow copy of the topic tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.plain import made, plain, replace
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.metadata.records import MetadataRecord

#: `leader` of a partition that has none.
NO_LEADER = -1

#: Log directory ids with a meaning of their own (KIP-858); no directory has one of the first hundred ids.
DIRECTORY_UNASSIGNED = ZERO_UUID
DIRECTORY_LOST: Uuid = bytes(15) + b"\x01"
DIRECTORY_MIGRATING: Uuid = bytes(15) + b"\x02"
RESERVED_DIRECTORIES = 100

#: `leader_recovery_state` of a partition: an unclean leader has to say when it has recovered.
RECOVERED, RECOVERING = 0, 1

#: `zk_migration_state`, as in the log: the way from ZooKeeper to KRaft (KIP-866).
NOT_MIGRATED, MIGRATING, BEFORE_MIGRATION, MIGRATED = range(4)

#: Topics that Kafka marks as internal in Metadata answers.
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})

#: Resource types of configs, as in ConfigRecord and the config APIs.
CONFIG_TOPIC = 2
CONFIG_BROKER = 4
CONFIG_CLIENT_METRICS = 16
CONFIG_GROUP = 32

_NO_CONFIGS: Mapping[str, str] = {}


class Endpoint(NamedTuple):
    """Where a node can be reached by one listener; `security_protocol` is Kafka's number (0 PLAINTEXT)."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class FeatureRange(NamedTuple):
    """The levels of a feature that a node supports, both ends included."""

    min_level: int
    max_level: int


class BrokerImage(NamedTuple):
    """A registered broker. `epoch` is the offset of its registration; a fenced broker leads nothing.

    `is_migrating_zk_broker`: its metadata still come from ZooKeeper, or from who controls that (KIP-866).
    """

    id: int
    epoch: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: Mapping[str, FeatureRange]
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    log_dirs: tuple[Uuid, ...] = ()
    cordoned_log_dirs: tuple[Uuid, ...] | None = None
    is_migrating_zk_broker: bool = False

    def endpoint(self, listener_name: str) -> Endpoint | None:
        """The endpoint of that listener, None if the broker has no such listener."""
        for endpoint in self.endpoints:
            if endpoint.name == listener_name:
                return endpoint
        return None

    @property
    def active(self) -> bool:
        """It may lead and be in an ISR: neither fenced nor on its way out."""
        return not self.fenced and not self.in_controlled_shutdown

    def has_online(self, directory: Uuid) -> bool:
        """Whether a replica in that log directory can serve; ids without a directory count as if (KIP-858).

        A broker that registered at a level without directories has told none: all of them count.
        """
        if directory in (DIRECTORY_UNASSIGNED, DIRECTORY_MIGRATING):
            return True
        return directory != DIRECTORY_LOST and (not self.log_dirs or directory in self.log_dirs)


class ControllerImage(NamedTuple):
    """A registered controller (KIP-919)."""

    id: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: Mapping[str, FeatureRange]
    zk_migration_ready: bool = False


class PartitionImage(NamedTuple):
    """One partition. `directories` are the log directory ids of `replicas`, in the same order (KIP-858);
    `elr` the eligible leader replicas (KIP-966); `leader` is -1 while nobody can lead."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[Uuid, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    leader_recovery_state: int = 0

    def directory_of(self, broker_id: int) -> Uuid | None:
        """The log directory that `broker_id` keeps the partition in, None if it is no replica."""
        for replica, directory in zip(self.replicas, self.directories):
            if replica == broker_id:
                return directory
        return None

    @property
    def reassigning(self) -> bool:
        """Whether its replicas are being changed (KIP-455)."""
        return bool(self.adding_replicas or self.removing_replicas)


class TopicImage(NamedTuple):
    """One topic; partition p is `partitions[p]` (they are dense from 0)."""

    name: str
    id: Uuid
    partitions: tuple[PartitionImage, ...]

    @property
    def is_internal(self) -> bool:
        """Whether Kafka calls it internal: the coordinators' own topics."""
        return self.name in INTERNAL_TOPICS


def collision_key(name: str) -> str:
    """Names with equal keys would share metric names, so that Kafka refuses the second one."""
    return name.replace(".", "_")


class TopicsImage:
    """All topics, by name and by id. Immutable: the dicts belong to this image alone or are shared
    unchanged.
    """

    __slots__ = ("_by_id", "_by_name", "_colliding")

    def __init__(
        self,
        by_name: dict[str, TopicImage] | None = None,
        by_id: dict[Uuid, TopicImage] | None = None,
        colliding: dict[str, str] | None = None,
    ) -> None:
        self._by_name: dict[str, TopicImage] = {} if by_name is None else by_name
        self._by_id: dict[Uuid, TopicImage] = {} if by_id is None else by_id
        # Only names with a '.' or '_' can collide; for the others there is no entry.
        self._colliding: dict[str, str] = {} if colliding is None else colliding

    def get(self, name: str) -> TopicImage | None:
        """The topic of that name."""
        return self._by_name.get(name)

    def by_id(self, topic_id: Uuid) -> TopicImage | None:
        """The topic of that id."""
        return self._by_id.get(topic_id)

    def partition(self, name: str, index: int) -> PartitionImage | None:
        """One partition, None if the topic or the partition does not exist."""
        topic = self._by_name.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return None
        return topic.partitions[index]

    def collides_with(self, name: str) -> str | None:
        """An existing topic whose name differs from `name` in `.` and `_` only."""
        if "." not in name and "_" not in name:
            return None
        other = self._colliding.get(collision_key(name))
        return None if other == name else other

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._by_name)

    def __iter__(self) -> Iterator[TopicImage]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TopicsImage) and self._by_id == other._by_id

    __hash__ = None  # type: ignore[assignment]

    def changed(self, removed: Sequence[TopicImage], written: Sequence[TopicImage]) -> TopicsImage:
        """A successor without `removed` and with `written` (new topics or new states of old ones)."""
        if not removed and not written:
            return self
        by_name, by_id, colliding = self._by_name.copy(), self._by_id.copy(), self._colliding
        copied = False
        for topic in removed:
            by_name.pop(topic.name, None)
            by_id.pop(topic.id, None)
            key = collision_key(topic.name)
            if colliding.get(key) == topic.name:
                if not copied:
                    colliding, copied = colliding.copy(), True
                del colliding[key]
        for topic in written:
            if topic.name not in by_name and ("." in topic.name or "_" in topic.name):
                if not copied:
                    colliding, copied = colliding.copy(), True
                colliding[collision_key(topic.name)] = topic.name
            by_name[topic.name] = topic
            by_id[topic.id] = topic
        return TopicsImage(by_name, by_id, colliding)


#: A quota entity: its (type, name) pairs sorted by type; the name is None for the default entity.
QuotaEntity = tuple[tuple[str, str | None], ...]


@plain(frozen=True)
class ClusterImage:
    """The whole cluster. `offset` is the last metadata offset included (-1: none), `epoch` its leader epoch.

    `controller_id` is the active controller as this node knows it (-1: nobody). ACLs, SCRAM credentials and
    delegation tokens are kept as their records: they are carried through snapshots, and read by `security/`.
    """

    cluster_id: str
    offset: int = -1
    epoch: int = -1
    controller_id: int = -1
    topics: TopicsImage = made(default_factory=TopicsImage)
    brokers: Mapping[int, BrokerImage] = made(default_factory=dict)
    controllers: Mapping[int, ControllerImage] = made(default_factory=dict)
    configs: Mapping[tuple[int, str], Mapping[str, str]] = made(default_factory=dict)
    features: Mapping[str, int] = made(default_factory=dict)
    kraft_version: int = 0
    next_producer_id: int = 0
    quotas: Mapping[QuotaEntity, Mapping[str, float]] = made(default_factory=dict)
    acls: Mapping[Uuid, Any] = made(default_factory=dict)
    scram: Mapping[tuple[str, int], Any] = made(default_factory=dict)
    tokens: Mapping[str, Any] = made(default_factory=dict)
    zk_migration_state: int = NOT_MIGRATED

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        """The configs set on a resource, empty if none. Broker "" is the cluster-wide default."""
        return self.configs.get((resource_type, name), _NO_CONFIGS)

    def topic_config(self, name: str) -> Mapping[str, str]:
        """The configs set on a topic."""
        return self.configs.get((CONFIG_TOPIC, name), _NO_CONFIGS)

    def live_brokers(self) -> list[BrokerImage]:
        """The brokers that clients may hear of, by id."""
        return [broker for _, broker in sorted(self.brokers.items()) if not broker.fenced]

    def is_left_behind(self, broker_id: int) -> bool:
        """Whether a broker is still in ZooKeeper's mode, though the way to KRaft has ended (KIP-866): nobody
        tells it anything any more."""
        broker = self.brokers.get(broker_id)
        return self.zk_migration_state == MIGRATED and broker is not None and broker.is_migrating_zk_broker

    def finalized_features(self) -> dict[str, int]:
        """Name to level as ApiVersions and kafka-features show them; level 0 means not finalized."""
        features = dict(self.features)
        if self.kraft_version > 0:
            features["kraft.version"] = self.kraft_version
        return features

    @property
    def metadata_version(self) -> int:
        """The finalized level of `metadata.version`, 0 before the first record."""
        return self.features.get("metadata.version", 0)

    def apply(self, records: Sequence[MetadataRecord]) -> ClusterImage:
        """The image after `records`, each taking one offset after this image's."""
        from kbroker.metadata.delta import ClusterDelta

        delta = ClusterDelta(self)
        for record in records:
            delta.replay(record)
        return delta.image(self.offset + len(records), self.epoch)

    def at(self, offset: int, epoch: int) -> ClusterImage:
        """The same cluster at a later offset (control records and no-ops move nothing else)."""
        return replace(self, offset=offset, epoch=epoch)
