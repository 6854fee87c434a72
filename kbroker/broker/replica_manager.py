"""All partitions of this broker: look-up, appends of coordinators, metadata changes, housekeeping.

Subscribed to the metadata cache: `apply_metadata` makes logs appear, change and go, before anybody is told that the
change happened. Coordinators subscribe to leadership here (`on_leadership`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.deferred import Deferred
from kbroker.broker.partition import Partition
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.metadata.image import ClusterImage
    from kbroker.storage.log import AppendOrigin, AppendResult
    from kbroker.storage.log_config import LogConfig
    from kbroker.storage.log_manager import LogManager


class Leadership(NamedTuple):
    """This broker began to lead a partition (epoch >= 0), or stopped (epoch -1: resigned, or the topic is gone)."""

    topic_partition: TopicPartition
    topic_id: Uuid
    leader_epoch: int
    deleted: bool = False


class ReplicaManager:
    """The partitions of this broker, by name.

    Args:
        broker_id: this node.
        logs: the logs on disk, loaded.
        clock: for append times.
        timer: for waits.
        log_config: topic name and its overrides -> the log's configuration.
    """

    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        clock: Clock,
        timer: Timer,
        log_config: Callable[[str, dict[str, str]], LogConfig],
    ) -> None:
        self.broker_id = broker_id
        self.logs = logs
        self.clock = clock
        self.timer = timer
        self.partitions: dict[tuple[str, int], Partition] = {}
        self.topic_names: dict[Uuid, str] = {}
        self._log_config = log_config
        self._leadership_listeners: list[Callable[[Leadership], None]] = []

    # -- look-up -----------------------------------------------------------------------------------------------

    def get(self, topic: str, partition: int) -> Partition | None:
        """The partition if this broker hosts a replica of it."""
        return self.partitions.get((topic, partition))

    def hosted(self, topic: str, partition: int) -> Partition:
        """The partition; UNKNOWN_TOPIC_OR_PARTITION if this broker hosts no replica of it."""
        found = self.partitions.get((topic, partition))
        if found is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return found

    def led_partitions(self) -> Iterator[Partition]:
        """Every partition that this broker leads now."""
        return (partition for partition in self.partitions.values() if partition.is_leader)

    # -- for coordinators --------------------------------------------------------------------------------------

    def append_internal(self, tp: TopicPartition, batch: bytes, *, origin: AppendOrigin) -> AppendResult:
        """Append a batch as leader and write it; readable at once, committed as `when_committed` tells.

        Raises:
            ApiError: this broker does not lead `tp`, or the batch is refused.
            StorageError: the disk failed.
        """
        partition = self.hosted(tp.topic, tp.partition)
        result = partition.append(batch, self.clock.now_ms(), origin, required_acks=-1)
        partition.flush()
        return result

    def when_committed(self, tp: TopicPartition, last_offset: int) -> Deferred[None]:
        """Done when the record at `last_offset` of `tp` is committed (high watermark above it).

        Fails with ApiError(NOT_LEADER_OR_FOLLOWER) when leadership is lost before. With one replica it is done
        when this returns.
        """
        return self.hosted(tp.topic, tp.partition).when_committed(last_offset)

    def read_internal(self, tp: TopicPartition, offset: int, max_bytes: int = 1 << 20) -> bytes:
        """Whole batches of `tp` from the one that holds `offset` on, empty at the log's end: to load a coordinator.

        The first batch comes whole even if it is larger than `max_bytes`.
        """
        log = self.hosted(tp.topic, tp.partition).online_log()
        found = log.read(max(offset, log.log_start_offset), max_bytes, log.log_end_offset, True)
        return b"".join(part.read() for part in found.parts)

    def on_leadership(self, listener: Callable[[Leadership], None]) -> None:
        """Call `listener` whenever this broker begins or stops to lead a partition, in order of subscription.

        It is called for partitions that are led already, too.
        """
        self._leadership_listeners.append(listener)
        for partition in list(self.led_partitions()):
            listener(Leadership(partition.topic_partition, partition.topic_id, partition.leader_epoch))

    # -- metadata ----------------------------------------------------------------------------------------------

    def apply_metadata(self, old: ClusterImage, new: ClusterImage, delta: object) -> None:
        """Make the logs what `new` says: create, reconfigure, lead, follow, delete."""
        raise NotImplementedError
