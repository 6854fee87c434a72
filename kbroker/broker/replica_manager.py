"""All partitions of this broker: look-up, appends of coordinators, disks that fail.

Law of this file: `partitions` is what this broker hosts by the metadata, whether its log can be used or not.
What the metadata changes in it is `replica_changes.py`. Coordinators subscribe to leadership here
(`on_leadership`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.deferred import Deferred
from kbroker.broker.group_sync import GroupSync, SyncFiles
from kbroker.broker.replica_changes import Links, ReplicaChanges
from kbroker.broker.replica_logs import ReplicaLogs
from kbroker.errors import ApiError, ErrorCode
from kbroker.metrics.topics import TopicBook
from kbroker.replication.purgatory import Purgatory
from kbroker.storage.disk import StorageError
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.in_sync_port import InSyncPort
    from kbroker.broker.partition import Partition
    from kbroker.broker.timer import Timer
    from kbroker.broker.topic_settings import TopicSettings
    from kbroker.clock import Clock
    from kbroker.replication.throttle import ReplicationQuota
    from kbroker.storage.log import AppendOrigin, AppendResult, Log
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager


class Leadership(NamedTuple):
    """This broker began to lead a partition (epoch >= 0), or stopped (-1: resigned, or the topic is gone)."""

    topic_partition: TopicPartition
    topic_id: Uuid
    leader_epoch: int
    deleted: bool = False


def _run_here(work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
    work()
    done(None)


class ReplicaManager:
    """The partitions of this broker, by name.

    Args:
        broker_id: this node.
        logs: the logs on disk, loaded.
        clock: for append times.
        timer: for waits.
        settings: (topic name, its overrides) -> what they come to together with the broker's defaults.
        run_blocking: runs what waits for the disk; None: here and now.
        call_soon, sync_files: see `GroupSync`.
    """

    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        clock: Clock,
        timer: Timer,
        settings: Callable[[str, Mapping[str, str]], TopicSettings],
        run_blocking: RunBlocking | None = None,
        *,
        call_soon: Callable[[Callable[[], object]], object] | None = None,
        sync_files: SyncFiles | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.logs = logs
        self.clock = clock
        #: Parked fetches, by partition.
        self.fetches = Purgatory(timer.call_later)
        self.partitions: dict[tuple[str, int], Partition] = {}
        #: What goes in and out of them.
        self.topic_stats = TopicBook()
        #: Syncs logs for those who wait for the disk (flush.messages).
        self.syncs = GroupSync(
            run_blocking or _run_here,
            self._synced,
            self._sync_failed,
            lambda log: logs.get(log.topic_partition) is log,
            call_soon,
            sync_files,
        )
        #: What throttled replicas may move; None: as much as they like.
        self.leader_quota: ReplicationQuota | None = None
        self.follower_quota: ReplicationQuota | None = None
        #: How far a log is compacted.
        self.cleaned_offset: Callable[[Log], int] = lambda log: 0
        self._timer = timer
        self._leadership_listeners: list[Callable[[Leadership], None]] = []
        #: Told of a partition whose log was made later than the metadata was applied.
        self.on_log_made: Callable[[Partition], object] | None = None
        #: Whether this broker had a replica before it started, where the first metadata do not tell.
        self.was_there: Callable[[TopicPartition], bool] = lambda tp: False
        #: Told of a log directory that has failed.
        self.on_directory_failed: Callable[[LogDir], object] | None = None
        for directory in logs.dirs:
            directory.on_failed = self._directory_failed
        self._changes = ReplicaChanges(
            self, settings, ReplicaLogs(logs, clock, timer, lambda tp: self.was_there(tp)), self._tell
        )
        self.apply_metadata = self._changes.apply_metadata
        self.apply_in_slices = self._changes.apply_in_slices
        self.settings_of = self._changes.settings_of
        self.stop_replica = self._changes.stop_replica
        self.set_aside = self._changes.set_aside
        self.give_up = self._changes.give_up

    def link(self, in_sync: InSyncPort, links: Links) -> None:
        """Let partitions be copied and in-sync sets change from now on; before the first metadata."""
        self._changes.in_sync, self._changes.links = in_sync, links

    # -- look-up --

    def get(self, topic: str, partition: int) -> Partition | None:
        """The partition if this broker hosts a replica of it."""
        return self.partitions.get((topic, partition))

    def hosted(self, topic: str, partition: int) -> Partition:
        """The partition; ApiError(UNKNOWN_TOPIC_OR_PARTITION) if this broker hosts no replica of it."""
        found = self.partitions.get((topic, partition))
        if found is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return found

    def led(self, topic: str, partition: int) -> Partition:
        """The partition of a topic that exists; ApiError(NOT_LEADER_OR_FOLLOWER) unless this broker leads
        it.
        """
        found = self.partitions.get((topic, partition))
        if found is None or found.leader_state is None:
            if found is not None and found.log is None:
                raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return found

    def led_partitions(self) -> Iterator[Partition]:
        """Every partition that this broker leads now."""
        return (partition for partition in self.partitions.values() if partition.is_leader)

    def removable_to(self, log: Log) -> int:
        """Below this offset compaction may drop tombstones and markers: every assigned replica has replicated
        and compacted that part (docs/decisions/0005).
        """
        partition = self.partitions.get(log.topic_partition)
        if partition is None or partition.log is not log:
            return 0
        return partition.removable(self.cleaned_offset(log))

    # -- for coordinators --

    def append_internal(
        self, tp: TopicPartition, batch: bytes | bytearray, *, origin: AppendOrigin
    ) -> AppendResult:
        """Append a batch as leader and write it; readable at once, committed as `when_committed` tells.

        A batch that may be written to is patched in place.

        Raises:
            ApiError: this broker does not lead `tp`, or the batch is refused.
            StorageError: the disk failed.
        """
        partition = self.hosted(tp.topic, tp.partition)
        result = partition.append(batch, self.clock.now_ms(), origin, required_acks=-1)
        try:
            partition.flush()
        except StorageError:
            self.disk_failed(partition)
            raise
        return result

    def append_own(
        self, tp: TopicPartition, batch: bytearray, delta: int, timestamp: int
    ) -> tuple[int, bool]:
        """As `append_internal` for a coordinator's batch of no producer, made just now, whose records have
        all that time and end `delta` behind the first: the first's offset, and whether all is committed.
        """
        partition = self.partitions.get(tp)
        if partition is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        try:
            first = partition.append_own(batch, delta, timestamp, self.clock.now_ms())
        except StorageError:
            self.disk_failed(partition)
            raise
        return first, partition.high_watermark > first + delta

    def when_committed(self, tp: TopicPartition, last_offset: int) -> Deferred[None]:
        """Done when the record at `last_offset` of `tp` is committed (high watermark above it).

        Fails with ApiError(NOT_LEADER_OR_FOLLOWER) when leadership is lost before. With one replica it is
        done when this returns.
        """
        return self.hosted(tp.topic, tp.partition).when_committed(last_offset)

    def high_watermark(self, tp: TopicPartition) -> int:
        """The end of what is committed of `tp`, as far as this broker knows."""
        return self.hosted(tp.topic, tp.partition).high_watermark

    def read_internal(self, tp: TopicPartition, offset: int, max_bytes: int = 1 << 20) -> bytes:
        """Whole batches of `tp` from the one that holds `offset` on, empty at the log's end.

        To load a coordinator. The first batch comes whole even if it is larger than `max_bytes`.
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

    # -- disks --

    def flush(self, partitions: Iterable[Partition]) -> dict[Partition, ApiError]:
        """Write what is staged for these; those for which the disk failed, or was full, and why."""
        failed: dict[Partition, ApiError] = {}
        for partition in partitions:
            try:
                partition.flush()
            except ApiError as error:
                self.disk_failed(partition)
                failed[partition] = error
        return failed

    def disk_failed(self, partition: Partition) -> None:
        """A write to the partition's log failed: if its directory is offline now, so is all that lies in it.

        A disk that is merely full keeps its partitions: they are readable, and take records again later.
        """
        if partition.log is not None and partition.log.directory.offline:
            self._close_directory(partition.log.directory)

    def _directory_failed(self, directory: LogDir) -> None:
        """Whoever met the failure is still at work: the partitions close when it is done."""
        self._timer.call_later(0, lambda: self._close_directory(directory))
        if self.on_directory_failed is not None:
            self.on_directory_failed(directory)

    def _close_directory(self, directory: LogDir) -> None:
        for other in list(self.partitions.values()):
            if other.log is not None and other.log.directory is directory:
                self._changes.links.unfollow(other)
                other.close(ErrorCode.KAFKA_STORAGE_ERROR)
                self._tell(other, -1)

    def _synced(self, log: Log) -> None:
        partition = self.partitions.get(log.topic_partition)
        if partition is not None and partition.log is log:
            partition.synced()

    def _sync_failed(self, log: Log, error: OSError | StorageError) -> None:
        if self.logs.get(log.topic_partition) is log and isinstance(error, OSError):
            log.directory.fail_for_good(error)
        # Else the log was deleted meanwhile, and its directory with it.
        if log.directory.offline:
            self._close_directory(log.directory)

    def _tell(self, partition: Partition, leader_epoch: int, deleted: bool = False) -> None:
        change = Leadership(partition.topic_partition, partition.topic_id, leader_epoch, deleted)
        for listener in self._leadership_listeners:
            listener(change)
