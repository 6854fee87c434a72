"""The shards of one coordinator on this broker: which one keeps a key, and how they load.

The internal topic is led partition by partition; each one led here has a `ShardDriver`. They load one after
the other in the background, or at once when a request needs one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from kbroker.broker.shard_driver import ShardDriver
from kbroker.broker.shard_loader import ShardLoader
from kbroker.coordinator.partitioner import partition_for
from kbroker.coordinator.shard import Shard
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.replica_manager import Leadership
    from kbroker.broker.timer import Timer
    from kbroker.metadata.cache import MetadataCache
    from kbroker.types import TopicPartition

S = TypeVar("S", bound=Shard)

_partition_for = lru_cache(maxsize=8_192)(partition_for)


class ShardSet(Generic[S]):
    """All shards of a coordinator.

    Args:
        topic: the internal topic.
        make: a driver, with an empty shard, for a partition that this broker leads in that epoch.
    """

    def __init__(
        self,
        topic: str,
        metadata: MetadataCache,
        timer: Timer,
        make: Callable[[TopicPartition, int], ShardDriver[S]],
    ) -> None:
        self.shards: dict[int, ShardDriver[S]] = {}
        self._topic = topic
        self._metadata = metadata
        self._make = make
        self._epochs: dict[int, int] = {}
        self._loader = ShardLoader(timer)

    def find(self, key: str) -> ShardDriver[S]:
        """The shard of `key`, loaded.

        Raises:
            ApiError: NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        topic = self._metadata.image.topics.get(self._topic)
        if topic is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        driver = self.shards.get(_partition_for(key, len(topic.partitions)))
        if driver is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        return self._loaded(driver)

    def all(self) -> list[ShardDriver[S]]:
        """Every shard, all loaded; raises ApiError(COORDINATOR_LOAD_IN_PROGRESS) otherwise."""
        return [self._loaded(driver) for driver in list(self.shards.values())]

    @staticmethod
    def _loaded(driver: ShardDriver[S]) -> ShardDriver[S]:
        if not driver.ready and not driver.load_some():
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return driver

    def on_leadership(self, change: Leadership) -> None:
        """A partition came, went, or is led in another epoch (`ReplicaManager.on_leadership`)."""
        tp = change.topic_partition
        if tp.topic != self._topic or change.leader_epoch == self._epochs.get(tp.partition, -1):
            return
        gone = self.shards.pop(tp.partition, None)
        self._epochs.pop(tp.partition, None)
        if gone is not None:
            gone.close()
        if change.leader_epoch < 0:
            return
        driver = self._make(tp, change.leader_epoch)
        self.shards[tp.partition] = driver
        self._epochs[tp.partition] = change.leader_epoch
        self._loader.add(driver)

    def close(self) -> None:
        """The broker stops: nobody waits any more."""
        self._loader.close()
        for driver in self.shards.values():
            driver.close(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self.shards.clear()
