"""What a change of the metadata makes of this broker's partitions: they appear, lead, follow, change and go.

Law of this file: all of it is done before the requester of the change hears that it happened, and in one
order: what is deleted, what is created or has other replicas or another leader, then settings. A partition
whose log cannot be used is there without one, and neither leads nor follows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from kbroker.broker.in_sync_port import ALONE, InSyncPort
from kbroker.broker.partition import Partition
from kbroker.errors import ErrorCode
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_TOPIC, NO_LEADER, RECOVERING
from kbroker.replication.throttle import is_throttled
from kbroker.storage.disk import StorageError
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbroker.broker.replica_logs import ReplicaLogs
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.topic_settings import TopicSettings
    from kbroker.metadata.delta import ClusterDelta, TopicDelta
    from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage

_log = logging.getLogger(__name__)

#: Partitions that change in one turn of the loop.
_SLICE = 32


class Links(Protocol):
    """Who copies this broker's partitions from others (broker/replication.py)."""

    def follow(self, partition: Partition) -> None:
        """Copy it from the leader that it names, in the epoch that it names."""
        ...

    def unfollow(self, partition: Partition) -> None:
        """Do not copy it any more."""
        ...


class _NoLinks:
    def follow(self, partition: Partition) -> None:
        pass

    def unfollow(self, partition: Partition) -> None:
        pass


class ReplicaChanges:
    """Subscribed to the metadata cache.

    Args:
        replicas: where the partitions are kept.
        settings: (topic name, its overrides) -> what they come to together with the broker's defaults.
        logs: makes their logs.
        tell: (partition, epoch, whether it is deleted): this broker begins to lead it, or stops (-1).
    """

    def __init__(
        self,
        replicas: ReplicaManager,
        settings: Callable[[str, Mapping[str, str]], TopicSettings],
        logs: ReplicaLogs,
        tell: Callable[[Partition, int, bool], object],
    ) -> None:
        self._replicas = replicas
        self._settings = settings
        self._logs = logs
        self._tell = tell
        self._image: ClusterImage | None = None
        self.in_sync: InSyncPort = ALONE
        self.links: Links = _NoLinks()
        logs.complete = self._complete

    def apply_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Make the logs what `new` says: delete, create, reconfigure, lead, follow."""
        for _ in self._apply(new, delta):
            pass

    def apply_in_slices(
        self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta
    ) -> Iterator[None] | None:
        """As `apply_metadata`; what remains of a large change, to be done step by step.

        To make 1,000 logs takes a second on a busy machine, for which no other node would be answered.
        """
        work = self._apply(new, delta)
        if self._logs.is_first or sum(len(change.partitions) for change in delta.topics.values()) <= _SLICE:
            for _ in work:
                pass
            return None
        return work

    def _apply(self, new: ClusterImage, delta: ClusterDelta) -> Iterator[None]:
        self._image = new
        for change in delta.topics.values():
            if change.new is None and change.old is not None:
                self._delete_topic(change.old)
        for change in delta.topics.values():
            if change.new is not None:
                yield from self._change_topic(new, change.new, change)
        self._reconfigure(new, delta)
        self._logs.is_first = False
        self._logs.tell_news(logging.ERROR)

    def settings_of(self, image: ClusterImage, topic: str) -> TopicSettings:
        """What the configs of `topic` come to in `image`."""
        return self._settings(topic, image.configs.get((CONFIG_TOPIC, topic)) or {})

    def stop_replica(self, tp: TopicPartition) -> None:
        """Lead or copy a partition no more, and keep its log, until the metadata names it again."""
        partition = self._replicas.partitions.get((tp.topic, tp.partition))
        if partition is None or partition.log is None:
            return
        was_leader = partition.is_leader
        partition.follow(NO_LEADER, partition.leader_epoch)
        self.links.unfollow(partition)
        if was_leader:
            self._tell(partition, -1, False)

    def give_up(self, tp: TopicPartition) -> None:
        """Have no part of a partition any more; its log stays where it is, until the metadata names the same
        topic again, or another one of its name."""
        partition = self._replicas.partitions.get((tp.topic, tp.partition))
        if partition is not None:
            self._drop(partition, _stays)

    def set_aside(self, tp: TopicPartition) -> None:
        """Lead or copy a partition no more; its log is kept out of the way, as one that belongs to nobody."""
        partition = self._replicas.partitions.get((tp.topic, tp.partition))
        if partition is not None:
            self._drop(partition, self._replicas.logs.set_aside)
            return
        try:
            self._replicas.logs.set_aside(tp)
        except StorageError as error:
            _log.error("cannot set %s aside: %s", tp, error.text)

    def _change_topic(self, image: ClusterImage, topic: TopicImage, change: TopicDelta) -> Iterator[None]:
        settings = self.settings_of(image, topic.name)
        for count, (index, state) in enumerate(change.partitions.items(), 1):
            if count % _SLICE == 0:
                yield
            partition = self._replicas.partitions.get((topic.name, index))
            if self._replicas.broker_id not in state.replicas:
                if partition is not None:
                    self._drop(partition)
                continue
            if partition is not None and partition.topic_id != topic.id:
                self._drop(partition)
                partition = None
            if partition is None:
                assigned = state.directory_of(self._replicas.broker_id)
                partition = self._create(TopicPartition(topic.name, index), topic.id, settings, assigned)
            if partition.log is not None:
                self._take_state(partition, state, settings)

    def _create(
        self, tp: TopicPartition, topic_id: Uuid, settings: TopicSettings, assigned: Uuid | None
    ) -> Partition:
        replicas = self._replicas
        partition = Partition(
            tp,
            topic_id,
            self._logs.for_replica(tp, topic_id, settings.log, assigned),
            replicas.clock,
            replicas.fetches.check,
            replicas.syncs.ask,
            self.in_sync,
            replicas.topic_stats.host(tp.topic),
        )
        self._throttle(partition, settings)
        replicas.partitions[tp] = partition
        return partition

    def _complete(self, tp: TopicPartition) -> None:
        """Give a partition its log, and the state that the metadata tells of it."""
        partition, image = self._replicas.get(tp.topic, tp.partition), self._image
        if partition is None or partition.log is not None or image is None:
            return
        topic = image.topics.by_id(partition.topic_id)
        if topic is None or self._replicas.broker_id not in topic.partitions[tp.partition].replicas:
            return
        settings = self.settings_of(image, tp.topic)
        partition.log = self._logs.make(tp, topic.id, settings.log)
        if partition.log is None:
            return
        self._logs.note(tp, "the log is made now")
        self._throttle(partition, settings)
        self._take_state(partition, topic.partitions[tp.partition], settings)
        if self._replicas.on_log_made is not None:
            self._replicas.on_log_made(partition)

    def _throttle(self, partition: Partition, settings: TopicSettings) -> None:
        index = partition.topic_partition.partition
        partition.leader_throttled = bool(settings.leader_throttled) and is_throttled(
            settings.leader_throttled, index, self._replicas.broker_id
        )
        partition.follower_throttled = bool(settings.follower_throttled) and is_throttled(
            settings.follower_throttled, index, self._replicas.broker_id
        )

    def _take_state(self, partition: Partition, state: PartitionImage, settings: TopicSettings) -> None:
        leader, partition.adding = state.leader, state.adding_replicas
        if leader == self._replicas.broker_id and not partition.may_lead(state.leader_epoch):
            _log.error(
                "%s: not leading in epoch %d: the metadata is from before the start (the log's epoch is %d)",
                partition.topic_partition,
                state.leader_epoch,
                partition.online_log().latest_epoch,
            )
            leader = NO_LEADER
        if leader != self._replicas.broker_id:
            was_leader = partition.is_leader
            partition.follow(leader, state.leader_epoch)
            self.links.follow(partition)
            if was_leader:
                self._tell(partition, -1, False)
            return
        self.links.unfollow(partition)
        new_term = not partition.is_leader or partition.leader_epoch != state.leader_epoch
        partition.lead(
            self._replicas.broker_id,
            state.leader_epoch,
            state.partition_epoch,
            state.replicas,
            state.isr,
            settings.min_insync_replicas,
            state.leader_recovery_state == RECOVERING,
        )
        if new_term:
            self._tell(partition, state.leader_epoch, False)

    def _delete_topic(self, topic: TopicImage) -> None:
        for index in range(len(topic.partitions)):
            partition = self._replicas.partitions.get((topic.name, index))
            if partition is not None and partition.topic_id == topic.id:
                self._drop(partition)

    def _drop(self, partition: Partition, end: Callable[[TopicPartition], object] | None = None) -> None:
        tp = partition.topic_partition
        del self._replicas.partitions[tp]
        self._replicas.topic_stats.drop(tp.topic)
        had_log = partition.log is not None
        self.links.unfollow(partition)
        partition.close(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if had_log:
            try:
                (end or self._replicas.logs.delete)(tp)
            except StorageError as error:
                _log.error("cannot move %s away: %s", tp, error.text)
        self._tell(partition, -1, True)

    def _reconfigure(self, image: ClusterImage, delta: ClusterDelta) -> None:
        if any(kind == CONFIG_BROKER for kind, _ in delta.configs):
            changed = [topic.name for topic in image.topics]
        else:
            changed = [name for kind, name in delta.configs if kind == CONFIG_TOPIC]
        for name in changed:
            topic = image.topics.get(name)
            if topic is None:
                continue
            settings = self.settings_of(image, name)
            for index in range(len(topic.partitions)):
                partition = self._replicas.partitions.get((name, index))
                if partition is not None and partition.log is not None:
                    partition.configure(settings.log, settings.min_insync_replicas)
                    self._throttle(partition, settings)


def _stays(tp: TopicPartition) -> None:
    """Nothing becomes of the log."""
