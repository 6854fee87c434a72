"""Ties this broker's partitions to the other brokers': who is copied from, and who is in sync.

The replica manager tells which partitions follow whom; each leader has `num.replica.fetchers` fetchers here.
The check for laggards is the only thing that looks at all partitions, twice in `replica.lag.time.max.ms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from zlib import crc32

from kbroker.broker.alter_partition_sender import AlterPartitionSender
from kbroker.broker.peer import PeerAddress
from kbroker.broker.replica_fetcher import (
    DEFAULT_SETTINGS,
    FetcherHost,
    FetchSettings,
    Followed,
    ReplicaFetcher,
)

if TYPE_CHECKING:
    from kbroker.broker.alter_partition_sender import SendToController
    from kbroker.broker.partition import Partition
    from kbroker.broker.peer import Peers
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.storage.log import Log


class Replication:
    """The links of one broker; to be made before the first metadata is published.

    Args:
        replicas: its partitions.
        metadata: who is where.
        listener: the listener that brokers use among themselves.
        broker_epoch: of this broker's registration.
        lag_time_max_ms: `replica.lag.time.max.ms`.
        fetchers: `num.replica.fetchers`.
    """

    def __init__(
        self,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        peers: Peers,
        to_controller: SendToController,
        timer: Timer,
        *,
        listener: str,
        broker_epoch: Callable[[], int],
        lag_time_max_ms: float = 30_000,
        fetchers: int = 1,
        settings: FetchSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._replicas = replicas
        self._metadata = metadata
        self._timer = timer
        self._listener = listener
        self._fetchers_per_leader = fetchers
        self._fetchers: dict[tuple[int, int], ReplicaFetcher] = {}
        self._by_partition: dict[Partition, tuple[ReplicaFetcher, int]] = {}
        self._alarm: TimerHandle | None = None
        self._stopped = False
        #: Told of a log that was cut: (log, its new end).
        self.on_truncated: Callable[[Log, int], object] | None = None
        self.sender = AlterPartitionSender(
            replicas.broker_id, broker_epoch, metadata, to_controller, timer, lag_time_max_ms
        )
        self._host = FetcherHost(
            broker_id=replicas.broker_id,
            broker_epoch=broker_epoch,
            peers=peers,
            address_of=self._address_of,
            timer=timer,
            settings=settings,
            when_durable=self._when_durable,
            move=self._move,
            disk_failed=replicas.disk_failed,
            truncated=self._truncated,
            quota=lambda: replicas.follower_quota,
            keep_log_starts=replicas.logs.checkpoint_log_starts,
            cleaned=lambda log: replicas.cleaned_offset(log),
            monotonic_ms=replicas.clock.monotonic_ms,
        )
        replicas.link(self.sender, self)
        metadata.subscribe(self.on_metadata)
        self._tick()

    def _when_durable(self, log: Log, done: Callable[[], None]) -> None:
        """Also of what was there before: a log that was cut, or found at the start, asks nobody for a sync. A
        directory that fails takes the partition away.
        """
        syncs = self._replicas.syncs
        if not syncs.is_asked(log):
            syncs.ask(log)
        syncs.when_synced([log], lambda lost: None if lost and log.directory.offline else done())

    def stop(self) -> None:
        """Copy nothing and propose nothing any more."""
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()
        self.sender.close()
        for fetcher in self._fetchers.values():
            fetcher.close()

    # -- partitions --

    def follow(self, partition: Partition) -> None:
        """Copy the partition from its leader of now; from nobody while it has none."""
        current = self._by_partition.get(partition)
        if current is not None:
            fetcher, epoch = current
            if fetcher.leader_id == partition.leader_id and epoch == partition.leader_epoch:
                return
            self.unfollow(partition)
        if partition.leader_id < 0 or partition.log is None or self._stopped:
            return
        fetcher = self._fetcher_for(partition)
        self._by_partition[partition] = fetcher, partition.leader_epoch
        fetcher.add(partition)

    def unfollow(self, partition: Partition) -> None:
        """Do not copy it any more: it leads, is gone, or has no disk."""
        current = self._by_partition.pop(partition, None)
        if current is not None:
            current[0].remove(partition)

    def _fetcher_for(self, partition: Partition) -> ReplicaFetcher:
        index = crc32(str(partition.topic_partition).encode()) % self._fetchers_per_leader
        return self._fetcher(partition.leader_id, index)

    def _move(self, fetcher: ReplicaFetcher, followed: Followed) -> bool:
        """Let another fetcher ask for it, each having a second one for that; False if that waits, too."""
        count = self._fetchers_per_leader
        number = fetcher.number + count if fetcher.number < count else fetcher.number - count
        other = self._fetcher(fetcher.leader_id, number)
        if other.is_waiting:
            return False
        self._by_partition[followed.partition] = other, followed.leader_epoch
        other.take(fetcher.give(followed))
        return True

    def _fetcher(self, leader_id: int, index: int) -> ReplicaFetcher:
        key = leader_id, index
        fetcher = self._fetchers.get(key)
        if fetcher is None:
            fetcher = self._fetchers[key] = ReplicaFetcher(self._host, *key)
        return fetcher

    def lags(self) -> list[tuple[int, int, str, int, int]]:
        """(leader, number of the fetcher, topic, partition, committed records that are not here yet)."""
        return [
            (leader, number, *followed.partition.topic_partition, followed.lag)
            for (leader, number), fetcher in self._fetchers.items()
            for followed in fetcher.partitions.values()
        ]

    def requests(self) -> dict[tuple[int, int], int]:
        """By leader and number of the fetcher: requests so far, of those that have something to follow."""
        return {key: fetcher.sent for key, fetcher in self._fetchers.items() if fetcher.partitions}

    def resize(self, fetchers: int) -> None:
        """`num.replica.fetchers` has changed: deal the partitions out anew."""
        if fetchers == self._fetchers_per_leader:
            return
        self._fetchers_per_leader = fetchers
        followed = list(self._by_partition)
        for partition in followed:
            self.unfollow(partition)
        for fetcher in self._fetchers.values():
            fetcher.close()
        self._fetchers.clear()
        for partition in followed:
            self.follow(partition)

    def cleaned(self, log: Log) -> None:
        """A log was compacted further: its leader is to hear of it."""
        partition = self._replicas.partitions.get(log.topic_partition)
        current = self._by_partition.get(partition) if partition is not None else None
        if partition is not None and current is not None:
            current[0].refresh(partition)

    def _truncated(self, log: Log, end: int) -> None:
        if self.on_truncated is not None:
            self.on_truncated(log, end)

    # -- the cluster --

    def _address_of(self, broker_id: int) -> PeerAddress | None:
        broker = self._metadata.image.brokers.get(broker_id)
        endpoint = broker.endpoint(self._listener) if broker is not None else None
        if endpoint is None:
            return None
        return PeerAddress(broker_id, endpoint.host, endpoint.port, endpoint.security_protocol)

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Brokers that come or move are tried at once; of those that go, nothing is waited for."""
        if not delta.brokers:
            return
        for (leader, _), fetcher in self._fetchers.items():
            if leader in delta.brokers and fetcher.partitions:
                fetcher.hurry()
        for partition in self._replicas.led_partitions():
            partition.check_deletions()

    def _tick(self) -> None:
        for partition in list(self._replicas.led_partitions()):
            partition.check_in_sync()
        if not self._stopped:
            self._alarm = self._timer.call_later(self.sender.lag_time_max_ms / 2, self._tick)
